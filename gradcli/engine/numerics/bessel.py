"""Moments of the modified Bessel functions, which give the derivatives of i0e and i1e.

i0e(x) is the mean of e ** (-x w) over an angle t, with w = 1 - cos(t). Its n-th derivative at
x > 0 is, but for the sign, the mean of w ** n e ** (-x w): a sum of positive numbers where
differences of scaled Bessel functions cancel.
"""

from __future__ import annotations

from math import comb, gamma, pi, sin, sqrt
from typing import Any

from gradcli.engine.numerics.piecewise import pieces

_STEPS = 32
_WEIGHTS = tuple(2.0 * sin(0.5 * pi * j / _STEPS) ** 2 for j in range(_STEPS + 1))
"""1 - cos(t) at equal steps of half a turn."""

_FAR = 30.0


def moment(x: Any, m: Any, n: int = 0) -> Any:
    """Mean of w ** n e ** (-|x| w)."""
    return pieces(
        abs(x),
        m,
        (5e-324, _FAR),
        (
            lambda x, m: x + comb(2 * n, n) / 2.0**n,
            lambda x, m: _mean(x, m, n),
            lambda x, m: _asymptotic(x, m, n),
        ),
    )


def _mean(x: Any, m: Any, n: int) -> Any:
    """By the trapezoidal rule, which is exact for a periodic function of few frequencies."""
    total = 0.5 * (0.0**n + 2.0**n * m.exp(-2.0 * x))
    for w in _WEIGHTS[1:-1]:
        total = total + w**n * m.exp(-x * w)
    return total / _STEPS


def _asymptotic(x: Any, m: Any, n: int) -> Any:
    """By the binomial series of the density of w, whose terms are positive, too."""
    y = 1.0 / x
    term = total = gamma(n + 0.5) / (pi * sqrt(2.0)) * m.sqrt(y) * y**n
    for k in range(20 + n):
        term = term * ((2 * k + 1) * (n + k + 0.5) / (4 * (k + 1))) * y
        total = total + term
    return total
