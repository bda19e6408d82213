"""The output of derivatives for people: the result's value, then its derivatives; of a sparse
matrix the number of its entries and the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, visible
from gradcli.render.values import named_value, shape_text
from gradcli.results import (
    Coo,
    Derivative,
    GradResult,
    HessianResult,
    HvpResult,
    Several,
    SparseHessianResult,
    SparseJacobianResult,
    Value,
    VjpResult,
)


def derivative_view(result: Derivative | Several, *, precision: int, width: int) -> list[Line]:
    """The value of each output, followed by the derivatives that were asked for."""
    if isinstance(result, Several):
        lines: list[Line] = []
        for answer in result.answers:
            lines += [[]] if lines else []
            lines += derivative_view(answer, precision=precision, width=width)
        return lines
    lines = named_value(result.output, result.value, precision, width)
    match result:
        case GradResult():
            found = _table(result.inputs, {"gradient": result.grad}, precision, width)
        case VjpResult():
            found = _table(result.inputs, {"vjp": result.vjp}, precision, width)
        case HvpResult():
            columns = {"gradient": _only(result.grad, result.hvp), "hvp": result.hvp}
            found = [*_table({}, columns, precision, width), *_by(result.mode)]
        case HessianResult(hessian=None):
            columns = {"gradient": result.grad, "second derivative": result.diagonal or {}}
            found = [*_table({}, columns, precision, width), *_by(result.mode)]
        case HessianResult():
            found = _gradient_table(result.grad, precision, width)
            for name, row in (result.hessian or {}).items():
                found += [[], *_blocks(f"hessian.{visible(name)}", row, precision, width)]
            found += _by(result.mode)
        case _:
            found = _parts(result.answer, precision, width)
    return [*lines, [], *found] if found else lines


def _gradient_table(grad: Mapping[str, Value], precision: int, width: int) -> list[Line]:
    """A row for each name, with the derivative by it."""
    return _table({}, {"gradient": grad}, precision, width)


def _parts(answer: Mapping[str, Any], precision: int, width: int) -> list[Line]:
    """The values one below the other, and the mode."""
    found: list[Line] = []
    for name, value in answer.items():
        if isinstance(value, str):
            found += _by(value)
            continue
        found += [[]] if found else []
        if isinstance(value, dict):
            found += _blocks(name, value, precision, width)
        else:
            found += named_value(name, value, precision, width)
    return found


def _by(mode: str) -> list[Line]:
    return [[], [(f"by {mode} mode", "place")]]


def _only(values: Mapping[str, Value], names: Mapping[str, Value]) -> dict[str, Value]:
    return {name: values[name] for name in names}


def _table(
    inputs: Mapping[str, Value],
    columns: Mapping[str, Mapping[str, Value]],
    precision: int,
    width: int,
) -> list[Line]:
    """A row for each name: its shape, its value if it is known, and the derivatives."""
    names = list(next(iter(columns.values())))
    shown = [
        text_column("name", "name", [visible(name) for name in names]),
        text_column("shape", "shape", [shape_text(next(iter(columns.values()))[n]) for n in names]),
        value_column("value", "value", [inputs.get(n) for n in names], precision),
        *(
            value_column(heading, "grad", [values[n] for n in names], precision)
            for heading, values in columns.items()
        ),
    ]
    return table(shown, width) if names else []


def _blocks(kind: str, values: Mapping[str, Value], precision: int, width: int) -> list[Line]:
    """`kind.name = value` for each name, with a blank line before a value of several lines."""
    lines: list[Line] = []
    for name, value in values.items():
        block = named_value(f"{kind}.{name}", value, precision, width)
        lines += [[], *block] if lines and len(block) > 1 else block
    return lines


_MOST = 20  # entries of a block; a person reads no more


def sparse_view(
    result: SparseJacobianResult | SparseHessianResult, *, precision: int, width: int
) -> list[Line]:
    """The value, the gradient of second derivatives, and the entries of each block."""
    lines = named_value(result.output, result.value, precision, width)
    if isinstance(result, SparseHessianResult):
        lines += [[], *_gradient_table(result.grad, precision, width)]
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
