"""Values and first derivatives of unary ops to the last digits, against mpmath at 60 digits."""

from __future__ import annotations

import math
import operator

import mpmath as mp
import numpy as np
import pytest
from support.checks.oracles import Run, forward, reverse, table
from support.checks.true_derivatives import FORMS, POINTS, TABLE, check, is_pole

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet

OTHERWISE = {
    "threshold": "it must be given two parameters; its value is one of them or the input",
    "mvlgamma": "a sum of lgamma, whose row is here",
    "round": "a number rounds to an int; test_numbers",
    "one_minus_square": "part of the slopes of asin, acos and atanh, with the rows of which it is",
    "sigmoid_slope": "the slope of sigmoid, with the row of which it is compared",
    "sech_square": "the slope of tanh, with the row of which it is compared",
    "erfc_ratio": "the slope of log_ndtr and part of erfcx, with the rows of which it is compared",
    "bessel_moment": "the slope of i0e and i1e, with the rows of which it is compared",
    "bessel_i": "the slope of i0 and i1, with the rows of which it is compared",
    "incomplete_gamma": "igamma and igammac, of two arguments; tests/ops/recorded",
    "ndtri_slope": "the slope of ndtri, with the row of which it is compared",
    "zeros_through": "zeros, and so are its derivatives; tests/library/test_equations.py",
    "erfinv_slope": "the slope of erfinv, with the row of which it is compared",
}
"""Operations of one argument that have no row, and why."""


@pytest.fixture(autouse=True)
def precise():
    with Quiet(), mp.workdps(60):
        yield


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", TABLE)
def test_value_and_derivative_are_exact_to_the_last_digits(name, half):
    """At the ends and every second point between them, and by hand at the others."""
    f, first, second, (low, high) = TABLE[name]
    points = [x for x in POINTS[half].tolist() if low < x < high and not is_pole(name, x)]
    operation, params = FORMS.get(name, (name, {}))
    entry = ops[operation]
    grid = np.array(points)
    run = Run(entry, [grid], params)
    ones = np.ones(grid.shape)
    slopes = {
        "reverse": reverse(run.outs, [ones], run.leaves)[0],
        "forward": forward(run.outs, [ones], run.leaves)[0],
    }
    values = data_of(run.outs[0])
    for i, x in enumerate(points):
        z = mp.mpf(x)
        d0, d1 = f(z), first(z)
        check(name, x, "value on arrays", values[i], d0, d1)
        check(name, x, "value on numbers", entry.value.number(x, **params), d0, d1)
        for mode, slope in slopes.items():
            check(name, x, f"{mode} derivative", slope[i], d1, second)
        single = Run(entry, [x], params)
        slope = reverse(single.outs, [1.0], single.leaves)[0]
        check(name, x, "derivative on numbers", slope, d1, second)


FLAT = {
    "math_floor": math.floor,
    "math_ceil": math.ceil,
    "math_trunc": math.trunc,
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
    "signbit": lambda x: math.copysign(1.0, x) < 0.0,
    "logical_not": operator.not_,
    "bitwise_not": lambda x: not x if type(x) is bool else ~x,
}
"""Operations whose values are ints or bools, and exact."""
OF_FLATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    -1.5,
    1 - 2**-53,
    1 + 2**-52,
    2.0**52 + 0.5,
    -(2.0**53),
    5e-324,
]
INTS = [0, 1, -1, 7, 2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("name", FLAT)
def test_an_exact_value_is_that(name):
    value = ops[name].value
    floats = [
        *OF_FLATS,
        *([math.inf, -math.inf, math.nan] if name.startswith(("is", "log", "sign")) else []),
    ]
    for points in (floats if name != "bitwise_not" else [], INTS, [False, True]):
        wanted = [FLAT[name](x) for x in points]
        array = value.array(np.array(points)).tolist() if points else []
        for x, true, element in zip(points, wanted, array, strict=True):
            number = value.number(x)
            assert (number, element) == (true, true), (name, x)
            assert type(number) is type(element) is type(true), (name, x, number, element)


def test_every_operation_of_one_argument_has_a_row():
    """By what an entry says of its shape or its derivatives, so that no new one is left out."""
    unary = {
        op.name
        for op in table().values()
        if (op.elementwise or op.derivatives.partials is not None) and len(op.args) == 1
    }
    rows = TABLE.keys() | FLAT.keys() | OTHERWISE.keys()
    assert unary <= rows, f"without a row: {sorted(unary - rows)}"
    assert OTHERWISE.keys() <= unary, f"a reason for none: {sorted(OTHERWISE.keys() - unary)}"


GAPS = [[0.0, -40.0], [3.0, -50.0, -700.0], [0.0, 0.0, -45.0], [-1000.0, 0.0, -1000.0], [2.0, 1.5]]


@pytest.mark.parametrize("x", GAPS)
def test_sums_of_exponentials_keep_what_the_small_ones_add(x):
    z = [mp.mpf(a) for a in x]
    total = mp.fsum(map(mp.exp, z))
    check("logsumexp", x, "value", ops.logsumexp(np.array(x), dim=0), mp.log(total))
    logs = Run(ops.log_softmax, [np.array(x)], {"dim": 0})
    for i, value in enumerate(data_of(logs.outs[0])):
        true = -mp.log1p((total - mp.exp(z[i])) / mp.exp(z[i]))
        check("log_softmax", x, "value", value, true)
        unit = np.eye(len(x))[i]
        row = reverse(logs.outs, [unit], logs.leaves)[0]
        column = forward(logs.outs, [unit], logs.leaves)[0]
        for j, a in enumerate(z):
            others = total - mp.exp(a)
            slope = (others if i == j else -mp.exp(a)) / total
            check("log_softmax", x, "cotangent", row[j], slope)
            true = (others if i == j else -mp.exp(z[i])) / total
            check("log_softmax", x, "tangent", column[j], true)
