"""Curves in a terminal, drawn with braille dots: results above, derivatives below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from gradcli.errors import Diagnostic, UsageError
from gradcli.render.numbers import number
from gradcli.render.text import Line, Segment, cells, shorten, visible, wrapped
from gradcli.render.ticks import bounds, gaps, pieces, ticks
from gradcli.views import Break, Curve, PlotResult

_VALUES, _SLOPES = 12, 9  # lines of the upper and the lower part
_NARROWEST = 12  # cells of a part's width
_DIGITS = 6
_STYLES = ("curve1", "curve2", "curve3", "curve4")
_HATCH, _KINK, _EMPTY = "░", "◆", "\u2800"

Panel = list[tuple[str, tuple[float, ...], tuple[float, ...]]]
"""Curves: a name, what they are at the points, and where they jump."""


def plot_view(result: PlotResult, *, width: int) -> list[Line]:
    """The curves, and a list of their kinks and of where they are not finite.

    Raises:
        UsageError: If the package that makes the dots is not installed.
    """
    curves, over = result.curves, visible(result.label)
    several = len(curves) > 1
    values: Panel = [(c.name if several else "", c.value, _jumps(c)) for c in curves]
    turned = [tuple(b.at for b in c.breaks) for c in curves]
    slopes: Panel = [
        (c.name if several else "", c.grad, at) for c, at in zip(curves, turned, strict=True)
    ]
    wide = max(cells(visible(name)) for name, _, _ in values)
    room = max(width - LEFT - 1 - (wide + 1 if wide else 0), _NARROWEST)
    title = ", ".join(visible(c.label) for c in curves)
    name = visible(result.over)
    below = ", ".join(f"d {visible(c.name)} / d {name}" for c in curves)
    marks = [(b.at, c.value, c) for c in curves for b in c.breaks]
    kinks = [(at, _value_at(result, c, at)) for at, _, c in marks]
    return [
        [(shorten(title, width), "title")],
        *panel(result.points, values, room, _VALUES, kinks),
        [],
        [(shorten(below, width), "title")],
        *panel(result.points, slopes, room, _SLOPES, []),
        *axis(result.points, over, room),
        *_notes(result, width),
    ]


def _jumps(curve: Curve) -> tuple[float, ...]:
    return tuple(b.at for b in curve.breaks if b.jump is not None)


def _value_at(result: PlotResult, curve: Curve, at: float) -> float:
    """The value at a kink, interpolated between its neighbours."""
    if any(b.at == at and b.jump is not None for b in curve.breaks):
        return math.nan
    near = min(range(len(result.points)), key=lambda i: abs(result.points[i] - at))
    return curve.value[near]


# parts --------------------------------------------------------------------------------------------


LEFT = 10


def panel(
    points: Sequence[float],
    curves: Panel,
    room: int,
    height: int,
    marks: Sequence[tuple[float, float]],
    *,
    sign: str = _KINK,
    shown: tuple[float, float] | None = None,
) -> list[Line]:
    """Curves in a part of the terminal, with an axis of values on its left.

    Args:
        points: Where the curves are known.
        curves: The curves.
        room: Cells of the part's width.
        height: Its lines.
        marks: Points beside the curves.
        sign: How these are drawn.
        shown: The least and the largest value shown; None for those of the curves.
    """
    shown = shown or bounds([y for _, ys, _ in curves for y in ys])
    if shown is None:
        return [[(" " * LEFT + "nowhere finite", "warning")]]
    low, high = shown
    grid: list[list[Segment]] = [[(" ", "")] * room for _ in range(height)]
    rows = {_row(t, low, high, height): number(t, _DIGITS) for t in ticks(low, high, height // 2)}
    if low < 0 < high:
        zero = _row(0.0, low, high, height)
        grid[zero] = [("┄", "branch")] * room
    column = _column(points, room)
    for _, ys, _ in curves:
        for start, end in gaps(points, ys):
            for row in grid:
                for i in range(column(start), column(end) + 1):
                    row[i] = (_HATCH, "branch")
    for k, (_, ys, jumps) in enumerate(curves):
        style = _STYLES[k % len(_STYLES)]
        _draw(grid, _dots(points, pieces(points, ys, jumps), (low, high), room, height), style)
    for x, y in marks:
        if math.isfinite(y) and low <= y <= high:
            grid[_row(y, low, high, height)][column(x)] = (sign, "count")
    names = _names(curves, low, high, height)
    return [_line(rows.get(i, ""), grid[i], names.get(i)) for i in range(height)]


def _line(tick: str, cells_: Sequence[Segment], name: Segment | None) -> Line:
    text = shorten(tick, LEFT - 1)
    edge = "┤" if tick else "│"
    return [
        (" " * (LEFT - 1 - cells(text)) + text + " ", "place"),
        (edge, "branch"),
        *_joined(cells_),
        *([(" ", ""), name] if name is not None else []),
    ]


def _joined(found: Sequence[Segment]) -> Line:
    """Adjacent segments of one style joined."""
    line: Line = []
    for text, style in found:
        if line and line[-1][1] == style:
            line[-1] = line[-1][0] + text, style
        else:
            line.append((text, style))
    return line


def _row(y: float, low: float, high: float, height: int) -> int:
    part = (high - y) / (high - low)
    return min(max(int(part * height), 0), height - 1)


def _column(points: Sequence[float], room: int) -> Callable[[float], int]:
    first, last = points[0], points[-1]
    whole = last - first

    def column(x: float) -> int:
        part = (x - first) / whole if whole else 0.0
        return min(max(int(part * room), 0), room - 1)

    return column


def _names(panel: Panel, low: float, high: float, height: int) -> dict[int, Segment]:
    """The names of several curves, each at the last point."""
    found: dict[int, Segment] = {}
    for k, (name, ys, _) in enumerate(panel):
        last = next((y for y in reversed(ys) if math.isfinite(y)), None)
        if name and last is not None:
            row = _row(last, low, high, height)
            free = sorted(set(range(height)) - found.keys(), key=lambda i: abs(i - row))
            if free:
                found[free[0]] = (visible(name), _STYLES[k % len(_STYLES)])
    return found


def _draw(grid: list[list[Segment]], dots: Sequence[str], style: str) -> None:
    for row, texts in zip(grid, dots, strict=True):
        for i, text in enumerate(texts):
            if text != _EMPTY:
                both = ord(text) | (ord(row[i][0]) if row[i][0] >= _EMPTY else 0)
                row[i] = (chr(both), style)


def _dots(
    points: Sequence[float],
    curve: Sequence[Sequence[tuple[float, float]]],
    shown: tuple[float, float],
    room: int,
    height: int,
) -> list[str]:
    """The lines of a curve as braille texts."""
    try:
        from plotille import Canvas
    except ImportError:
        raise needs_extra("plotille") from None
    first, last = points[0], points[-1]
    if first == last:
        first, last = first - 0.5, last + 0.5
    low, high = shown
    beyond = (high - low) / (4 * height)  # so that the highest point is inside
    canvas = Canvas(room, height, first, low, last + (last - first) / (2 * room), high + beyond)
    for piece in curve:
        canvas.point(*piece[0])
        for (x0, y0), (x1, y1) in pairwise(piece):
            for (a, b), (c, d) in _clipped((x0, y0), (x1, y1), low, high):
                canvas.line(a, b, c, d)
    drawn: str = canvas.plot(linesep="\n")
    return drawn.split("\n")


def _clipped(
    a: tuple[float, float], b: tuple[float, float], low: float, high: float
) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The part of a line between two heights, or None."""
    (x0, y0), (x1, y1) = a, b
    if max(y0, y1) < low or min(y0, y1) > high:
        return []

    def inside(y: float) -> tuple[float, float]:
        kept = min(max(y, low), high)
        return (x0 + (x1 - x0) * (kept - y0) / (y1 - y0), kept) if y1 != y0 else (x0, kept)

    start = a if low <= y0 <= high else inside(y0)
    end = b if low <= y1 <= high else inside(y1)
    return [(start, end)]


