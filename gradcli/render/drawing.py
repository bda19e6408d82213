"""Draw a program's calls of matplotlib into files."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from typing import Any

from gradcli.errors import Diagnostic, RunError, UsageError, run_error

_FORMS = ("png", "svg", "pdf", "jpg", "jpeg")
UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
"""Metadata without dates, so that a picture is the same each time."""
_OF_FILES = frozenset({"dpi", "bbox_inches", "pad_inches", "transparent", "facecolor", "edgecolor"})
_MOST = 50_000_000  # pixels of a picture
_NOTHING = frozenset({"draw", "ioff", "ion", "pause", "use_svg_display"})
_OUTSIDE = frozenset({"usetex", "fname", "file"})  # `usetex` runs LaTeX, and the others open a font
_FIXED = {"svg.hashsalt": "gradcli", "svg.fonttype": "none", "figure.max_open_warning": 0}
_SETTINGS = frozenset(
    {
        *("axes.axisbelow", "axes.edgecolor", "axes.facecolor", "axes.grid", "axes.labelcolor"),
        *("axes.labelsize", "axes.linewidth", "axes.spines.right", "axes.spines.top"),
        *("axes.titlesize", "axes.unicode_minus", "figure.autolayout", "figure.dpi"),
        *("figure.facecolor", "figure.figsize", "figure.titlesize", "font.family", "font.size"),
        *("font.weight", "grid.alpha", "grid.color", "grid.linestyle", "image.cmap"),
        *("image.interpolation", "legend.fontsize", "legend.loc", "lines.linewidth"),
        *("lines.markersize", "savefig.dpi", "xtick.labelsize", "ytick.labelsize"),
    }
)
"""Settings that a program may change: they name colours, sizes and fonts and call nothing."""


class Drawing:
    """Draws what a program plots.

    A figure becomes a file when the program calls `savefig`, else when it is shown or the run ends:
    `figure-1.png` and so on. File names cannot leave the folder.

    Args:
        write: Receives the name and the bytes of each file.

    Raises:
        UsageError: If matplotlib is not installed.
    """

    def __init__(self, write: Callable[[str, bytes], None]) -> None:
        try:
            from matplotlib import pyplot, rc_context
        except ImportError:
            message = "drawing needs the package `matplotlib`, which is not installed"
            help = "`pip install 'gradcli[plot]'` installs it; without `--plots` nothing is drawn"
            raise UsageError(Diagnostic("missing-extra", message, help=help)) from None
        logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # it reports missing fonts
        self.settings: dict[Any, Any] = {}
        self._write = write
        self._pyplot = pyplot
        self._context = rc_context
        self._styles: list[str] = []
        self._saved: set[Any] = set()
        self._count = 0
        self._shown: list[bytes] = []
        pyplot.switch_backend("agg")
        pyplot.close("all")

    def call(self, drawn: Any, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """Call a function or method of matplotlib for the program.

        Raises:
            RunError: If it cannot be drawn.
        """
        _check(name, [*args, named])
        with self._drawing(name):
            if name in _NOTHING:
                return None
            if name in _OF_D2L and drawn == "d2l":
                return _OF_D2L[name](self, *args, **named)
            if name in _OWN:
                return _OWN[name](self, drawn, *args, **named)
            return self._member(drawn, name)(*args, **named)

    def get(self, drawn: Any, name: str) -> Any:
        """An attribute with methods, or a colour map."""
        if name in ("style", "plt"):
            return "style" if name == "style" else "pyplot"
        with self._drawing(name):
            return self._member(drawn, name)

    def at(self, drawn: Any, index: Any) -> Any:
        """An item of a drawn object."""
        with self._drawing("[]"):
            return drawn[index]

    def finish(self) -> None:
        """Draw the figures that are still open."""
        self.call("pyplot", "show", [], {})

    def taken(self) -> tuple[bytes, ...]:
        """Draw the figures that are still open, and return those shown since the last call."""
        self.finish()
        found = tuple(self._shown)
        self._shown.clear()
        return found

    def figure(self, **named: Any) -> Any:
        """A new figure."""
        return self._pyplot.figure(**named)

    @contextmanager
    def _drawing(self, name: str) -> Iterator[None]:
        """Applies the program's settings, and turns matplotlib's errors into the program's."""
        with self._context(_FIXED), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for style in self._styles:
                    self._pyplot.style.use(style)
                wanted = {key: value for key, value in self.settings.items() if key in _SETTINGS}
                self._pyplot.rcParams.update(wanted)
                yield
            except RunError:
                raise
            except Exception as error:  # of any kind, since the program chooses the arguments
                said = f"{error}".partition("\n")[0]
                raise run_error("bad-argument", f"`{name}` cannot be drawn: {said}") from None

    def _member(self, drawn: Any, name: str) -> Any:
        if not isinstance(drawn, str):
            return getattr(drawn, name)
        return getattr(self._pyplot.cm if name in self._pyplot.colormaps() else self._pyplot, name)

    # --- calls that replace matplotlib's -----------------------------------------------

    def _use(self, drawn: Any, *names: Any) -> None:
        """`style.use(name)`: only styles that come with matplotlib; the back end stays."""
        if drawn == "style":
            flat = names[0] if names and isinstance(names[0], list) else names
            self._styles += [name for name in flat if name in self._pyplot.style.available]

    def _rc(self, drawn: Any, group: str, **named: Any) -> None:
        self.settings.update({f"{group}.{key}": value for key, value in named.items()})

    def _close(self, drawn: Any, which: Any = None) -> None:
        self._pyplot.close(which)

    def _show(self, drawn: Any, *args: Any, **named: Any) -> None:
        for number in self._pyplot.get_fignums():
            figure = self._pyplot.figure(number)
            if figure not in self._saved:
                self._count += 1
                self._shown.append(_picture(figure, "png", {}))
                self._write(f"figure-{self._count}.png", self._shown[-1])
        self._saved.clear()
        self._pyplot.close("all")

    def _savefig(self, drawn: Any, fname: Any, *args: Any, **named: Any) -> None:
        figure = self._pyplot.gcf() if isinstance(drawn, str) else drawn
        name, form = _name(fname, named.get("format"))
        options = {key: value for key, value in named.items() if key in _OF_FILES}
        self._write(name, _picture(figure, form, options))
        self._saved.add(figure)


