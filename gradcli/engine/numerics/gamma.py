"""The gamma function's logarithm and its derivatives, on numbers and arrays.

Below 8 a step of the recurrence leads to 1 ... 2, where a polynomial times the factors that make
the zeros keeps every digit beside them; from 8 on there are Stirling's series.
"""

from __future__ import annotations

from functools import lru_cache
from math import factorial, inf, log, pi
from typing import Any

from gradcli.engine.numerics.expansions import DIGAMMA, DIGAMMA_ZERO, LGAMMA
from gradcli.engine.numerics.piecewise import pieces, polynomial

HALF_LOG_TWO_PI = 0.5 * log(2.0 * pi)
LOG_PI = log(pi)

_BERNOULLI = (
    *(1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510),
    *(43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730),
)
"""Bernoulli's numbers with the indices 2, 4, 6, ..."""

_STIRLING = tuple(b / ((2 * j + 2) * (2 * j + 1)) for j, b in enumerate(_BERNOULLI[:9]))[::-1]
_DIGAMMA_SERIES = tuple(b / (2 * j + 2) for j, b in enumerate(_BERNOULLI[:10]))[::-1]
_WHOLE = -(2.0**52)  # up to here every number is a whole one
_AFTER_MINUS_ONE = -1.0 + 2.0**-53
_LEAST = 5e-324
_HUGE = 1e30
_LARGEST_FACTORIAL = 170  # of those that are doubles


def lgamma(x: Any, m: Any) -> Any:
    """Logarithm of |gamma(x)|; inf at its poles."""
    return pieces(x, m, _LGAMMA_BOUNDS, _LGAMMA_PIECES)


def _lgamma_reflected(x: Any, m: Any) -> Any:
    """Below -1, by gamma(x) gamma(-x) = -pi / (x sin(pi x))."""
    return -m.log(-x / pi * abs(m.sin(pi * _beside_whole(x, m)))) - _lgamma_above_one(-x, m)


def _lgamma_below_zero(x: Any, m: Any) -> Any:
    below_one, below_two = _LGAMMA_PIECES[3:5]  # x + 1 may be rounded to 1
    return pieces(x + 1.0, m, (1.0,), (below_one, below_two)) - m.log(-x)


def _lgamma_above_one(x: Any, m: Any) -> Any:
    return pieces(x, m, _LGAMMA_BOUNDS[4:], _LGAMMA_PIECES[4:])


def _lgamma_below_one(x: Any, m: Any) -> Any:
    return x * (x - 1.0) * polynomial(2.0 * x - 1.0, LGAMMA) - m.log(x)


def _lgamma_below_two(x: Any, m: Any) -> Any:
    return (1.0 - x) * (2.0 - x) * polynomial(2.0 * x - 3.0, LGAMMA)


def _lgamma_below_three(x: Any, m: Any) -> Any:
    return (x - 2.0) * (x - 3.0) * polynomial(2.0 * x - 5.0, LGAMMA) + m.log(x - 1.0)


def _lgamma_middle(x: Any, m: Any) -> Any:
    product = 1.0
    for _ in range(5):
        more = x >= 3.0
        x = x - more
        product = product * (more * (x - 1.0) + 1.0)
    return (x - 2.0) * (x - 3.0) * polynomial(2.0 * x - 5.0, LGAMMA) + m.log(product * (x - 1.0))


def _lgamma_far(x: Any, m: Any) -> Any:
    series = polynomial(1.0 / x / x, _STIRLING) / x
    return (x - 0.5) * (m.log(x) - 1.0) + (HALF_LOG_TWO_PI - 0.5 + series)


_LGAMMA_BOUNDS = (_WHOLE, -1.0, 0.0, 1.0, 2.0, 3.0, 8.0)
_LGAMMA_PIECES = (
    lambda x, m: x * -inf,
    _lgamma_reflected,
    _lgamma_below_zero,
    _lgamma_below_one,
    _lgamma_below_two,
    _lgamma_below_three,
    _lgamma_middle,
    _lgamma_far,
)


def digamma(x: Any, m: Any) -> Any:
    """Derivative of lgamma; nan at its poles but 0, where it is -inf, and inf at -0."""
    return pieces(x, m, _DIGAMMA_BOUNDS, _DIGAMMA_PIECES)


def _digamma_above_one(x: Any, m: Any) -> Any:
    return pieces(x, m, _DIGAMMA_BOUNDS[2:], _DIGAMMA_PIECES[2:])


def _digamma_above_zero(x: Any, m: Any) -> Any:
    return pieces(x, m, _DIGAMMA_BOUNDS[1:], _DIGAMMA_PIECES_ABOVE_ZERO)


def _digamma_below_one(x: Any, m: Any) -> Any:
    """From 0 on."""
    return _digamma_above_one(x + 1.0, m) - m.reciprocal(x)


def _digamma_reflected(x: Any, m: Any) -> Any:
    """Up to -1, by digamma(x) = digamma(-x) - 1 / x - pi cot(pi x)."""
    r = _beside_whole(x, m)
    cot = pieces(r, m, (0.0, _LEAST), (_cot, lambda r, m: r * inf, _cot))
    return _digamma_above_one(-x, m) - 1.0 / x - pi * cot


