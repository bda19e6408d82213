"""The recorded graph as PNG or PDF, drawn by matplotlib at the places of the SVG."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.render.drawing import UNDATED
from gradcli.render.graphs.edges import stretches
from gradcli.render.graphs.labels import remarks
from gradcli.render.graphs.layout import Place
from gradcli.render.graphs.picture import Picture
from gradcli.render.graphs.svg import (
    CELL,
    LINE,
    MARGIN,
    PAD_X,
    PAD_Y,
    Drawing,
    corner,
    drawing,
)
from gradcli.render.plot import needs_extra
from gradcli.render.text import cells
from gradcli.render.web import LIGHT

_UNIT = 1 / 96  # inches of the SVG's unit
_SIZE = 9.0  # points of the text, 12 units
_DPI = 192
_MOST = 12_000  # dots of a side; a larger picture has fewer dots an inch
_SETTINGS = {
    "font.family": "monospace",
    "font.size": _SIZE,
    "pdf.fonttype": 42,  # text stays text, which can be searched and copied
}


def figure(drawn: Picture, form: str, precision: int) -> bytes:
    """The picture as the bytes of a file: `form` is png or pdf.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise needs_extra("matplotlib", "`-o FILE.svg` draws the graph") from None
    logging.getLogger("matplotlib").setLevel(logging.CRITICAL)  # it reports missing fonts
    placed, said = drawing(drawn, precision), remarks(drawn)
    width = max([placed.layout.width, *(cells(text) * CELL for text in said)]) + 2 * MARGIN
    height = placed.layout.height + 2 * MARGIN + len(said) * LINE
    out = io.BytesIO()
    with rc_context(_SETTINGS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it reports characters that its font lacks
        whole = Figure((width * _UNIT, height * _UNIT))
        axes = whole.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-MARGIN, width - MARGIN), ylim=(height - MARGIN, -MARGIN))
        axes.set_axis_off()
        _draw(axes, placed, said)
        dpi = min(_DPI, _MOST / max(width * _UNIT, height * _UNIT))
        whole.savefig(out, format=form, dpi=dpi, metadata=UNDATED[form])
    return out.getvalue()


def _draw(axes: Any, placed: Drawing, said: Sequence[str]) -> None:
    colours = dict(part.strip().split(": ") for part in LIGHT.split(";") if part.strip())
    _draw_edges(axes, placed, colours)
    _draw_boxes(axes, placed, colours)
    for text, place, _ in placed.labels:
        back = {"facecolor": colours["--paper"], "edgecolor": "none", "pad": 1}
        _write(axes, place.x, place.y, text, colours["--ink"], ha="center", bbox=back)
    for i, text in enumerate(said):
        _write(axes, 0, placed.layout.height + LINE * (i + 0.75), text, colours["--dim"])


def _draw_edges(axes: Any, placed: Drawing, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    for way in placed.layout.ways:
        parts = stretches(way, placed.layout.places)
        points, codes = [parts[0][0]], [Path.MOVETO]
        for _, *rest in parts:
            points += rest
            codes += [Path.CURVE4 if len(rest) > 1 else Path.LINETO] * len(rest)
        axes.add_patch(
            FancyArrowPatch(
                path=Path(points, codes),
                arrowstyle="-|>,head_length=0.35,head_width=0.18",
                mutation_scale=20 * _SIZE / 12,
                linewidth=1.3 * _SIZE / 12,
                linestyle=(0, (4, 3)) if way.turns else "-",
                color=colours["--line"],
                shrinkA=0,
                shrinkB=0,
                zorder=1,
            )
        )


_FACES = {"input": "--input", "fold": "--fold", "op": "--box"}
_INKS = {"place": "--dim", "shape": "--dim", "grad": "--grad", "count": "--count"}


def _draw_boxes(axes: Any, placed: Drawing, colours: Mapping[str, str]) -> None:
    for id, box in placed.picture.boxes.items():
        place = placed.layout.places[id]
        face = colours[_FACES[box.kind]]
        for shift in (5.0, 0.0) if box.turns else (0.0,):
            _draw_box(axes, place, shift, corner(box, place), face, colours["--line"])
        left, top = place.x - place.width / 2 + PAD_X, place.y - place.height / 2 + PAD_Y
        for i, row in enumerate(placed.texts[id]):
            ink = colours[_INKS.get(row.style, "--ink")]
            weight = "bold" if row.style == "name" else "normal"
            _write(axes, left, top + LINE * (i + 0.5), row.text, ink, weight=weight)


def _draw_box(axes: Any, place: Place, shift: float, round_: float, face: str, line: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    left, top = place.x - place.width / 2 + shift, place.y - place.height / 2 - shift
    axes.add_patch(
        FancyBboxPatch(
            (left, top),
            place.width,
            place.height,
            boxstyle=f"round,pad=0,rounding_size={round_}",
            facecolor=face,
            edgecolor=line,
            linewidth=_SIZE / 12,
            zorder=2,
        )
    )


def _write(axes: Any, x: float, y: float, text: str, ink: str, **more: Any) -> None:
    plain = text.replace("$", r"\$")
    axes.text(x, y, plain, color=ink, va="center_baseline", zorder=3, **more)
