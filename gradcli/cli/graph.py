"""`gradcli graph`."""

from typing import TYPE_CHECKING

from gradcli.cli.command import command
from gradcli.cli.inquiry import Inquiry
from gradcli.cli.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.output import Target
from gradcli.formats.forms import GRAPHS

if TYPE_CHECKING:
    from gradcli.results import GraphResult


@command(
    *(*PROGRAM, "wrt", "of"),
    *("form", "json", "output", "precision", "check_nan", "seed", "quiet", *LIMITS, *MESSAGES),
    forms=GRAPHS,
)
def graph(line: Line) -> None:
    """The graph that a run recorded, with values and derivatives.

    Examples:
      gradcli graph '(a + b) * (b + 1)' a=2 b=1
      gradcli samples cooling -o .
      gradcli graph cooling.grad --wrt k -f dot > graph.dot
    """
    inquiry = Inquiry(line, GRAPHS)
    program = inquiry.load()
    settings = inquiry.settings()

    def answer() -> "tuple[GraphResult, str]":
        found = program.graph(inquiry.inputs, wrt=inquiry.names, of=line.of, options=settings)
        return found, _text(found, inquiry.target, line.precision)

    result, text = program.within(settings, answer)
    inquiry.target.write(text)
    inquiry.telling.warn(result.warnings)


def _text(result: "GraphResult", target: Target, precision: int) -> str:
    if target.form == "json":
        from gradcli.formats.json_text import json_text

        return f"{json_text(result)}\n"
    if target.form == "dot":
        from gradcli.formats.dot import dot

        return dot(result.graph)

    from gradcli.render.graph import graph_view

    return target.draw(graph_view(result.graph, precision=precision, width=target.width))
