"""True values, first and second derivatives of unary ops, by mpmath, and where to ask."""

from __future__ import annotations

from functools import partial

import mpmath as mp
import numpy as np
from support.checks.true_functions import (
    ONE,
    bessel,
    density,
    erfc,
    erfcx,
    erfcx1,
    erfcx2,
    erfinv1,
    hazard,
    hazard1,
    i0e,
    i0e1,
    i0e2,
    i1e,
    i1e1,
    i1e2,
    lgamma,
    log_ndtr,
    ndtr,
    ndtri,
    ndtri1,
    sech,
    sigma,
    sigma2,
    sinc,
    sinc1,
    sinc2,
)

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
    "math_cbrt": (
        lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        lambda x: mp.cbrt(abs(x)) ** -2 / 3,
        lambda x: -2 * mp.sign(x) * mp.cbrt(abs(x)) ** -5 / 9,
        REAL,
    ),
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
        sigma2,
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
    "sinc": (sinc, sinc1, sinc2, REAL),
    "deg2rad": (mp.radians, lambda x: mp.pi / 180, lambda x: 0, REAL),
    "rad2deg": (mp.degrees, lambda x: 180 / mp.pi, lambda x: 0, REAL),
    "erf": (
        mp.erf,
        lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        REAL,
    ),
    "erfc": (
        erfc,
        lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
        lambda x: 4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x),
        REAL,
    ),
    "erfcx": (erfcx, erfcx1, erfcx2, REAL),
    "exp_neg_square": (
        lambda x: mp.exp(-x * x),
        lambda x: -2 * x * mp.exp(-x * x),
        lambda x: (4 * x * x - 2) * mp.exp(-x * x),
        REAL,
    ),
    "ndtr": (ndtr, density, lambda x: -x * density(x), REAL),
    "log_ndtr": (log_ndtr, hazard, hazard1, REAL),
    "lgamma": (lgamma, mp.digamma, lambda x: mp.psi(1, x), REAL),
    "digamma": (mp.digamma, lambda x: mp.psi(1, x), lambda x: mp.psi(2, x), REAL),
    "polygamma_of": (*(lambda x, n=n: mp.psi(n, x) for n in (1, 2, 3)), REAL),
    "erfinv": (
        mp.erfinv,
        erfinv1,
        lambda x: 2 * mp.erfinv(x) * erfinv1(x) ** 2,
        (-1, 1),
    ),
    "ndtri": (ndtri, ndtri1, lambda p: ndtri(p) * ndtri1(p) ** 2, (0, 1)),
    "i0": (
        partial(bessel, 0),
        partial(bessel, 1),
        lambda x: (bessel(0, x) + bessel(2, x)) / 2,
        REAL,
    ),
    "i1": (
        partial(bessel, 1),
        lambda x: (bessel(0, x) + bessel(2, x)) / 2,
        lambda x: (3 * bessel(1, x) + bessel(3, x)) / 4,
        REAL,
    ),
    "i0e": (i0e, i0e1, i0e2, REAL),
    "i1e": (i1e, i1e1, i1e2, REAL),
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
        lambda x: x * ndtr(x),
        lambda x: ndtr(x) + x * density(x),
        lambda x: (2 - x * x) * density(x),
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

POLES = {"lgamma", "digamma", "polygamma_of"}
"""Ops without a derivative at 0, -1, -2, ..."""


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
