"""The least sum of squares, by SciPy's trust region over triangles, with an end of our own.

SciPy sees the triangle in place of all residuals: it has the same cost, gradient and J'J. Its own
tolerances end too early (at 1e-8, 15 of NIST's 54 fits miss six digits) or, at the rounding of
floats, far too late. So they are set to the rounding, and the iteration ends where the residuals
are orthogonal to the tangent plane.

Source of the end: Bates and Watts, Nonlinear Regression Analysis and Its Applications (1988),
section 2.2.3.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradcli.models.extra import optimize
from gradcli.models.triangle import Array, Mask, Triangle

Evaluate: TypeAlias = Callable[[Array], "Triangle | None"]
"""The triangle at a point; None where the residuals are not finite."""

_OFFSET = 1e-6  # |Q'r| / sqrt(p) over |r| / sqrt(n - p), at the end
_ROUNDING = 1e-15  # SciPy's tolerances
_SQUARE = 1e4  # times the rounding: the end with as many parameters as residuals
_HALVINGS = 40  # of a step of Gauss and Newton
_NOISE = 1e-11  # of a sum of squares: by how much it may rise by rounding
_POLISHED = 5  # steps of Gauss and Newton behind the end
_NEAR = 1e-3  # of its standard error: how near to a bound a parameter counts as at it
_RELEASES = 5  # how often parameters at bounds are taken up or let go


class Task(NamedTuple):
    """A sum of squares to make least.

    Fields:
        at: The triangle at a point.
        lower, upper: The bounds of the parameters.
        free: The parameters that are moved.
        rounding: The square of a residual that rounding of the data makes.
        most: The most evaluations.
    """

    at: Evaluate
    lower: Array
    upper: Array
    free: Mask
    rounding: float
    most: int


class Solution(NamedTuple):
    """Where the iteration has ended.

    Fields:
        point: The parameters.
        triangle: The triangle there, of all parameters.
        moved: The parameters that are neither held nor at a bound.
        converged: True if the sum of squares is least there.
        reason: Why it ended.
        evaluations: How many triangles were computed.
    """

    point: Array
    triangle: Triangle
    moved: Mask
    converged: bool
    reason: str
    evaluations: int


class _Ended(Exception):
    """Our own end of SciPy's iteration."""


class _Spent(Exception):
    """There are no evaluations left."""


class _Slow(Exception):
    """SciPy's iteration has taken half of all evaluations."""


class Interrupted(Exception):
    """Ctrl-C, with the best point so far."""

    def __init__(self, best: Solution) -> None:
        super().__init__()
        self.best = best


def solve(task: Task, start: Array) -> Solution | None:
    """The least sum of squares near a start; None if the residuals there are not finite.

    Raises:
        Interrupted: At Ctrl-C.
    """
    with np.errstate(all="ignore"):
        return _Solver(task).solve(start)


def offset(triangle: Triangle) -> float:
    """The relative offset of a triangle: 0 where the sum of squares is least, 1 where the steps are
    as long as a confidence region.
    """
    dof = triangle.count - len(triangle.r)
    if not len(triangle.r):
        return 0.0
    length = sqrt(triangle.squares)
    if dof <= 0 or length == 0.0:
        return 0.0 if length == 0.0 else inf
    return (triangle.tangential / sqrt(len(triangle.r))) / (length / sqrt(dof))


