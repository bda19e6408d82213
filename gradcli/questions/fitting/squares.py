"""Sums of squares, or of robust losses, as problems of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, counted
from gradcli.questions.fitting.problem import Found, Interrupted, Problem, marked, spread_out

if TYPE_CHECKING:
    from gradcli.models.triangle import Triangle

_ROUNDS = 200  # of weighting anew
_STILL = 1e-7  # of a standard error: the change of a round that counts as none


class Squares(Problem):
    """The sum of squares of differences between results and what was observed, or of residuals;
    or of their robust losses.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._scales = self.observed.scales()
        self._is_used = None if (self._scales > 0.0).all() else self._scales > 0.0
        self._rounding = 0.0
        for y in self.observed.values:
            top = float(np.max(np.abs(y * self._scales), initial=0.0))
            self._rounding = max(self._rounding, (float(np.finfo(np.float64).eps) * top) ** 2)
        self._weights: list[Data] | None = None
        if self.observed.values:
            count = len(self.observed.values) * int(np.count_nonzero(self._scales > 0.0))
            self._check(count)

    def _check(self, count: int) -> None:
        """Refuse fewer residuals than parameters.

        Raises:
            InputError: If there are.
        """
        if count < self.width:
            text = f"{counted(count, 'record')} cannot tell {counted(self.width, 'parameter')}"
            help = "hold some of them, `--fix NAME=VALUE`"
            raise InputError(Diagnostic("too-few-records", text, help=help))

    def _blocks(self, point: Data) -> Iterator[tuple[Data, Data]]:
        """Residuals and slopes of each block, scaled and weighted."""
        for number, model in enumerate(self.models):
            for first, (values, slopes) in model.blocks(point):
                part = slice(first, first + len(values))
                yield self._scaled(number, part, values, slopes)

    def _scaled(self, number: int, part: slice, values: Data, slopes: Data) -> tuple[Data, Data]:
        if not self.observed.values:
            residuals = values
        else:
            wanted = self.observed.values[number][part]
            if len(values) != len(wanted):
                text = f"the model gives {len(values)} values for {len(wanted)} records"
                raise InputError(Diagnostic("shape-mismatch", text))
            scales = self._scales[part]
            residuals, slopes = (values - wanted) * scales, slopes * scales[:, None]
            if self._is_used is not None:
                used = self._is_used[part]
                residuals, slopes = residuals[used], slopes[used]
        if self._weights is not None:
            start = int(np.count_nonzero(self._scales[: part.start] > 0.0))
            roots = np.sqrt(self._weights[number][start : start + len(residuals)])
            residuals, slopes = residuals * roots, slopes * roots[:, None]
        return residuals, slopes

    def triangle(self, point: Data) -> Triangle | None:
        """The triangle at a point."""
        from gradcli.models.triangle import triangle

        self.count()
        with np.errstate(all="ignore"):
            return triangle(self._blocks(point), self.width)

    def residuals(self, point: Data) -> list[Data]:
        """The scaled residuals of each result at a point, without robust weights."""
        kept, self._weights = self._weights, None
        found: list[Data] = []
        for number, model in enumerate(self.models):
            pieces = []
            for first, (values, slopes, *_) in model.blocks(point):
                part = slice(first, first + len(values))
                pieces.append(self._scaled(number, part, values, slopes)[0])
            found.append(np.concatenate(pieces) if pieces else np.zeros(0))
        self._weights = kept
        return found

    def _task(self, free: Data, most: int) -> Any:
        from gradcli.models.least_squares import Task

        return Task(self.triangle, self.lower, self.upper, free, self._rounding, most)

    def search(self, start: Data) -> Found | None:
        from gradcli.models import least_squares

        self._weights = None
        every = np.ones(self.width, np.bool_)
        try:
            solution = least_squares.solve(self._task(every, self.most), start)
        except least_squares.Interrupted as stopped:
            raise Interrupted(self._found(stopped.best)) from None
        if solution is None:
            return None
        self._check(solution.triangle.count)
        if self.asked.loss != "linear":
            return self._robust(solution)
        return self._found(solution)

    def refit(self, held: int, value: float, start: Data) -> tuple[float, Data] | None:
        from gradcli.models.least_squares import solve

        free = np.ones(self.width, np.bool_)
        free[held] = False
        point = start.copy()
        point[held] = value
        found = solve(self._task(free, self.most), point)
        return None if found is None else (found.triangle.squares, found.point)

    def _robust(self, solution: Any) -> Found:
        """The fit with a robust loss, from the linear one."""
        from gradcli.models import least_squares, robust

        loss = robust.LOSSES[self.asked.loss]
        parts = self.residuals(solution.point)
        scale = self.asked.loss_scale or robust.TUNED * robust.spread(np.concatenate(parts))
        if not scale > 0.0:
            text = "half of the residuals are zero, so there is no scale of the loss"
            raise InputError(Diagnostic("bad-input", text, help="give `--loss-scale`"))
        count, is_still = solution.evaluations, False
        every = np.ones(self.width, np.bool_)
        for _ in range(_ROUNDS):
            self._weights = [robust.weights(loss, part, scale) for part in parts]
            left = max(self.most - count, 1)
            try:
                after = least_squares.solve(self._task(every, left), solution.point)
            except least_squares.Interrupted as stopped:
                raise Interrupted(self._found(stopped.best, scale, parts)) from None
            if after is None:
                break
            count += after.evaluations
            moved = float(np.linalg.norm(after.triangle.r @ (after.point - solution.point)))
            dof = max(after.triangle.count - self.width, 1)
            is_still = moved <= _STILL * sqrt(self.width * after.triangle.squares / dof)
            solution = after
            parts = self.residuals(solution.point)
            if is_still or count >= self.most:
                break
        if not is_still:
            reason = f"no end within {self.most} evaluations"
            solution = solution._replace(converged=False, reason=reason)
        self._weights = None
        whole = self.triangle(solution.point)
        assert whole is not None, "it was finite there"
        solution = solution._replace(triangle=whole, evaluations=count)
        return self._found(solution, scale, parts)

    def _found(
        self, solution: Any, scale: float | None = None, parts: Sequence[Data] = ()
    ) -> Found:
        """The errors at the end of a search."""
        self._weights = None
        triangle, moved = solution.triangle, solution.moved
        chosen = triangle.of(moved)
        estimated = int(np.count_nonzero(moved))
        dof = triangle.count - estimated
        squares = triangle.squares
        cost, source = squares, "jacobian"
        known = self.asked.sigma is not None and not self.asked.scale_errors
        factor = 1.0 if known else squares / dof if dof > 0 else nan
        if scale is not None:
            from gradcli.models import robust

            loss, every = robust.LOSSES[self.asked.loss], np.concatenate(parts)
            factor = robust.sandwich(loss, every, scale, estimated)
            cost, source = robust.cost(loss, every, scale), "sandwich"
        directions = chosen.directions
        inverse, untold = directions.covariance(), directions.untold
        if self.asked.hessian:
            from gradcli.models.likelihood import errors

            source = "hessian"
            inverse, untold = errors(self._hessian(solution.point)[np.ix_(moved, moved)])
        return Found(
            solution.point,
            moved,
            solution.converged,
            solution.reason,
            solution.evaluations,
            cost,
            squares,
            triangle.count,
            inf if known and scale is None else dof,
            factor,
            spread_out(inverse * factor, moved),
            marked(untold, moved),
            directions.condition,
            source,
            scale,
        )

    def _hessian(self, point: Data) -> Data:
        """Half of the Hessian of the sum of squares."""
        found = np.zeros((self.width, self.width))
        for number, model in enumerate(self.models):
            for first, (values, slopes) in model.blocks(point):
                part = slice(first, first + len(values))
                residuals, scaled = self._scaled(number, part, values, slopes)
                found += scaled.T @ scaled
                scales = self._scales[part] if self.observed.values else np.ones(len(values))
                weights = np.zeros(len(values))
                weights[scales > 0.0] = residuals * scales[scales > 0.0]
                found += model.bend(point, part, weights)
        return found
