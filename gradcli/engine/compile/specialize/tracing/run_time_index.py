"""Parts of tensors at an index with ints that are known only at run time: `x[i, j]`, `x[:, i]`.

What is known of the index is taken at once, then one int after the other by `row`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    Cell,
    Vector,
    is_known,
    is_whole,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.compile.typed import ManyItems, dtype_and_shape
from gradcli.engine.ops.catalog import ops

_ALL = slice(None)


def plain(trace: Trace, index: Any) -> Any:
    """An index with the ints that are in tensors without dimensions."""
    if type(index) is tuple:
        return tuple(plain(trace, one) for one in index)
    if not isinstance(index, Cell) or number_type(index.number) not in ("int", "int64[]"):
        return index
    number = index.number
    is_boxed = number_type(number) == "int64[]"
    return trace.on_arrays(ops.unboxed, [number], {}) if is_boxed else number


def has_places(index: Any) -> bool:
    """True for ints that are known only at run time, alone or beside known ints, slices, None and
    `...`; of a `plain` index.
    """
    several = index if type(index) is tuple else (index,)
    return any(map(_is_place, several)) and all(_is_place(x) or _is_plain(x) for x in several)


def part(trace: Trace, x: Any, index: Any) -> Any:
    """Return `x[index]`."""
    known, picks = _split(trace, x, index)
    found = _known_part(trace, x, known)
    for count, (axis, at) in enumerate(picks):
        found = trace.do(ops.row, [_in_front(trace, found, axis - count), at], {})
    return found


def put_part(trace: Trace, x: Any, index: Any, value: Any) -> None:
    """Do `x[index] = value`."""
    known, picks = _split(trace, x, index)
    axis, at = picks[0]
    if axis == 0 and _is_all(known):
        trace.change(ops.with_row, x, [_replaced_item(trace, x, picks, value), at])
    else:
        made = _replaced(trace, _known_part(trace, x, known), picks, value)
        trace.change(ops.set_at, x, [made], {"index": known})


def _replaced(trace: Trace, x: Any, picks: Sequence[tuple[int, Any]], value: Any) -> Any:
    """A copy of a tensor with the part at some ints replaced."""
    axis, at = picks[0]
    front = _in_front(trace, x, axis)
    item = _replaced_item(trace, front, [(0, at), *picks[1:]], value)
    made = trace.do(ops.with_row, [front, item, at], {})
    if axis == 0:
        return made
    order = [*range(1, axis + 1), 0, *range(axis + 1, _ndim(x))]
    return trace.do(ops.permute, [made], {"dims": tuple(order)})


def _replaced_item(trace: Trace, x: Any, picks: Sequence[tuple[int, Any]], value: Any) -> Any:
    """The new item of `x` along its first dimension."""
    at = picks[0][1]
    later = [(axis - 1, place) for axis, place in picks[1:]]
    if not later:
        return value
    return _replaced(trace, trace.do(ops.row, [x, at], {}), later, value)


def _split(trace: Trace, x: Any, index: Any) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """The known part of an index, with `:` for each other int; the axes of these in what the known
    part gives, with the ints.
    """
    if isinstance(x, Vector):
        raise ManyItems("items are picked at several places", trace.span)
    if not is_whole(x):
        raise trace.refused("an item is taken by a value known only at run time")
    several = index if type(index) is tuple else (index,)
    taken = sum(part is not None and part is not Ellipsis for part in several)
    if taken > _ndim(x):
        raise trace.refused("an item is taken by too many places")
    known: list[Any] = []
    picks = []
    axis = 0
    for one in several:
        if one is Ellipsis:
            known += [_ALL] * (_ndim(x) - taken)
            axis += _ndim(x) - taken
            continue
        if _is_place(one):
            picks.append((axis, one))
        known.append(_ALL if _is_place(one) else one)
        axis += type(one) is not int
    return tuple(known), picks


def _known_part(trace: Trace, x: Any, index: tuple[Any, ...]) -> Any:
    return x if _is_all(index) else trace.do(ops.getitem, [x], {"index": index})


def _in_front(trace: Trace, x: Any, axis: int) -> Any:
    """A tensor with an axis moved to the front."""
    if axis == 0:
        return x
    order = (axis, *range(axis), *range(axis + 1, _ndim(x)))
    return trace.do(ops.permute, [x], {"dims": order})


def _ndim(x: Any) -> int:
    return len(dtype_and_shape(number_type(x.number))[1])


def _is_place(x: Any) -> bool:
    return isinstance(x, Symbol) and x.type == "int"


def _is_plain(x: Any) -> bool:
    return x is None or x is Ellipsis or type(x) is int or (type(x) is slice and is_known(x))


def _is_all(index: Sequence[Any]) -> bool:
    return all(type(part) is slice and part == _ALL for part in index)
