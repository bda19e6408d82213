"""The table of functions that draw results, for commands, `print` and notebooks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.lesson import Lesson
from gradcli.render.text import Line, plain_text
from gradcli.results import Findings, Graph, GraphResult, Look, Operations, RunResult, Shown

if TYPE_CHECKING:
    from gradcli.render.graphs.picture import Picture
    from gradcli.views import FitResult, NotebookResult, PlotResult, TraceResult

Drawn: TypeAlias = "list[Line] | str | bytes"
"""Lines that may be coloured, or the content of a file."""


def drawn(result: Any, views: Sequence[str], form: str, look: Look) -> Drawn:
    """Views of a result in a form, one below the other."""
    first, *others = (LOOKS[view, form](result, look) for view in views)
    if not isinstance(first, list):
        assert not others, f"{form} holds one view"
        return first
    for lines in others:
        first = [*first, [], *lines]
    return first


USUAL = Look(
    precision=6,
    width=100,
    terminal=100,
    verbose=False,
    values="full",
    nodes=500,
    depth=None,
    unfold=0,
    partials=False,
    diagnostics="full",
    source=None,
)
"""The settings of a command without options."""


def text(result: Shown, form: str) -> str:
    """The text of a result that a command without options prints, without its final line end."""
    found = drawn(result, [result.view], form, USUAL)
    return (plain_text(found) if isinstance(found, list) else str(found)).removesuffix("\n")


def detailed(form: str, look: Look) -> Callable[[Graph], Mapping[int, Collection[int]]]:
    """A function that chooses the nodes of a graph whose details a form shows, each with the nodes
    of its step.
    """
    if form == "json" and look.partials:
        return lambda graph: {node.id: [node.id] for node in graph.nodes}
    if form == "html" or look.partials:
        return lambda graph: _picture(graph, look).steps
    return lambda graph: {}


def _function(module: str, name: str) -> Any:
    return getattr(import_module(f"gradcli.render.{module}"), name)


def _view(module: str, function: str, *settings: str) -> Callable[[Any, Look], list[Line]]:
    """The function of a module that draws a result, with some settings bound."""

    def drawn(result: Any, look: Look) -> list[Line]:
        view = _function(module, function)
        lines: list[Line] = view(
            result, **{setting: getattr(look, setting) for setting in settings}
        )
        return lines

    return drawn


# graphs -------------------------------------------------------------------------------------------


def _picture(graph: Graph, look: Look) -> Picture:
    from gradcli.render.graphs.picture import Extent, picture

    found = picture(graph, Extent(look.nodes, look.depth, look.unfold))
    return found.with_partials(graph) if look.partials else found


def _tree(result: GraphResult | RunResult, look: Look) -> list[Line]:
    from gradcli.render.graphs.tree import tree

    assert result.graph is not None, "no graph was asked for"
    return tree(_picture(result.graph, look), precision=look.precision, width=look.terminal)


def _source(form: str) -> Callable[[GraphResult, Look], str]:
    """A function that draws a graph in the language of a module."""

    def drawn(result: GraphResult, look: Look) -> str:
        write = _function(f"graphs.{form}", form)
        text: str = write(_picture(result.graph, look), look.precision)
        return text

    return drawn


def _graph_figure(form: str) -> Callable[[GraphResult, Look], bytes]:
    def drawn(result: GraphResult, look: Look) -> bytes:
        from gradcli.render.graphs.figure import figure

        return figure(_picture(result.graph, look), form, look.precision)

    return drawn


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


_UNBOUNDED = 1000  # cells of a line, if nothing limits it


def _trace(result: TraceResult, look: Look) -> list[Line]:
    from gradcli.render.trace import trace_view

    width = look.terminal or _UNBOUNDED
    return trace_view(result, precision=look.precision, width=width)


def _trace_markdown(result: TraceResult, look: Look) -> str:
    from gradcli.render.trace_page import trace_markdown

    return trace_markdown(result, precision=look.precision)


def _trace_html(result: TraceResult, look: Look) -> str:
    from gradcli.render.trace_page import trace_html

    assert look.source is not None, "the page shows the program"
    text, name = look.source.text, look.source.name
    return trace_html(result, precision=look.precision, program=text, name=name)


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


def _lesson(result: NotebookResult, look: Look) -> str:
    from gradcli.render.notebooks.page import lesson_page

    assert isinstance(look.source, Lesson), "cells come from a lesson"
    return lesson_page(result, look.source)


def _fit_page(result: FitResult, look: Look) -> str:
    from gradcli.render.models.report import fit_page

    return fit_page(result, precision=look.precision)


LOOKS: dict[tuple[str, str], Callable[[Any, Look], Drawn]] = {
    ("run", "human"): _view("values", "run_view", "precision", "width"),
    ("notebook", "human"): _view("values", "run_view", "precision", "width"),
    ("notebook", "html"): _lesson,
    ("names", "human"): _view("values", "binding_table", "precision", "width"),
    ("recorded", "human"): _tree,
    ("recorded", "plain"): _tree,
    ("kinks", "human"): _view("derivatives.kinks", "kinks_view", "width"),
    ("derivative", "human"): _view("derivatives.answers", "derivative_view", "precision", "width"),
    ("sparse", "human"): _view("derivatives.sparse", "sparse_view", "precision", "width"),
    ("checks", "human"): _view("checks", "checks_view", "precision", "width", "verbose"),
    ("findings", "human"): _findings,
    ("findings", "plain"): _findings,
    ("graph", "tree"): _tree,
    ("graph", "human"): _tree,  # used by `print`
    **{("graph", form): _source(form) for form in ("dot", "mermaid", "svg")},
    **{("graph", form): _graph_figure(form) for form in ("png", "pdf")},
    ("graph", "html"): _html,
    ("trace", "human"): _trace,
    ("trace", "md"): _trace_markdown,
    ("trace", "html"): _trace_html,
    ("curves", "human"): _view("plot", "plot_view", "width"),
    **{("curves", form): _figure(form) for form in ("svg", "png", "pdf")},
    ("minimum", "human"): _view("models.solution", "solution_view", "precision", "width"),
    ("root", "human"): _view("models.solution", "solution_view", "precision", "width"),
    ("propagation", "human"): _view("models.propagation", "propagation_view", "width"),
    ("propagation", "md"): _view("models.propagation", "propagation_page"),
    ("operations", "human"): _operations,
    ("fit", "human"): _view("models.report", "fit_view", "precision", "width", "verbose"),
    ("fit", "md"): _fit_page,
    ("comparison", "human"): _view("models.groups", "comparison_view", "precision", "width"),
    ("fits", "human"): _view("models.groups", "groups_view", "precision", "width"),
}
"""The function that draws each view in each form."""