def axis(points: Sequence[float], label: str, room: int) -> list[Line]:
    """The axis below the curves, with round numbers and its name."""
    column = _column(points, room)
    edge, texts = ["─"] * room, [" "] * room
    end = -1
    for tick in ticks(points[0], points[-1], max(room // 10, 2)):
        at, text = column(tick), number(tick, _DIGITS)
        edge[at] = "┬"
        start = min(max(at - len(text) // 2, 0), room - len(text))
        if start > end:
            texts[start : start + len(text)] = text
            end = start + len(text)
    before = " " * LEFT
    named = shorten(label, room)
    return [
        [(before, ""), ("└" + "".join(edge), "branch")],
        [(before + " ", ""), ("".join(texts), "place")],
        [(before + " " * ((room - cells(named)) // 2 + 1), ""), (named, "title")],
    ]


# remarks ------------------------------------------------------------------------------------------


def _notes(result: PlotResult, width: int) -> list[Line]:
    """The remarks, those wider than the terminal on several lines."""
    found: list[Line] = []
    for sign, style, text in remarks(result):
        first, *rest = wrapped(text, max(width - 2, _NARROWEST), max(width - 2, _NARROWEST))
        found.append([(f"{sign} {first}", style)])
        found += [[(f"  {line}", style)] for line in rest]
    return [[], *found] if found else []


def remarks(result: PlotResult) -> list[tuple[str, str, str]]:
    """What there is to say of the curves: their kinks, and where they are not finite; each with the
    sign of it in the picture and a style.
    """
    found = []
    for curve in result.curves:
        name = f"{visible(curve.name)}: " if len(result.curves) > 1 else ""
        found += [(_KINK, "count", f"{name}{told(result.over, b)}") for b in curve.breaks]
        empty = gaps(result.points, curve.value)
        found += [
            (_HATCH, "warning", f"{name}not finite {_where(result.over, *ends)}") for ends in empty
        ]
        without = gaps(result.points, curve.grad)
        if without != empty:
            found += [
                (_HATCH, "warning", f"{name}no finite derivative {_where(result.over, *ends)}")
                for ends in without
            ]
    return found


def _where(over: str, start: float, end: float) -> str:
    name = visible(over)
    first, last = number(start, _DIGITS), number(end, _DIGITS)
    return f"at {name} = {first}" if start == end else f"from {name} = {first} to {last}"


def told(over: str, b: Break) -> str:
    """A description of a kink: its place, and slopes or values on either side."""
    at = f"at {visible(over)} = {number(b.at, _DIGITS)}"
    if b.jump is not None and not all(map(math.isfinite, b.jump)):
        return f"pole {at}: {number(b.jump[0], 3)} on the left, {number(b.jump[1], 3)} on the right"
    if b.jump is not None:
        low, high = (number(v, _DIGITS) for v in b.jump)
        return f"jump {at}: {low} on the left, {high} on the right"
    left, right = number(b.left, _DIGITS), number(b.right, _DIGITS)
    return f"kink {at}: slope {left} on the left, {right} on the right"


def needs_extra(package: str, instead: str = "`-f csv` gives the numbers") -> UsageError:
    """The error for a package for drawing that is not installed, with what to do without it."""
    message = f"drawing needs the package `{package}`, which is not installed"
    help = f"`pip install 'gradcli[plot]'` installs it; {instead} without it"
    return UsageError(Diagnostic("missing-extra", message, help=help))