class _Solver:
    """The state of one search."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._optimize = optimize("fit")
        self._count = 0
        self._cache: tuple[bytes, Triangle | None] = b"", None
        self._best: tuple[Array, Triangle] | None = None
        self._held: Mask = np.zeros(len(task.lower), np.bool_)
        self._slow = task.most // 2

    def solve(self, start: Array) -> Solution | None:
        if self._triangle(start) is None:
            return None
        point, reason, converged = start, "", False
        try:
            for _ in range(_RELEASES):
                try:
                    point, reason = self._searched(point)
                except _Slow:
                    point, reason = self._otherwise(start)
                point = self._polished(point)
                converged = self._is_end(point)
                if not self._changed(point):
                    break
                point = self._at_bounds(point)
        except _Spent:
            reason = f"no end within {self._task.most} evaluations"
            converged = False
        except KeyboardInterrupt:
            raise Interrupted(self._solution(False, "interrupted")) from None
        if not converged and not reason:
            reason = "the steps are lost in rounding before the sum of squares is least"
        return self._solution(converged, _CONVERGED if converged else reason)

    def _solution(self, converged: bool, reason: str) -> Solution:
        assert self._best is not None, "the start is finite"
        point, triangle = self._best
        return Solution(point, triangle, self._moved, converged, reason, self._count)

    @property
    def _moved(self) -> Mask:
        found: Mask = self._task.free & ~self._held
        return found

    def _triangle(self, point: Array) -> Triangle | None:
        """The triangle at a point; the best of all is kept."""
        key = point.tobytes()
        if key == self._cache[0]:
            return self._cache[1]
        if self._count >= self._task.most:
            raise _Spent
        if self._count == self._slow:
            self._slow = -1
            raise _Slow
        self._count += 1
        found = self._task.at(point)
        self._cache = key, found
        if found is not None and (self._best is None or found.squares <= self._best[1].squares):
            self._best = point.copy(), found
        return found

    def _is_end(self, point: Array) -> bool:
        found = self._triangle(point)
        if found is None:
            return False
        least = self._task.rounding
        if found.squares <= least * found.count:
            return True
        chosen = found.of(self._moved & ~self._pressed(point, found))
        if chosen.count <= len(chosen.r):
            return found.squares <= _SQUARE * least * found.count
        return offset(chosen) < _OFFSET or chosen.tangential**2 <= least * len(chosen.r)

    def _searched(self, start: Array) -> tuple[Array, str]:
        """Where SciPy's trust region ends from a start, and why if it is not our own end."""
        moved = self._moved
        if not moved.any():
            return start, ""
        whole = start.copy()

        def filled(part: Array) -> Array:
            point = whole.copy()
            point[moved] = part
            return point

        def residuals(part: Array) -> Array:
            found = self._triangle(filled(part))
            if found is None:
                return np.full(len(part) + 1, nan)
            chosen = found.of(moved)
            return np.append(chosen.z, chosen.rest)

        def jacobian(part: Array) -> Array:
            point = filled(part)
            found = self._triangle(point)
            assert found is not None, "SciPy takes no step there"
            if self._is_end(point) or found.of(moved).is_flat:
                raise _Ended
            return np.concatenate([found.of(moved).r, np.zeros((1, len(part)))])

        bounds = self._task.lower[moved], self._task.upper[moved]
        tolerances = dict.fromkeys(("ftol", "xtol", "gtol"), _ROUNDING)
        reason = ""
        try:
            found = self._optimize.least_squares(
                *(residuals, start[moved], jacobian, bounds),
                method="trf",
                x_scale="jac",
                max_nfev=max(self._task.most - self._count + 2, 1),
                **tolerances,
            )
            if found.status == 0:
                reason = f"no end within {self._task.most} evaluations"
        except _Ended:
            pass
        except np.linalg.LinAlgError as error:
            reason = f"a step could not be computed ({error})"
        assert self._best is not None, "the start is finite"
        return self._best[0].copy(), reason

    def _otherwise(self, start: Array) -> tuple[Array, str]:
        """The same where the trust region creeps along a curved valley: steps of Gauss and Newton
        from the start, each halved until it lowers the sum of squares; and if they do not reach an
        end that is better, the trust region again, from the best point.
        """
        task = self._task
        best = self._best
        assert best is not None, "the start is finite"
        point, until = start, self._count + task.most // 10
        while self._count < until and not self._is_end(point):
            found = self._triangle(point)
            assert found is not None, "a point that was accepted"
            step = np.zeros(len(point))
            step[self._moved] = found.of(self._moved).step()
            tried: Array | None = None
            for _ in range(_HALVINGS):
                tried = np.clip(point + step, task.lower, task.upper)
                there = self._triangle(tried)
                if there is not None and there.squares < found.squares:
                    break
                step, tried = 0.5 * step, None
            if tried is None:
                break
            point = tried
        return self._searched(self._best[0] if self._best is not None else point)

    def _polished(self, point: Array) -> Array:
        """The point after steps of Gauss and Newton, as long as they are better."""
        task = self._task
        for _ in range(_POLISHED):
            found = self._triangle(point)
            assert found is not None, "a point that was accepted"
            moved = self._moved & ~self._pressed(point, found)
            step = np.zeros(len(point))
            step[moved] = found.of(moved).step()
            tried = np.clip(point + step, task.lower, task.upper)
            there = self._triangle(tried)
            if there is None or not _is_better(there.of(moved), found.of(moved)):
                break
            self._best = tried, there
            point = tried
        return point

    # --- bounds ------------------------------------------------------------------------------

    def _pressed(self, point: Array, found: Triangle) -> Mask:
        """The parameters that lie at a bound, within a part of their error, and would go beyond."""
        task, moved = self._task, self._moved
        none: Mask = np.zeros(len(point), np.bool_)
        if not (np.isfinite(task.lower[moved]).any() or np.isfinite(task.upper[moved]).any()):
            return none
        chosen = found.of(moved)
        slope, near = np.zeros(len(point)), np.zeros(len(point))
        slope[moved] = chosen.gradient
        scale = sqrt(found.squares / max(found.count - len(chosen.r), 1))
        near[moved] = _NEAR * scale / chosen.directions.scales
        low = (point - task.lower <= near) & (slope > 0.0)
        high = (task.upper - point <= near) & (slope < 0.0)
        return moved & (low | high)

    def _changed(self, point: Array) -> bool:
        """Take up the parameters that press against a bound, or else let go of those that do not;
        True if there are any.
        """
        found = self._triangle(point)
        assert found is not None, "a point that was accepted"
        pressed = self._pressed(point, found)
        if pressed.any():
            self._held |= pressed
            return True
        slope = found.gradient
        inward = np.where(point <= self._task.lower, slope < 0.0, slope > 0.0)
        let_go: Mask = self._held & inward & (np.abs(slope) > _OFFSET * _lengths(found))
        self._held &= ~let_go
        return bool(let_go.any())

    def _at_bounds(self, point: Array) -> Array:
        """The point with what is held put onto its bound."""
        task = self._task
        nearer = np.where(point - task.lower <= task.upper - point, task.lower, task.upper)
        tried = np.where(self._held, nearer, point)
        found = self._triangle(tried)
        if found is None:
            return point
        self._best = tried, found  # the bound is the answer although the sum may be a trace larger
        return tried


def _is_better(after: Triangle, before: Triangle) -> bool:
    """True if a step lowers the sum of squares; where rounding hides that, the offset."""
    if after.squares < before.squares and not before.is_flat:
        return True
    noise = _NOISE * before.squares
    return after.squares <= before.squares + noise and after.tangential < before.tangential


def _lengths(found: Triangle) -> Any:
    """The lengths of the Jacobian's columns times that of the residuals: gradients are parts."""
    return np.linalg.norm(found.r, axis=0) * sqrt(found.squares)


_CONVERGED = "converged: the residuals are orthogonal to the model's tangents"
