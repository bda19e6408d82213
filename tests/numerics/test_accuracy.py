"""Values and first derivatives of unary ops to the last digits, against mpmath at 60 digits."""

from __future__ import annotations

import math
import operator
from functools import cache, partial

import mpmath as mp
import numpy as np
import pytest
import scipy.special
from support.checks.oracles import Run, forward, reverse, table

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet

BOUND = 2e-15
TINY = mp.mpf(2) ** -1073  # two of the smallest numbers

_GRID = np.logspace(-8, np.log10(316.0), 30)
_TAILS = np.array(
    [
        1e-150,
        1e-30,
        1e-17,
        1e-12,
        0.5,
        1.0,
        2.0,
        8.0,
        13.0,
        20.0,
        20.5,
        26.6,
        27.2,
        37.0,
        38.3,
        40.0,
        350.0,
        372.0,
        700.0,
        709.5,
        713.9,
        720.0,
        744.0,
        745.0,
        1000.0,
        1e5,
        1e10,
        1e16,
        1e30,
        1e150,
    ]
)
_NEAR_ONE = 1 - np.logspace(-15, -1, 8)
_ENDS = np.array([5e-324, 7e-309, 1e-300, 1e-200, 1e-160, 1e160, 1e200, 1e300])
"""Where a square, or a product of two, is no longer a float."""


def _both_signs(*sizes):
    return np.unique(np.concatenate([s * p for s in (1, -1) for p in sizes]))


_MIDDLE = _both_signs(_GRID, _TAILS, _NEAR_ONE, 2 - _NEAR_ONE)
POINTS = [np.concatenate([_both_signs(_ENDS), _MIDDLE[::2]]), _MIDDLE[1::2]]
"""Those at which all are compared always, and those at which by hand."""

ONE = mp.mpf(1)


def sigma(x):
    return 1 / (1 + mp.exp(-x))


def sech(x):
    return 1 / mp.cosh(x)


def _sinc(x):
    return mp.sin(mp.pi * x) / (mp.pi * x)


def _sinc1(x):
    with mp.workdps(2500 if abs(x) < 1e-100 else 200):
        return (mp.cos(mp.pi * x) - mp.sin(mp.pi * x) / (mp.pi * x)) / x


def _sinc2(x):
    with mp.workdps(2500 if abs(x) < 1e-100 else 200):
        return -mp.pi * mp.sin(mp.pi * x) / x - 2 * _sinc1(x) / x


# the error functions: far out, where mpmath's formulas lose all digits, their asymptotic series


def _erfcx(x):
    if x < 1e6:
        with mp.workdps(100):
            return mp.exp(x * x) * mp.erfc(x)
    y = 1 / (2 * x * x)
    return (1 - y + 3 * y**2 - 15 * y**3) / (mp.sqrt(mp.pi) * x)


def _erfcx1(x):
    if x < 1e6:
        with mp.workdps(100):
            return 2 * x * _erfcx(x) - 2 / mp.sqrt(mp.pi)
    y = 1 / (2 * x * x)
    return -(1 - 3 * y + 15 * y**2 - 105 * y**3) / (mp.sqrt(mp.pi) * x * x)


def _erfcx2(x):
    return 2 * _erfcx(x) + 2 * x * _erfcx1(x) if x < 1e6 else 2 / (mp.sqrt(mp.pi) * x**3)


def _erfc(x):
    if abs(x) < 1e6:
        return mp.erfc(x)
    return mp.exp(-x * x) * _erfcx(x) if x > 0 else mp.mpf(2)


def _density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def _ndtr(x):
    return _erfc(-x / mp.sqrt(2)) / 2


def _log_ndtr(x):
    if x > 0:
        return mp.log1p(-_ndtr(-x))
    return mp.log(_erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2


def _hazard(x):
    if x > 0:
        return _density(x) / _ndtr(x)
    return mp.sqrt(2 / mp.pi) / _erfcx(-x / mp.sqrt(2))


def _hazard1(x):
    return mp.mpf(-1) if x < -1e6 else -_hazard(x) * (x + _hazard(x))


def _erfinv1(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x) ** 2)


def _ndtri(p):
    with mp.workdps(100):
        q = min(p, 1 - p)
        x = mp.mpf(scipy.special.ndtri(float(q)))
        for _ in range(3):
            x -= (_ndtr(x) - q) / _density(x)
        return x if q == p else -x


