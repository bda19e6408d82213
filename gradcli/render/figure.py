"""Curves as a picture in a file, by matplotlib: results above, derivatives below."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

from gradcli.render.drawing import UNDATED
from gradcli.render.plot import needs_extra, remarks, told
from gradcli.render.text import wrapped
from gradcli.render.ticks import bounds, gaps, pieces
from gradcli.views import Curve, PlotResult

_SIZE = (7.0, 6.0)  # inches
_NAMED = 6  # kinks of a curve that are labelled
_LINE = 0.15  # inches of a line of notes
_CELLS = 100  # characters of one
_MOST = 20  # lines of notes
SETTINGS = {"svg.hashsalt": "gradcli", "svg.fonttype": "none", "axes.formatter.useoffset": False}


def picture(result: PlotResult, form: str) -> bytes:
    """The picture as the bytes of a file: `form` is svg, png or pdf.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise needs_extra("matplotlib") from None
    out = io.BytesIO()
    with rc_context(SETTINGS):
        notes = _notes(result)
        width, height = _SIZE
        figure = Figure((width, height + _LINE * len(notes)), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for number, curve in enumerate(result.curves):
            _draw(above, below, result, curve, f"C{number}")
        _bound(above, [y for curve in result.curves for y in curve.value])
        _bound(below, [y for curve in result.curves for y in curve.grad])
        above.set_ylabel(", ".join(plain(curve.label) for curve in result.curves))
        names = (f"d {curve.name} / d {result.over}" for curve in result.curves)
        below.set_ylabel(plain(", ".join(names)))
        below.set_xlabel(plain(result.label))
        for axes in (above, below):
            axes.grid(alpha=0.3)
            axes.margins(x=0)
        if len(result.curves) > 1:
            above.legend()
        if notes:
            text = plain("\n".join(notes))
            figure.supxlabel(text, x=0.01, ha="left", size="x-small", linespacing=1.3)
        figure.savefig(out, format=form, metadata=UNDATED[form])
    return out.getvalue()


def _draw(above: Any, below: Any, result: PlotResult, curve: Curve, colour: str) -> None:
    """Draw a curve or a derivative, its kinks as dotted lines, and shade where it is not finite."""
    jumps = [b.at for b in curve.breaks if b.jump is not None]
    turns = [b.at for b in curve.breaks]
    for axes, ys, at in ((above, curve.value, jumps), (below, curve.grad, turns)):
        for number, piece in enumerate(pieces(result.points, ys, at)):
            label = plain(curve.name) if number == 0 else None
            xs, values = zip(*piece, strict=True)
            axes.plot(xs, values, color=colour, label=label, marker="." if len(xs) == 1 else None)
        for start, end in gaps(result.points, ys):
            axes.axvspan(start, end, color="0.85", lw=0 if end > start else 1, zorder=0)
    for b in curve.breaks:
        above.axvline(b.at, color=colour, ls=":", lw=1)
        below.axvline(b.at, color=colour, ls=":", lw=1)
        if len(curve.breaks) > _NAMED:
            continue
        text = plain(told(result.over, b).partition(":")[0])
        where = above.get_xaxis_transform()
        above.text(b.at, 1.01, text, transform=where, size="x-small", ha="center", va="bottom")


def _notes(result: PlotResult) -> list[str]:
    """The lines of the remarks below the picture."""
    lines: list[str] = []
    for _, _, text in remarks(result):
        first, *rest = wrapped(text, _CELLS, _CELLS)
        lines += [first, *(f"    {line}" for line in rest)]
    left_out = len(lines) - _MOST
    return lines if left_out <= 0 else [*lines[:_MOST], f"... and {left_out} more"]


def _bound(axes: Any, ys: Sequence[float]) -> None:
    """Limit the axis to leave out far values, as near a pole."""
    shown, known = bounds(ys), [y for y in ys if math.isfinite(y)]
    if shown is not None and (min(known) < shown[0] or max(known) > shown[1]):
        room = 0.04 * (shown[1] - shown[0])
        axes.set_ylim(shown[0] - room, shown[1] + room)


def plain(text: str) -> str:
    """A text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")
