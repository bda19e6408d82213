"""Run a program cell by cell, as a notebook does.

A program that is made of cells is one program, with places such as `lesson.ipynb:cell 3:2`.
`gradcli.cells` makes one `Step` for each cell. Its program begins with all cells before it, and its
result is the value of the cell's last expression. `CellRun` runs the steps one after the other:
only the last cell of each, with the names, random numbers and print options that the cells before
have left.

A prompt uses the same two pieces:

    growth, run = Growth("<prompt>"), CellRun({}, Options(echo=write))
    while text := read():
        before = run.mark()
        try:
            longer = growth.added(text)  # refuses names and syntax
            print(run.cell(longer.step).shown)  # "" if nothing is shown
            growth = longer
        except GradError as error:
            changed = run.restore(before)  # names of tensors that stay changed in place

`growth.step.program` answers all other questions (`graph`, `trace`, `grad`) about the lines so far.
Limits hold within `step.program.within(options, work)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.report.values import is_data, plain_value
from gradcli.engine.run.execution.growing import Growing, Mark
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.session.state import Output, RandomNumbers, Session
from gradcli.engine.tape.graph import clock
from gradcli.engine.values.limits import Counters
from gradcli.errors import Diagnostic, ErrorText
from gradcli.questions.answers.run import result_of
from gradcli.questions.asked.loaded import Done
from gradcli.questions.asked.request import Options, request
from gradcli.questions.program import Program
from gradcli.record import Record
from gradcli.results import RunResult
from gradcli.views import CellResult


class Step(Record):
    """A cell of a program.

    Fields:
        program: The program of this cell and all before it.
        number: The number of the cell, from 1.
        shows: True if the value of the cell's last expression is shown: no `;` follows it.
    """

    __slots__ = ("program", "number", "shows")
    program: Program
    number: int
    shows: bool


class CellRun:
    """One run of a program that is made of cells.

    Args:
        given: Values by name, for inputs that cells declare and constants that they assign once.
        options: How to run. `echo` receives what cells print, not what they show.
    """

    def __init__(self, given: Mapping[str, Given], options: Options) -> None:
        self._given, self._options = given, options
        self._printed: list[str] = []
        self._told: set[str] = set()
        self._session = Session(
            random=RandomNumbers(options.seed, options.stream),
            output=Output(self._print, options.plots),
            counters=Counters(options.limits, options.patience),
        )
        self._growing = Growing(self._session, given)
        self._started = clock()
        self._value: Any = None

    def _print(self, text: str) -> None:
        if not isinstance(text, ErrorText):
            self._printed.append(text)
        self._options.echo(text)

    def cell(self, step: Step) -> CellResult:
        """Run the last cell of a program, which begins with the cells that have run.

        Returns:
            What it prints and shows.

        Raises:
            GradError: Of the kind of the failure, at its place in the program.
        """
        begin = len(self._printed)
        self._value = None
        self._value, text = self._growing.run(step.program.loaded.program)
        shown = text if step.shows else ""
        return CellResult(step.number, "".join(self._printed[begin:]), shown, (), "", None)

    def data(self) -> dict[str, Any]:
        """The values of top-level names that are plain data, without their graphs."""
        values = self._growing.values.items()
        return {name: plain_value(value) for name, value in values if is_data(value)}

    @property
    def printed(self) -> str:
        """All that the cells have printed."""
        return "".join(self._printed)

    def warnings(self, program: Program) -> list[Diagnostic]:
        """The warnings of the run that are new since the last call."""
        found = self._session.output.warnings
        new = [warning for code, warning in found.items() if code not in self._told]
        self._told.update(found)
        for warning in new:
            warning.source = program.source
        return new

    def result(self, program: Program) -> RunResult:
        """The result of the run of all cells, whose last program this is."""
        values = self._growing.values
        done = Done(self._started, self._session, values, self._value, self._printed)
        return result_of(program.loaded, request(self._given, {}, self._options), done)

    def mark(self) -> Mark:
        """The run as it is now, to come back to it if a cell fails."""
        return self._growing.mark()

    def restore(self, mark: Mark) -> list[str]:
        """Give all names the values that they had at a mark, and random numbers their state. A mark
        serves once.

        Returns:
            The names of tensors that were changed in place since, which stay changed.
        """
        return self._growing.restore(mark)
