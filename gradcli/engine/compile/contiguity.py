"""Find the arrays of a typed program that are contiguous on every path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, TypeAlias

from gradcli.engine.compile.typed import (
    Do,
    DoSeveral,
    Operand,
    Placed,
    PlacedSeveral,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import instructions, renamed, values
from gradcli.engine.numerics.ufunc import one_call_of
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.whole import Constant
from gradcli.engine.values import memory
from gradcli.engine.values.data import Quiet, np
from gradcli.errors import GradError

Function: TypeAlias = Callable[..., Any]


def dense(program: Program) -> frozenset[int]:
    """Return the numbers of these arrays, by fixed-point iteration from all arrays downwards."""
    found = {v.number for v in values(program) if is_array(v.type)}
    every = instructions(program.block.body)
    spread = {i.target.number for i in every if isinstance(i, Do) and is_spread(i)}
    while found:
        lost = {v.number for v in _others(program, frozenset(found), spread)} & found
        if not lost:
            return frozenset(found)
        found -= lost
    return frozenset()


def direct(i: Do, dense: Collection[int]) -> Function | None:
    """Return NumPy's function if an op is one call of it with a contiguous result; else None."""
    op = ops[i.op]
    found = one_call_of(op.value.array)
    if found is None or len(op.args) > 2 or any(v != op.params[n] for n, v in i.params):
        return None
    _, shape = dtype_and_shape(i.target.type)
    types = [type_of(x) for x in i.args]
    arrays = [t for t in types if is_array(t)]
    if not shape or {dtype_and_shape(t) for t in arrays} != {("float64", shape)}:
        return None
    if any(t != "float" for t in types if not is_array(t)):
        return None
    whole = [x.number for x in i.args if is_array(type_of(x))]  # type: ignore[union-attr]
    if isinstance(i, Placed) and len(shape) > 1 and not all(number in dense for number in whole):
        return None
    return found()


def is_spread(i: Do) -> bool:
    """True if an op broadcasts one number to all places. Results computed from it are contiguous if
    all other arguments are.
    """
    return ops[i.op] is ops.expand and not is_array(type_of(i.args[0]))


def _others(program: Program, found: frozenset[int], spread: Collection[int]) -> Iterator[Value]:
    """Yield the arrays that may not be contiguous, assuming that the found ones are."""
    gone: set[tuple[int, int]] = set()
    every = [*instructions(program.block.body)]
    for i in every:
        if isinstance(i, Push):
            gone |= {(i.stack, k) for k, x in enumerate(i.values) if _is_lost(x, found)}
    for i in every:
        if isinstance(i, Do):
            if is_array(i.target.type) and not lies_in_order(i, found, spread):
                yield i.target
            continue
        if isinstance(i, DoSeveral):
            yield from (
                t for k, t in enumerate(i.targets) if is_array(t.type) and not result_in_order(i, k)
            )
            continue
        names = zip(i.values, i.targets, strict=True) if isinstance(i, Ruled) else renamed(i)
        for x, v in names:
            if _is_lost(x, found):
                yield v
        if isinstance(i, Pop):
            yield from (t for k, t in enumerate(i.targets) if (i.stack, k) in gone)


def _is_lost(x: Operand | None, found: Collection[int]) -> bool:
    return isinstance(x, Value) and is_array(x.type) and x.number not in found


def lies_in_order(i: Do, found: Collection[int], spread: Collection[int]) -> bool:
    """True if the result of an op is contiguous, given contiguous and `spread` arguments."""
    op = ops[i.op]
    if op in (ops.copied, ops.detached):
        return not _is_lost(i.args[0], found)
    if op is ops.laid_as:
        return not _is_lost(i.args[1], found)
    if op is ops.ordered:
        return True
    if op is ops.held:
        (constant,) = (value for _, value in i.params)
        return isinstance(constant, Constant) and bool(constant.data.flags.c_contiguous)
    lost = [x for x in i.args if _is_lost(x, found)]
    all_dense = all(x.number in spread for x in lost)  # type: ignore[union-attr]  # they are values
    is_vector = len(dtype_and_shape(i.target.type)[1]) == 1
    if (all_dense or is_vector) and direct(i, found) is not None:
        return True
    if op.elementwise and all_dense and any(is_array(type_of(x)) for x in i.args if x not in lost):
        return True
    if op.memory.view:
        return all_dense and not lost and _shows_in_order(i)
    if not isinstance(i, Placed) or len(op.memory.layouts) != 1:
        return False
    (layout,) = op.memory.layouts
    return layout is memory.in_order or (
        all_dense and layout in (memory.as_arguments, memory.as_first)
    )


def result_in_order(i: DoSeveral, k: int) -> bool:
    """True if one of the results of an op is contiguous, whatever its arguments."""
    op = ops[i.op]
    layout = op.memory.layouts[min(k, len(op.memory.layouts) - 1)]
    return isinstance(i, PlacedSeveral) and not op.memory.view and layout is memory.in_order


def _shows_in_order(i: Do) -> bool:
    """True if a view of a contiguous array is contiguous, tried on such an array."""
    array, (x, *rest) = ops[i.op].value.array, i.args
    if array is None or not is_array(type_of(x)):
        return False
    dtype, shape = dtype_and_shape(type_of(x))
    places = [0 if isinstance(y, Value) else y for y in rest]
    try:
        with Quiet():
            found = array(np.empty(shape, dtype), *places, **dict(i.params))
    except (GradError, TypeError, ValueError):
        return False
    return isinstance(found, np.ndarray) and bool(found.flags.c_contiguous)
