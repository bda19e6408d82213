"""Round numbers along an axis, and the part of it that is shown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` round numbers from `low` to `high`, in steps of 1, 2 or 5."""
    raw = (high - low) / max(most - 1, 1)
    if not (math.isfinite(raw) and raw > 0):
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    for factor in (1, 2, 5, 10, 20, 50):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if step > 0 and last - first + 1 <= most:
            digits = max(0, 1 - math.floor(math.log10(step)))
            return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]
    return [low]


def bounds(values: Sequence[float]) -> tuple[float, float] | None:
    """The range of values to show; without the few that are far off, as near a pole. None if no
    value is finite.
    """
    known = sorted(v for v in values if math.isfinite(v))
    if not known:
        return None
    low, high = known[0], known[-1]
    near, far = known[len(known) // 20], known[len(known) - 1 - len(known) // 20]
    if high - low > _FAR * (far - near) > 0:
        room = 0.5 * (far - near)
        low, high = max(low, near - room), min(high, far + room)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        around = abs(low) * 0.1 or 1.0
        return low - around, high + around
    return low, high


_FAR = 10  # times the range of nine values in ten


def gaps(points: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """The parts of an axis in which values are not finite."""
    found: list[tuple[float, float]] = []
    open_ = False
    for x, value in zip(points, values, strict=True):
        if math.isfinite(value):
            open_ = False
        elif open_:
            found[-1] = found[-1][0], x
        else:
            found.append((x, x))
            open_ = True
    return found


def pieces(
    points: Sequence[float], values: Sequence[float], jumps: Sequence[float]
) -> list[list[tuple[float, float]]]:
    """The connected parts of a curve: finite, and without a jump between two points."""
    found: list[list[tuple[float, float]]] = [[]]
    for x, value in zip(points, values, strict=True):
        last = found[-1]
        jumped = last and any(last[-1][0] < at <= x for at in jumps)
        if last and (jumped or not math.isfinite(value)):
            found.append([])
        if math.isfinite(value):
            found[-1].append((x, value))
    return [piece for piece in found if piece]
