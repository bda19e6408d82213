"""Quantiles, and figures that compare models.

Source of the criteria: R's `logLik.nls` and `AIC`, which count the variance as a parameter.
"""

from __future__ import annotations

from math import inf, log, nan, pi
from typing import Any


def quantile(level: float, dof: float) -> float:
    """The half-width of an interval in standard errors: Student's t, or the normal's for infinitely
    many degrees of freedom.
    """
    special = _special()
    tail = 0.5 * (1.0 + level)
    if dof <= 0:
        return nan
    return float(special.ndtri(tail) if dof == inf else special.stdtrit(dof, tail))


def two_sided(ratio: float, dof: float) -> float:
    """The probability that an estimate of nothing is as many errors from zero."""
    special = _special()
    if dof <= 0:
        return nan
    size = -abs(ratio)
    return 2.0 * float(special.ndtr(size) if dof == inf else special.stdtr(dof, size))


def beyond_f(ratio: float, more: float, dof: float) -> float:
    """The probability of a larger F."""
    return float(_special().fdtrc(more, dof, ratio))


def beyond_chi(squares: float, dof: float) -> float:
    """The probability of a larger chi squared."""
    return float(_special().chdtrc(dof, squares))


def _special() -> Any:
    from scipy import special  # type: ignore[import-untyped]

    return special


def minus_two_log(squares: float, weighed: float, count: int) -> float:
    """-2 log L of normal residuals whose variance is RSS/n over their weights.

    Args:
        squares: The weighted sum of squares.
        weighed: The sum of the logarithms of the weights.
        count: How many residuals there are.
    """
    if squares <= 0.0:
        return -inf
    return count * (log(2.0 * pi) + 1.0 + log(squares / count)) - weighed


def minus_two_log_known(squares: float, logs: float, count: int) -> float:
    """-2 log L of normal residuals whose deviations are known; `logs` is the sum of theirs."""
    return count * log(2.0 * pi) + 2.0 * logs + squares


def explained(squares: float, total: float) -> float:
    """R squared: the part of the weighted variance about the mean, a sum of squares, that a model
    explains.
    """
    return 1.0 - squares / total if total > 0.0 else nan
