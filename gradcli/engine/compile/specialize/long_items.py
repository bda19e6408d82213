"""Loops over many items: the item of a turn as a function of the number of the turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.specialize.tracing.dynamic_index import picked
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Row
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np

ItemAt: TypeAlias = Callable[[Symbol], Any]
"""Gives the item of a turn."""


def item_at(items: Sequence[Any], trace: Trace) -> ItemAt | None:
    """Return the function that gives the item of any turn; None if there is none.

    Args:
        items: Rows of one tensor or known numbers, at even distances, or tuples of such.
        trace: Emits the instructions.
    """
    first = items[0]
    if all(item is first for item in items):
        return lambda turn: first
    if {*map(type, items)} != {type(first)}:
        return None
    if type(first) is tuple:
        return _columns(items, trace)
    if type(first) is Row:
        return _rows(items, trace)
    if type(first) is int and (found := _even(items)) is not None:
        return found
    return _numbers(items, trace) if type(first) in (float, int) else None


def _columns(items: Sequence[tuple[Any, ...]], trace: Trace) -> ItemAt | None:
    if len({*map(len, items)}) > 1:
        return None
    columns = [item_at(column, trace) for column in zip(*items, strict=True)]
    found = [column for column in columns if column is not None]
    if len(found) < len(columns):
        return None
    return lambda turn: tuple([column(turn) for column in found])


def _rows(items: Sequence[Row], trace: Trace) -> ItemAt | None:
    tensor, at = items[0].tensor, _even([item.at for item in items])
    if at is None or any(item.tensor is not tensor for item in items):
        return None
    return lambda turn: picked(trace, tensor, at(turn))


def _even(numbers: Sequence[int]) -> ItemAt | None:
    """Return the function of ints at even distances."""
    start, step = numbers[0], numbers[1] - numbers[0]
    if any(x != start + step * k for k, x in enumerate(numbers)):
        return None
    return lambda turn: ops.add(ops.mul(turn, step), start)


def _numbers(items: Sequence[float], trace: Trace) -> ItemAt:
    """Return the function of known numbers, which become an array."""

    def found(turn: Symbol) -> Any:
        cell = picked(trace, trace.tensors.of_known(known), turn)
        number = cell.number
        if number.type.endswith("[]"):
            number = trace.on_arrays(ops.unboxed, [number], {})
        return trace.cut(number)

    known = Tensor(np.array(items))
    return found
