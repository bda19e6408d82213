"""Tables of values: columns side by side if they fit, else the entries one below the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradcli.render.numbers import align, block, is_number
from gradcli.render.text import Line, cells, pad, shorten
from gradcli.results import Value

_GAP = "  "
_NARROWEST = 10  # cells: a narrower column of values says nothing


class Column(NamedTuple):
    """A column: its heading, the styles of its cells, and a function that gives their lines for a
    width.
    """

    heading: str
    styles: Sequence[str]
    at: Callable[[int], list[list[str]]]
    flexible: bool


def text_column(heading: str, style: str, texts: Sequence[str]) -> Column:
    """A column of texts that are never shortened."""
    return styled_column(heading, [style] * len(texts), texts)


def styled_column(heading: str, styles: Sequence[str], texts: Sequence[str]) -> Column:
    """A column of texts that are never shortened, each with its own style."""
    return Column(heading, styles, lambda width: [[text] for text in texts], False)


def value_column(heading: str, style: str, values: Sequence[Value], precision: int) -> Column:
    """A column of values: scalars aligned at their points, arrays cut to the width."""

    def at(width: int) -> list[list[str]]:
        blocks = [block(value, precision, width) for value in values]
        scalars = [i for i, value in enumerate(values) if is_number(value)]
        aligned = align([blocks[i][0] for i in scalars])
        for i, text in zip(scalars, aligned, strict=True):
            if cells(text) <= width:
                blocks[i] = [text]
        return blocks

    return Column(heading, [style] * len(values), at, True)


def table(columns: Sequence[Column], width: int) -> list[Line]:
    """The columns that are not empty, within `width` cells. The first names the rows."""
    filled = [c for c in columns if any(any(cell) for cell in c.at(width))]
    if not filled:
        return []
    widths = _widths(filled, width)
    if widths is None:
        return _stacked(filled, width)
    return _side_by_side(filled, widths)


def _natural(column: Column, width: int) -> int:
    lines = [line for cell in column.at(width) for line in cell]
    return max(map(cells, [column.heading, *lines]))


def _widths(columns: Sequence[Column], width: int) -> list[int] | None:
    """Each column's width, or None if they do not fit."""
    natural = [_natural(column, width) for column in columns]
    room = width - len(_GAP) * (len(columns) - 1)
    room -= sum(n for n, c in zip(natural, columns, strict=True) if not c.flexible)
    flexible = [i for i, c in enumerate(columns) if c.flexible]
    for rank, i in enumerate(sorted(flexible, key=natural.__getitem__)):
        natural[i] = min(natural[i], room // (len(flexible) - rank))
        room -= natural[i]
        if natural[i] < min(_NARROWEST, _natural(columns[i], width)):
            return None
    return natural if room >= 0 else None


def _side_by_side(columns: Sequence[Column], widths: Sequence[int]) -> list[Line]:
    headings = [(pad(c.heading, w) + _GAP, "heading") for c, w in zip(columns, widths, strict=True)]
    lines: list[Line] = [headings]
    rows = zip(*(c.at(w) for c, w in zip(columns, widths, strict=True)), strict=True)
    for index, row in enumerate(rows):
        for number in range(max(map(len, row))):
            texts = (cell[number] if number < len(cell) else "" for cell in row)
            parts = zip(texts, columns, widths, strict=True)
            lines.append([(pad(text, w) + _GAP, c.styles[index]) for text, c, w in parts])
    return lines


def _stacked(columns: Sequence[Column], width: int) -> list[Line]:
    """Each row as its name and, below, its cells that are not empty."""
    names, *others = columns
    label = max((len(c.heading.strip()) for c in others), default=0) + len(_GAP)
    room = max(width - label - len(_GAP), 1)
    bodies = [column.at(room) for column in others]
    lines: list[Line] = []
    for index, name in enumerate(names.at(width)):
        lines.append([(shorten(name[0], width), names.styles[index])])
        for column, body in zip(others, bodies, strict=True):
            texts = body[index]
            if len(texts) == 1:
                texts = [texts[0].strip()]  # a single number needs no alignment
            heading = column.heading.strip()
            for text in filter(None, texts):
                shown = (shorten(text, room), column.styles[index])
                lines.append([(_GAP + pad(heading, label), "heading"), shown])
                heading = ""
    return lines
