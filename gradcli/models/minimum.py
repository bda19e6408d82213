"""The least value of a function near a start, by SciPy, with exact first and second derivatives.

SciPy searches; the end is judged here. It is a point at which Newton's step is within the rounding
of the point, or can lower the value by no more than its rounding, and where the Hessian is positive
definite; or one whose gradient has vanished beside the largest one met, where the Hessian is
singular. A saddle that a search ends at, or a flat point beside which the value is less, as that of
x ** 3, is left along the least curvature.

Source: Nocedal and Wright, Numerical Optimization, 2nd ed. (2006), chapters 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradcli.models.counted import INTERRUPTED, Counted, Ended, place
from gradcli.models.extra import optimize
from gradcli.models.triangle import Array, Mask

EXACT = 50  # unknowns to which the trust region has the Hessian
MOST = 200  # evaluations, times the unknowns and one
_STEP = 1e-9  # of an unknown: Newton's step at the end
_ROUNDINGS = 16.0 * float(np.finfo(np.float64).eps)
_VANISHED = 1e-10  # of the largest gradient
_SINGULAR = 1e-11  # eigenvalue of the scaled Hessian
_BESIDE = 1e-4  # of the unknowns: how far a place beside a point is
_UNLIKE = 1e3  # times the curvature at the point
_POLISHED = 50
_ESCAPES = 3
_FAR = 1e4  # how much farther than the start a point is "far away"


class Local(NamedTuple):
    """A function at a point: its value, gradient and Hessian, the last None for many unknowns."""

    value: float
    gradient: Array
    hessian: Array | None


Evaluate: TypeAlias = Callable[[Array], Local]


class Search(NamedTuple):
    """Where a search has ended.

    Fields:
        point: The unknowns.
        local: The function there.
        moved: The unknowns that are not at a bound.
        kind: "minimum", "saddle" or "flat"; "" where that is not known.
        reason: Why the search failed; "" if it is at a minimum.
        evaluations: How often the function was evaluated.
    """

    point: Array
    local: Local
    moved: Mask
    kind: str
    reason: str
    evaluations: int


def least(
    at: Evaluate, start: Array, lower: Array, upper: Array, most: int, labels: list[str]
) -> Search:
    """The minimum near a start.

    Args:
        at: The function.
        start: Where the search begins.
        lower: The lower bounds.
        upper: The upper bounds.
        most: The most evaluations.
        labels: The names of the unknowns, for reasons.
    """
    with np.errstate(all="ignore"):
        return _Searcher(at, start, lower, upper, most, labels).search()


def curvature(hessian: Array, moved: Mask) -> tuple[str, Array | None]:
    """The kind of a stationary point; for a saddle or a flat one also the direction of the least
    curvature.
    """
    if not moved.any():
        return "minimum", None
    part = hessian[np.ix_(moved, moved)]
    if not np.isfinite(part).all():
        return "", None
    scales = np.sqrt(np.abs(np.diag(part)))
    scales = np.where(scales > 0.0, scales, float(scales.max()) or 1.0)
    lengths, vectors = np.linalg.eigh(part / np.outer(scales, scales))
    if lengths[0] > _SINGULAR:
        return "minimum", None
    along = np.zeros(len(moved))
    along[moved] = vectors[:, 0] / scales
    return ("saddle" if lengths[0] < -_SINGULAR else "flat"), along


class _Searcher:
    def __init__(
        self, at: Evaluate, start: Array, lower: Array, upper: Array, most: int, labels: list[str]
    ) -> None:
        self._at, self._start, self._lower, self._upper = at, start, lower, upper
        self._most, self._labels = most, labels
        self._asked, self._largest = Counted(at, most), 0.0
        self._best: tuple[Array, Local] = start, Local(inf, np.zeros(len(start)), None)

    def search(self) -> Search:
        first = self._local(self._start)
        if not np.isfinite(first.value):
            return self._failed(first, f"the start is not finite: the value is {first.value}")
        try:
            kind, reason = self._escaped()
        except Ended:
            kind, reason = "", self._ended()
        except KeyboardInterrupt:
            kind, reason = "", INTERRUPTED
        point, local = self._best
        moved = self._moved(point, local)
        if not self._is_end(point, local, moved, kind):
            kind, reason = "", reason or self._why() or _HALTED
        return Search(point, local, moved, kind, reason, self._asked.count)

    def _escaped(self) -> tuple[str, str]:
        """The kind of point at which searches end, and why that is no minimum, if it is none. Each
        begins beside the end of the last, if the value is less there.
        """
        point = self._start
        for _ in range(_ESCAPES):
            if self._local(point).gradient.any():
                reason = self._search_from(point)
                if reason:
                    return self._kind(*self._best)[0], reason
            point, local = self._best
            kind, along = self._kind(point, local)
            if along is None or not self._is_end(point, local, self._moved(point, local), kind):
                return kind, ""
            beside = self._lower_beside(point, local, along, kind)
            if beside is None and kind == "flat":
                return kind, ""
            if beside is None:
                break
            point = beside
        return kind, "the search ends at a saddle" if kind == "saddle" else _NO_MINIMUM

    def _search_from(self, point: Array) -> str:
        """Search, and tell why that came to no end; "" if it did, or if the value is infinite."""
        try:
            self._searched(point)
            self._polish()
        except Ended:
            return self._ended()
        return ""

    def _failed(self, local: Local, reason: str) -> Search:
        moved = np.ones(len(self._start), np.bool_)
        return Search(self._start, local, moved, "", reason, self._asked.count)

    def _ended(self) -> str:
        if self._asked.is_spent:
            return self._why() or f"no end within {self._most} evaluations"
        return ""

    def _why(self) -> str:
        """Why a search has no end; "" if the function does not tell."""
        point, local = self._best
        size = 1.0 + np.abs(self._start)
        far = np.abs(point) > _FAR * size
        if local.value == -inf or far.any():
            ways = (
                f"{self._labels[k]} {'grows' if point[k] > 0.0 else 'falls'}"
                for k in np.flatnonzero(far)[:3]
            )
            where = f" as {' and '.join(ways)}" if far.any() else ""
            return f"unbounded below: the value falls to {local.value:.3g}{where}"
        if self._asked.nan is not None:
            return f"the value is nan at {place(self._labels, self._asked.nan)}"
        if not np.any(local.gradient):
            return "flat: the gradient is zero, and so is the curvature"
        return ""

    def _local(self, point: Array) -> Local:
        found, is_new = self._asked(point)
        if not is_new:
            return found
        is_finite = np.isfinite(found.value) and np.isfinite(found.gradient).all()
        if np.isnan(found.value):
            self._asked.nan = point.copy()
        if is_finite:
            self._largest = max(self._largest, float(np.abs(found.gradient).max(initial=0.0)))
        if self._asked.count == 1 or (is_finite and found.value <= self._best[1].value):
            self._best = point.copy(), found
        if found.value == -inf:
            self._best = point.copy(), found
            raise Ended
        return found

    def _moved(self, point: Array, local: Local) -> Mask:
        """The unknowns that the gradient does not hold at a bound."""
        low = (point <= self._lower) & (local.gradient > 0.0)
        high = (point >= self._upper) & (local.gradient < 0.0)
        return np.asarray(~low & ~high)

    def _kind(self, point: Array, local: Local) -> tuple[str, Array | None]:
        """The kind of a point, and a direction in which the value may be less."""
        if local.hessian is None:
            return "", None
        moved = self._moved(point, local)
        kind, along = curvature(local.hessian, moved)
        if kind == "minimum" and (flat := self._flat(point, local, moved)) is not None:
            return "flat", flat
        return kind, along

    def _is_end(self, point: Array, local: Local, moved: Mask, kind: str) -> bool:
        if local.value == -inf:
            return False
        gradient = local.gradient[moved]
        if not gradient.size or not gradient.any():
            return True
        step = self._newton(local, moved) if kind == "minimum" else None
        if step is not None:
            lowered = 0.5 * abs(float(gradient @ step[moved]))
            size = np.maximum(np.abs(point), 1e-3 * np.abs(self._start))
            is_small = bool((np.abs(step) <= _STEP * size).all())
            return is_small or lowered <= _ROUNDINGS * abs(local.value)
        vanished = _VANISHED if local.hessian is not None else 1e-6
        return bool(np.abs(gradient).max() <= vanished * self._largest)

    def _flat(self, point: Array, local: Local, moved: Mask) -> Array | None:
        """The direction of the least curvature if that is not the one of a place beside the point,
        as at the minimum of x ** 4, where rounding leaves some; None if it is.
        """
        if local.hessian is None or not moved.any():
            return None
        size = np.maximum(np.abs(point), np.abs(self._start))
        size = np.where(size > 0.0, size, 1.0) * _BESIDE
        near = np.zeros(len(point))
        part = local.hessian[np.ix_(moved, moved)] * np.outer(size[moved], size[moved])
        lengths, vectors = np.linalg.eigh(part)
        near[moved] = vectors[:, 0] * size[moved]
        there = self._at(np.clip(point + near, self._lower, self._upper)).hessian
        if there is None or not np.isfinite(there).all():
            return None
        beside = there[np.ix_(moved, moved)] * np.outer(size[moved], size[moved])
        along = vectors[:, 0]
        is_unlike = abs(along @ beside @ along) > _UNLIKE * abs(float(lengths[0]))
        return near if is_unlike else None

    def _newton(self, local: Local, moved: Mask) -> Array | None:
        """Newton's step of the unknowns that move; None where the Hessian is not positive."""
        if local.hessian is None:
            return None
        try:
            root = np.linalg.cholesky(local.hessian[np.ix_(moved, moved)])
        except np.linalg.LinAlgError:
            return None
        step = np.zeros(len(moved))
        half = np.linalg.solve(root, -local.gradient[moved])
        step[moved] = np.linalg.solve(root.T, half)
        return step

    def _searched(self, start: Array) -> None:
        """Search by SciPy."""
        bounded = bool(np.isfinite(self._lower).any() or np.isfinite(self._upper).any())
        search = optimize("minimize").minimize
        if bounded or len(start) > EXACT:
            search(
                lambda x: self._finite(x)[:2],
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[*zip(self._lower, self._upper, strict=True)],
                options={"maxfun": self._most, "maxiter": self._most, "ftol": 0.0, "gtol": 0.0},
            )
            return
        search(
            lambda x: self._finite(x)[0],
            start,
            jac=lambda x: self._finite(x)[1],
            hess=lambda x: self._finite(x)[2],
            method="trust-exact",
            options={"maxiter": self._most, "gtol": 1e-9 * self._largest, "max_trust_radius": 1e10},
        )

    def _finite(self, point: Array) -> tuple[float, Array, Any]:
        """The function for SciPy, infinite where it is not finite."""
        found = self._local(np.clip(point, self._lower, self._upper))
        numbers = [found.gradient] if found.hessian is None else [found.gradient, found.hessian]
        if np.isfinite(found.value) and all(np.isfinite(x).all() for x in numbers):
            return found.value, found.gradient, found.hessian
        count = len(point)
        return inf, np.zeros(count), np.eye(count)

    def _polish(self) -> None:
        """Newton's steps, halved where they do not lower the value."""
        for _ in range(_POLISHED):
            point, local = self._best
            moved = self._moved(point, local)
            step = self._newton(local, moved)
            if step is None:
                return
            if self._is_end(point, local, moved, "minimum"):
                self._refine(point, local, moved, step)
                return
            for part in (1.0, 0.5, 0.25, 0.0625):
                there = self._local(np.clip(point + part * step, self._lower, self._upper))
                if there.value <= local.value and self._best[0] is not point:
                    break
            else:
                return

    def _refine(self, point: Array, local: Local, moved: Mask, step: Array) -> None:
        """One more of Newton's steps: where the value is flat within its rounding, the gradient
        still tells the point.
        """
        there = self._local(np.clip(point + step, self._lower, self._upper))
        level = local.value + _ROUNDINGS * abs(local.value)
        sizes = [float(np.abs(x.gradient[moved]).max(initial=0.0)) for x in (there, local)]
        if there.value <= level and sizes[0] <= sizes[1]:
            self._best = np.clip(point + step, self._lower, self._upper), there

    def _lower_beside(self, point: Array, local: Local, along: Array, kind: str) -> Array | None:
        """A point beside a saddle or a flat point at which the value is less, beyond rounding: it
        falls there. None if there is none.
        """
        size = (1.0 + float(np.abs(point).max(initial=0.0))) / float(np.abs(along).max())
        for part in (1e-3,) if kind == "saddle" else (1e-4, 1e-3, 1e-2):
            for step in (part * size * along, -part * size * along):
                beside = np.clip(point + step, self._lower, self._upper)
                there = self._local(beside)
                fall = abs(float(there.gradient @ (beside - point)))
                falls = fall > _VANISHED * self._largest * float(np.abs(beside - point).max())
                if there.value < local.value and falls:
                    return beside
        return None


_HALTED = "the search came to a halt before the gradient was zero"
_NO_MINIMUM = "the search ends at a flat point beside which the value is less"