def _ndtri1(p):
    return 1 / _density(_ndtri(p))


# the gamma functions


def _lgamma(x):
    return mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x)))


# the Bessel functions, of which the scaled ones are means of w ** n e ** (-x w), w = 1 - cos(t)


@cache
def _besseli(n, x, dps):
    with mp.workdps(dps):
        return mp.besseli(n, x)


def _bessel(n, x):
    """I of order n, of which several operations and points on both sides ask."""
    found = _besseli(n, abs(x), mp.mp.dps)
    return -found if n % 2 and x < 0 else found


def _mean(n, x):
    if x < 1000:
        i = [mp.exp(-x) * _bessel(k, x) for k in range(4)]
        return (
            i[0],
            i[0] - i[1],
            i[0] - 2 * i[1] + (i[0] + i[2]) / 2,
            i[0] - 3 * i[1] + 3 * (i[0] + i[2]) / 2 - (3 * i[1] + i[3]) / 4,
        )[n]
    terms = (mp.binomial(2 * k, k) / 8**k * mp.gamma(n + k + 0.5) / x ** (n + k) for k in range(12))
    return mp.fsum(terms) / (mp.pi * mp.sqrt(2 * x))


def _i0e(x):
    return _mean(0, abs(x))


def _i0e1(x):
    return -mp.sign(x) * _mean(1, abs(x))


def _i0e2(x):
    return _mean(2, abs(x))


def _i1e(x):
    with mp.workdps(400 if abs(x) < 1 else 60):
        return mp.sign(x) * (_mean(0, abs(x)) - _mean(1, abs(x)))


def _i1e1(x):
    return _mean(2, abs(x)) - _mean(1, abs(x))


def _i1e2(x):
    return mp.sign(x) * (_mean(2, abs(x)) - _mean(3, abs(x)))


