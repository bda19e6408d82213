"""Run a notebook or page: each cell shows its last expression, and an error stops at its cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradcli.engine.run.execution.inputs import Given, check_complete, check_names
from gradcli.errors import Diagnostic, GradError, ProgramError, counted
from gradcli.ir import program as ir
from gradcli.lesson import Part
from gradcli.questions.asked.request import Options, given_values
from gradcli.questions.cells import CellRun, Step
from gradcli.questions.grad_cell import grad_cell
from gradcli.questions.program import Program
from gradcli.results import RunResult
from gradcli.source import Source, Span
from gradcli.views import CellResult, NotebookResult


class Notebook(Program):
    """A program that is made of cells. It answers like any other, but a run shows each cell.

    Args:
        source: Its text.
        program: All cells that are not refused.
        steps: These cells one by one.
        refusal: Why the next cell is refused; None if none is.
        load: Makes the program of a `%%grad` cell.
    """

    def __init__(
        self,
        source: Source,
        program: ir.Program,
        steps: tuple[Step, ...],
        refusal: ProgramError | None,
        load: Callable[[Source, frozenset[str]], Program],
    ) -> None:
        super().__init__(source, program)
        self.steps, self.refusal = steps, refusal
        self._load = load
        self._parts = {part.number: part for part in getattr(source, "parts", ()) if part.number}

    def __reduce__(self) -> Any:
        """Pickled, it is a program like any other: `load` makes programs and stays here."""
        return Program, (self.source, self.loaded.program)

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **named: Any,
    ) -> NotebookResult:
        """Run the cells one after the other. `options.echo` receives what they print and show.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            options: How to run.
            **named: More values by name.

        Raises:
            InputError: If a value is missing or wrong. An error of a cell, also one at a limit, and
                Ctrl-C are told by the result, with the cells before.
        """
        given, settings = given_values(inputs, named), options or Options()
        check_names(given, self.loaded.program)
        check_complete(given, self.loaded.program)
        return self._shown(self.within(settings, lambda: self._run(given, settings)), given)

    def _run(self, given: Mapping[str, Given], options: Options) -> NotebookResult:
        run = CellRun(given, options)
        cells: list[CellResult] = []
        failure: GradError | KeyboardInterrupt | None = None
        for step in self.steps:
            cell, failure = self._cell(run, step, options)
            cells.append(cell)
            part = self._parts.get(cell.number)
            if isinstance(failure, KeyboardInterrupt):
                break
            if failure is not None and not (part and part.goes_on):
                break
        else:
            failure = self.refusal
            if failure is not None and len(cells) < len(self.source.cells):
                number = self.source.cells[len(cells)].number
                cells.append(CellResult(number, "", "", (), "", failure.diagnostics[0]))
        found: RunResult | None = None if failure is not None else run.result(self)
        warnings = run.warnings(self) if found is None else found.warnings
        return NotebookResult(
            output=self.loaded.program.output,
            result=None if found is None else found.result,
            bindings=() if found is None else found.bindings,
            printed=tuple(_lines(cells)),
            warnings=(*_passed(self.source), *warnings),
            graph=None if found is None else found.graph,
            kinks=None if found is None else found.kinks,
            cells=tuple(cells),
            failure=failure,
        )

    def _cell(
        self, run: CellRun, step: Step, options: Options
    ) -> tuple[CellResult, GradError | KeyboardInterrupt | None]:
        """Run a cell, and return the error or interrupt that ends it, if one does."""
        failure: GradError | KeyboardInterrupt | None = None
        begin = len(run.printed)
        try:
            cell = run.cell(step)
            part = self._parts.get(step.number)
            if part is not None and part.kind == "program":
                cell = self._apart(run, part, options)
        except (GradError, KeyboardInterrupt) as error:
            failure = error
            told = self._told(error, step.number)
            cell = CellResult(step.number, run.printed[begin:], "", (), "", told)
        if cell.shown:
            options.echo(f"{cell.shown}\n")
        if options.plots is None:
            return cell, failure
        fields = {name: getattr(cell, name) for name in cell._fields}
        return CellResult(**fields | {"figures": options.plots.taken()}), failure

    def _told(self, error: GradError | KeyboardInterrupt, number: int) -> Diagnostic:
        """What a cell with this number shows of the error or interrupt that ended it."""
        if isinstance(error, GradError):
            return error.diagnostics[0]
        cell = next(cell for cell in self.source.cells if cell.number == number)
        return Diagnostic("interrupted", "interrupted", self.source, Span(cell.start, cell.end))

    def _apart(self, run: CellRun, part: Part, options: Options) -> CellResult:
        """Run a `%%grad` cell with values of names around it."""
        head, _, text = part.text.lstrip().partition("\n")
        first = part.text[: part.text.index(head)].count("\n") + 2
        source = Source(f"{self.source.name}:cell {part.number}", text, first)
        printed: list[str] = []

        def echo(said: str) -> None:
            printed.append(said)
            options.echo(said)

        asked = grad_cell(head.removeprefix("%%grad"))
        found = asked.answer(source, run.data(), self._load, options.changed(echo=echo))
        return CellResult(part.number, "".join(printed), str(found), (), "", None)


def _lines(cells: list[CellResult]) -> Iterator[str]:
    """The lines that the cells have printed and shown."""
    for cell in cells:
        yield from cell.printed.splitlines()
        yield from cell.shown.splitlines()


def _passed(source: Source) -> Iterator[Diagnostic]:
    """One warning about the lines of a notebook that are passed over."""
    passed: tuple[Span, ...] = getattr(source, "passed", ())
    if passed:
        lines = sum(source.text.count("\n", span.start, span.end) + 1 for span in passed)
        message = f"{counted(lines, 'line')} of a notebook's own commands passed over"
        help = "lines with `%`, `!` and `?`, and cells of other languages, are no part of a program"
        place = source, passed[0]
        yield Diagnostic("line-passed-over", message, *place, help=help, severity="warning")
