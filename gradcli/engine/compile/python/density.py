"""Which arrays of a typed program have their elements in order in memory, whatever way it takes."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.engine.compile.python.array_calls import direct
from gradcli.engine.compile.typed import (
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Placed,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    is_array,
)
from gradcli.engine.compile.walk import instructions, values
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.whole import Constant
from gradcli.engine.values import memory


def dense(program: Program) -> frozenset[int]:
    """The numbers of those arrays. Each is taken for one until something tells otherwise."""
    found = {v.number for v in values(program) if is_array(v.type)}
    while found:
        lost = {v.number for v in _others(program, frozenset(found))} & found
        if not lost:
            return frozenset(found)
        found -= lost
    return frozenset()


def _others(program: Program, found: frozenset[int]) -> Iterator[Value]:
    """Arrays of which it is not known, given what is held of the others."""
    gone: set[tuple[int, int]] = set()
    every = [*instructions(program.block.body)]
    for i in every:
        if isinstance(i, Push):
            gone |= {(i.stack, k) for k, x in enumerate(i.values) if _is_lost(x, found)}
    for i in every:
        if isinstance(i, Do):
            if is_array(i.target.type) and not _is_dense(i, found):
                yield i.target
            continue
        for v, x in _names(i):
            if _is_lost(x, found):
                yield v
        if isinstance(i, Pop):
            yield from (t for k, t in enumerate(i.targets) if (i.stack, k) in gone)


def _is_lost(x: Operand | None, found: frozenset[int]) -> bool:
    return isinstance(x, Value) and is_array(x.type) and x.number not in found


def _names(i: Instruction) -> Iterator[tuple[Value, Operand]]:
    """What is another name of what by an instruction itself."""
    match i:
        case If():
            for side in (i.then, i.orelse):
                yield from zip(i.targets, side.results, strict=True)
        case Loop():
            nexts = i.body.results[1:]
            yield from zip(i.params, i.initial, strict=True)
            yield from zip(i.params, nexts, strict=True)
            yield from zip(i.targets, nexts, strict=True)
        case Ruled():
            yield from zip(i.targets, i.values, strict=True)


def _is_dense(i: Do, found: frozenset[int]) -> bool:
    """Whether what an op gives lies in order."""
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
    all_dense = not any(_is_lost(x, found) for x in i.args)
    if all_dense and direct(i, found) is not None:
        return True
    if not isinstance(i, Placed) or op.view or len(op.layouts) != 1:
        return False
    (layout,) = op.layouts
    return layout is memory.in_order or (
        all_dense and layout in (memory.as_arguments, memory.as_first)
    )
