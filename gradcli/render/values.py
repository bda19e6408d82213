"""The output of `gradcli run` for people: the top-level names, then the result."""

from __future__ import annotations

from gradcli.render.numbers import block, shape_of
from gradcli.render.table import table, text_column, value_column
from gradcli.render.text import Line, bracketed, cells, visible
from gradcli.results import RunResult, Value


def run_view(result: RunResult, *, precision: int, width: int) -> list[Line]:
    """A table of the top-level names, followed by the result if there is one."""
    lines = binding_table(result, precision=precision, width=width)
    if result.result is not None:
        lines += [[]] if lines else []
        lines += named_value(result.output, result.result, precision, width)
    return lines


def binding_table(result: RunResult, *, precision: int, width: int) -> list[Line]:
    """A row for each name: shape, dtype, value, grad and grad_fn, without empty columns."""
    bindings = result.bindings
    columns = [
        text_column("name", "name", [visible(b.name) for b in bindings]),
        text_column("shape", "shape", [shape_text(b.value) for b in bindings]),
        text_column("dtype", "shape", [dtype_text(b.value) for b in bindings]),
        value_column("value", "value", [b.value for b in bindings], precision),
        value_column("grad", "grad", [b.grad for b in bindings], precision),
        text_column("grad_fn", "shape", [visible(b.grad_fn) for b in bindings]),
    ]
    return table(columns, width) if bindings else []


def named_value(name: str, value: Value, precision: int, width: int) -> list[Line]:
    """`name = value`, with a matrix's further rows aligned."""
    head = f"{visible(name)} = "
    if cells(head) > width // 2:
        rows = block(value, precision, width - 2)
        return [[(head.rstrip(), "name")], *([("  ", ""), (row, "value")] for row in rows)]
    first, *rest = block(value, precision, width - cells(head))
    lines: list[Line] = [[(head, "name"), (first, "value")]]
    return lines + [[(" " * cells(head), ""), (row, "value")] for row in rest]


def shape_text(value: Value) -> str:
    """`[2, 3]`, or "" for a scalar."""
    return bracketed(shape_of(value))


def dtype_text(value: Value) -> str:
    """The dtype of an array, or the one that a number or a list of numbers would have."""
    if hasattr(value, "dtype"):
        return str(value.dtype)
    if not isinstance(value, (list, tuple)):
        return _DTYPES.get(type(value), "")
    if not shape_of(value):
        return ""
    found = {dtype_text(item) for item in value}
    return (
        next((dtype for dtype in _DTYPES.values() if dtype in found), "") if "" not in found else ""
    )


_DTYPES = {float: "float64", int: "int64", bool: "bool"}  # in order of precedence in a list
