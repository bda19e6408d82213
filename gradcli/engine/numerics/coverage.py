"""Coverage factors: quantiles of the normal distribution and of Student's, without SciPy."""

from __future__ import annotations

from collections.abc import Callable
from math import erfc, exp, inf, lgamma, log, log1p, pi, sqrt

_LARGE = 1e3  # degrees of freedom from which a series in their inverse has all digits
_TURNS = 500  # of a continued fraction, far more than it takes
_STEPS = 200  # of a search for a root, far more than it takes
_TINY = 1e-300
_EPS = 2.0**-53


def coverage_factor(level: float, dof: float = inf) -> float:
    """The number of standard uncertainties on either side of the mean that a level covers.

    Args:
        level: A probability between 0 and 1.
        dof: Degrees of freedom of Student's distribution, above 0; infinite for the normal one.

    Source:
        JCGM 100:2008, annex G.
    """
    normal = _solved(lambda z: erfc(z / sqrt(2.0)), _normal_slope, 1.0 - level, 1.0)
    if dof == inf:
        return normal
    if dof >= _LARGE:
        return _expanded(normal, dof)
    constant = exp(lgamma((dof + 1.0) / 2.0) - lgamma(dof / 2.0)) / sqrt(dof * pi)

    def slope(t: float) -> float:
        return -2.0 * constant * exp(-(dof + 1.0) / 2.0 * log1p(t * t / dof))

    return _solved(lambda t: _outside(t, dof), slope, 1.0 - level, normal)


def _normal_slope(z: float) -> float:
    return -2.0 * exp(-z * z / 2.0) / sqrt(2.0 * pi)


def _expanded(z: float, dof: float) -> float:
    """Student's quantile from the normal one: Abramowitz and Stegun 26.7.5."""
    s = z * z
    terms = (
        (s + 1.0) * z / 4.0,
        ((5.0 * s + 16.0) * s + 3.0) * z / 96.0,
        (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) * z / 384.0,
        ((((79.0 * s + 776.0) * s + 1482.0) * s - 1920.0) * s - 945.0) * z / 92160.0,
    )
    found, power = z, 1.0
    for term in terms:
        power /= dof
        found += term * power
    return found


def _solved(
    tail: Callable[[float], float], slope: Callable[[float], float], wanted: float, start: float
) -> float:
    """The positive place at which a falling tail probability has a value: Newton's steps, and the
    middle of the bracket where one leaves it.
    """
    if wanted >= 1.0:
        return 0.0
    low, high = 0.0, max(start, 1.0)
    while tail(high) > wanted:
        low, high = high, 2.0 * high
    x = min(max(start, low), high)
    for _ in range(_STEPS):
        off = tail(x) - wanted
        if off > 0.0:
            low = x
        else:
            high = x
        by = slope(x)
        step = -off / by if by else inf
        new = x + step
        if not low < new < high:
            new = (low + high) / 2.0
        if abs(new - x) <= 4.0 * _EPS * x:
            return new
        x = new
    return x


def _outside(t: float, dof: float) -> float:
    """The probability that Student's variable is farther from zero than t.

    Source:
        DLMF 8.17.22, the continued fraction of the incomplete beta function.
    """
    x = dof / (dof + t * t)
    a, b = dof / 2.0, 0.5
    if x == 1.0:
        return 1.0
    if x < (a + 1.0) / (a + b + 2.0):
        return _incomplete_beta(a, b, x)
    return 1.0 - _incomplete_beta(b, a, t * t / (dof + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, for an x below the mean of its distribution."""
    if x <= 0.0:
        return 0.0
    front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, _TURNS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 / _away(1.0 + factor * d)
            c = _away(1.0 + factor / c)
            found *= c * d
        if abs(c * d - 1.0) < 2.0 * _EPS:
            break
    return exp(front) * found / a


def _away(x: float) -> float:
    """A number that can be divided by."""
    return x if abs(x) > _TINY else _TINY
