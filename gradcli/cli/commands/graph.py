"""`gradcli graph`."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.line.output import Target
from gradcli.cli.rows.inquiry import Inquiry
from gradcli.cli.terminal.failures import usage
from gradcli.formats.writers.forms import GRAPHS

if TYPE_CHECKING:
    from gradcli.program import Program
    from gradcli.render.graphs.picture import Picture
    from gradcli.results import Graph, GraphResult


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

    target = inquiry.target
    if target.form == "auto":
        target = Target("tree", target.path, target.color)
    view = _View(line, target, program)

    def answer() -> "tuple[GraphResult, str]":
        asked: dict[str, Any] = {"wrt": inquiry.names, "of": line.of, "cotangent": weights}
        found = program.graph(inquiry.inputs, **asked, detailed=view.detailed, options=settings)
        return found, view.text(found)

    result, text = program.within(settings, answer)
    target.write(text)
    inquiry.telling.warn(result.warnings)


class _View:
    """The form in which a graph is shown."""

    def __init__(self, line: Line, target: Target, program: "Program") -> None:
        self._line, self._target, self._program = line, target, program
        self._picture: Picture | None = None

    def detailed(self, graph: "Graph") -> Collection[int]:
        """The nodes of which the form tells more."""
        return self._drawn(graph).boxes if self._target.form == "html" else ()

    def text(self, result: "GraphResult") -> str:
        """The graph as text to write."""
        form, precision, graph = self._target.form, self._line.precision, result.graph
        if form == "json":
            from gradcli.formats.texts.json_text import graph_json

            return f"{graph_json(result, self._line.values)}\n"
        if form == "dot":
            from gradcli.render.graphs.dot import dot

            return dot(self._drawn(graph), precision)
        if form == "mermaid":
            from gradcli.render.graphs.mermaid import mermaid

            return mermaid(self._drawn(graph), precision)
        if form == "svg":
            from gradcli.render.graphs.svg import svg

            return svg(self._drawn(graph), precision)
        if form == "html":
            from gradcli.render.graphs.page import graph_page

            source = self._program.source
            drawn = self._drawn(graph)
            return graph_page(
                graph, drawn, program=source.text, name=source.name, precision=precision
            )
        from gradcli.render.graphs.tree import tree

        return self._target.draw(
            tree(self._drawn(graph), precision=precision, width=self._target.terminal)
        )

    def _drawn(self, graph: "Graph") -> "Picture":
        if self._picture is None:
            from gradcli.render.graphs.picture import Extent, picture

            extent = Extent(self._line.nodes, self._line.depth, self._line.unfold)
            self._picture = picture(graph, extent)
        return self._picture