_OWN: dict[str, Callable[..., None]] = {
    "close": Drawing._close,
    "rc": Drawing._rc,
    "savefig": Drawing._savefig,
    "show": Drawing._show,
    "use": Drawing._use,
}


def _check(name: str, given: Any) -> None:
    """Refuse arguments that would run a program or open a file."""
    if isinstance(given, dict):
        wrong = _OUTSIDE.intersection(given)
        wrong |= {k for k, v in given.items() if "font" in str(k) and ":" in str(v)}
        if wrong:
            raise run_error("bad-argument", f"`{name}` takes no `{min(wrong)}` here")
        given = [*given.values()]
    if isinstance(given, (list, tuple)):
        for item in given:
            _check(name, item)


def _name(fname: Any, form: Any) -> tuple[str, str]:
    """The name of a file without any folder, and its format."""
    name = str(fname).replace("\\", "/").rpartition("/")[2]
    if not isinstance(fname, str) or "\0" in name or not name.strip("."):
        raise run_error("bad-argument", "`savefig` needs the name of a file")
    stem, _, suffix = name.rpartition(".")
    found = str(form or (suffix if stem else "png")).lower()
    if found not in _FORMS:
        known = ", ".join(_FORMS)
        raise run_error("bad-argument", f"`savefig` has no form `{found}`: there are {known}")
    return (name if stem else f"{name}.{found}"), found


def _picture(figure: Any, form: str, options: Mapping[str, Any]) -> bytes:
    width, height = map(float, figure.get_size_inches())
    dpi = options.get("dpi") or "figure"
    dots = float(figure.dpi if dpi == "figure" else dpi)
    if not width * height * dots**2 <= _MOST:
        size = f"{width:g} by {height:g} inches at {dots:g} dots an inch"
        raise run_error("bad-argument", f"a picture of {size} is too large")
    out = io.BytesIO()
    figure.savefig(out, format=form, metadata=UNDATED.get(form), **options)
    return out.getvalue()


# d2l ----------------------------------------------------------------------------------------------


def _set_figsize(drawing: Drawing, figsize: Any = (3.5, 2.5)) -> None:
    drawing.settings["figure.figsize"] = figsize


def _set_axes(
    drawing: Drawing,
    axes: Any,
    xlabel: Any,
    ylabel: Any,
    xlim: Any,
    ylim: Any,
    xscale: Any,
    yscale: Any,
    legend: Any,
) -> None:
    axes.set(xlabel=xlabel, ylabel=ylabel, xscale=xscale, yscale=yscale)
    axes.set_xlim(xlim)
    axes.set_ylim(ylim)
    if legend:
        axes.legend(legend)
    axes.grid()


def _plot(
    drawing: Drawing,
    X: Any,  # noqa: N803  # as d2l calls it
    Y: Any = None,  # noqa: N803
    xlabel: Any = None,
    ylabel: Any = None,
    legend: Any = None,
    xlim: Any = None,
    ylim: Any = None,
    xscale: Any = "linear",
    yscale: Any = "linear",
    fmts: Any = ("-", "m--", "g-.", "r:"),
    figsize: Any = (3.5, 2.5),
    axes: Any = None,
) -> None:
    """Curves in axes of their own, each in its own style, over their places or over 0, 1, 2, ..."""
    first = _curves(X)
    pairs: list[Any] = [(y,) for y in first] if Y is None else []
    if Y is not None:
        ys = _curves(Y)
        pairs = [*zip(first * len(ys) if len(first) == 1 else first, ys, strict=False)]
    axes = axes or drawing.figure(figsize=figsize).gca()
    axes.cla()
    for pair, style in zip(pairs, cycle(fmts), strict=False):
        axes.plot(*pair, style)
    _set_axes(drawing, axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend)


def _curves(given: Any) -> list[Any]:
    """Rows of numbers, from one row or several."""
    return [*given] if any(getattr(row, "__len__", None) for row in given) else [given]


_OF_D2L: dict[str, Callable[..., None]] = {
    "plot": _plot,
    "set_axes": _set_axes,
    "set_figsize": _set_figsize,
}
