"""What a fit makes least: a sum of squares, robust losses, or a negative log likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, RunError
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.series import Series
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole


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
        series: The results of the program, each with what it is compared with.
        asked: What is asked.
        lower, upper: The bounds of the parameters.
        advance: Receives the number of evaluations so far.

    Fields:
        lower, upper: The bounds.
        width: How many parameters there are.
    """

    def __init__(
        self,
        series: Sequence[Series],
        asked: Asked,
        lower: Data,
        upper: Data,
        advance: Callable[[int, int | None], None],
    ) -> None:
        self._advance, self._evaluated = advance, 0
        self.series, self.asked = series, asked
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
        for model, data in ((one.model, one.observed.data) for one in self.series):
            for first, (values, *slopes) in model.blocks(point):
                if model.failed is not None:
                    place, error = model.failed
                    for said in error.diagnostics[:1]:
                        said.notes = (*said.notes, f"at the start, at {_place(data, place)}")
                    return error
                rows = [part.reshape(len(values), -1) for part in (values, *slopes)]
                wrong = ~(np.abs(np.concatenate(rows, 1)) < _LARGEST).all(axis=1)
                if wrong.any():
                    k = int(np.argmax(wrong))
                    missing = _missing(data, first + k)
                    if missing is not None:
                        return missing
                    is_value = not abs(values[k]) < _LARGEST
                    what = "the model" if is_value else "the derivative of the model"
                    text = f"{what} is not finite at the start, at {_place(data, first + k)}"
                    help = "give another start, NAME=VALUE, or let `--starts 20` look for one"
                    return RunError(Diagnostic("non-finite-start", text, help=help))
        return RunError(Diagnostic("non-finite-start", "the model is not finite at the start"))


def _missing(data: Whole, record: int) -> InputError | None:
    """The error for a record whose result was observed although an input is missing, if one is."""
    if data.count <= record:
        return None
    names = [name for name, column in data.columns.items() if np.isnan(column[record]).any()]
    if not names:
        return None
    text = f"what was observed at {data.place(record)} has no `{names[0]}` beside it"
    help = "a record may do without what is observed; the result's inputs are all needed"
    return InputError(Diagnostic("bad-input", text, help=help))


def _place(data: Whole, record: int) -> str:
    return data.place(record) if data.count > record else f"record {record}"


_LARGEST = 1e150


def spread_out(part: Data, moved: Data) -> Data:
    """The covariance of all parameters from that of the moved ones."""
    found = np.zeros((len(moved), len(moved)))
    found[np.ix_(moved, moved)] = part
    return found


def marked(part: Data, moved: Data) -> Data:
    """The marks of all parameters from those of the moved ones."""
    found = np.zeros(len(moved), np.bool_)
    found[moved] = part
    return found
