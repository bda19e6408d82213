"""Generated programs: both modes, differences, and the same program written otherwise agree."""

import random
import re

import numpy as np
import pytest
from generated_programs import aliased, written

from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.run.execute import Executable
from gradcli.engine.run.session import Session
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.errors import RunError
from gradcli.program import load
from gradcli.questions.request import given_values

SEED = 20
CHUNK = 50


def derivatives(text, given):
    """Value, gradient by reverse mode, by name."""
    found = load(text).grad(given)
    return found.value, {k: np.asarray(v, float) for k, v in found.grad.items()}


def by_forward(text, given, directions):
    """The derivative along the directions of the inputs, pushed through one recorded run."""
    program = load(text)._loaded.program
    session = Session(watched=frozenset(directions))
    _, out = Executable(program).run(session, given_values(given, {}))
    node = node_of(out) if isinstance(out, Tensor) else None
    seeds = {
        session.watchpoints[k][0]: float(u) if np.ndim(u) == 0 else u for k, u in directions.items()
    }
    dot = None if node is None else tangents([node], seeds).get(node)
    return 0.0 if dot is None else float(dot)


def by_differences(text, given, directions):
    program, values = load(text), {}
    for h in (1e-4, 5e-5):
        ends = [
            program.run(
                {k: (np.asarray(x) + s * h * directions[k]).tolist() for k, x in given.items()}
            )
            for s in (1, -1)
        ]
        values[h] = (ends[0].result - ends[1].result) / (2 * h)
    return (4 * values[5e-5] - values[1e-4]) / 3, abs(values[5e-5] - values[1e-4])


@pytest.mark.parametrize("first", range(0, 500, CHUNK))
def test_forward_is_reverse_is_differences(first):
    for seed in range(SEED + first, SEED + first + CHUNK):
        text, given = written(seed)
        rng = np.random.default_rng(seed)
        directions = {k: rng.uniform(-1, 1, np.shape(x)) for k, x in given.items()}
        _, grad = derivatives(text, given)
        reverse = sum(float(np.sum(grad[k] * u)) for k, u in directions.items())
        forward = by_forward(text, given, directions)
        numeric, spread = by_differences(text, given, directions)
        told = f"seed {seed}, {given}\n{text}"
        size = sum(float(np.sum(abs(grad[k]))) for k in grad)
        assert forward == pytest.approx(reverse, rel=1e-9, abs=1e-11 * (1 + size)), told
        assert numeric == pytest.approx(reverse, rel=1e-6, abs=1e-6 * (1 + size) + spread), told


def same(left, right, told):
    assert left[0] == pytest.approx(right[0], rel=1e-12, abs=1e-12), told
    for k, g in left[1].items():
        np.testing.assert_allclose(g, right[1][k], rtol=1e-9, atol=1e-10, err_msg=told)


def renamed(text):
    return re.sub(r"\bt(\d+)\b", r"long_name_\1", text)


def plus_zero(text):
    return re.sub(r"\b(sin|tanh|cos)\(", r"\1(0 + ", text)


def wrapped(text):
    """The whole program as the body of a function."""
    head, body = text.split("\n", 2)[:2], text.split("\n", 2)[2].split("\n")
    inner = [*body[:-1], f"return {body[-1]}"]
    return "\n".join([*head, "def whole(a, v):", *("    " + x for x in inner), "whole(a, v)"])


def unrolled(text):
    """Each loop over a range written out."""
    lines, made = text.split("\n"), []
    while lines:
        line = lines.pop(0)
        found = re.match(r"for i in range\((\d+)\):", line)
        if not found:
            made.append(line)
            continue
        body = []
        while lines and lines[0].startswith("    "):
            body.append(lines.pop(0)[4:])
        for i in range(int(found.group(1))):
            made += [re.sub(r"\bi\b", str(i), x) for x in body]
    return "\n".join(made)


@pytest.mark.parametrize("other", [renamed, plus_zero, wrapped, unrolled])
def test_written_otherwise(other):
    for seed in range(SEED + 1000, SEED + 1200):
        text, given = written(seed)
        told = f"seed {seed}, {given}\n{text}\n--- {other.__name__}\n{other(text)}"
        same(derivatives(text, given), derivatives(other(text), given), told)


def test_one_input_in_two_roles():
    """The derivative of f(x, x) is the sum of those of f(x, y) by x and by y."""
    for seed in range(SEED + 2000, SEED + 2200):
        text, given = written(seed)
        first, body = text.split("\n", 1)
        pieces = re.split(r"\ba\b", body)
        parted = "".join(p + "ab"[i % 2] for i, p in enumerate(pieces[:-1])) + pieces[-1]
        parted = f"{first}\ninput b = 0.5\n{parted}"
        told = f"seed {seed}, {given}\n{text}\n--- in two roles\n{parted}"
        value, grad = derivatives(parted, {**given, "b": given["a"]})
        same(derivatives(text, given), (value, {"a": grad["a"] + grad["b"], "v": grad["v"]}), told)


@pytest.mark.parametrize("first", range(0, 300, CHUNK))
def test_aliases_are_refused_or_right(first):
    done = 0
    for seed in range(SEED + first, SEED + first + CHUNK):
        shared, plain, given = aliased(seed)
        told = f"seed {seed}, {given}\n{shared}\n--- without aliases\n{plain}"
        try:
            found = derivatives(shared, given)
        except RunError as error:
            if error.diagnostics[0].code != "changed-in-place":
                raise
            continue
        same(found, derivatives(plain, given), told)
        done += 1
    assert done > CHUNK // 10, "nearly all programs are refused, so nothing is compared"


CLOSED = {
    "x ** {p}": lambda x, p: p * (p - 1) * (p - 2) * x ** (p - 3),
    "exp({p} * x)": lambda x, p: p**3 * np.exp(p * x),
    "sin({p} * x)": lambda x, p: -(p**3) * np.cos(p * x),
    "log({p} + x)": lambda x, p: 2 / (p + x) ** 3,
    "1 / ({p} + x)": lambda x, p: -6 / (p + x) ** 4,
    "x * exp({p} * x)": lambda x, p: (3 * p**2 + x * p**3) * np.exp(p * x),
    "sqrt(x + {p})": lambda x, p: 3 / 8 * (x + p) ** -2.5,
    "x ** 2 * cos({p} * x)": lambda x, p: (
        -6 * p * np.sin(p * x) - 6 * p**2 * x * np.cos(p * x) + p**3 * x**2 * np.sin(p * x)
    ),
    "tanh({p} * x)": lambda x, p: p**3 * _tanh3(np.tanh(p * x)),
    "atan({p} * x)": lambda x, p: p**3 * (6 * (p * x) ** 2 - 2) / (1 + (p * x) ** 2) ** 3,
}


def _tanh3(t):
    return (1 - t * t) * (6 * t * t - 2)


@pytest.mark.parametrize("form", CLOSED)
@pytest.mark.parametrize("turn", range(5))
def test_third_derivatives(form, turn):
    rng = random.Random(f"{form}{turn}")
    p, x = round(rng.uniform(0.5, 3.5), 2), round(rng.uniform(0.3, 1.8), 2)
    for third in (
        "grad(grad(grad(f)))(x)",
        "jacfwd(jacfwd(jacfwd(f)))(x)",
        "jacfwd(grad(jacfwd(f)))(x)",
        "grad(hessian(f))(x)",
    ):
        text = f"f = lambda x: {form.format(p=p)}\nx = tensor({x})\n{third}"
        found, expected = float(load(text).run().result), CLOSED[form](x, p)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11), (
            f"{text}: {found}, {expected}"
        )
