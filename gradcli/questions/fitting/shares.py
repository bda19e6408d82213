"""The records of a fit in parts, each with what a sum over them needs.

A step of a fit is a sum over all records. Each part gives its own sum, and the sums are joined in
the order of the parts, so that the digits depend on the parts but not on who computes them: this
process, or workers of a cluster that have some of the parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gradcli.engine.values.data import Data, np
from gradcli.formats.files.stored import Growing, pieces
from gradcli.ir.program import Program
from gradcli.questions.asked.request import Options, unheard
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.data import Expressions
from gradcli.questions.fitting.model import Asker, Layout, Model
from gradcli.questions.fitting.roles import Roles
from gradcli.questions.fitting.series import Series
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole


class Frame(Record):
    """What all steps of a search have in common.

    Fields:
        name: A name that no other frame has.
        layout: The estimated parameters.
        held: The values of the other parameters.
        whole: True if the program is asked once, with whole columns.
    """

    __slots__ = ("name", "layout", "held", "whole")
    name: str
    layout: Layout
    held: Mapping[str, Any]
    whole: bool


class Setup:
    """What the parts of a fit are asked with. It can be sent to workers.

    Fields:
        name: A name that no other setup has.
        program, ops, roles, asked, expressions, options: As in `Fit`.
        given: The values of inputs.
    """

    def __init__(
        self,
        program: Any,
        ops: Program,
        roles: Roles,
        given: Mapping[str, Any],
        asked: Asked,
        expressions: Expressions,
        options: Options,
    ) -> None:
        self.name = fresh_name()
        self.program, self.ops, self.roles = program, ops, roles
        self.given, self.asked, self.expressions, self.options = given, asked, expressions, options
        order = 2 if asked.likelihood else 1
        results = (*asked.of,) or (None,)
        self._askers = [Asker(program, of, roles.estimated, order, options) for of in results]

    def __reduce__(self) -> Any:
        quiet = self.options.changed(
            echo=unheard, progress=unheard, remark=unheard, stuck=None, plots=None, patience=None
        )
        parts = self.program, self.ops, self.roles, self.given, self.asked, self.expressions, quiet
        return _rebuilt, (self.name, *parts)

    def expect(self, fits: int) -> None:
        """Have code made as early as pays for so many fits."""
        for asker in self._askers:
            asker.fits = fits

    def share(self, data: Whole) -> Share:
        """Some records, ready to be compared. Errors as of `Share`."""
        return Share(self, data)

    def series(self, observed: Sequence[Any], frame: Frame) -> list[Series]:
        """The results of the program beside what they are compared with."""
        pairs = zip(self._askers, observed, strict=True)
        return [Series(self._model(asker, one.data, frame), one) for asker, one in pairs]

    def _model(self, asker: Asker, data: Whole, frame: Frame) -> Model:
        """A result of the program as a function of the parameters."""
        columns = {name: data.columns[name] for name in self.roles.data}
        if frame.whole:
            columns = {name: np.asarray(column) for name, column in columns.items()}
        known = {**self.given, **{name: value.tolist() for name, value in frame.held.items()}}
        not_constant = {*frame.layout.shapes, *columns}
        names = [n for n in known if n in self.program.inputs and n not in not_constant]
        constants = {name: known[name] for name in names}
        return Model(asker, frame.layout, constants, columns, data.count, whole=frame.whole)

    def within(self, work: Callable[[], Any]) -> Any:
        """The result of some work, within the limits of the options.

        Raises:
            LimitError: If it reaches one.
        """
        return self.program.within(self.options, work)


def _rebuilt(name: str, *parts: Any) -> Setup:
    found = Setup(*parts)
    found.name = name
    return found


def fresh_name() -> str:
    """A name that nothing else has, in any process."""
    return os.urandom(8).hex()


class Share:
    """The parts of the records that one process has, ready to be compared with a model.

    Args:
        setup: What they are asked with.
        data: The records.

    Fields:
        setup, data: As given.
        observed: What each result is compared with.

    Raises:
        InputError: If the data do not fit what is asked.
    """

    def __init__(self, setup: Setup, data: Whole) -> None:
        self.setup, self.data = setup, data
        self.observed = setup.expressions.of(data)
        self._series: tuple[str, list[Series]] = "", []
        self._residuals: tuple[Any, list[_Residuals]] = None, []

    def series(self, frame: Frame) -> list[Series]:
        """The results beside what they are compared with. Those of the last frame are kept."""
        if self._series[0] != frame.name:
            self._series = frame.name, self.setup.series(self.observed, frame)
        return self._series[1]

    def residuals(self, frame: Frame, point: Data) -> list[_Residuals]:
        """The scaled residuals of each result at a point, which are kept for the last one."""
        key = frame.name, point.tobytes()
        if self._residuals[0] != key:
            self._residuals = None, []  # room for the new ones
            self._residuals = key, [self._of(one, point) for one in self.series(frame)]
        return self._residuals[1]

    def _of(self, series: Series, point: Data) -> _Residuals:
        grown, ends = Growing(series.observed.data.most, "residuals"), [0]
        for number in range(len(self.data.parts)):
            for residuals, _ in series.compared(point, number):
                grown.append(residuals)
            ends.append(grown.count)
        return _Residuals(grown.done(), ends)

    def ask(self, number: int, function: Callable[..., Any], *more: Any) -> Any:
        """The answer of a function to a part, and to more."""
        return function(Part(self, number), *more)


class _Residuals(NamedTuple):
    """The residuals of one result: a column, and where each part begins and the last ends."""

    column: Any
    ends: Sequence[int]


class Part(NamedTuple):
    """One part of the records of a process."""

    share: Share
    number: int

    @property
    def records(self) -> slice:
        """The records of the part."""
        ends = [0, *(end for _, end in self.share.data.parts)]
        return slice(ends[self.number], ends[self.number + 1])

    def series(self, frame: Frame) -> list[Series]:
        """The results beside what they are compared with, in all parts of this process."""
        return self.share.series(frame)

    def residuals(self, frame: Frame, point: Data) -> Iterator[Data]:
        """The scaled residuals of all results at a point, some at a time."""
        for column, ends in self.share.residuals(frame, point):
            part = slice(ends[self.number], ends[self.number + 1])
            yield from (numbers for (numbers,) in pieces(column, part=part))


class Shares(Protocol):
    """The parts of all records, wherever they are."""

    def each(self, setup: Setup, function: Callable[..., Any], *more: Any) -> Iterator[Any]:
        """The answers of a function to each part, and to more, in the order of the parts.

        Raises:
            GradError: Of the first part that has one.
        """

    def joined(self) -> Here:
        """All records as one part, in this process.

        Raises:
            UsageError: If they are with workers.
        """


class Here:
    """All records, in this process.

    Args:
        data: The records.
    """

    def __init__(self, data: Whole) -> None:
        self.data = data
        self._shares: dict[str, Share] = {}

    def share(self, setup: Setup) -> Share:
        """The records, ready to be compared."""
        if setup.name not in self._shares:
            self._shares[setup.name] = setup.share(self.data)
        return self._shares[setup.name]

    def each(self, setup: Setup, function: Callable[..., Any], *more: Any) -> Iterator[Any]:
        """As of `Shares`."""
        share = self.share(setup)
        for number in range(len(self.data.parts)):
            yield share.ask(number, function, *more)

    def joined(self) -> Here:
        """As of `Shares`."""
        return Here(self.data.joined())
