"""Losses that grow more slowly than squares, for residuals with outliers.

The search weights the residuals anew and solves a problem of least squares, in turn. Each loss is
C^2 rho((r/C)^2), with C the loss scale, as SciPy has them.

Source: Huber and Ronchetti, Robust Statistics, 2nd ed. (2009), sections 7.6 and 7.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from gradcli.models.median import median
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


def spread(residuals: Callable[[], Iterable[Array]]) -> float:
    """The deviation of residuals, by the median of their sizes; outliers do not move it."""
    return NORMAL * median(lambda: map(np.abs, residuals()))


def weights(loss: Loss, residuals: Array, scale: float) -> Array:
    """What each squared residual is multiplied by."""
    return loss.slope((residuals / scale) ** 2)


def cost(loss: Loss, residuals: Iterable[Array], scale: float) -> float:
    """The sum of the losses, in place of the sum of squares."""
    return scale**2 * sum(float(np.sum(loss.value((part / scale) ** 2))) for part in residuals)


def sandwich(loss: Loss, residuals: Iterable[Array], scale: float, estimated: int) -> float:
    """Huber's factor of (J'J)^-1: the mean of psi^2 over the square of the mean of its slope.

    Args:
        loss: The loss.
        residuals: The residuals at the solution, some at a time.
        scale: The scale of the loss, in their unit.
        estimated: How many parameters were estimated.
    """
    count, squares, bent = 0, 0.0, 0.0
    for part in residuals:
        z = (part / scale) ** 2
        slope = loss.slope(z)
        count += len(part)
        squares += float(np.sum((part * slope) ** 2))
        bent += float(np.sum(slope + 2.0 * z * loss.bend(z)))
    if count <= estimated or not bent > 0.0:
        return float("nan")
    return count / (count - estimated) * (squares / count) / (bent / count) ** 2
