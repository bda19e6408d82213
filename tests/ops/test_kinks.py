"""Exact first and second derivatives where finite differences say nothing, in both modes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.checks.oracles import flat, forward, reverse, zeros

from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet

NAN, INF = float("nan"), float("inf")
ANY = None

# name, function, point, first derivative, second derivative
ROWS = [
    ("cube", lambda x: ops.pow(x, 3), -2.0, 12.0, -12.0),
    ("square", lambda x: ops.pow(x, 2), 0.0, 0.0, 2.0),
    ("square by float", lambda x: ops.pow(x, 2.0), 0.0, 0.0, 2.0),
    ("first power", lambda x: ops.pow(x, 1), 0.0, 1.0, 0.0),
    ("power zero", lambda x: ops.pow(x, 0), 0.0, 0.0, 0.0),
    ("root", lambda x: ops.pow(x, 0.5), 0.0, INF, -INF),
    ("root of a negative", lambda x: ops.pow(x, 0.5), -2.0, NAN, NAN),
    ("exponent", lambda x: ops.pow(2.0, x), 0.0, math.log(2), math.log(2) ** 2),
    ("exponent of zero", lambda x: ops.pow(0.0, x), 2.0, 0.0, 0.0),
    ("guarded log", lambda x: ops.where(ops.gt(x, 0), ops.log(x), 0.0), 0.0, 0.0, 0.0),
    ("guarded root", lambda x: ops.where(ops.gt(x, 0), ops.sqrt(x), 0.0), 0.0, 0.0, 0.0),
    ("guarded quotient", lambda x: ops.where(ops.ne(x, 0), ops.div(1.0, x), 5.0), 0.0, 0.0, 0.0),
    (
        "guarded log of a square",
        lambda x: ops.where(ops.ne(x, 0), ops.log(ops.mul(x, x)), 0.0),
        0.0,
        0.0,
        0.0,
    ),
    ("one operand twice", lambda x: ops.mul(x, x), 3.0, 6.0, 2.0),
    ("larger of one", lambda x: ops.maximum(x, x), 3.0, 1.0, 0.0),
    ("smaller of one", lambda x: ops.minimum(x, x), 3.0, 1.0, 0.0),
    ("hypotenuse", lambda x: ops.hypot(x, 0.0), 0.0, 0.0, 0.0),
    ("hypotenuse of a leg", lambda x: ops.hypot(x, 4.0), 0.0, 0.0, 0.25),
    ("angle", lambda x: ops.atan2(x, 0.0), 0.0, 0.0, 0.0),
    ("sinc", ops.sinc, 0.0, 0.0, -(math.pi**2) / 3),
    ("abs", ops.abs, 0.0, 0.0, 0.0),
    ("sign", ops.sign, 0.0, 0.0, 0.0),
    ("clamp", lambda x: ops.clamp(x, 0.0, 1.0), 1.0, 1.0, 0.0),
    ("tanh far out", ops.tanh, 1000.0, 0.0, 0.0),
    ("sigmoid far out", ops.sigmoid, -1000.0, 0.0, 0.0),
    ("sigmoid far up", ops.sigmoid, 1000.0, 0.0, 0.0),
    ("log", ops.log, 0.0, INF, -INF),
    ("log of a negative", ops.log, -1.0, NAN, NAN),
    ("reciprocal", ops.reciprocal, 0.0, -INF, ANY),
    ("quotient", lambda x: ops.div(1.0, x), 0.0, -INF, ANY),
]


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def once(mode, f):
    """Derivative of a function from one number to one, as such a function, recorded."""

    def derivative(x):
        y = f(x)
        if not isinstance(y, Tensor) or y.node is None:
            return zeros(x)
        one = 1.0 if x.shape == () else np.ones(x.shape)
        return mode([y], [one], [x], graph=True)[0]

    return derivative


MODES = {"reverse": reverse, "forward": forward}


@pytest.mark.parametrize("shape", ["number", "array"])
@pytest.mark.parametrize(("name", "f", "at", "first", "second"), ROWS, ids=[r[0] for r in ROWS])
def test_derivatives_at_a_kink(name, f, at, first, second, shape):
    point = at if shape == "number" else np.array([at])
    for inner, mode in MODES.items():
        got = flat([once(mode, f)(leaf(point))])[0]
        assert close(got, first), f"{inner} of {name} at {at}: got {got}, expected {first}"
        if second is ANY:
            continue
        for outer, over in MODES.items():
            x = leaf(point)
            got = flat([once(over, lambda y, mode=mode: once(mode, f)(y))(x)])[0]
            assert close(got, second), (
                f"{outer} over {inner} of {name} at {at}: got {got}, expected {second}"
            )


@pytest.mark.parametrize("mode", MODES)
def test_root_of_a_square_has_no_derivative_at_zero(mode):
    got = data_of(once(MODES[mode], lambda x: ops.sqrt(ops.mul(x, x)))(leaf(0.0)))
    assert math.isnan(got), f"{mode}: {got}"


@pytest.mark.parametrize("mode", MODES)
def test_x_log_x_has_no_finite_derivative_at_zero(mode):
    got = data_of(once(MODES[mode], lambda x: ops.mul(x, ops.log(x)))(leaf(0.0)))
    assert not math.isfinite(got), f"{mode}: {got}"


def close(got: float, expected: float) -> bool:
    if math.isnan(expected) or math.isinf(expected) or expected == 0:
        return got == expected or (math.isnan(got) and math.isnan(expected))
    return abs(got - expected) <= 4e-16 * abs(expected)


@pytest.mark.parametrize("inside", [ops.log, ops.sqrt, ops.reciprocal, ops.rsqrt])
@pytest.mark.parametrize("modes", ["rrrr", "ffff", "rfrf", "frfr", "rrff"])
def test_a_guard_holds_at_every_order(inside, modes):
    def f(x):
        return ops.where(ops.gt(x, 0), inside(x), 0.0)

    for order, mode in enumerate(modes, 1):
        f = once(MODES["reverse" if mode == "r" else "forward"], f)
        got = float(np.asarray(data_of(f(leaf(0.0)))))
        assert got == 0.0, f"derivative {order} ({modes[:order]}) of guarded {inside.name}: {got}"


@pytest.mark.parametrize("beside", [1.0, math.nan])
def test_a_gated_product_has_no_negative_zero(beside):
    """A zero is positive, be it one by underflow, on numbers and whatever stands beside it."""
    x, y = [-1e-200, -2.0, 0.0, beside], [1e-200, 0.0, math.nan, 1.0]
    numbers = [ops.gate.value.number(a, b) for a, b in zip(x, y, strict=True)]
    array = ops.gate.value.array(np.array(x), np.array(y)).tolist()
    assert str(numbers) == str(array) == str([0.0, 0.0, 0.0, beside])
