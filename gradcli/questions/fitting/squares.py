"""Sums of squares, or of robust losses, as problems of a fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, counted
from gradcli.formats.files.stored import Growing, pieces
from gradcli.questions.fitting.problem import Found, Interrupted, Problem, marked, spread_out

if TYPE_CHECKING:
    from gradcli.models.robust import Loss
    from gradcli.models.triangle import Triangle

_ROUNDS = 200  # of weighting anew
_STILL = 1e-7  # of a standard error: the change of a round that counts as none


class Squares(Problem):
    """The sum of squares of differences between results and what was observed, or of residuals;
    or of their robust losses.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._rounding = max(one.rounding for one in self.series)
        self._weights: Weights | None = None
        if self.asked.observed:
            self._check(sum(one.observed.count for one in self.series))

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
        return f" of `{self.series[0].observed.data.name}`" if self.asked.observed else ""

    def _blocks(self, point: Data) -> Iterator[tuple[Data, Data]]:
        """Residuals and slopes, some at a time, scaled and weighted."""
        for number, one in enumerate(self.series):
            first = 0
            for residuals, slopes in one.compared(point):
                if self._weights is None:
                    yield residuals, slopes
                    continue
                roots = np.sqrt(self._weights.of(number, first, len(residuals)))
                yield residuals * roots, slopes * roots[:, None]
                first += len(residuals)

    def triangle(self, point: Data) -> Triangle | None:
        """The triangle at a point."""
        from gradcli.models.triangle import triangle

        self.count()
        with np.errstate(all="ignore"):
            return triangle(self._blocks(point), self.width)

    def residuals(self, point: Data) -> list[Any]:
        """The scaled residuals of each result at a point, as columns, without robust weights."""
        found = []
        for one in self.series:
            grown = Growing(one.observed.data.most, "residuals")
            for residuals, _ in one.compared(point):
                grown.append(residuals)
            found.append(grown.done())
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
        scale = self.asked.loss_scale or robust.TUNED * robust.spread(lambda: _every(parts))
        if not scale > 0.0:
            text = "half of the residuals are zero, so there is no scale of the loss"
            raise InputError(Diagnostic("bad-input", text, help="give `--loss-scale`"))
        count, is_still = solution.evaluations, False
        every = np.ones(self.width, np.bool_)
        for _ in range(_ROUNDS):
            self._weights = Weights(loss, scale, parts)
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

    def _found(self, solution: Any, scale: float | None = None, parts: Sequence[Any] = ()) -> Found:
        """The errors at the end of a search."""
        self._weights = None
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

            loss = robust.LOSSES[self.asked.loss]
            factor = robust.sandwich(loss, _every(parts), scale, estimated)
            cost, source = robust.cost(loss, _every(parts), scale), "sandwich"
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
        return sum((one.bend(point) for one in self.series), np.zeros((self.width, self.width)))


class Weights:
    """What a robust loss multiplies the squares of residuals by, from those of the last round.

    Args:
        loss: The loss.
        scale: Its scale.
        residuals: The residuals of each result, columns.
    """

    def __init__(self, loss: Loss, scale: float, residuals: Sequence[Any]) -> None:
        self._loss, self._scale, self._residuals = loss, scale, residuals

    def of(self, number: int, first: int, count: int) -> Data:
        """The weights of some residuals of a result."""
        from gradcli.models.robust import weights

        return weights(self._loss, self._residuals[number][first : first + count], self._scale)


def _every(columns: Sequence[Any]) -> Iterator[Data]:
    """The numbers of several columns, some at a time."""
    for column in columns:
        yield from (part for (part,) in pieces(column))
