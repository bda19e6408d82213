"""What `gradcli run` does with the cells of a notebook or page."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.terminal import write_message
from gradcli.errors import GradError, counted
from gradcli.lesson import Lesson

if TYPE_CHECKING:
    from gradcli.formats.notebooks.expected import Comparison
    from gradcli.program import Given, Options, Program
    from gradcli.render.drawing import Drawing
    from gradcli.source import Source
    from gradcli.views import CellResult, NotebookResult

_MOST_GRAPHS = 12  # cells whose graphs a page shows: each takes another run


_PLOTTING = ("matplotlib", "pylab", "d2l")  # a program that plots names one of these


class Cells:
    """The cells of a run, and their stored outputs.

    Args:
        lesson: The program.
        page: The form of output that holds all that the cells print, "html" or "ipynb"; "" if they
            are shown as they run.
        telling: Writes messages.
        expected: True if their outputs are compared with the stored ones.
    """

    def __init__(self, lesson: Lesson, page: str, telling: Telling, *, expected: bool) -> None:
        self._lesson, self._page, self._expected = lesson, page, expected
        self._telling = telling
        self._comparison: Comparison | None = None

    @property
    def is_page(self) -> bool:
        """True if the output holds all that the cells print."""
        return bool(self._page)

    def finished(
        self,
        result: NotebookResult,
        program: Program,
        inputs: Mapping[str, Given],
        options: Options,
    ) -> NotebookResult:
        """The result to show.

        Raises:
            GradError, KeyboardInterrupt: What has ended the run, unless a page shows it.
        """
        if self._expected:
            from gradcli.formats.notebooks.expected import compared

            self._comparison = compared(self._lesson, result)
        if result.failure is not None and not self._page:
            self._telling.warn(result.warnings)
            self.end(result)
        if self._page != "html" or isinstance(result.failure, KeyboardInterrupt):
            return result  # graphs take further runs, which nobody waits for after Ctrl-C
        cells = tuple(_with_graphs(result, program, inputs, options))
        return type(result)(**{f: getattr(result, f) for f in result._fields} | {"cells": cells})

    def end(self, result: NotebookResult) -> None:
        """Tell how the outputs compare with the stored ones, and end with the error of the run, or
        with status 1 if they differ.

        Raises:
            GradError, KeyboardInterrupt: What has ended the run.
            typer.Exit: If outputs differ.
        """
        self._report()
        if result.failure is not None:
            raise result.failure
        if self._comparison is not None and self._comparison.differences:
            raise typer.Exit(1)

    def drawing(self) -> Drawing | None:
        """Draws into a page of a program that may plot; None without a page or matplotlib."""
        from importlib.util import find_spec

        if not self._page or not any(name in self._lesson.text for name in _PLOTTING):
            return None
        if find_spec("matplotlib") is None:
            return None
        from gradcli.render.drawing import Drawing

        return Drawing(lambda name, content: None)

    def seeded(self, options: Options) -> Options:
        """Options with a seed for a page with graphs, which are drawn by further runs."""
        if options.seed is not None or self._page != "html":
            return options
        return options.changed(seed=int.from_bytes(os.urandom(8)))

    def _report(self) -> None:
        """Write how the outputs compare with the stored ones."""
        found = self._comparison
        if found is None:
            return
        self._telling.report(found.differences)
        if not self._telling.quiet and self._telling.form != "json":
            compared = counted(found.agree + len(found.differences), "cell")
            differ = len(found.differences)
            said = f"{differ} differ{'s' * (differ == 1)}" if differ else "all agree"
            rest = f"; {counted(found.without, 'cell')} without a stored output"
            rest = rest if found.without else ""
            write_message(f"gradcli: compared the outputs of {compared}: {said}{rest}\n")


def cells_of(source: Source, page: str, telling: Telling, *, expected: bool) -> Cells:
    """What is done with the cells of a program. Arguments as of `Cells`.

    Raises:
        UsageError: If it has none.
    """
    if isinstance(source, Lesson):
        return Cells(source, page, telling, expected=expected)
    asked = "`--expect`" if expected else f"{page} output"
    help = "a notebook and Markdown have some; `--cells` takes the parts between lines `# %%`"
    raise usage(f"{asked} needs a program with cells", help)


def _with_graphs(
    result: NotebookResult, program: Any, inputs: Mapping[str, Given], options: Options
) -> list[CellResult]:
    """The cells, those that show a recorded value with its graph."""
    steps = {step.number: step for step in program.steps}
    silent: Callable[[str], None] = lambda text: None  # noqa: E731  # a value of an option
    left = _MOST_GRAPHS
    found = []
    for cell in result.cells:
        graph = ""
        if "grad_fn=" in cell.shown and left:
            left -= 1
            try:
                of_cell = steps[cell.number].program
                asked = options.changed(echo=silent, plots=None)
                graph = of_cell.graph(inputs, options=asked).drawn("svg") or ""
            except GradError:  # nothing leads there
                graph = ""
        fields = {field: getattr(cell, field) for field in cell._fields}
        found.append(type(cell)(**fields | {"graph": graph}))
    return found
