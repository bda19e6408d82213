"""Elasticities as a table of numbers, the largest first, with bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, isfinite
from typing import NamedTuple

from gradcli.render.numbers import element_names, flat, shape_of
from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, line_cells, visible, wrapped
from gradcli.results import ElasticityResult

_MOST = 20  # rows; a person reads no more
_HEADING = "% for 1 %"
_BAR = 30  # most cells of a bar
_SHORTEST = 8  # cells: a shorter bar says nothing
_GAP = "  "


class _Row(NamedTuple):
    """A number that the result depends on, with its derivative and elasticity."""

    name: str
    value: float
    slope: float
    percent: float


def elasticity_view(result: ElasticityResult, *, precision: int, width: int) -> list[Line]:
    """A row for each number of the inputs: its value, the gradient, the per cent by which the
    result changes for one per cent of it, and a bar.
    """
    rows = sorted(_rows(result), key=_weight)
    shown = rows[:_MOST]
    columns = [
        text_column("name", "name", [row.name for row in shown]),
        value_column("value", "value", [row.value for row in shown], precision),
        value_column("gradient", "grad", [row.slope for row in shown], precision),
        value_column(_HEADING, "grad", [row.percent for row in shown], precision),
    ]
    lines = table(columns, width)
    if len(lines) == len(shown) + 1:  # the columns are side by side
        _add_bars(lines, [row.percent for row in shown], width)
    for count, text in enumerate(_remarks(rows)):
        lines += [] if count else [[]]
        lines += [[(part, "place")] for part in wrapped(text, width, width)]
    return lines


def _rows(result: ElasticityResult) -> Iterator[_Row]:
    for name, value in result.inputs.items():
        names = element_names(visible(name), shape_of(value))
        numbers = (flat(x) for x in (value, result.grad[name], result.elasticity[name]))
        for parts in zip(names, *numbers, strict=True):
            yield _Row(*parts)


def _weight(row: _Row) -> float:
    """What rows are sorted by; those that are not finite come first."""
    return -abs(row.percent) if isfinite(row.percent) else -inf


def _add_bars(lines: list[Line], percents: Sequence[float], width: int) -> None:
    """Put a bar behind each row, to the right for a positive number, to the left for a negative
    one, if there is room.
    """
    known = [0.0, *filter(isfinite, percents)]
    low, high = min(known), max(known)
    room = min(width - max(map(line_cells, lines)) - len(_GAP), _BAR)
    if room < _SHORTEST or low == high:
        return
    before = round((room - 1) * -low / (high - low))
    for line, x in zip(lines[1:], percents, strict=True):
        size = 0.0 if not isfinite(x) else abs(x) * (room - 1) / (high - low)
        full, half = divmod(round(2 * size), 2)
        bar = "█" * full + "▌" * half
        left = ("▐" * half + "█" * full).rjust(before) if x < 0 else " " * before
        line += [(left, "curve2"), ("│", "branch"), (bar if x > 0 else "", "curve1")]


def _remarks(rows: Sequence[_Row]) -> Iterator[str]:
    """Remarks on rows that are not shown, and on numbers that are zero."""
    if len(rows) > _MOST:
        yield f"… {len(rows) - _MOST:,} more, none of them larger: `-f csv` writes all"
    for row in rows[:_MOST]:
        if row.value == 0.0 and row.slope != 0.0:
            yield f"{row.name} is 0, so 1 % of it is nothing: its gradient tells more"
