"""What a fit makes least: a sum of squares, robust losses, or a negative log likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, RunError
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.sums import Facts, fault
from gradcli.record import Record


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
        sums: Answers functions of parts, each with the part, the frame and more: the answers in the
            order of the parts.
        facts: What is known of the records.
        asked: What is asked.
        lower, upper: The bounds of the parameters.
        advance: Receives the number of evaluations so far.

    Fields:
        lower, upper: The bounds.
        width: How many parameters there are.
    """

    def __init__(
        self,
        sums: Callable[..., Iterator[Any]],
        facts: Facts,
        asked: Asked,
        lower: Data,
        upper: Data,
        advance: Callable[[int, int | None], None],
    ) -> None:
        self._advance, self._evaluated = advance, 0
        self.sums, self.facts, self.asked = sums, facts, asked
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
        found = next(filter(None, self.sums(fault, point)), None)
        text = "the model is not finite at the start"
        return found or RunError(Diagnostic("non-finite-start", text))


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
