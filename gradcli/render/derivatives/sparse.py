"""Sparse matrices of derivatives for people: the number of their entries and the first of them."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.render.derivatives.answers import gradient_table
from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, visible
from gradcli.render.values import named_value
from gradcli.results import Coo, SparseHessianResult, SparseJacobianResult

_MOST = 20  # entries of a block; a person reads no more


def sparse_view(
    result: SparseJacobianResult | SparseHessianResult, *, precision: int, width: int
) -> list[Line]:
    """The value, the gradient of second derivatives, and the entries of each block."""
    lines = named_value(result.output, result.value, precision, width)
    if isinstance(result, SparseHessianResult):
        lines += [[], *gradient_table(result.grad, precision, width)]
    for name, block in _sparse_blocks(result):
        lines += [[], [(name, "name"), (f": {_summary(block)}", "")]]
        lines += _entries(block, precision, width)
    said = "product" if result.products == 1 else "products"
    lines += [[], [(f"by {result.products:,} {said} in {result.mode} mode", "place")]]
    if result.dense:
        lines.append([(f"counted as dense: {', '.join(result.dense)}", "place")])
    return lines


def _sparse_blocks(result: SparseJacobianResult | SparseHessianResult) -> Iterator[tuple[str, Coo]]:
    if isinstance(result, SparseHessianResult):
        for name, row in result.hessian.items():
            for other, block in row.items():
                yield f"hessian.{visible(name)}.{visible(other)}", block
    else:
        for name, block in result.jacobian.items():
            yield f"jacobian.{visible(name)}", block


def _summary(block: Coo) -> str:
    """`9,999 x 10,000, 19,998 entries (0.02 %)`."""
    height, width = block.shape
    count = len(block.data)
    said = "entry" if count == 1 else "entries"
    share = f" ({100 * count / (height * width):.3g} %)" if height * width else ""
    return f"{height:,} x {width:,}, {count:,} {said}{share}"


def _entries(block: Coo, precision: int, width: int) -> list[Line]:
    """A table of the first entries."""
    count = len(block.data)
    if not count:
        return []
    shown = slice(_MOST)
    columns = [
        text_column("row", "shape", [f"{i:,}" for i in block.row[shown].tolist()]),
        text_column("column", "shape", [f"{i:,}" for i in block.col[shown].tolist()]),
        value_column("value", "grad", block.data[shown].tolist(), precision),
    ]
    more = f"... {count - _MOST:,} more; `-o FILE.csv` or `-o FILE.npz` writes all"
    return [*table(columns, width), *([[(more, "place")]] if count > _MOST else [])]