def _digamma_near_zero(x: Any, m: Any) -> Any:
    return _digamma_above_zero(x + 1.0, m) - m.reciprocal(x)


def _digamma_below_two(x: Any, m: Any) -> Any:
    zero, rest = DIGAMMA_ZERO
    return (x - zero - rest) * polynomial(2.0 * x - 3.0, DIGAMMA)


def _digamma_middle(x: Any, m: Any) -> Any:
    total = 0.0
    for _ in range(6):
        more = x >= 2.0
        x = x - more
        total = total + more / x
    return _digamma_below_two(x, m) + total


def _digamma_far(x: Any, m: Any) -> Any:
    y = 1.0 / x / x
    return m.log(x) - (0.5 / x + y * polynomial(y, _DIGAMMA_SERIES))


_DIGAMMA_BOUNDS = (_AFTER_MINUS_ONE, 1.0, 2.0, 8.0)
_DIGAMMA_PIECES = (
    _digamma_reflected,
    _digamma_near_zero,
    _digamma_below_two,
    _digamma_middle,
    _digamma_far,
)
_DIGAMMA_PIECES_ABOVE_ZERO = (_digamma_below_one, *_DIGAMMA_PIECES[2:])


def polygamma(x: Any, m: Any, n: int = 1) -> Any:
    """The n-th derivative of digamma; inf (n odd) and -inf (n even) at its poles."""
    if n == 0:
        return digamma(x, m)
    return pieces(
        x,
        m,
        (0.0, _HUGE),
        (
            lambda x, m: _polygamma_reflected(x, m, n),
            lambda x, m: _sign(n) * _power(x, m, n + 1) * _zeta(x, m, n + 1),
            lambda x, m: _sign(n) * _power(x, m, n),
        ),
    )


def _sign(n: int) -> float:
    return 1.0 if n % 2 else -1.0


def _power(x: Any, m: Any, s: int) -> Any:
    """(s - 1)! x ** -s, in halves, since its factors overflow and vanish before it does."""
    if s - 1 > _LARGEST_FACTORIAL:
        return m.exp(lgamma(float(s), _numbers()) - s * m.log(x))
    half = m.power(x, -0.5 * s)
    return float(factorial(s - 1)) * half * half


def _numbers() -> Any:
    from gradcli.engine.numerics import ieee

    return ieee


def _zeta(x: Any, m: Any, s: int) -> Any:
    """X ** s times Hurwitz's zeta function, by the formula of Euler and Maclaurin."""
    total = 1.0
    for k in range(1, 10 + s):
        total = total + (x / (x + k)) ** s
    end = x + (10.0 + s)
    coefficients, rising = [], float(s)
    for j, b in enumerate(_BERNOULLI):
        coefficients.append(b * rising / factorial(2 * j + 2))
        rising *= (s + 2 * j + 1.0) * (s + 2 * j + 2.0)
    series = polynomial(1.0 / end / end, coefficients[::-1]) / end
    return total + (x / end) ** s * (end / (s - 1.0) + 0.5 + series)


def _polygamma_reflected(x: Any, m: Any, n: int) -> Any:
    """Below 0, by the derivatives of digamma(x) = digamma(1 - x) - pi cot(pi x)."""
    s = n + 1
    r = _beside_whole(x, m)
    c = m.cos(pi * r) * m.reciprocal(m.sin(pi * r) + 0.0)
    poles = polynomial(c, _cot_derivative(n))
    if n > _LARGEST_FACTORIAL:
        return _sign(n) * poles * inf
    poles = pi**s * (1.0 + c * c) * poles
    mirrored = _power(1.0 - x, m, s) * _zeta(1.0 - x, m, s)
    return _sign(n) * float(factorial(n)) * poles - mirrored


@lru_cache
def _cot_derivative(n: int) -> tuple[float, ...]:
    """Polynomial Q in c = cot(z) with (-1) ** n n! (1 + c c) Q(c) as the n-th derivative of c.

    Its powers are all even or all odd and its coefficients positive, so that nothing cancels.
    """
    q = [1.0]  # the lowest power first
    for k in range(2, n + 1):
        slope = [i * a for i, a in enumerate(q)][1:]
        grown = [0.0, *(2.0 * a for a in q)]
        for i, a in enumerate(slope):
            grown[i] += a
            grown[i + 2] += a
        q = [a / k for a in grown]
    return tuple(reversed(q))


def _cot(r: Any, m: Any) -> Any:
    return m.cos(pi * r) / m.sin(pi * r)


def _beside_whole(x: Any, m: Any) -> Any:
    """The exact difference of x, which is not above 0, from the nearest whole number."""
    r = m.fmod(x, 1.0)
    return r + (r < -0.5)


def mvlgamma(x: Any, m: Any, p: int) -> Any:
    """Logarithm of the multivariate gamma function of dimension p."""
    total = 0.25 * p * (p - 1) * LOG_PI + lgamma(x, m)
    for j in range(1, p):
        total = total + lgamma(x - 0.5 * j, m)
    return total
