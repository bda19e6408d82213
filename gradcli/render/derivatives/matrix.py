"""A Jacobian or Hessian by several names as one matrix, with names at rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from gradcli.render.numbers import align, element_names, flat, number, shape_of
from gradcli.render.table import table, text_column
from gradcli.render.text import Line, cells, visible
from gradcli.results import Value

_MOST = 12  # rows and columns of a matrix by tensors: larger ones are shown block by block
_GAP = "  "


def jacobian_matrix(
    output: str, value: Value, jacobian: Mapping[str, Value], precision: int, width: int
) -> list[Line]:
    """A Jacobian by several names, with a row for each element of the result. It is empty for one
    name, and where tensors make it so large that blocks tell more.
    """
    of_rows = {output: shape_of(value)}
    of_columns = {name: shape_of(x)[len(of_rows[output]) :] for name, x in jacobian.items()}
    blocks = {output: jacobian}
    return _matrix("jacobian", of_rows, of_columns, blocks, precision, width)


def hessian_matrix(
    grad: Mapping[str, Value],
    hessian: Mapping[str, Mapping[str, Value]],
    precision: int,
    width: int,
) -> list[Line]:
    """Second derivatives by several names, likewise."""
    shapes = {name: shape_of(x) for name, x in grad.items()}
    return _matrix("hessian", shapes, shapes, hessian, precision, width)


_Shapes: TypeAlias = Mapping[str, tuple[int, ...]]


def _matrix(
    kind: str,
    of_rows: _Shapes,
    of_columns: _Shapes,
    blocks: Mapping[str, Mapping[str, Value]],
    precision: int,
    width: int,
) -> list[Line]:
    """The matrix of some blocks, by the name of their rows and of their columns."""
    rows, columns = _elements(of_rows), _elements(of_columns)
    is_of_numbers = not any((*of_rows.values(), *of_columns.values()))
    is_small = max(len(rows), len(columns)) <= _MOST
    is_empty = any(0 in shape for shape in (*of_rows.values(), *of_columns.values()))
    if len(of_columns) < 2 or is_empty or not (is_of_numbers or is_small):
        return []
    entries: list[list[str]] = []
    for band in blocks.values():
        parts = [_cut(x, prod(of_columns[name])) for name, x in band.items()]
        for row in zip(*parts, strict=True):
            entries.append([number(x, precision) for part in row for x in part])
    texts = [align(column) for column in zip(*entries, strict=True)]
    return _panels(kind, rows, columns, texts, width)


def _elements(shapes: _Shapes) -> list[str]:
    return [x for name, shape in shapes.items() for x in element_names(visible(name), shape)]


def _cut(value: Value, columns: int) -> list[list[Value]]:
    """The rows of a block with so many columns."""
    numbers = flat(value)
    return [numbers[start : start + columns] for start in range(0, len(numbers), columns)]


def _panels(
    kind: str, rows: Sequence[str], columns: Sequence[str], texts: Sequence[list[str]], width: int
) -> list[Line]:
    """The columns that fit beside the names of rows, then the next ones below them, and so on."""
    first = max(map(cells, [kind, *rows]))
    lines: list[Line] = []
    start = 0
    while start < len(columns):
        room, end = width - first, start
        while end < len(columns):
            room -= len(_GAP) + max(map(cells, [columns[end], *texts[end]]))
            if room < 0 and end > start:
                break
            end += 1
        shown = zip(columns[start:end], texts[start:end], strict=True)
        names = text_column(kind, "name", rows)
        lines += [[]] if lines else []
        lines += table([names, *(text_column(n, "grad", column) for n, column in shown)], width)
        start = end
    return lines
