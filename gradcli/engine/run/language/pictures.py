"""Plots by matplotlib's names: passes drawing calls to the run's `plots`. A run without plots
leaves them out, with one note, and so does a run with plots what it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Output, Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, plain
from gradcli.engine.values.objects import Shown
from gradcli.errors import run_error

_COLOURS = frozenset(
    {
        *("autumn", "binary", "bone", "bwr", "cividis", "cool", "coolwarm", "copper", "gray"),
        *("hot", "hsv", "inferno", "jet", "magma", "plasma", "rainbow", "seismic", "spring"),
        *("summer", "tab10", "tab20", "terrain", "turbo", "twilight", "viridis", "winter"),
        *("Blues", "Greens", "Greys", "Oranges", "Purples", "Reds", "RdBu", "RdYlBu", "RdYlGn"),
        *("Paired", "PuOr", "Set1", "Set2", "Set3", "Spectral", "YlGnBu", "YlOrRd", "Accent"),
    }
)
"""Scales of colours, which are functions of numbers, too."""

_PARTS = frozenset(
    {
        *("axes", "bottom", "cm", "lines", "left", "patch", "plt", "right", "spines", "style"),
        *("texts", "title", "top", "transAxes", "transData", "xaxis", "yaxis", "zaxis"),
    }
)
"""Attributes that have methods of their own."""

NAMES = frozenset(
    {
        *_COLOURS,
        *_PARTS,
        *("rcParams", "flat", "flatten", "ravel"),
        *("set_axes", "set_figsize", "use_svg_display"),
        *("add_subplot", "annotate", "arrow", "autoscale", "axes", "axhline", "axhspan", "axis"),
        *("axline", "axvline", "axvspan", "bar", "bar_label", "barh", "boxplot", "cla", "clabel"),
        *("clf", "clim", "close", "colorbar", "contour", "contourf", "draw", "errorbar"),
        *("figlegend", "figtext", "figure", "fill", "fill_between", "fill_betweenx", "gca", "gcf"),
        *("get_cmap", "get_figure", "get_height", "get_legend_handles_labels", "get_width"),
        *("get_x", "get_xlim", "get_y", "get_ylim", "grid", "hist", "hist2d", "hlines", "imshow"),
        *("invert_xaxis", "invert_yaxis", "ioff", "ion", "label_outer", "legend", "loglog"),
        *("margins", "matshow", "minorticks_on", "pause", "pcolor", "pcolormesh", "pie", "plot"),
        *("plot_surface", "plot_trisurf", "plot_wireframe", "polar", "quiver", "quiverkey", "rc"),
        *("relim", "remove", "savefig", "scatter", "semilogx", "semilogy", "set", "set_alpha"),
        *("set_aspect", "set_axisbelow", "set_axis_off", "set_box_aspect", "set_cmap"),
        *("set_color", "set_data", "set_facecolor", "set_label", "set_linestyle"),
        *("set_linewidth", "set_offsets", "set_position", "set_size_inches", "set_ticks"),
        *("set_title", "set_visible", "set_xdata", "set_xlabel", "set_xlim", "set_xscale"),
        *("set_xticklabels", "set_xticks", "set_ydata", "set_ylabel", "set_ylim", "set_yscale"),
        *("set_yticklabels", "set_yticks", "set_zlabel", "set_zlim", "show", "stackplot", "stem"),
        *("step", "streamplot", "subplot", "subplot_mosaic", "subplots", "subplots_adjust"),
        *("suptitle", "table", "text", "tick_params", "ticklabel_format", "tight_layout"),
        *("title", "tricontour", "tricontourf", "twinx", "twiny", "use", "view_init"),
        *("violinplot", "vlines", "xlabel", "xlim", "xscale", "xticks", "ylabel", "ylim"),
        *("add_artist", "add_collection", "add_patch", "bar3d", "contour3D", "context"),
        *("contourf3D", "get_position", "get_xticklabels", "get_yticklabels", "inset_axes"),
        *("plot3D", "plot_date", "scatter3D", "secondary_xaxis", "secondary_yaxis", "set_bounds"),
        *("set_major_formatter", "set_major_locator", "set_markersize", "set_minor_locator"),
        *("set_prop_cycle", "set_zorder", "set_zticks", "spy", "stairs", "subplot2grid"),
        *("supxlabel", "supylabel", "xkcd", "Circle", "FixedLocator", "Line2D", "MaxNLocator"),
        *("MultipleLocator", "Normalize", "Polygon", "Rectangle", "transAxes", "transData"),
        *("yscale", "yticks", "get_lines", "get_texts", "set_fontsize", "set_rotation"),
        *("__call__", "get_size_inches", "set_pane_color", "values"),
    }
)
"""Functions, methods and attributes of matplotlib that are drawn, and what d2l has beside them."""


class _Every(dict[str, Callable[..., Any]]):
    """A table of members that has every name: those that it does not list are made by `make`."""

    def __init__(self, known: dict[str, Callable[..., Any]], make: Callable[[str], Any]) -> None:
        super().__init__(known)
        self._make = make

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[..., Any]:
        made: Callable[..., Any] = self._make(name)
        return made


class Canvas(Shown):
    """An object of matplotlib: a figure, axes, a line. If nothing is drawn by it, everything that
    is asked of it is again such an object: it has every attribute and method, can be called and
    unpacked into any number of names, and has no items to go through.
    """

    __slots__ = ("drawn",)
    said = "a plot"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __init__(self, drawn: Any = None) -> None:
        self.drawn = drawn

    def __repr__(self) -> str:
        return "<plot>"

    def at(self, session: Session, index: Any) -> Any:
        """`canvas[index]`, as of the colours that a scale gives."""
        plots = session.output.plots
        if plots is None or self.drawn is None:
            return Canvas()
        return _value(plots.at(self.drawn, _given(index)))

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if self.drawn is None else map(_value, self.drawn)

    def __len__(self) -> int:
        return 0 if self.drawn is None else len(self.drawn)

    def spread(self, names: int) -> list[Any]:
        """What as many names get when it is unpacked into them."""
        return [Canvas() for _ in range(names)] if self.drawn is None else [*self]


class Grid(tuple[Any, ...]):
    """The axes of `subplots`: a row of them, or rows."""

    __slots__ = ()
    said = "a grid of axes"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def at(self, session: Evaluator, index: Any) -> Any:
        """`axes[0, 1]`."""
        first, *rest = index
        if type(first) is slice:
            return Grid(row[rest[0]] for row in self[first]) if rest else self[first]
        found = self[first]
        for place in rest:
            found = found[place]
        return found

    @property
    def flat(self) -> Grid:
        """All of them in one row."""
        return Grid(one for row in self for one in (row if isinstance(row, Grid) else (row,)))


def leave_out(output: Output, site: Site | None) -> None:
    """Note once in a run that what a program shows is left out."""
    help = "`--plots DIR` draws those of matplotlib into files; the numbers are printed"
    if output.plots is not None:
        help = "the others are drawn"
    output.warn("plots-left-out", "plots are left out", help, site)


def _call(name: str) -> Callable[..., Any]:
    def call(session: Session, site: Site | None, canvas: Canvas, *args: Any, **named: Any) -> Any:
        if session.output.plots is None or canvas.drawn is None or name not in NAMES:
            leave_out(session.output, site)
            return _left_out(name, args, named)
        given = [*map(_given, args)], {key: _given(value) for key, value in named.items()}
        return _value(session.output.plots.call(canvas.drawn, name, *given))

    return call


def axes_3d(session: Session, figure: Canvas) -> Any:
    """`Axes3D(figure)`: axes of three dimensions in it."""
    return _call("add_subplot")(session, None, figure, projection="3d")


def _context(session: Session, site: Site | None, canvas: Canvas, *names: Any) -> Canvas:
    """`style.context(name)`: the style, which stays after the block."""
    _call("use")(session, site, canvas, *names)
    return Canvas()


def _get(name: str) -> Callable[..., Any]:
    def get(session: Session, canvas: Canvas) -> Any:
        plots = session.output.plots
        if plots is None or canvas.drawn is None or name not in NAMES:
            return Canvas()
        if name not in _PARTS | _COLOURS:
            return partial(_call(name), session, None, canvas)
        return _value(plots.get(canvas.drawn, name))

    return get


def _settings(session: Session, canvas: Canvas) -> Any:
    return Canvas() if session.output.plots is None else session.output.plots.settings


# with plots -------------------------------------------------------------------------------------


def _given(value: Any) -> Any:
    """A value of the program as plain data."""
    if isinstance(value, Tensor):
        return data_of(value)
    if type(value) in NUMBERS or value is None or isinstance(value, (str, slice)):
        return value
    if isinstance(value, Canvas):
        return value.drawn
    if isinstance(value, dict):
        return {_given(key): _given(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range)):
        return tuple(map(_given, value)) if isinstance(value, tuple) else [*map(_given, value)]
    raise run_error("wrong-type", f"{kind_of(value)} cannot be drawn")


def _value(found: Any) -> Any:
    """A drawn object as a value of the program."""
    if found is None or type(found) in NUMBERS or isinstance(found, str):
        return found
    if isinstance(found, tuple):
        return tuple(map(_value, found))
    if isinstance(found, list):
        return [*map(_value, found)]
    if isinstance(found, dict):
        return {key: _value(item) for key, item in found.items()}
    if not hasattr(found, "dtype") or not hasattr(found, "tolist"):
        return Canvas(found)
    return _rows(found.tolist()) if found.dtype == object else _tensor(found)


def _tensor(found: Any) -> Any:
    return Tensor(plain(found)) if found.ndim else plain(found)


def _rows(found: Any) -> Any:
    return Grid(map(_rows, found)) if type(found) is list else Canvas(found)


# without plots ----------------------------------------------------------------------------------


def _left_out(name: str, args: Any, named: dict[str, Any]) -> Any:
    if len(args) == 1 and not named and callable(args[0]):
        return args[0]  # a function that it decorates
    if name == "subplots":
        return Canvas(), _grid(*args[:2], **{k: named[k] for k in _SIZES if k in named})
    if name == "hist":
        return Canvas(), Canvas(), Canvas()
    return [Canvas()] if name == "plot" and len(args) <= 3 else Canvas()


_SIZES = ("nrows", "ncols")


def _grid(nrows: Any = 1, ncols: Any = 1) -> Any:
    sizes = [data_of(n) if type(data_of(n)) is int else 1 for n in (nrows, ncols)]
    rows, columns = (min(max(n, 1), 100) for n in sizes)
    if rows == columns == 1:
        return Canvas()
    if 1 in (rows, columns):
        return Grid(_canvases(rows * columns))
    return Grid(Grid(_canvases(columns)) for _ in range(rows))


def _canvases(count: int) -> Iterable[Canvas]:
    return (Canvas() for _ in range(count))


Canvas._members = (
    _Every({"rcParams": _settings, **{name: _get(name) for name in _PARTS | _COLOURS}}, _get),
    _Every(
        {
            **{name: _call(name) for name in NAMES - {"rcParams"}},
            "context": _context,
            "__enter__": lambda session, site, canvas: canvas,
            "__exit__": lambda session, site, canvas, *how: None,
        },
        _call,
    ),
)
Grid._members = (
    {"flat": lambda grid: grid.flat},
    dict.fromkeys(("flatten", "ravel"), lambda grid: grid.flat),
)
