"""How machine code holds small tensors: as numbers where items are taken and put together, else in
memory; in every mode with the interpreter's bits.
"""

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.small_tensors import Writer
from support.programs.vector_programs import answer

from gradcli.program import load

pytest.importorskip("llvmlite")

HEAD = "param x: float[{n}]\nparam b = 0.5\nu = x * 1.0\nfor i in range({turns}):\n"
TURNS = {
    "items put together": "u = u * 0.5 + 0.1 * stack([{neighbours}])",
    "items of what is computed": "u = tanh(u) * u[0] + sin(u * b)[1]",
    "arithmetic": "u = u * 0.5 + x * u * b - 0.1",
    "functions": "u = tanh(u * 0.5 + x) * x - 0.1",
    "a row of zeros": "u = u + x[1] * -0.0 + u[0] * b",
    "a branch": "if u[0] > 0.2:\n        u = u * u[1]\n    else:\n        u = stack([{neighbours}])",
    "an inner loop": "for j in range(2):\n        u = stack([{neighbours}]) * b + u * 0.5",
    "a place not known": "u = u * u[i % {n}] + stack([{neighbours}]) * u[-1 - i % {n}]",
    "a part": "u = cat((u[1:] * b, stack([u[0] * u[1]])))",
    "every other item": "u = u * (u[::2] @ x[::2]) * 0.1 + stack([{neighbours}])[::2].sum()",
    "two vectors in turn": "u, x = stack([{neighbours}]) * 0.5, u + x",
    "a choice": "u = where(stack([{neighbours}]) > u, u * b, u - 0.25) + relu(stack([{neighbours}]))",
    "an item that is set": "v = u * 0.5\n    v[0] = u[1] * b\n    v[1:] = u[0]\n    u = v * 1.0",
    "the other way round": "v = flip(stack([{neighbours}]), 0)\n    u = v * v.sum() + v @ x * u[1]",
    "sums": "u = u * 0.1 + (u * u).mean() * u.sum() + stack([{neighbours}]).sum(0, keepdim=True)",
    "unpacked": "p = unbind(u * b)\n    u = stack([{reversed}])",
}


def program(turn, n, turns=5):
    names = {
        "n": n,
        "neighbours": ", ".join(f"u[{k}] * (b - u[{(k + 1) % n}])" for k in range(n)),
        "reversed": ", ".join(f"p[{k}] * 0.5" for k in reversed(range(n))),
    }
    return f"{HEAD.format(n=n, turns=turns)}    {turn.format(**names)}\n(u * x).sum() + u[0]"


def given(n):
    numbers = np.random.default_rng(n).normal(size=n)
    return {"x": np.where(np.arange(n) == 2, -0.0, numbers).tolist(), "b": 0.75}


def dots(n):
    return {"x": np.random.default_rng(n + 1).normal(size=n).tolist(), "b": -1.0}


SIZES = (3, 20, 8, 10)
CASES = [
    pytest.param(name, n, marks=() if n == SIZES[k % 4] else pytest.mark.long)
    for k, name in enumerate(TURNS)
    for n in SIZES
]


@pytest.mark.parametrize(("name", "n"), CASES)
def test_code_has_the_interpreter_s_bits(name, n):
    found = load(program(TURNS[name], n))
    for question, more in (("grad", {}), ("hvp", {"tangents": dots(n)})):
        run, code = (answer(found, question, w, given(n), **more) for w in ("never", "always"))
        assert run == code, question


def text_of(turn, n, order=1):
    function = load(program(TURNS[turn], n, turns=500)).compile(order=order)
    function(np.ones(n + 1))
    return function.source


def test_few_items_stay_in_registers():
    """A loop over items carries numbers: no turn stores any, or calls a function of arrays."""
    text = text_of("items put together", 3, order=0)
    loop = text[text.index("phi double") :]
    turn = loop[: loop.index("phi double", loop.index("store i64"))]
    assert turn.count("fmul") >= 6
    assert "store double" not in turn
    assert "@k" not in turn


def test_items_take_sums_in_proportion():
    """Neither a read nor its cotangent goes through the whole tensor."""
    few, many = (text_of("items put together", n).count("fadd double") for n in (17, 51))
    assert many < 4 * few


def test_vectors_stay_in_memory():
    """Functions of NumPy take no more code of more elements."""
    few, many = (text_of("functions", n).count("\n") for n in (20, 60))
    assert few == pytest.approx(many, rel=0.05)


def test_a_cotangent_of_one_direction_becomes_one_of_many_before_the_loop():
    found = load(
        "param x: float[4]\ninput b\ninput k: int = 3\nv = abs(x)\nfor i in range(k):\n"
        "    for j in range(2):\n        v = v * 0.5 + clamp(x, -1, 1)\n    v = v * v[2]\n"
        "norm(relu(-1.25 * v)) + b\n"
    )
    numbers = {"x": [0.5, -1.25, 2.0, -0.75], "b": 0.75, "k": 2}
    run, code = (answer(found, "hessian", when, numbers) for when in ("never", "always"))
    assert run == code


@pytest.mark.parametrize("first", chunks(few=3, many=600, size=3))
def test_random_programs(first):
    compiled = 0
    for seed in range(first, first + 3):
        writer = Writer(seed)
        text = writer.program()
        numbers, along = writer.given(), writer.dots()
        question = ("grad", "jvp", "hvp")[seed % 3]
        more = {} if question == "grad" else {"tangents": along}
        run, code = (
            answer(load(text), question, when, numbers, **more) for when in ("never", "always")
        )
        compiled += "not-compilable" not in code
        assert run == code or "not-compilable" in code, text
    assert compiled
