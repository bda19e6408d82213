"""The error function and its kin to the last digits, on numbers and arrays.

All of them come from erfcx(x) = e ** (x x) erfc(x), which neither overflows nor vanishes for x
above 0, and from e ** -(x x) with x x exact.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from gradcli.engine.numerics.expansions import ERF, ERFCX, IERFCX
from gradcli.engine.numerics.piecewise import pieces, polynomial

SQRT_HALF = sqrt(0.5)
ONE_OVER_SQRT_PI = 1.0 / sqrt(pi)
FAR = 64.0
"""Beyond it e ** -(x x / 2) is 0 in double precision."""

_SPLIT = 2.0**27 + 1.0  # x * _SPLIT rounded in two ways leaves the upper half of the digits of x
_HUGE = 1e8  # from here on the first term of the asymptotic series is exact


def exp_neg_square(x: Any, m: Any, share: float = 1.0) -> Any:
    """E ** -(share x x), with no digit lost to the rounding of x x; share is a power of two."""
    x = m.minimum(m.maximum(x, -FAR), FAR)
    t = _SPLIT * x
    high = t - (t - x)
    return m.exp(-share * high * high) * m.exp(share * (high - x) * (high + x))


def _erf_near(x: Any, m: Any) -> Any:
    return x * polynomial(2.0 * x * x - 1.0, ERF)


def erfc_tail(x: Any, m: Any) -> Any:
    """Erfc of x from 0 on."""
    return exp_neg_square(x, m) * _erfcx_above(x, m)


def erf(x: Any, m: Any) -> Any:
    """The error function."""
    return pieces(
        x,
        m,
        (-1.0, 1.0),
        (lambda x, m: erfc_tail(-x, m) - 1.0, _erf_near, lambda x, m: 1.0 - erfc_tail(x, m)),
    )


def erfc(x: Any, m: Any) -> Any:
    """1 - erf(x)."""
    return pieces(
        x,
        m,
        (-1.0, 0.5),
        (lambda x, m: 2.0 - erfc_tail(-x, m), lambda x, m: 1.0 - _erf_near(x, m), erfc_tail),
    )


def _place(x: Any) -> Any:
    """Argument of the expansions for x from 0 on."""
    return (x - 3.0) / (x + 3.0)


def _erfcx_below(x: Any, m: Any) -> Any:
    return 2.0 * exp_neg_square(x, m, -1.0) - _erfcx_above(-x, m)


def _erfcx_zero(x: Any, m: Any) -> Any:
    return exp_neg_square(x, m, -1.0) * (1.0 - _erf_near(x, m))


def _erfcx_near(x: Any, m: Any) -> Any:
    return polynomial(_place(x), ERFCX) / (1.0 + 2.0 * x)


def _erfcx_far(x: Any, m: Any) -> Any:
    return ONE_OVER_SQRT_PI / x


def _erfcx_above(x: Any, m: Any) -> Any:
    return pieces(x, m, (0.5, _HUGE), (_erfcx_zero, _erfcx_near, _erfcx_far))


def erfcx(x: Any, m: Any) -> Any:
    """E ** (x x) erfc(x)."""
    return pieces(x, m, (-0.5, 0.5, _HUGE), (_erfcx_below, _erfcx_zero, _erfcx_near, _erfcx_far))


def erfc_ratio(x: Any, m: Any, n: int = 1) -> Any:
    """Ratio of the n-fold integral of erfc from x to infinity to the (n - 1)-fold one, n from 1 on.

    With it the derivatives of erfcx and of log(erfc) are products: erfcx' = -2 erfcx erfc_ratio(1).
    Their usual formulas subtract nearly equal numbers.
    """
    if n == 1:
        return pieces(x, m, (0.0, _HUGE), (_ratio_below, _ratio_near, lambda x, m: 0.5 / x))
    return pieces(x, m, (1.0,), (lambda x, m: _upward(x, m, n), lambda x, m: _downward(x, m, n)))


def _ratio_below(x: Any, m: Any) -> Any:
    return ONE_OVER_SQRT_PI / erfcx(x, m) - x


def _ratio_near(x: Any, m: Any) -> Any:
    t = _place(x)
    return polynomial(t, IERFCX) / (polynomial(t, ERFCX) * (1.0 + 2.0 * x))


def _upward(x: Any, m: Any, n: int) -> Any:
    """By the recurrence upward, whose errors grow for x above 0, but little below 1."""
    r = erfc_ratio(x, m, 1)
    for k in range(2, n + 1):
        r = (1.0 / r - 2.0 * x) / (2 * k)
    return r


def _downward(x: Any, m: Any, n: int) -> Any:
    """By the recurrence downward, the continued fraction, which forgets its start for x above 0."""
    least = x if isinstance(x, float) else float(m.fmin.reduce(x))
    last = n + 8 + (int((15.0 / min(least, 15.0)) ** 2) if least >= 1.0 else 0)  # nan needs none
    r = 1.0 / (x + m.sqrt(x * x + 2.0 * last))
    for k in range(last, n, -1):
        r = 0.5 / (x + k * r)
    return r


def ndtr(x: Any, m: Any) -> Any:
    """Standard normal distribution function."""
    return pieces(
        x, m, (0.0,), (lambda x, m: _normal_tail(-x, m), lambda x, m: 1.0 - _normal_tail(x, m))
    )


def _normal_tail(x: Any, m: Any) -> Any:
    return 0.5 * exp_neg_square(x, m, 0.5) * _erfcx_above(SQRT_HALF * x, m)


def log_ndtr(x: Any, m: Any) -> Any:
    """Logarithm of the standard normal distribution function."""
    return pieces(
        x,
        m,
        (0.0,),
        (
            lambda x, m: m.log(0.5 * _erfcx_above(-SQRT_HALF * x, m)) - 0.5 * x * x,
            lambda x, m: m.log1p(-_normal_tail(x, m)),
        ),
    )