# op: value, first and second derivative, and where
REAL = (-mp.inf, mp.inf)
POSITIVE = (0, mp.inf)
TABLE = {
    "square": (lambda x: x * x, lambda x: 2 * x, lambda x: 2, REAL),
    "sqrt": (
        mp.sqrt,
        lambda x: 1 / (2 * mp.sqrt(x)),
        lambda x: -1 / (4 * x * mp.sqrt(x)),
        POSITIVE,
    ),
    "rsqrt": (
        lambda x: 1 / mp.sqrt(x),
        lambda x: -1 / (2 * x * mp.sqrt(x)),
        lambda x: 3 / (4 * x * x * mp.sqrt(x)),
        POSITIVE,
    ),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, REAL),
    "exp": (mp.exp, mp.exp, mp.exp, REAL),
    "exp2": (
        lambda x: mp.power(2, x),
        lambda x: mp.power(2, x) * mp.log(2),
        lambda x: mp.power(2, x) * mp.log(2) ** 2,
        REAL,
    ),
    "expm1": (mp.expm1, mp.exp, mp.exp, REAL),
    "log": (mp.log, lambda x: 1 / x, lambda x: -1 / x**2, POSITIVE),
    "log2": (
        lambda x: mp.log(x) / mp.log(2),
        lambda x: 1 / (x * mp.log(2)),
        lambda x: -1 / (x**2 * mp.log(2)),
        POSITIVE,
    ),
    "log10": (
        mp.log10,
        lambda x: 1 / (x * mp.log(10)),
        lambda x: -1 / (x**2 * mp.log(10)),
        POSITIVE,
    ),
    "log1p": (mp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2, (-1, mp.inf)),
    "entr": (lambda x: -x * mp.log(x), lambda x: -mp.log(x) - 1, lambda x: -1 / x, POSITIVE),
    "sigmoid": (
        sigma,
        lambda x: sigma(x) * sigma(-x),
        lambda x: sigma(x) * sigma(-x) * (sigma(-x) - sigma(x)),
        REAL,
    ),
    "logit": (
        lambda x: mp.log(x) - mp.log1p(-x),
        lambda x: 1 / (x * (1 - x)),
        lambda x: (2 * x - 1) / (x * (1 - x)) ** 2,
        (0, 1),
    ),
    "sin": (mp.sin, mp.cos, lambda x: -mp.sin(x), REAL),
    "cos": (mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x), REAL),
    "tan": (
        mp.tan,
        lambda x: 1 / mp.cos(x) ** 2,
        lambda x: 2 * mp.tan(x) / mp.cos(x) ** 2,
        REAL,
    ),
    "asin": (
        mp.asin,
        lambda x: 1 / mp.sqrt(1 - x * x),
        lambda x: x / mp.sqrt(1 - x * x) ** 3,
        (-1, 1),
    ),
    "acos": (
        mp.acos,
        lambda x: -1 / mp.sqrt(1 - x * x),
        lambda x: -x / mp.sqrt(1 - x * x) ** 3,
        (-1, 1),
    ),
    "atan": (
        mp.atan,
        lambda x: 1 / (1 + x * x),
        lambda x: -2 * x / (1 + x * x) ** 2,
        REAL,
    ),
    "sinh": (mp.sinh, mp.cosh, mp.sinh, REAL),
    "cosh": (mp.cosh, mp.sinh, mp.cosh, REAL),
    "tanh": (
        mp.tanh,
        lambda x: sech(x) ** 2,
        lambda x: -2 * mp.tanh(x) * sech(x) ** 2,
        REAL,
    ),
    "asinh": (
        mp.asinh,
        lambda x: 1 / mp.sqrt(1 + x * x),
        lambda x: -x / mp.sqrt(1 + x * x) ** 3,
        REAL,
    ),
    "acosh": (
        mp.acosh,
        lambda x: 1 / mp.sqrt(x * x - 1),
        lambda x: -x / mp.sqrt(x * x - 1) ** 3,
        (1, mp.inf),
    ),
    "atanh": (
        mp.atanh,
        lambda x: 1 / (1 - x * x),
        lambda x: 2 * x / (1 - x * x) ** 2,
        (-1, 1),
    ),
    "sinc": (_sinc, _sinc1, _sinc2, REAL),
    "deg2rad": (mp.radians, lambda x: mp.pi / 180, lambda x: 0, REAL),
    "rad2deg": (mp.degrees, lambda x: 180 / mp.pi, lambda x: 0, REAL),
    "erf": (
        mp.erf,
        lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        REAL,
    ),
    "erfc": (
        _erfc,
        lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: 4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        REAL,
    ),
    "erfcx": (_erfcx, _erfcx1, _erfcx2, REAL),
    "exp_neg_square": (
        lambda x: mp.exp(-x * x),
        lambda x: -2 * x * mp.exp(-x * x),
        lambda x: (4 * x * x - 2) * mp.exp(-x * x),
        REAL,
    ),
    "ndtr": (_ndtr, _density, lambda x: -x * _density(x), REAL),
    "log_ndtr": (_log_ndtr, _hazard, _hazard1, REAL),
    "lgamma": (_lgamma, mp.digamma, lambda x: mp.psi(1, x), REAL),
    "digamma": (mp.digamma, lambda x: mp.psi(1, x), lambda x: mp.psi(2, x), REAL),
    "polygamma_of": (*(lambda x, n=n: mp.psi(n, x) for n in (1, 2, 3)), REAL),
    "erfinv": (
        mp.erfinv,
        _erfinv1,
        lambda x: 2 * mp.erfinv(x) * _erfinv1(x) ** 2,
        (-1, 1),
    ),
    "ndtri": (_ndtri, _ndtri1, lambda p: _ndtri(p) * _ndtri1(p) ** 2, (0, 1)),
    "i0": (
        partial(_bessel, 0),
        partial(_bessel, 1),
        lambda x: (_bessel(0, x) + _bessel(2, x)) / 2,
        REAL,
    ),
    "i1": (
        partial(_bessel, 1),
        lambda x: (_bessel(0, x) + _bessel(2, x)) / 2,
        lambda x: (3 * _bessel(1, x) + _bessel(3, x)) / 4,
        REAL,
    ),
    "i0e": (_i0e, _i0e1, _i0e2, REAL),
    "i1e": (_i1e, _i1e1, _i1e2, REAL),
}


def _sp(x):
    return x + mp.log1p(mp.exp(-x)) if x > 0 else mp.log1p(mp.exp(x))


def _step(x):
    return 1 if x > 0 else 0


def _mish1(x):
    bend = sech(_sp(x)) ** 2 * sigma(x)
    return mp.tanh(_sp(x)) + x * bend


