"""Results as Python shows them: what `print` writes, and the pictures of a notebook."""

from __future__ import annotations

from gradcli.render.text import Line, plain_text
from gradcli.results import Derivative, GradcheckResult, GraphResult, RunResult, Shown
from gradcli.views import PlotResult, TraceResult

_PRECISION, _WIDTH = 6, 100


def drawn(result: Shown, form: str) -> str:
    """What a command shows a person, without its last line end; a graph as `svg`, too."""
    if isinstance(result, GraphResult) and form == "svg":
        from gradcli.render.graphs.svg import graph_svg

        return graph_svg(result.graph, precision=_PRECISION)
    return plain_text(_lines(result)).removesuffix("\n")


def _lines(result: Shown) -> list[Line]:
    match result:
        case Derivative():
            from gradcli.render.derivatives import derivative_view

            return derivative_view(result, precision=_PRECISION, width=_WIDTH)
        case RunResult():
            from gradcli.render.values import run_view

            return run_view(result, precision=_PRECISION, width=_WIDTH)
        case GradcheckResult():
            from gradcli.render.checks import checks_view

            return checks_view(result, precision=_PRECISION, width=_WIDTH, every=False)
        case GraphResult():
            from gradcli.render.graphs.tree import graph_view

            return graph_view(result.graph, precision=_PRECISION, width=_WIDTH)
        case TraceResult():
            from gradcli.render.trace import trace_view

            return trace_view(result, precision=_PRECISION, width=_WIDTH)
        case PlotResult():
            from gradcli.render.plot import plot_view

            return plot_view(result, width=_WIDTH)
    raise TypeError(f"{type(result).__name__} is shown by nothing")
