"""What a fit is asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from gradcli.record import Record


class Asked(Record):
    """What a fit is asked, beside the program, its inputs and the data.

    Fields:
        observed: Expressions over the columns, one for each result of the model; empty if the
            result is the residuals or a likelihood.
        of: The top-level names of the results; empty for the program's result.
        wrt: The parameters to estimate; None for all.
        fix: Parameters that are held, with a value or None for their start.
        bounds: The lower and upper bounds of parameters, beside those that are declared.
        sigma: The known standard deviations, an expression over the columns, or one for each that
            is observed; None if unknown.
        weights: What multiplies the squares, likewise.
        scale_errors: True if known deviations are scaled by the residuals after all.
        loss: "linear", "soft-l1", "huber", "cauchy" or "arctan".
        loss_scale: Its scale; None for one that is found.
        likelihood: True if the result is a negative log likelihood.
        hessian: True if errors come from all second derivatives.
        starts: How many starts are tried.
        seed: Makes the starts repeatable.
        level: The level of intervals.
        profile: True if intervals are found by refits.
        most: The most evaluations of one search; None for 200 (p + 1).
        by: The column by which the records are grouped, one fit a group; None for one fit.
        predict: The columns that stand, as texts, before what the model predicts for each record;
            None for no predictions.
        draw: True if the result has what a picture shows.
        on_error: The treatment of a group that has no fit: "stop", "skip", "record" or "ignore".
    """

    __slots__ = (
        *("observed", "of", "wrt", "fix", "bounds", "sigma", "weights", "scale_errors"),
        *("loss", "loss_scale", "likelihood", "hessian", "starts", "seed", "level", "profile"),
        *("most", "by", "predict", "draw", "on_error"),
    )
    _defaults: ClassVar[dict[str, Any]] = {
        "observed": (),
        "of": (),
        "wrt": None,
        "fix": {},
        "bounds": {},
        "sigma": None,
        "weights": None,
        "scale_errors": False,
        "loss": "linear",
        "loss_scale": None,
        "likelihood": False,
        "hessian": False,
        "starts": 1,
        "seed": None,
        "level": 0.95,
        "profile": False,
        "most": None,
        "by": None,
        "predict": None,
        "draw": False,
        "on_error": "stop",
    }
    observed: Sequence[str]
    of: Sequence[str]
    wrt: Sequence[str] | None
    fix: Mapping[str, Any]
    bounds: Mapping[str, tuple[Any, Any]]
    sigma: str | Sequence[str] | None
    weights: str | Sequence[str] | None
    scale_errors: bool
    loss: str
    loss_scale: float | None
    likelihood: bool
    hessian: bool
    starts: int
    seed: int | None
    level: float
    profile: bool
    most: int | None
    by: str | None
    predict: Sequence[str] | None
    draw: bool
    on_error: str

    def changed(self, **fields: Any) -> Asked:
        """A copy with some fields replaced."""
        return Asked(**{name: getattr(self, name) for name in self._fields} | fields)


class Table(Protocol):
    """The data of a fit.

    Fields:
        name: Its name in messages.
        names: The columns, as names of inputs.
    """

    name: str
    names: Sequence[str]

    def read(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]] = (),
        most: int | None = None,
    ) -> Any:
        """The records as a `Whole`, with some columns as numbers and others as texts; or `Shares`
        whose records are elsewhere.

        Args:
            names: The columns of numbers.
            titles: Those of texts.
            either: Groups of columns of which each record has one; others may be missing, as nan.
            most: The most bytes of a column in memory; None for any number.
        """