def _mish2(x):
    s, t, c = sigma(x), mp.tanh(_sp(x)), sech(_sp(x)) ** 2
    return 2 * c * s + x * c * s * (sigma(-x) - 2 * t * s)


_ROOT = mp.sqrt(2 / mp.pi)
_CUBE = mp.mpf(0.044715)


def _gelu_tanh(x):
    return x * sigma(2 * _ROOT * (x + _CUBE * x**3))


def _gelu_tanh1(x):
    inner, rise = 2 * _ROOT * (x + _CUBE * x**3), 2 * _ROOT * (1 + 3 * _CUBE * x * x)
    return sigma(inner) * (1 + x * sigma(-inner) * rise)


def _gelu_tanh2(x):
    inner, rise = 2 * _ROOT * (x + _CUBE * x**3), 2 * _ROOT * (1 + 3 * _CUBE * x * x)
    bend = 2 * rise + x * 12 * _ROOT * _CUBE * x
    return sigma(inner) * sigma(-inner) * (bend + x * rise**2 * (sigma(-inner) - sigma(inner)))


def _tanhshrink(x):
    with mp.workdps(1000):
        return x - mp.tanh(x)


_SELU = mp.mpf(1.6732632423543772)
_SCALE = mp.mpf(1.0507009873554805)


def pieces(*parts):
    """A function by pieces: pairs of an upper bound and the piece below it or at it."""

    def function(x):
        return next(piece(x) for bound, piece in parts if x <= bound)

    return function


ZERO, UNIT, SAME = (lambda x: 0), (lambda x: 1), (lambda x: x)

TABLE |= {  # activations
    "neg": (lambda x: -x, lambda x: -1, ZERO, REAL),
    "positive": (SAME, UNIT, ZERO, REAL),
    "abs": (abs, mp.sign, ZERO, REAL),
    "sign": (mp.sign, ZERO, ZERO, REAL),
    "floor": (mp.floor, ZERO, ZERO, REAL),
    "ceil": (mp.ceil, ZERO, ZERO, REAL),
    "trunc": (lambda x: mp.sign(x) * mp.floor(abs(x)), ZERO, ZERO, REAL),
    "frac": (lambda x: x - mp.sign(x) * mp.floor(abs(x)), UNIT, ZERO, REAL),
    "nan_to_num": (SAME, UNIT, ZERO, REAL),
    "relu": (lambda x: max(x, 0), _step, ZERO, REAL),
    "relu6": (
        lambda x: min(max(x, 0), 6),
        lambda x: 1 if 0 < x < 6 else 0,
        ZERO,
        REAL,
    ),
    "hardtanh": (
        lambda x: min(max(x, -1), 1),
        lambda x: 1 if -1 < x < 1 else 0,
        ZERO,
        REAL,
    ),
    "leaky_relu": (
        lambda x: x if x > 0 else mp.mpf(0.01) * x,
        lambda x: 1 if x > 0 else mp.mpf(0.01),
        ZERO,
        REAL,
    ),
    "hardsigmoid": (
        lambda x: min(max(x + 3, 0), 6) / mp.mpf(6),
        lambda x: ONE / 6 if -3 < x < 3 else 0,
        ZERO,
        REAL,
    ),
    "hardswish": (
        lambda x: x * min(max(x + 3, 0), 6) / mp.mpf(6),
        lambda x: 0 if x <= -3 else 1 if x >= 3 else x / 3 + mp.mpf(0.5),
        lambda x: ONE / 3 if -3 < x < 3 else 0,
        REAL,
    ),
    "hardshrink": (
        lambda x: x if abs(x) > 0.5 else 0,
        lambda x: 1 if abs(x) > 0.5 else 0,
        ZERO,
        REAL,
    ),
    "softshrink": (
        lambda x: x - mp.sign(x) / 2 if abs(x) > 0.5 else 0,
        lambda x: 1 if abs(x) > 0.5 else 0,
        ZERO,
        REAL,
    ),
    "elu": (
        pieces((0, mp.expm1), (mp.inf, SAME)),
        pieces((0, mp.exp), (mp.inf, UNIT)),
        pieces((0, mp.exp), (mp.inf, ZERO)),
        REAL,
    ),
    "celu": (
        pieces((0, mp.expm1), (mp.inf, SAME)),
        pieces((0, mp.exp), (mp.inf, UNIT)),
        pieces((0, mp.exp), (mp.inf, ZERO)),
        REAL,
    ),
    "selu": (
        pieces((0, lambda x: _SCALE * _SELU * mp.expm1(x)), (mp.inf, lambda x: _SCALE * x)),
        pieces((0, lambda x: _SCALE * _SELU * mp.exp(x)), (mp.inf, lambda x: _SCALE)),
        pieces((0, lambda x: _SCALE * _SELU * mp.exp(x)), (mp.inf, ZERO)),
        REAL,
    ),
    "softplus": (_sp, sigma, lambda x: sigma(x) * sigma(-x), REAL),
    "logsigmoid": (
        lambda x: -_sp(-x),
        lambda x: sigma(-x),
        lambda x: -sigma(x) * sigma(-x),
        REAL,
    ),
    "silu": (
        lambda x: x * sigma(x),
        lambda x: sigma(x) + x * sigma(x) * sigma(-x),
        lambda x: sigma(x) * sigma(-x) * (2 + x * (sigma(-x) - sigma(x))),
        REAL,
    ),
    "gelu": (
        lambda x: x * _ndtr(x),
        lambda x: _ndtr(x) + x * _density(x),
        lambda x: (2 - x * x) * _density(x),
        REAL,
    ),
    "gelu_tanh": (_gelu_tanh, _gelu_tanh1, _gelu_tanh2, REAL),
    "mish": (lambda x: x * mp.tanh(_sp(x)), _mish1, _mish2, REAL),
    "softsign": (
        lambda x: x / (1 + abs(x)),
        lambda x: 1 / (1 + abs(x)) ** 2,
        lambda x: -2 * mp.sign(x) / (1 + abs(x)) ** 3,
        REAL,
    ),
    "tanhshrink": (
        _tanhshrink,
        lambda x: mp.tanh(x) ** 2,
        lambda x: 2 * mp.tanh(x) * sech(x) ** 2,
        REAL,
    ),
}
FORMS = {"gelu_tanh": ("gelu", {"approximate": "tanh"})}
"""Rows of an operation with parameters."""

