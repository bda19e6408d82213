"""The evaluation trace as the table of textbooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from gradcli.render.numbers import aligned, block, nested, number, shape_of
from gradcli.render.text import TIMES, Line, cells, line_cells, pad, shorten, visible
from gradcli.results import Value
from gradcli.views import TraceGap, TraceResult, TraceRow

_GAP = "  "
_CUTS = (30, 20, 14)  # cells of a value, tried in order
_TEXTS = (60, 40, 28, 20, 16)  # cells of an expression and of the partials, tried in order
_STYLES = ("name", "", "place", "value", "shape", "grad", "grad")


def trace_view(result: TraceResult, *, precision: int, width: int) -> list[Line]:
    """A row for each operation, with aligned columns; the column of lines goes first if they do not
    fit, then each operation takes several lines. Loop turns and calls stand above their operations.
    """
    headings = ("", "expression", "line", "value", "partials", *result.columns)
    rows = [row for row in result.rows if isinstance(row, TraceRow)]
    for with_lines, cut, text in product((True, False), _CUTS, _TEXTS):
        found = columns(rows, result.columns, precision, cut, text)
        if not with_lines:
            found[2] = [""] * len(rows)
        widths = [
            max(map(cells, [heading, *column])) if any(column) else 0
            for heading, column in zip(headings, found, strict=True)
        ]
        if sum(widths) + len(_GAP) * (sum(map(bool, widths)) - 1) <= width:
            body = _beside(found, widths)
            return [_head(headings, widths), *_with_places(result, body, width)]
    found = columns(rows, result.columns, precision, max(width // 2, 8), width - len(_GAP))
    return _with_places(result, _below(found, headings, width), width)


def columns(
    rows: Sequence[TraceRow], asked: Sequence[str], precision: int, cut: int, text: int
) -> list[list[str]]:
    """The texts of each column: values in at most `cut` cells, the other ones in `text`."""
    derivatives = [_aligned([getattr(r, name) for r in rows], precision, cut) for name in asked]
    return [
        [visible(r.id) for r in rows],
        [shorten(_expression(r), text) for r in rows],
        [str(r.line) if r.line else "" for r in rows],
        _aligned([r.value for r in rows], precision, cut),
        [shorten(_partials(r, precision, cut), text) for r in rows],
        *derivatives,
    ]


def _expression(row: TraceRow) -> str:
    named = row.variable and row.expression
    return visible(f"{row.variable} = {row.expression}" if named else row.expression)


def _partials(row: TraceRow, precision: int, cut: int) -> str:
    texts = (
        f"{visible(name)}: {'…' if value is None else short(value, precision, cut)}"
        for name, value in row.partials.items()
    )
    return ", ".join(texts)


def _aligned(values: Sequence[Value], precision: int, cut: int) -> list[str]:
    return aligned([short(value, precision, cut) for value in values], values)


def short(value: Value, precision: int, cut: int) -> str:
    """A value on one line; a matrix that does not fit shows its shape and range."""
    shape = shape_of(value)
    if len(shape) > 1 and hasattr(value, "dtype") and value.size:
        if value.size <= cut:
            text = nested(value.tolist(), precision)
            if cells(text) <= cut:
                return text
        low, high = (number(edge.item(), precision) for edge in (value.min(), value.max()))
        text = f"{low} to {high}" if low != high else f"all {low}"
        return shorten(f"[{TIMES.join(map(str, shape))}] {text}", cut)
    return shorten(block(value, precision, cut)[0], cut)


def _head(headings: Sequence[str], widths: Sequence[int]) -> Line:
    return [
        (pad(heading, wide) + _GAP, "heading")
        for heading, wide in zip(headings, widths, strict=True)
        if wide
    ]


def _beside(columns: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[list[Line]]:
    for row in zip(*columns, strict=True):
        yield [
            [
                (pad(text, wide) + _GAP, style)
                for text, wide, style in zip(row, widths, _STYLES, strict=False)
                if wide
            ]
        ]


def _below(
    columns: Sequence[Sequence[str]], headings: Sequence[str], width: int
) -> Iterator[list[Line]]:
    """Each operation, followed by its partials, value and derivatives."""
    for name, expression, _, value, partials, *derivatives in zip(*columns, strict=True):
        room = max(width - cells(name) - len(_GAP), 1)
        block: list[Line] = [[(name, "name"), (_GAP, ""), (shorten(expression, room), "")]]
        if partials:
            told_of = f"{headings[4]} {partials}"
            block.append([(_GAP, ""), (shorten(told_of, width - len(_GAP)), "shape")])
        told: list[Line] = [
            [(_GAP, ""), (shorten(f"= {value.strip()}", width - len(_GAP)), "value")]
        ]
        for heading, text in zip(headings[5:], derivatives, strict=True):
            part = f"{heading} {text.strip()}"
            if line_cells(told[-1]) + len(_GAP) + cells(part) > width:
                told.append([])
            told[-1] += [(_GAP, ""), (shorten(part, width - len(_GAP)), "grad")]
        yield [*block, *told]


def _with_places(result: TraceResult, body: Iterator[list[Line]], width: int) -> list[Line]:
    """The operations, with a line above them wherever the loop turn or call changes."""
    lines: list[Line] = []
    before: tuple[str, ...] = ()
    for row in result.rows:
        if isinstance(row, TraceGap):
            lines.append([(shorten(left_out(row), width), "place")])
            continue
        if row.around != before:
            lines.append([(shorten(", ".join(row.around) or "top level", width), "place")])
        before = row.around
        lines += next(body)
    return lines


def left_out(gap: TraceGap) -> str:
    """The text in place of operations that are left out."""
    if not gap.turns:
        return f"… {gap.count:,} operations"
    turns = f"{gap.turns:,} more turns" if gap.turns > 1 else "another turn"
    return f"… {turns} of the loop at line {gap.line}: {gap.count:,} operations"
