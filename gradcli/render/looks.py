"""The table of functions that draw results, for commands, `print` and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.render.text import Line, plain_text
from gradcli.results import (
    Derivative,
    Findings,
    GradcheckResult,
    Graph,
    GraphResult,
    Look,
    Operations,
    RunResult,
    Several,
    Shown,
)

if TYPE_CHECKING:
    from gradcli.render.graphs.picture import Picture
    from gradcli.views import PlotResult, TraceResult

Drawn: TypeAlias = "list[Line] | str | bytes"
"""Lines that may be coloured, or the content of a file."""


def drawn(result: Any, views: Sequence[str], form: str, look: Look) -> Drawn:
    """Views of a result in a form: lines of one under those of the other."""
    first, *others = (LOOKS[view, form](result, look) for view in views)
    if not isinstance(first, list):
        assert not others, f"{form} holds one view"
        return first
    for lines in others:
        first = [*first, [], *lines]
    return first


_USUAL = Look(
    precision=6,
    width=100,
    terminal=100,
    verbose=False,
    values="full",
    nodes=500,
    depth=None,
    unfold=0,
    diagnostics="full",
    source=None,
)


def text(result: Shown, form: str) -> str:
    """The text that a command without options shows of a result, without its last line end."""
    found = drawn(result, [result.view], form, _USUAL)
    return (plain_text(found) if isinstance(found, list) else str(found)).removesuffix("\n")


def detailed(form: str, look: Look) -> Callable[[Graph], Collection[int]]:
    """Says, of a graph, of which nodes a form tells more."""
    return (lambda graph: _picture(graph, look).boxes) if form == "html" else lambda graph: ()


# runs and derivatives -----------------------------------------------------------------------------


def _run(result: RunResult, look: Look) -> list[Line]:
    from gradcli.render.values import run_view

    return run_view(result, precision=look.precision, width=look.width)


def _names(result: RunResult, look: Look) -> list[Line]:
    from gradcli.render.values import binding_table

    return binding_table(result.bindings, look.precision, look.width)


def _kinks(result: Any, look: Look) -> list[Line]:
    from gradcli.render.kinks import kinks_view

    return kinks_view(result.kinks, width=look.width)


def _derivative(result: Derivative | Several, look: Look) -> list[Line]:
    from gradcli.render.derivatives import derivative_view

    return derivative_view(result, precision=look.precision, width=look.width)


def _checks(result: GradcheckResult, look: Look) -> list[Line]:
    from gradcli.render.checks import checks_view

    return checks_view(result, precision=look.precision, width=look.width, every=look.verbose)


# graphs -------------------------------------------------------------------------------------------


def _picture(graph: Graph, look: Look) -> Picture:
    from gradcli.render.graphs.picture import Extent, picture

    return picture(graph, Extent(look.nodes, look.depth, look.unfold))


def _tree(result: GraphResult | RunResult, look: Look) -> list[Line]:
    from gradcli.render.graphs.tree import tree

    assert result.graph is not None, "no graph was asked for"
    return tree(_picture(result.graph, look), precision=look.precision, width=look.terminal)


def _dot(result: GraphResult, look: Look) -> str:
    from gradcli.render.graphs.dot import dot

    return dot(_picture(result.graph, look), look.precision)


def _mermaid(result: GraphResult, look: Look) -> str:
    from gradcli.render.graphs.mermaid import mermaid

    return mermaid(_picture(result.graph, look), look.precision)


def _svg(result: GraphResult, look: Look) -> str:
    from gradcli.render.graphs.svg import svg

    return svg(_picture(result.graph, look), look.precision)


def _html(result: GraphResult, look: Look) -> str:
    from gradcli.render.graphs.page import graph_page

    graph, source = result.graph, look.source
    assert source is not None, "the page shows the program"
    return graph_page(
        graph,
        _picture(graph, look),
        program=source.text,
        name=source.name,
        precision=look.precision,
    )


# traces, curves, operations, findings -------------------------------------------------------------


_UNBOUNDED = 1000  # cells of a line where nothing bounds it


def _trace(result: TraceResult, look: Look) -> list[Line]:
    from gradcli.render.trace import trace_view

    width = look.terminal or _UNBOUNDED
    return trace_view(result, precision=look.precision, width=width)


def _curves(result: PlotResult, look: Look) -> list[Line]:
    from gradcli.render.plot import plot_view

    return plot_view(result, width=look.width)


def _figure(form: str) -> Callable[[PlotResult, Look], bytes]:
    def drawn(result: PlotResult, look: Look) -> bytes:
        from gradcli.render.figure import picture

        return picture(result, form)

    return drawn


def _operations(result: Operations, look: Look) -> list[Line]:
    from gradcli.render.operations import operation_view, operations_view

    found = result.operations
    if len(found) == 1:
        return operation_view(found[0], precision=look.precision, width=look.width)
    return operations_view(found, width=look.width)


def _findings(result: Findings, look: Look) -> list[Line]:
    from gradcli.render.diagnostic import concise, full

    if look.diagnostics == "concise":
        return [line for finding in result.shown for line in concise(finding)]
    lines: list[Line] = []
    for number, finding in enumerate(result.shown):
        text = full(finding, look.terminal)
        lines += [[], *text] if number else text
    return lines


LOOKS: dict[tuple[str, str], Callable[[Any, Look], Drawn]] = {
    ("run", "human"): _run,
    ("names", "human"): _names,
    ("recorded", "human"): _tree,
    ("recorded", "plain"): _tree,
    ("kinks", "human"): _kinks,
    ("derivative", "human"): _derivative,
    ("checks", "human"): _checks,
    ("findings", "human"): _findings,
    ("findings", "plain"): _findings,
    ("graph", "tree"): _tree,
    ("graph", "human"): _tree,  # for `print`
    ("graph", "dot"): _dot,
    ("graph", "mermaid"): _mermaid,
    ("graph", "svg"): _svg,
    ("graph", "html"): _html,
    ("trace", "human"): _trace,
    ("curves", "human"): _curves,
    **{("curves", form): _figure(form) for form in ("svg", "png", "pdf")},
    ("operations", "human"): _operations,
}
"""The function that draws each view in each form."""
