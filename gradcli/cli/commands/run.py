"""`gradcli run`."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.line.output import Echo, Target, resolve_auto
from gradcli.cli.rows.inquiry import Inquiry, drawn, refuse_kinks
from gradcli.cli.rows.query import Query
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import print_message, print_output
from gradcli.errors import Diagnostic, UsageError, nearest
from gradcli.formats.writers.forms import RESULTS, Parts

if TYPE_CHECKING:
    from gradcli.render.drawing import Drawing
    from gradcli.render.text import Line as Drawn
    from gradcli.results import RunResult, Value

_WITH_PRINTED = ("human", "plain")  # forms that begin with what the program printed
_WITH_GRAPH = ("human", "plain", "json", "ndjson")


@command(
    *(*PROGRAM, *ROWS, "show", "graph", "kinks", "plots", *RESULT, *LIMITS, *MESSAGES),
    forms=RESULTS,
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
    inquiry = Inquiry(line, RESULTS)
    shown, records = inquiry.shown, inquiry.records
    if records is not None:
        from gradcli.cli.line.records import row_form

        _refuse_graph(line.graph, "--rows")
        refuse_kinks(line.kinks, "--rows")
        if line.plots is not None:
            raise usage("`--plots` does not go with --rows")
        asked = inquiry.target
        target = Target(row_form(asked, records), asked.path, asked.color)
    else:
        target = resolve_auto(inquiry.target)
    if target.form not in _WITH_GRAPH:
        _refuse_graph(line.graph, f"{target.form} output")
        refuse_kinks(line.kinks, f"{target.form} output")
    program = inquiry.load()
    kept: list[str] = []
    echo = Echo(_destination(target, kept))
    drawing = None if line.plots is None else _drawing(line.plots)
    seen = target.form == "human" and records is None
    settings = inquiry.settings(echo, grad_fn=seen, plots=drawing)
    if records is not None:
        inquiry.answer_rows(
            Query(program, "run", {}),
            settings,
            lambda result: _parts(result, shown),
        )
        return

    def answer() -> "tuple[RunResult, str | bytes]":
        found = program.run(inquiry.inputs, options=settings)
        if drawing is not None:
            drawing.finish()
        return found, _content(found, target, shown, line.precision)

    result, content = program.within(settings, answer)
    if isinstance(content, str) and target.form in _WITH_PRINTED:
        blank = echo.begun and content and target.form == "human"
        content = "".join([*kept, "\n" * (echo.unfinished + bool(blank)), content])
    target.write(content)
    inquiry.telling.warn(result.warnings)


def _drawing(folder: str) -> "Drawing":
    """Draws into files of a folder, which is made when the first of them is there."""
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


def _refuse_graph(graph: bool, beside: str) -> None:
    if graph:
        raise usage(f"`--graph` does not go with {beside}", "`gradcli graph` draws it alone")


def _parts(result: "RunResult", shown: Sequence[str] | None) -> Parts:
    """What a result is written from: the names of --show, else the result."""

    def values() -> "dict[str, Value]":
        return _values(result, shown)

    def json() -> dict[str, str]:
        from gradcli.formats.texts.json_text import json_fields

        return json_fields(_restricted(result, shown))

    return Parts(values, values, json)


def _destination(target: Target, kept: list[str]) -> Callable[[str], object]:
    """Where the program's own printing goes."""
    if target.form in ("json", "ndjson"):
        return lambda text: None  # the result tells it
    if target.form not in _WITH_PRINTED:
        return print_message
    return kept.append if target.path else print_output


def _content(
    result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int
) -> str | bytes:
    if target.form == "human":
        return _human(result, target, shown, precision)
    if target.form == "plain":
        return _plain(result, target, shown, precision)
    if target.form == "raw" and result.result is None and shown is None:
        return ""
    return target.whole(_parts(result, shown))


def _values(result: "RunResult", shown: Sequence[str] | None) -> "dict[str, Value]":
    """What is written by name: the names of --show, else the result."""
    from gradcli.formats.texts.fields import fields

    if shown is not None:
        return _restricted(result, shown).values
    if result.result is None:
        message = "the program does not end in an expression, so it has no result"
        help = "name what to write with --show"
        raise UsageError(Diagnostic("no-result", message, help=help))
    return fields(result)


def _restricted(result: "RunResult", shown: Sequence[str] | None) -> "RunResult":
    """The result with the names of --show alone."""
    from gradcli.results import RunResult

    if shown is None:
        return result
    bindings = {binding.name: binding for binding in result.bindings}
    for name in shown:
        if name not in bindings:
            raise usage(
                f"`{name}` in --show is no top-level value of the program",
                nearest(name, bindings),
            )
    kept = tuple(bindings[name] for name in shown)
    return RunResult(
        result.output,
        result.result,
        kept,
        result.printed,
        result.warnings,
        result.graph,
        result.kinks,
    )


def _plain(result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int) -> str:
    from gradcli.formats.writers.plain import fields_plain, kinks_plain, run_plain

    text = run_plain(result) if shown is None else fields_plain(_values(result, shown))
    text += kinks_plain(result.kinks or ())
    return text + "".join(target.draw(lines) for lines in _graph(result, target, precision))


def _human(result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int) -> str:
    from gradcli.render.values import binding_table, run_view

    if shown is None:
        lines = run_view(result, precision=precision, width=target.width)
    else:
        lines = binding_table(_restricted(result, shown).bindings, precision, target.width)
    for graph in _graph(result, target, precision):
        lines += [[], *graph]
    if result.kinks is not None:
        lines += [[], *drawn(result.kinks, target)]
    return target.draw(lines)


def _graph(result: "RunResult", target: Target, precision: int) -> "Iterator[list[Drawn]]":
    """The graph as lines, if there is one."""
    if result.graph is not None:
        from gradcli.render.graphs.tree import graph_view

        yield graph_view(result.graph, precision=precision, width=target.terminal)
