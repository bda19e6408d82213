"""`gradcli graph`."""

from typing import TYPE_CHECKING

from gradcli.cli import options as o
from gradcli.cli.inputs import load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import Target, choose
from gradcli.cli.terminal import write_message

if TYPE_CHECKING:
    from gradcli.results import GraphResult

_SUFFIXES = {".dot": "dot", ".json": "json", ".txt": "tree"}


def graph(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    wrt: o.Wrt = None,
    of: o.Of = None,
    form: o.GraphFormat = o.GraphFormatName.AUTO,
    json: o.Json = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    check_nan: o.CheckNan = False,
    seed: o.Seed = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """The graph that a run recorded: operations, values, derivatives.

    Examples:
      gradcli graph cooling.grad
      gradcli graph cooling.grad --wrt k -f dot | dot -Tsvg > graph.svg
    """
    from gradcli.program import Options

    target = choose(form.value, json=json, output=output, color=color.value, suffixes=_SUFFIXES)
    names = split_names(wrt, "--wrt")
    program, inputs = load(arguments, expression, values_file)
    settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=True)
    result = program.graph(inputs, wrt=names, of=of, options=settings)
    target.write(_text(result, target, precision))
    Telling(quiet, diagnostics.value, color.value).warn(result.warnings)


def _text(result: "GraphResult", target: Target, precision: int) -> str:
    if target.form == "json":
        from gradcli.formats.json_text import json_text

        return f"{json_text(result)}\n"
    if target.form == "dot":
        from gradcli.formats.dot import dot

        return dot(result.graph)

    from gradcli.render.graph import graph_view

    return target.draw(graph_view(result.graph, precision=precision, width=target.width))
