"""`gradcli run`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.cli import options as o
from gradcli.cli.emit import SUFFIXES, one_array
from gradcli.cli.failures import did_you_mean, usage
from gradcli.cli.inputs import load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import Echo, Target, choose, resolve_auto
from gradcli.cli.records import batch, row_form
from gradcli.cli.terminal import write_message, write_output
from gradcli.errors import Diagnostic, UsageError

if TYPE_CHECKING:
    from gradcli.cli.rows import Form
    from gradcli.program import Given
    from gradcli.render.text import Line
    from gradcli.results import RunResult, Value

_WITH_PRINTED = ("human", "plain")  # forms that begin with what the program printed
_WITH_GRAPH = ("human", "plain", "json", "ndjson")


def run(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    show: o.Show = None,
    graph: o.Graph = False,
    form: o.Format = o.FormatName.AUTO,
    json: o.Json = False,
    raw: o.Raw = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    check_nan: o.CheckNan = False,
    seed: o.Seed = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """Run a program: print what it prints, then its result.

    Examples:
      gradcli run cooling.grad
      gradcli run cooling.grad k=0.2 't=[0, 5, 10]'
      gradcli run cooling.grad t=@times.npy -i values.json --show T,k
      gradcli run cooling.grad --rows many.csv --on-error skip --jobs 4 > results.csv
      gradcli run -e 'x = 3' -e 'x ** 2'
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    shown = split_names(show, "--show")
    records = batch(rows, columns, on_error.value, jobs)
    if records is not None:
        _refuse_graph(graph, "--rows")
        target = target._replace(form=row_form(target, records))
    else:
        target = resolve_auto(target)
    if target.form not in _WITH_GRAPH:
        _refuse_graph(graph, f"{target.form} output")
    program, inputs = load(arguments, expression, values_file, records)
    kept: list[str] = []
    echo = Echo(_destination(target, kept))
    settings = Options(seed=seed, echo=echo, check_nan=check_nan, graph=graph)
    if records is not None:
        from gradcli.cli.rows import answer_rows

        def question(given: "Mapping[str, Given]") -> "RunResult":
            return program.run(given, options=settings)

        answer_rows(question, program, inputs, records, _form(shown), target, telling)
        return
    result = program.run(inputs, options=settings)
    content = _content(result, target, shown, precision)
    if isinstance(content, str) and target.form in _WITH_PRINTED:
        blank = echo.begun and content and target.form == "human"
        content = "".join([*kept, "\n" * (echo.unfinished + bool(blank)), content])
    target.write(content)
    telling.warn(result.warnings)


def _refuse_graph(graph: bool, beside: str) -> None:
    if graph:
        raise usage(f"`--graph` does not go with {beside}", "`gradcli graph` draws it alone")


def _form(shown: Sequence[str] | None) -> "Form":
    """How a row's result is written."""
    from gradcli.cli.rows import Form
    from gradcli.formats.json_text import json_fields

    return Form(
        lambda result: _values(result, shown),
        lambda result: json_fields(_restricted(result, shown)),
        lambda result: _values(result, shown).values(),
    )


def _destination(target: Target, kept: list[str]) -> Callable[[str], object]:
    """Where the program's own printing goes."""
    if target.form in ("json", "ndjson"):
        return lambda text: None  # the result tells it
    if target.form not in _WITH_PRINTED:
        return write_message
    return kept.append if target.path else write_output


def _content(
    result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int
) -> str | bytes:
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.json_text import json_text

            return f"{json_text(_restricted(result, shown))}\n"
        case "human":
            return _human(result, target, shown, precision)
        case "plain":
            return _plain(result, target, shown, precision)
        case "csv" | "tsv":
            from gradcli.formats.delimited import DELIMITERS, delimited

            return delimited(_values(result, shown), DELIMITERS[target.form])
        case "npy":
            from gradcli.formats.arrays import npy

            return npy(one_array(_values(result, shown), target.path or ""))
        case "npz":
            from gradcli.formats.arrays import npz

            return npz(_values(result, shown))
    from gradcli.formats.raw import raw

    return raw([] if result.result is None and shown is None else _values(result, shown).values())


def _values(result: "RunResult", shown: Sequence[str] | None) -> "dict[str, Value]":
    """What is written by name: the names of --show, else the result."""
    from gradcli.formats.fields import fields

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
                did_you_mean(name, bindings),
            )
    kept = tuple(bindings[name] for name in shown)
    return RunResult(
        result.output, result.result, kept, result.printed, result.warnings, result.graph
    )


def _plain(result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int) -> str:
    from gradcli.formats.plain import fields_plain, run_plain

    text = run_plain(result) if shown is None else fields_plain(_values(result, shown))
    return text + "".join(target.draw(lines) for lines in _graph(result, target, precision))


def _human(result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int) -> str:
    from gradcli.render.values import binding_table, run_view

    if shown is None:
        lines = run_view(result, precision=precision, width=target.width)
    else:
        lines = binding_table(_restricted(result, shown).bindings, precision, target.width)
    for drawn in _graph(result, target, precision):
        lines += [[], *drawn]
    return target.draw(lines)


def _graph(result: "RunResult", target: Target, precision: int) -> "Iterator[list[Line]]":
    """The graph as lines, if there is one."""
    if result.graph is not None:
        from gradcli.render.graph import graph_view

        yield graph_view(result.graph, precision=precision, width=target.width)
