"""Generated programs: both modes, differences, and the same program written otherwise agree."""

import functools
import random
import re

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.generated_programs import aliased, written

from gradcli.errors import RunError
from gradcli.program import load

SEED = 20
CHUNK = 25

chunked = pytest.mark.parametrize("first", chunks(25, 10_000, CHUNK))
first_ones = pytest.mark.parametrize("first", chunks(25, 10_000, CHUNK))


class Generated:
    """A generated program at its inputs, loaded once for all that ask."""

    def __init__(self, seed):
        self.text, self.given = written(seed)
        self.program = load(self.text)
        self.told = f"seed {seed}, {self.given}\n{self.text}"
        self.derivatives = derivatives(self.program, self.given)


generated = functools.lru_cache(maxsize=1000)(Generated)


def seeds(first):
    return range(SEED + first, SEED + first + CHUNK)


def derivatives(program, given):
    """Value, gradient by reverse mode, by name."""
    found = program.grad(given)
    return found.value, {k: np.asarray(v, float) for k, v in found.grad.items()}


def by_differences(program, given, directions):
    values = {}
    for h in (1e-4, 5e-5):
        ends = [
            program.run(
                {k: (np.asarray(x) + s * h * directions[k]).tolist() for k, x in given.items()}
            )
            for s in (1, -1)
        ]
        values[h] = (ends[0].result - ends[1].result) / (2 * h)
    return (4 * values[5e-5] - values[1e-4]) / 3, abs(values[5e-5] - values[1e-4])


@chunked
def test_forward_is_reverse_is_differences(first):
    for seed in seeds(first):
        one = generated(seed)
        rng = np.random.default_rng(seed)
        directions = {k: rng.uniform(-1, 1, np.shape(x)) for k, x in one.given.items()}
        _, grad = one.derivatives
        reverse = sum(float(np.sum(grad[k] * u)) for k, u in directions.items())
        forward = float(one.program.jvp(one.given, tangents=directions).jvp)
        numeric, spread = by_differences(one.program, one.given, directions)
        size = sum(float(np.sum(abs(grad[k]))) for k in grad)
        assert forward == pytest.approx(reverse, rel=1e-9, abs=1e-11 * (1 + size)), one.told
        close = pytest.approx(reverse, rel=1e-6, abs=1e-6 * (1 + size) + spread)
        assert numeric == close, one.told


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


@first_ones
@pytest.mark.parametrize("other", [renamed, plus_zero, wrapped, unrolled])
def test_written_otherwise(other, first):
    for seed in seeds(first):
        one = generated(seed)
        text = other(one.text)
        if text != one.text:
            told = f"{one.told}\n--- {other.__name__}\n{text}"
            same(one.derivatives, derivatives(load(text), one.given), told)


@first_ones
def test_one_input_in_two_roles(first):
    """The derivative of f(x, x) is the sum of those of f(x, y) by x and by y."""
    for seed in seeds(first):
        one = generated(seed)
        declared, body = one.text.split("\n", 1)
        pieces = re.split(r"\ba\b", body)
        parted = "".join(p + "ab"[i % 2] for i, p in enumerate(pieces[:-1])) + pieces[-1]
        parted = f"{declared}\ninput b = 0.5\n{parted}"
        value, grad = derivatives(load(parted), {**one.given, "b": one.given["a"]})
        both = {"a": grad["a"] + grad["b"], "v": grad["v"]}
        same(one.derivatives, (value, both), f"{one.told}\n--- in two roles\n{parted}")


@pytest.mark.parametrize("first", chunks(25, 10_000, CHUNK))
def test_aliases_are_refused_or_right(first):
    """Reverse mode may refuse them, forward mode never does."""
    done = 0
    for seed in seeds(first):
        shared, plain, given = aliased(seed)
        told = f"seed {seed}, {given}\n{shared}\n--- without aliases\n{plain}"
        program, expected = load(shared), derivatives(load(plain), given)
        steps = np.random.default_rng(seed).uniform(-1, 1, len(given["x"]))
        forward = program.jvp(given, tangents={"x": steps.tolist()}).jvp
        scale = 1 + np.abs(expected[1]["x"]).sum()
        assert forward == pytest.approx(steps @ expected[1]["x"], rel=1e-9, abs=1e-10 * scale), told
        try:
            found = derivatives(program, given)
        except RunError as error:
            if error.diagnostics[0].code != "changed-in-place":
                raise
            continue
        same(found, expected, told)
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
@pytest.mark.parametrize("turn", chunks(2, 10, 1))
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
