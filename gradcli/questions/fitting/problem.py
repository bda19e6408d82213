"""What a fit makes least: a sum of squares, robust losses, or a negative log likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, RunError, counted
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.data import Observed
from gradcli.questions.fitting.model import Model
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole
    from gradcli.models.triangle import Triangle

_ROUNDS = 200  # of weighting anew
_STILL = 1e-7  # of a standard error: the change of a round that counts as none


class Found(Record):
    """Where a search has ended, and what is known of the errors there.

    Fields:
        point: The parameters.
        moved: Those that are not at a bound.
        converged, reason, evaluations: Whether, why and how soon it ended.
        cost: What was made least: a (robust) sum of squares, or -2 log L.
        squares: The weighted sum of squares; nan of a likelihood.
        count: How many residuals there are, or records of a likelihood.
        dof: Degrees of freedom; inf if the errors do not come from the residuals.
        factor: The variance of residuals in the covariance.
        covariance: Of the moved parameters; zero for others.
        untold: Parameters that the data do not tell.
        condition: The condition of the scaled Jacobian.
        errors_from: "jacobian", "hessian" or "sandwich".
        loss_scale: The scale of a robust loss.
    """

    __slots__ = (
        *("point", "moved", "converged", "reason", "evaluations", "cost", "squares", "count"),
        *("dof", "factor", "covariance", "untold", "condition", "errors_from", "loss_scale"),
    )
    point: Data
    moved: Data
    converged: bool
    reason: str
    evaluations: int
    cost: float
    squares: float
    count: int
    dof: float
    factor: float
    covariance: Data
    untold: Data
    condition: float
    errors_from: str
    loss_scale: float | None


class Interrupted(Exception):
    """Ctrl-C during a search, with the best so far."""

    def __init__(self, best: Found) -> None:
        super().__init__()
        self.best = best


class Problem(ABC):
    """What is made least.

    Args:
        models: The results of the program.
        observed: What they are compared with.
        asked: What is asked.
        data: The records, for messages.
        lower, upper: The bounds of the parameters.
        advance: Receives the number of evaluations so far.

    Fields:
        lower, upper: The bounds.
        width: How many parameters there are.
    """

    def __init__(
        self,
        models: Sequence[Model],
        observed: Observed,
        asked: Asked,
        data: Whole,
        lower: Data,
        upper: Data,
        advance: Callable[[int, int | None], None],
    ) -> None:
        self._advance, self._evaluated = advance, 0
        self.models, self.observed, self.asked, self.data = models, observed, asked, data
        self.lower, self.upper = lower, upper
        self.width = len(lower)
        self.most = asked.most or 200 * (self.width + 1)

    def count(self) -> None:
        """Count an evaluation, and tell how many there were."""
        self._evaluated += 1
        self._advance(self._evaluated, None)

    @abstractmethod
    def search(self, start: Data) -> Found | None:
        """The end of a search; None if the start is not finite.

        Raises:
            Interrupted: At Ctrl-C.
        """

    @abstractmethod
    def refit(self, held: int, value: float, start: Data) -> tuple[float, Data] | None:
        """The least cost with one parameter held at a value, and where; None if there is none."""

    def not_finite(self, point: Data) -> GradError:
        """The error for a start at which the model is not finite."""
        for model in self.models:
            for first, (values, *slopes) in model.blocks(point):
                if model.failed is not None:
                    place, error = model.failed
                    for said in error.diagnostics[:1]:
                        said.notes = (*said.notes, f"at the start, at {self._place(place)}")
                    return error
                rows = [part.reshape(len(values), -1) for part in (values, *slopes)]
                wrong = ~(np.abs(np.concatenate(rows, 1)) < _LARGEST).all(axis=1)
                if wrong.any():
                    k = int(np.argmax(wrong))
                    is_value = not abs(values[k]) < _LARGEST
                    what = "the model" if is_value else "the derivative of the model"
                    text = f"{what} is not finite at the start, at {self._place(first + k)}"
                    help = "give another start, NAME=VALUE, or let `--starts 20` look for one"
                    return RunError(Diagnostic("non-finite-start", text, help=help))
        return RunError(Diagnostic("non-finite-start", "the model is not finite at the start"))

    def _place(self, record: int) -> str:
        return self.data.place(record) if len(self.data.lines) > record else f"record {record}"


_LARGEST = 1e150


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
            for first, (values, slopes, *_) in model.blocks(point):
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
            _spread_out(inverse * factor, moved),
            _marked(untold, moved),
            directions.condition,
            source,
            scale,
        )

    def _hessian(self, point: Data) -> Data:
        """Half of the Hessian of the sum of squares."""
        found = np.zeros((self.width, self.width))
        for number, model in enumerate(self.models):
            for first, parts in model.blocks(point):
                values, slopes, bends = parts
                part = slice(first, first + len(values))
                residuals, scaled = self._scaled(number, part, values, slopes)
                found += scaled.T @ scaled
                scales = self._scales[part] if self.observed.values else np.ones(len(values))
                used = scales > 0.0
                found += np.tensordot(residuals * scales[used], bends[used], 1)
        return found


class Likely(Problem):
    """A negative log likelihood, summed over the records if there are any."""

    def _local(self, point: Data) -> Any:
        from gradcli.models.likelihood import Local

        self.count()
        value, slope = 0.0, np.zeros(self.width)
        bend = np.zeros((self.width, self.width))
        for _, (values, slopes, bends) in self.models[0].blocks(point):
            value += float(np.sum(values))
            slope += slopes.sum(axis=0)
            bend += bends.sum(axis=0)
        is_finite = np.isfinite(value) and np.isfinite(slope).all() and np.isfinite(bend).all()
        return Local(value, slope, bend) if is_finite else None

    def search(self, start: Data) -> Found | None:
        from gradcli.models import likelihood

        every = np.ones(self.width, np.bool_)
        bounds = self.lower, self.upper
        try:
            found = likelihood.least(self._local, start, *bounds, every, self.most)
        except likelihood.Interrupted as stopped:
            raise Interrupted(self._found(stopped.best)) from None
        return None if found is None else self._found(found)

    def refit(self, held: int, value: float, start: Data) -> tuple[float, Data] | None:
        from gradcli.models.likelihood import least

        free = np.ones(self.width, np.bool_)
        free[held] = False
        point = start.copy()
        point[held] = value
        if not free.any():
            local = self._local(point)
            return None if local is None else (2.0 * local.value, point)
        found = least(self._local, point, self.lower, self.upper, free, self.most)
        return None if found is None else (2.0 * found.local.value, found.point)

    def _found(self, search: Any) -> Found:
        from gradcli.models.likelihood import condition, errors

        moved = search.moved
        part = search.local.hessian[np.ix_(moved, moved)]
        inverse, untold = errors(part) if moved.any() else (part, np.zeros(0, np.bool_))
        return Found(
            search.point,
            moved,
            search.converged,
            search.reason,
            search.evaluations,
            2.0 * search.local.value,
            nan,
            self.data.count,
            inf,
            1.0,
            _spread_out(inverse, moved),
            _marked(untold, moved),
            condition(part) if moved.any() else 1.0,
            "hessian",
            None,
        )


def _spread_out(part: Data, moved: Data) -> Data:
    """The covariance of all parameters from that of the moved ones."""
    found = np.zeros((len(moved), len(moved)))
    found[np.ix_(moved, moved)] = part
    return found


def _marked(part: Data, moved: Data) -> Data:
    found = np.zeros(len(moved), np.bool_)
    found[moved] = part
    return found
