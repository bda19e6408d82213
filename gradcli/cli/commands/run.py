"""`gradcli run`."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.line.output import Echo, Target
from gradcli.cli.line.query import Query
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import print_message, print_output
from gradcli.errors import nearest
from gradcli.formats.writers.forms import FORMS
from gradcli.source import Source

if TYPE_CHECKING:
    from gradcli.cli.line.lessons import Cells
    from gradcli.render.drawing import Drawing
    from gradcli.results import RunResult


@command(
    *(*PROGRAM, *ROWS, "show", "graph", "kinks", "plots", "expect", *RESULT, *LIMITS, *MESSAGES),
    view="run",
)
def run(line: Line) -> None:
    r"""Run a program: print what it prints, then its result.

    Examples:
      gradcli run 'x ** 2 + 3 * x' x=2
      gradcli run 'linspace(0, 20, 5)' -o times.npy
      gradcli samples cooling -o .
      gradcli run cooling.grad k=0.2 't=[0, 5, 10]'
      gradcli run 'exp(-k * t)' k=0.1 t=@times.npy
      echo '{"k": 0.2}' | gradcli run cooling.grad -i - --show k,T0
      printf 'x\n1\n2\n' | gradcli run 'x ** 2' --rows - > results.csv
    """
    inquiry = Inquiry(line)
    inquiry.settle()
    inquiry.load()
    if inquiry.records is not None:
        target = inquiry.row_target
        settings = inquiry.settings(Echo(_destination(target, [])), grad_fn=False)
        query = Query(inquiry.program, "run", {})
        inquiry.answer_rows(query, settings, partial(_wanted, inquiry.shown))
        return
    cells = _cells(inquiry, line)
    result = _answered(inquiry, line, cells)
    if cells is not None:
        cells.end(result)


def _answered(inquiry: Inquiry, line: Line, cells: "Cells | None") -> Any:
    """The result of the run, once it is written."""
    target = inquiry.target
    kept: list[str] = []
    echo = Echo(_destination(target, kept) if cells is None or not cells.is_page else _nowhere)
    drawing = None if line.plots is None else _drawing(line.plots)
    if drawing is None and cells is not None:
        drawing = cells.drawing()
    settings = inquiry.settings(echo, grad_fn=target.is_for_person, plots=drawing)
    if cells is not None:
        settings = cells.seeded(settings)

    def finished(result: Any) -> "RunResult":
        if drawing is not None:
            drawing.finish()
        if cells is not None:
            result = cells.finished(result, inquiry.program, inquiry.inputs, settings)
        return _wanted(inquiry.shown, result)

    result, content = inquiry.found(Query(inquiry.program, "run", {}), settings, finished)
    if isinstance(content, str) and target.is_text:
        blank = echo.begun and content and target.is_for_person
        content = "".join([*kept, "\n" * (echo.unfinished + bool(blank)), content])
    inquiry.write(result, content)
    return result


def _nowhere(text: str) -> None:
    """Takes texts that the result contains."""


_PAGES = ("html", "ipynb")  # forms that hold all that cells print


def _cells(inquiry: Inquiry, line: Line) -> "Cells | None":
    """What is done with the cells of a program; None if it has none and none are asked for."""
    source, target = inquiry.program.source, inquiry.target
    if type(source) is Source and not line.expect and target.form not in _PAGES:
        return None
    from gradcli.cli.line.lessons import cells_of

    page = target.form if target.form in _PAGES else ""
    if page and line.show:
        raise usage(f"`--show` does not go with {page} output, which has what each cell shows")
    return cells_of(source, page, inquiry.telling, expected=line.expect)


def _drawing(folder: str) -> "Drawing":
    """Draws into files of a folder, which is made with the first file."""
    from gradcli.formats.texts.file import write_atomically
    from gradcli.render.drawing import Drawing

    def write(name: str, content: bytes) -> None:
        path = os.path.join(folder, name)
        try:
            os.makedirs(folder, exist_ok=True)
            write_atomically(path, content)
        except OSError as error:
            raise unwritable(f"`{path}`", error.strerror or str(error)) from None

    return Drawing(write)


def _destination(target: Target, kept: list[str]) -> Callable[[str], object]:
    """The function that takes the texts that the program prints."""
    match FORMS[target.form].room:
        case "inside":
            return lambda text: None  # the result contains it
        case "around":
            return kept.append if target.path else print_output
    return print_message


def _wanted(names: Sequence[str] | None, result: "RunResult") -> "RunResult":
    """The result, reduced to the names of --show if there are any."""
    from gradcli.results import Names

    if names is None:
        return result
    bindings = {binding.name: binding for binding in result.bindings}
    for name in names:
        if name not in bindings:
            raise usage(
                f"`{name}` in --show is not a top-level value of the program",
                nearest(name, bindings),
            )
    fields = {field: getattr(result, field) for field in Names._fields}
    return Names(**{**fields, "bindings": tuple(bindings[name] for name in names)})
