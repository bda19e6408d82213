"""Random numbers in compiled programs: a run draws them before its code, the same of a seed."""

import re

import numpy as np
import pytest

from gradcli.errors import GradError, ProgramError
from gradcli.program import Options, load

PROGRAMS = {
    "in order": "a = randn(3, 30)\nb = rand(3, 30)\nc = randint(0, 9, (4,))\n(a * b).sum() + c.sum()",
    "numbers": "a = randn(())\nb = rand(())\nprint(a, b)\na * b",
    "of the size of another": "x = tensor([1.0, 2.0])\ny = randn_like(x * 2)\nrand_like(y) * y",
    "in an order": "p = randperm(80)\nx = randn(80)\n(x * p).sum()",
    "from a seed of the program": "a = rand(2)\nmanual_seed(7)\nb = rand(2)\n(a - b).abs().sum()",
    "in a function": "def f(n):\n    return randn(n).sum()\nf(3) * f(70)",
    "leaves": "w = randn(90, requires_grad=True)\nfor i in range(60):\n    w.pow(2).sum().backward()\n"
    "    with no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\nw.norm().item()",
}
REFUSED = {
    "y = 0.0\nfor i in range(900):\n    y = y + rand(1).item()\ny": "in a branch or a loop",
    "n = randint(1, 3, (1,)).item()\nrandn(n).sum()": "of a value known only at run time",
    "randn(3, dtype=torch.float32).sum()": "random numbers of float32",
}


DIFFERENTIATED = {  # with the shape of x
    "a number": ("x = 2.0\ny = x * randn(())\nwhile y.abs() < 1000:\n    y = y * 2\ny", ()),
    "arrays": ("x: float[90]\n(randn(90) * x * x).sum()", (90,)),
    "elements": ("x: float[3]\n(randn(3) * x * x).sum() * rand(())", (3,)),
    "what is not finite": ("x = 2.0\nprint(rand(()))\nx * rand(()) * 1e308 * 1e10", ()),
    "changed in place": ("x: float[80]\ny = randn(80)\ny.mul_(x)\ny.sum()", (80,)),
    "added in place": ("x: float[80]\ny = x * 1.0\ny += randn(80)\n(y * y).sum()", (80,)),
}
LEAVES = {"a leaf": "x = randn(3, requires_grad=True)\n(x * x).sum()"} | {
    "a leaf that is a number": "x = randn((), requires_grad=True)\nsin(x)",
    "a leaf that is an array": "x = randn(90, requires_grad=True)\n(x * x).sum()",
}


def answered(text, when, seed=5):
    printed = []
    try:
        options = Options(seed, compile=when, grad_fn=False, echo=printed.append)
        found = load(text).run({}, options=options)
    except GradError as error:
        return str(error), printed
    return repr(found.result), printed


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_draws_what_a_run_draws(name):
    assert answered(PROGRAMS[name], "always") == answered(PROGRAMS[name], "never")


def derivative(text, question, given, dot, when):
    more = {"tangents": {"x": dot}} if question in ("jvp", "hvp") else {"wrt": "x"}
    try:
        found = getattr(load(text), question)(given, options=Options(5, compile=when), **more)
    except GradError as error:
        return str(error)
    return re.sub(r"Source object at \w+", "Source", repr(found))


@pytest.mark.parametrize("question", ["grad", "jvp", "vjp", "jacobian", "hessian", "hvp"])
@pytest.mark.parametrize("name", [*DIFFERENTIATED, *LEAVES])
def test_derivatives_are_those_of_what_a_run_draws(name, question):
    if name in LEAVES:
        text, given = LEAVES[name], {}
        shape = {"a leaf": (3,), "a leaf that is an array": (90,)}.get(name, ())
    else:
        head, shape = DIFFERENTIATED[name]
        text, given = (
            f"input {head}",
            {"x": np.linspace(0.1, 2.0, 90)[: shape[0]] if shape else 2.0},
        )
    dot = np.ones(shape) if shape else 1.0
    code = derivative(text, question, given, dot, "always")
    assert "not compiled" not in code
    assert code == derivative(text, question, given, dot, "never")


def test_a_function_of_arrays_draws_nothing():
    with pytest.raises(ProgramError, match="random numbers are drawn"):
        load("input x = 2.0\nx * rand(())").compile("x")


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_compiled_says_why(text):
    assert REFUSED[text] in answered(text, "always")[0]


def test_what_is_left_goes_on_with_the_numbers_that_have_been_told():
    text = "x = rand(3)\nprint(x.sum())\ny = x.sum() * 1e300 * 1e300\nprint(x.sum() * 2)\nx.sum()"
    result, (first, second) = answered(text, "always", seed=None)
    assert float(second[7:-2]) == pytest.approx(2 * float(first[7:-2]), abs=2e-4)
    assert float(result) == pytest.approx(float(first[7:-2]), abs=1e-4)


def test_each_run_draws_anew():
    program = load("randn(3).sum()")
    found = {program.run(options=Options(compile="always", grad_fn=False)).result for _ in range(3)}
    assert len(found) == 3


@pytest.mark.parametrize("question", ["run", "grad"])
def test_rows_draw_their_own(question, cli):
    given = "".join(f'{{"x": {k}}}\n' for k in range(6))
    lines = [
        cli(
            question,
            "-e",
            "randn(3).sum() * x",
            "--rows",
            "-",
            "--seed",
            "3",
            "--compile",
            when,
            stdin=given,
        )
        for when in ("never", "auto", "always")
    ]
    assert lines[0][0] == 0, lines[0]
    assert lines[0] == lines[1] == lines[2]
