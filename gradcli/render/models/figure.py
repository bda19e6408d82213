"""A fit as a picture: data and curve with its bands, residuals below; in a file or a terminal."""

from __future__ import annotations

import io
from typing import Any

from gradcli.render.drawing import UNDATED
from gradcli.render.figure import SETTINGS, plain
from gradcli.render.plot import LEFT, Panel, axis, needs_extra, panel
from gradcli.render.text import Line, shorten, visible
from gradcli.views import FitCurve, FitPlot

_SIZE = (7.0, 6.0)  # inches
_ABOVE, _BELOW = 14, 6  # lines of the upper and the lower part in a terminal
_NARROWEST = 12


def fit_picture(found: FitPlot, form: str) -> bytes:
    """The picture as the bytes of a file: `form` is svg, png or pdf.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise needs_extra("matplotlib", "`--predict FILE` writes the curve") from None
    out = io.BytesIO()
    with rc_context(SETTINGS):
        figure = Figure(_SIZE, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        several = len(found.curves) > 1
        for number, curve in enumerate(found.curves):
            behind = f" of {curve.name}" if several else ""
            _draw(above, below, curve, f"C{number}", found.level, behind)
        below.axhline(0.0, color="0.4", lw=1)
        above.set_ylabel(plain(", ".join(curve.name for curve in found.curves)))
        below.set_ylabel("residual")
        below.set_xlabel(plain(found.over))
        for axes in (above, below):
            axes.grid(alpha=0.3)
        above.legend(fontsize="small")
        figure.savefig(out, format=form, metadata=UNDATED[form])
    return out.getvalue()


def _draw(above: Any, below: Any, curve: FitCurve, colour: str, level: float, behind: str) -> None:
    """Data, curve and bands above, residuals below."""
    size = "3" if len(curve.x) > _MANY else "5"
    above.plot(curve.x, curve.y, "o", color=colour, ms=size, mfc="none", label=plain(curve.name))
    above.plot(curve.points, curve.value, color=colour, lw=1.5, label=plain(f"fit{behind}"))
    for half, alpha, name in (
        (curve.error, 0.35, "confidence"),
        (curve.prediction, 0.15, "prediction"),
    ):
        if half:
            low = [y - h for y, h in zip(curve.value, half, strict=True)]
            high = [y + h for y, h in zip(curve.value, half, strict=True)]
            label = plain(f"{100 * level:g} % {name}{behind}")
            above.fill_between(
                curve.points, low, high, color=colour, alpha=alpha, lw=0, label=label
            )
    below.plot(curve.x, curve.residual, "o", color=colour, ms=size, mfc="none")


_MANY = 100


def fit_drawing(found: FitPlot, *, width: int) -> list[Line]:
    """The picture in a terminal, of the first result.

    Raises:
        UsageError: If the package that makes the dots is not installed.
    """
    curve = found.curves[0]
    room = max(width - LEFT - 1, _NARROWEST)
    halves = [curve.prediction] * 2 if curve.prediction else []
    bands: Panel = [
        ("", tuple(y + side * h for y, h in zip(curve.value, half, strict=True)), ())
        for side, half in zip((-1, 1), halves, strict=False)
    ]
    fit: Panel = [("", curve.value, ()), *bands]
    data = [*zip(curve.x, curve.y, strict=True)]
    off = [*zip(curve.x, curve.residual, strict=True)]
    heights = [*curve.y, *(y for _, ys, _ in fit for y in ys)]
    most = max((abs(r) for r in curve.residual), default=0.0) or 1.0
    shown = min(heights), max(heights)
    points = curve.points
    told = f"{curve.name}, the fit and its {100 * found.level:g} % prediction band"
    return [
        [(shorten(visible(told if bands else curve.name), width), "title")],
        *panel(points, fit, room, _ABOVE, data, sign="o", shown=shown),
        [],
        [("residual", "title")],
        *panel(points, [], room, _BELOW, off, sign="o", shown=(-most, most)),
        *axis(points, visible(found.over), room),
    ]
