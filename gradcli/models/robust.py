"""Losses that grow more slowly than squares, for residuals with outliers.

The search weights the residuals anew and solves a problem of least squares, in turn. Each loss is
C^2 rho((r/C)^2), with C the loss scale, as SciPy has them.

Source: Huber and Ronchetti, Robust Statistics, 2nd ed. (2009), sections 7.6 and 7.8.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradcli.models.median import Each, Numbers, median
from gradcli.models.triangle import Array

NORMAL = 1.4826  # times the median of |r|: the deviation of normal residuals
TUNED = 1.345  # of those: the usual scale of a loss


class Loss(NamedTuple):
    """A loss by z, the square of a residual over the scale.

    Fields:
        value: rho(z).
        slope: Its derivative, the weight of the residual.
        bend: Its second derivative.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    bend: Callable[[Array], Array]


LOSSES = {
    "soft-l1": Loss(
        lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
        lambda z: (1.0 + z) ** -0.5,
        lambda z: -0.5 * (1.0 + z) ** -1.5,
    ),
    "huber": Loss(
        lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(z) - 1.0),
        lambda z: np.maximum(z, 1.0) ** -0.5,
        lambda z: np.where(z <= 1.0, 0.0, -0.5 * np.maximum(z, 1.0) ** -1.5),
    ),
    "cauchy": Loss(
        np.log1p,
        lambda z: 1.0 / (1.0 + z),
        lambda z: -((1.0 + z) ** -2.0),
    ),
    "arctan": Loss(
        np.arctan,
        lambda z: 1.0 / (1.0 + z * z),
        lambda z: -2.0 * z / (1.0 + z * z) ** 2,
    ),
}
"""The losses by name; `linear`, the plain square, needs none."""


def spread(each: Each) -> float:
    """The deviation of residuals, by the median of their sizes; outliers do not move it.

    Args:
        each: Asks the residuals, part by part.
    """
    return NORMAL * median(partial(each, _of_sizes))


def _of_sizes(residuals: Numbers, function: Callable[..., Any], *more: Any) -> Any:
    return function(map(np.abs, residuals), *more)


def weights(loss: str, residuals: Array, scale: float) -> Array:
    """What each squared residual is multiplied by. Arguments as of `sandwich`."""
    return LOSSES[loss].slope((residuals / scale) ** 2)


def cost(each: Each, loss: str, scale: float) -> float:
    """The sum of the losses, in place of the sum of squares. Arguments as of `sandwich`."""
    return scale**2 * sum(each(_losses, loss, scale))


def _losses(residuals: Numbers, loss: str, scale: float) -> float:
    value = LOSSES[loss].value
    return sum(float(np.sum(value((part / scale) ** 2))) for part in residuals)


def sandwich(each: Each, loss: str, scale: float, estimated: int) -> float:
    """Huber's factor of (J'J)^-1: the mean of psi^2 over the square of the mean of its slope.

    Args:
        each: Asks the residuals at the solution, part by part.
        loss: The name of the loss.
        scale: The scale of the loss, in their unit.
        estimated: How many parameters were estimated.
    """
    count, squares, bent = 0, 0.0, 0.0
    for more in each(_bends, loss, scale):
        count, squares, bent = count + more[0], squares + more[1], bent + more[2]
    if count <= estimated or not bent > 0.0:
        return float("nan")
    return count / (count - estimated) * (squares / count) / (bent / count) ** 2


def _bends(residuals: Numbers, name: str, scale: float) -> tuple[int, float, float]:
    """How many residuals there are, and the sums of psi^2 and of the slopes of psi."""
    loss = LOSSES[name]
    count, squares, bent = 0, 0.0, 0.0
    for part in residuals:
        z = (part / scale) ** 2
        slope = loss.slope(z)
        count += len(part)
        squares += float(np.sum((part * slope) ** 2))
        bent += float(np.sum(slope + 2.0 * z * loss.bend(z)))
    return count, squares, bent
