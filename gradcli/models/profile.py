"""Intervals by profiles: one parameter is held, all others are fitted again.

Source: Bates and Watts, Nonlinear Regression Analysis and Its Applications (1988), section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, sqrt
from typing import TypeAlias

from gradcli.models.triangle import Array

Refit: TypeAlias = Callable[[int, float, Array], "tuple[float, Array] | None"]
"""The least cost with a parameter held at a value, and the point there, searched from a point; None
if there is none."""

_REFITS = 40  # for one end
_CLOSE = 1e-6  # of the wanted rise's root
_FAR = 100.0  # half-widths: an end that is farther is none


def end(
    refit: Refit, best: Array, parameter: int, width: float, rise: float, least: float, limit: float
) -> float | None:
    """Where the least cost has risen by so much, on one side of an estimate; None if it nowhere is.

    Args:
        refit: Fits the other parameters.
        best: The point of least cost.
        parameter: The parameter that is held.
        width: Where the end would be if the cost were a parabola, as a signed distance.
        rise: By how much the cost rises.
        least: The least cost.
        limit: The bound of the parameter on this side.
    """
    if not (isfinite(width) and width and rise > 0.0):
        return None
    start = float(best[parameter])
    wanted, most = sqrt(rise), abs(limit - start)
    near, near_root, far = 0.0, 0.0, inf
    far_root = inf
    distance, point = min(abs(width), most), best
    for tried in range(1, _REFITS):
        found = refit(parameter, start + (distance if width > 0 else -distance), point)
        root = inf if found is None else sqrt(max(found[0] - least, 0.0))
        if abs(root - wanted) <= _CLOSE * wanted:
            return start + (distance if width > 0 else -distance)
        if root < wanted:
            near, near_root = distance, root
            assert found is not None, "its cost is finite"
            point = found[1]
            if distance >= min(most, _FAR * abs(width)):
                return None
        else:
            far, far_root = distance, root
        distance = min(_next(near, near_root, far, far_root, wanted, tried), most)
        if far < inf and far - near <= 1e-12 * far:
            return None
    return None


def _next(
    near: float, near_root: float, far: float, far_root: float, wanted: float, tried: int
) -> float:
    """The next distance to try: beyond the nearer one along a line through the estimate, or between
    both, where every third is in the middle.
    """
    along = near * (wanted / near_root) if near_root > 0.0 else 2.0 * near
    if far == inf:
        return min(max(along, 1.05 * near), 4.0 * near)
    if far_root <= _CURVED * wanted:
        along = near + (far - near) * (wanted - near_root) / (far_root - near_root)
    margin = 1e-3 * (far - near)
    inside = near + margin < along < far - margin
    is_close = far_root <= _CURVED * wanted and far - near < 0.1 * far
    return along if inside and (tried % 3 or is_close) else 0.5 * (near + far)


_CURVED = 3.0  # times the wanted root: beyond, a line through both ends says nothing
