"""`gradcli graph`."""

from typing import TYPE_CHECKING

from gradcli.cli.command import command
from gradcli.cli.failures import usage
from gradcli.cli.inputs import constant
from gradcli.cli.inquiry import Inquiry
from gradcli.cli.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.output import Target
from gradcli.formats.forms import GRAPHS

if TYPE_CHECKING:
    from gradcli.results import GraphResult


@command(
    *(*PROGRAM, "wrt", "cotangent", "of", "nodes", "depth", "unfold", "values"),
    *("form", "json", "output", "precision", "check_nan", "seed", "quiet", *LIMITS, *MESSAGES),
    forms=GRAPHS,
)
def graph(line: Line) -> None:
    """The graph that a run recorded, with values and derivatives.

    Examples:
      gradcli graph '(a + b) * (b + 1)' a=2 b=1
      gradcli samples cooling -o .
      gradcli graph cooling.grad --wrt k -f dot > graph.dot
      gradcli graph cooling.grad -o cooling.mmd
    """
    inquiry = Inquiry(line, GRAPHS)
    if line.values != "full" and inquiry.target.form != "json":
        raise usage("`--values` goes with JSON, which has all of them otherwise")
    program = inquiry.load()
    weights = constant(line.cotangent, "--cotangent")
    settings = inquiry.settings()

    def answer() -> "tuple[GraphResult, str]":
        found = program.graph(
            inquiry.inputs, wrt=inquiry.names, of=line.of, cotangent=weights, options=settings
        )
        return found, _text(found, inquiry.target, line)

    result, text = program.within(settings, answer)
    inquiry.target.write(text)
    inquiry.telling.warn(result.warnings)


def _text(result: "GraphResult", target: Target, line: Line) -> str:
    if target.form == "json":
        from gradcli.formats.json_text import graph_json

        return f"{graph_json(result, line.values)}\n"
    from gradcli.render.graphs.picture import Extent, picture

    extent = Extent(line.nodes, line.depth, line.unfold)
    if target.form == "dot":
        from gradcli.render.graphs.dot import dot

        return dot(picture(result.graph, extent), line.precision)
    if target.form == "mermaid":
        from gradcli.render.graphs.mermaid import mermaid

        return mermaid(picture(result.graph, extent), line.precision)
    if target.form == "svg":
        from gradcli.render.graphs.svg import graph_svg

        return graph_svg(result.graph, precision=line.precision, extent=extent)
    from gradcli.render.graphs.tree import graph_view

    width = target.terminal
    view = graph_view(result.graph, precision=line.precision, width=width, extent=extent)
    return target.draw(view)
