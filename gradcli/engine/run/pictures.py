"""Plots: what programs draw with matplotlib's names is left out, with one note."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.run.session import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.values.carrier import data_of

NAMES = frozenset(
    {
        *("coolwarm", "fill", "hot", "jet", "plasma", "plt", "set_axes", "set_figsize"),
        *("use_svg_display", "viridis"),
        *("add_subplot", "annotate", "arrow", "axes", "axhline", "axis", "axvline", "bar"),
        *("barh", "boxplot", "cla", "clabel", "clf", "close", "cm", "colorbar", "contour"),
        *("contourf", "draw", "errorbar", "figlegend", "figure", "fill", "fill_between"),
        *("figtext", "gca", "gcf", "get_cmap", "get_figure", "get_legend_handles_labels", "grid"),
        *("hist", "hist2d", "hlines", "imshow", "invert_yaxis", "ion", "ioff", "legend"),
        *("loglog", "margins", "matshow", "pause", "pcolormesh", "pie", "plot", "plot_surface"),
        *("plot_wireframe", "quiver", "rc", "rcParams", "relim", "remove", "savefig", "scatter"),
        *("semilogx", "semilogy", "set", "set_aspect", "set_color", "set_data", "set_label"),
        *("set_linewidth", "set_title", "set_visible", "set_xlabel", "set_xlim", "set_xscale"),
        *("set_xticklabels", "set_xticks", "set_ylabel", "set_ylim", "set_yscale"),
        *("set_yticklabels", "set_yticks", "set_zlabel", "show", "spines", "stem", "step"),
        *("streamplot", "style", "subplot", "subplot_mosaic", "subplots", "subplots_adjust"),
        *("suptitle", "table", "text", "tick_params", "ticklabel_format", "tight_layout"),
        *("title", "twinx", "twiny", "use", "violinplot", "vlines", "xaxis", "xlabel", "xlim"),
        *("xscale", "xticks", "yaxis", "ylabel", "ylim", "yscale", "yticks", "autoscale"),
    }
)
"""Functions and methods of matplotlib, and what d2l has beside them."""

_PARTS = frozenset(
    {
        *("cm", "coolwarm", "hot", "jet", "plasma", "plt", "spines", "style", "viridis", "xaxis"),
        "yaxis",
    }
)
"""Attributes that have methods of their own."""


class Canvas:
    """What matplotlib's functions give: a figure, axes, a line. It takes every call and draws
    nothing.
    """

    __slots__ = ()
    said = "a plot"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __repr__(self) -> str:
        return "<plot>"


def _left_out(name: str) -> Callable[..., Any]:
    def call(session: Session, site: Site | None, canvas: Any, *args: Any, **named: Any) -> Any:
        session.warn("plots-left-out", "plots are left out", "the numbers are printed", site)
        if name == "subplots":
            return Canvas(), _grid(*args[:2], **{k: named[k] for k in _SIZES if k in named})
        return [Canvas()] if name == "plot" else Canvas()

    return call


_SIZES = ("nrows", "ncols")


def _grid(nrows: Any = 1, ncols: Any = 1) -> Any:
    """The axes of `subplots`: one, a row of them or rows."""
    sizes = [data_of(n) if type(data_of(n)) is int else 1 for n in (nrows, ncols)]
    rows, columns = (min(max(n, 1), 100) for n in sizes)
    if rows == columns == 1:
        return Canvas()
    if 1 in (rows, columns):
        return [Canvas() for _ in range(rows * columns)]
    return [[Canvas() for _ in range(columns)] for _ in range(rows)]


Canvas._members = (
    {
        "rcParams": lambda session, canvas: {},
        **{name: lambda session, canvas: Canvas() for name in _PARTS},
    },
    {name: _left_out(name) for name in NAMES - _PARTS - {"rcParams"}},
)
