"""`gradcli run`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gradcli.cli import options as o
from gradcli.cli.emit import SUFFIXES, one_array
from gradcli.cli.failures import did_you_mean, usage
from gradcli.cli.inputs import load, split_names
from gradcli.cli.messages import report
from gradcli.cli.output import Echo, Target, choose, resolve_auto
from gradcli.cli.records import batch
from gradcli.cli.terminal import write_message, write_output

if TYPE_CHECKING:
    from gradcli.cli.rows import Form
    from gradcli.results import RunResult

_WITH_PRINTED = ("human", "plain")  # forms that begin with what the program printed


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
      gradcli run -e 'x = 3' -e 'x ** 2'
    """
    from gradcli.program import Options

    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    shown = split_names(show, "--show")
    records = batch(rows, columns, on_error.value, jobs)
    program, inputs = load(arguments, expression, values_file, records)
    if records is not None:
        from gradcli.cli.rows import answer_rows

        settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=False)
        answer_rows(
            lambda given: program.run(given, options=settings),
            program,
            inputs,
            records,
            _form(shown),
            target,
            quiet=quiet,
            diagnostics=diagnostics.value,
            color=color.value,
        )
        return
    target = resolve_auto(target)
    kept: list[str] = []
    echo = Echo(_destination(target, kept))
    settings = Options(seed=seed, echo=echo, check_nan=check_nan, graph=graph)
    result = program.run(inputs, options=settings)
    content = _text(result, target, shown, precision)
    if isinstance(content, str) and target.form in _WITH_PRINTED:
        blank = echo.begun and content and target.form == "human"
        content = "".join([*kept, "\n" * (echo.unfinished + bool(blank)), content])
    target.write(content)
    if not quiet:
        report(result.warnings, form=diagnostics.value, color=color.value)


def _form(shown: Sequence[str] | None) -> "Form":
    """How a row's result is written."""
    from gradcli.cli.rows import Form
    from gradcli.formats.fields import fields
    from gradcli.formats.json_text import json_fields

    def values(result: "RunResult") -> dict[str, object]:
        return fields(result) if shown is None else dict(_chosen(result, shown))

    return Form(values, json_fields, lambda result: values(result).values())


def _destination(target: Target, kept: list[str]) -> Callable[[str], object]:
    """Where the program's own printing goes."""
    if target.form in ("json", "ndjson"):
        return lambda text: None  # the result tells it
    if target.form not in _WITH_PRINTED:
        return write_message
    return kept.append if target.path else write_output


def _text(
    result: "RunResult", target: Target, shown: Sequence[str] | None, precision: int
) -> str | bytes:
    chosen = None if shown is None else _chosen(result, shown)
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.json_text import json_text

            return f"{json_text(result)}\n"
        case "human":
            return _human(result, target, chosen, precision)
        case "plain":
            return _plain(result, target, chosen, precision)

    from gradcli.formats.fields import fields

    values = fields(result) if chosen is None else chosen
    match target.form:
        case "csv" | "tsv":
            from gradcli.formats.delimited import DELIMITERS, delimited

            return delimited(values, DELIMITERS[target.form])
        case "npy":
            from gradcli.formats.arrays import npy

            return npy(one_array(values, target.path or ""))
        case "npz":
            from gradcli.formats.arrays import npz

            return npz(values)
    from gradcli.formats.raw import raw

    return raw(values.values())


def _plain(
    result: "RunResult", target: Target, chosen: Mapping[str, object] | None, precision: int
) -> str:
    from gradcli.formats.plain import fields_plain, run_plain

    text = run_plain(result) if chosen is None else fields_plain(chosen)
    if result.graph is not None:
        from gradcli.render.graph import graph_view

        text += target.draw(graph_view(result.graph, precision=precision, width=target.width))
    return text


def _chosen(result: "RunResult", shown: Sequence[str]) -> Mapping[str, object]:
    values = result.values
    for name in shown:
        if name not in values:
            raise usage(
                f"`{name}` in --show is no top-level name of the program",
                did_you_mean(name, values),
            )
    return {name: values[name] for name in shown}


def _human(
    result: "RunResult", target: Target, chosen: Mapping[str, object] | None, precision: int
) -> str:
    from gradcli.render.values import run_view

    bindings = [b for b in result.bindings if chosen is None or b.name in chosen]
    lines = run_view(result, bindings=bindings, precision=precision, width=target.width)
    if result.graph is not None:
        from gradcli.render.graph import graph_view

        lines += [[], *graph_view(result.graph, precision=precision, width=target.width)]
    return target.draw(lines)
