"""Items at an index known only at run time: one branch for each possible index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.branches import chosen, selected
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    Vector,
    is_number,
    is_whole,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Block, If, ManyItems
from gradcli.engine.ops.catalog import ops

MOST = 64
"""Items among which one is picked."""


def picked(trace: Trace, items: Any, index: Symbol) -> Any:
    """Return the item of a vector, list or tuple."""
    if is_whole(items) and number_type(index) == "int":
        return trace.do(ops.row, [items, index], {})
    if isinstance(items, Vector):
        if len(items.shape) != 1:
            raise trace.refused("a row is taken at a place known only at run time")
        if len(items.numbers) > trace.tensors.most_picked:
            raise ManyItems("one of many items is picked", trace.span)
        at = _place(trace, index, len(items.numbers))
        number = _one(
            trace,
            at,
            range(len(items.numbers)),
            lambda k: ops.getitem(items, index=k).number,
        )
        return trace.tensors.made([number], (), items.visible)
    if is_whole(items):
        raise trace.refused("an item is taken by a value known only at run time")
    at = _place(trace, index, len(items))
    if not _are_alike(items):
        found = items[-1]
        for k in reversed(range(len(items) - 1)):
            found = selected(trace, ops.eq(at, k), items[k], found)
        return found
    return _one(trace, at, range(len(items)), lambda k: items[k])


def put(trace: Trace, items: list[Any], index: Symbol, value: Any) -> list[Any]:
    """Return the items of a list with one replaced."""
    at = _place(trace, index, len(items))
    if not _are_alike([*items, value]):
        return [selected(trace, ops.eq(at, k), value, x) for k, x in enumerate(items)]
    return [chosen(trace, ops.eq(at, k), value, x) for k, x in enumerate(items)]


def _are_alike(items: Sequence[Any]) -> bool:
    """True if the items are numbers of one type."""
    return all(map(is_number, items)) and len({number_type(x) for x in items}) == 1


def _place(trace: Trace, index: Symbol, count: int) -> Any:
    """Return an index counted from the beginning; the code bails out if it is out of range."""
    if number_type(index) != "int" or not 0 < count <= MOST:
        raise trace.refused("an item is taken by a value known only at run time")
    at = ops.where(ops.lt(index, 0), ops.add(index, count), index)
    trace.leave(ops.logical_or(ops.lt(at, 0), ops.ge(at, count)), "an index is out of range")
    return at


def _one(trace: Trace, at: Any, places: range, take: Callable[[int], Any]) -> Any:
    """Return the item at a place, by binary search over the places."""
    if len(places) == 1:
        return take(places[0])
    half = len(places) // 2
    test = ops.lt(at, places[half])
    sides, types = [], set()
    for part in (places[:half], places[half:]):
        with trace.block() as body:
            found = _one(trace, at, part, take)
        sides.append(Block(tuple(body), (operand(found),)))
        types.add(number_type(found))
    (type_,) = types
    target = trace.value(type_)
    trace.add(If(trace.span, (target,), operand(test), *sides))
    return Symbol(target, trace)