OTHERWISE = {
    "threshold": "it must be given two parameters; its value is one of them or the input",
    "mvlgamma": "a sum of lgamma, whose row is here",
    "round": "a number rounds to an int; test_numbers",
    "sech_square": "the slope of tanh, with the row of which it is compared",
    "erfc_ratio": "the slope of log_ndtr and part of erfcx, with the rows of which it is compared",
    "bessel_moment": "the slope of i0e and i1e, with the rows of which it is compared",
    "bessel_i": "the slope of i0 and i1, with the rows of which it is compared",
    "ndtri_slope": "the slope of ndtri, with the row of which it is compared",
    "erfinv_slope": "the slope of erfinv, with the row of which it is compared",
}
"""Operations of one argument that have no row, and why."""

POLES = {"lgamma", "digamma", "polygamma_of"}
"""Ops without a derivative at 0, -1, -2, ..."""


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
        *([math.inf, -math.inf, math.nan] if name.startswith(("is", "log")) else []),
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


def is_pole(name: str, x: float) -> bool:
    return name in POLES and x < 0 and x == int(x)


def check(name: str, x, what: str, got, true, slope=0) -> None:
    """`slope` is that of what is looked at, where its argument is rounded, or the function of it,
    which is asked only where the value itself does not say enough.
    """
    got = float(got)
    if got == float(true):  # as near as a float can be
        return
    largest = mp.mpf(2) ** 1024
    if abs(true) >= largest * (1 - mp.mpf(2) ** -50):
        assert abs(got) > 1e308, f"{what} of {name} at {x!r}: got {got!r}, expected overflow"
        return
    error = abs(mp.mpf(got) - true) if np.isfinite(got) else mp.inf
    scale = abs(true)
    if error <= BOUND * scale:
        return
    if slope:
        z = mp.mpf(x)
        scale += abs(z * (slope(z) if callable(slope) else slope))
    assert error <= BOUND * scale + TINY, (
        f"{what} of {name} at {x!r}: got {got!r}, expected {mp.nstr(true, 20)}, "
        f"off by {mp.nstr(error / scale, 3)} of the scale"
    )


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
