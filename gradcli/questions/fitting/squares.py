"""Sums of squares, or of robust losses, as problems of a fit."""

from __future__ import annotations

from functools import partial
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, counted
from gradcli.questions.fitting.problem import Found, Interrupted, Problem, marked, spread_out
from gradcli.questions.fitting.sums import Weighing, bend, of_residuals, triangle_of

if TYPE_CHECKING:
    from gradcli.models.median import Each
    from gradcli.models.triangle import Triangle

_ROUNDS = 200  # of weighting anew
_STILL = 1e-7  # of a standard error: the change of a round that counts as none


class Squares(Problem):
    """The sum of squares of differences between results and what was observed, or of residuals;
    or of their robust losses.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        several = self.facts.compared
        largest = max((one.largest for one in several), default=0.0)
        self._rounding = (float(np.finfo(np.float64).eps) * largest) ** 2
        self._weighing: Weighing | None = None
        if self.asked.observed:
            self._check(sum(one.count for one in several))

    def _check(self, count: int) -> None:
        """Refuse fewer residuals than parameters.

        Raises:
            InputError: If there are.
        """
        if count < self.width:
            records = f"{counted(count, 'record')}{self._origin}"
            text = f"{records} cannot tell {counted(self.width, 'parameter')}"
            help = "hold some of them, `--fix NAME=VALUE`"
            raise InputError(Diagnostic("too-few-records", text, help=help))

    @property
    def _origin(self) -> str:
        """Where the records are from, for messages."""
        others = " and others" if self.facts.several_files else ""
        return f" of `{self.facts.name}`{others}" if self.asked.observed else ""

    def triangle(self, point: Data) -> Triangle | None:
        """The triangle at a point."""
        from gradcli.models.triangle import joined

        self.count()
        return joined(self.sums(triangle_of, point, self._weighing), self.width)

    def _residuals(self, point: Data) -> Each:
        """Answers functions of the residuals at a point, part by part."""
        return partial(self.sums, of_residuals, point)

    def _task(self, free: Data, most: int) -> Any:
        from gradcli.models.least_squares import Task

        return Task(self.triangle, self.lower, self.upper, free, self._rounding, most)

    def search(self, start: Data) -> Found | None:
        from gradcli.models import least_squares

        self._weighing = None
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

        at = self._residuals(solution.point)
        scale = self.asked.loss_scale or robust.TUNED * robust.spread(at)
        if not scale > 0.0:
            text = "half of the residuals are zero, so there is no scale of the loss"
            raise InputError(Diagnostic("bad-input", text, help="give `--loss-scale`"))
        count, is_still = solution.evaluations, False
        every = np.ones(self.width, np.bool_)
        for _ in range(_ROUNDS):
            self._weighing = Weighing(self.asked.loss, scale, solution.point)
            left = max(self.most - count, 1)
            try:
                after = least_squares.solve(self._task(every, left), solution.point)
            except least_squares.Interrupted as stopped:
                raise Interrupted(self._found(stopped.best, scale)) from None
            if after is None:
                break
            count += after.evaluations
            moved = float(np.linalg.norm(after.triangle.r @ (after.point - solution.point)))
            dof = max(after.triangle.count - self.width, 1)
            is_still = moved <= _STILL * sqrt(self.width * after.triangle.squares / dof)
            solution = after
            if is_still or count >= self.most:
                break
        if not is_still:
            reason = f"no end within {self.most} evaluations"
            solution = solution._replace(converged=False, reason=reason)
        self._weighing = None
        whole = self.triangle(solution.point)
        assert whole is not None, "it was finite there"
        solution = solution._replace(triangle=whole, evaluations=count)
        return self._found(solution, scale)

    def _found(self, solution: Any, scale: float | None = None) -> Found:
        """The errors at the end of a search."""
        self._weighing = None
        triangle, moved = solution.triangle, solution.moved
        chosen = triangle.of(moved)
        estimated = int(np.count_nonzero(moved))
        dof = triangle.count - estimated
        squares = triangle.squares
        cost, source = squares, "jacobian"
        known = self.asked.sigma and not self.asked.scale_errors
        factor = 1.0 if known else squares / dof if dof > 0 else nan
        if scale is not None:
            from gradcli.models import robust

            loss, at = self.asked.loss, self._residuals(solution.point)
            factor = robust.sandwich(at, loss, scale, estimated)
            cost, source = robust.cost(at, loss, scale), "sandwich"
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
        return sum(self.sums(bend, point), np.zeros((self.width, self.width)))
