"""Values that a reverse computes again instead of keeping: those that take one or two exact steps
from others that it has. A step takes less time than to store a value and load it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.engine.compile.passes.simple_stacks import Pair, edited, simple_stacks
from gradcli.engine.compile.typed import (
    Do,
    Instruction,
    Operand,
    Pop,
    Program,
    Push,
    Value,
    directions,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import Fresh, read
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS

_MOST = 2  # steps that take less than a store and a load
_STEPS = (OPS["+", 2], OPS["-", 2], OPS["*", 2], ops.neg.name)


def recomputed(program: Program) -> Program:
    """Return the program with such values made anew where they would be popped."""
    fresh = Fresh(program)
    edits: dict[int, Sequence[Instruction]] = {}
    for pair in simple_stacks(program.block):
        edits |= _Kept(program, pair, fresh).edits()
    return edited(program, edits)


class _Kept:
    """What a stack keeps."""

    def __init__(self, program: Program, pair: Pair, fresh: Fresh) -> None:
        self._pair = pair
        self._fresh = fresh
        own = {t.number for t in pair.pop.targets}
        seen = (*program.inputs, *read(pair.backward))
        self._there: dict[int, Value] = {v.number: v for v in seen if v.number not in own}
        self._made = {i.target.number: i for i in pair.forward.body if isinstance(i, Do)}

    def edits(self) -> Mapping[int, Sequence[Instruction]]:
        """The instructions that replace the push and the pop, by the `id` of these."""
        push, pop = self._pair.push, self._pair.pop
        kept = {
            x.number: t
            for x, t in zip(push.values, pop.targets, strict=True)
            if isinstance(x, Value)
        }
        again: list[Do] = []
        for number in [*kept]:
            target = kept.pop(number)
            steps = self._steps(number, target, kept)
            if steps is None:
                kept[number] = target
            else:
                again = [*steps, *again]
        if not again:
            return {}
        gone = {i.target.number for i in again}
        places = [k for k, t in enumerate(pop.targets) if t.number not in gone]
        values = tuple([push.values[k] for k in places])
        targets = tuple([pop.targets[k] for k in places])
        return {
            id(push): (Push(push.span, push.stack, values),) if values else (),
            id(pop): (*([Pop(pop.span, pop.stack, targets)] if values else []), *again),
        }

    def _steps(self, number: int, target: Value, kept: Mapping[int, Value]) -> Sequence[Do] | None:
        """The steps that make a value under another name of those that are there, None if there are
        none or too many.
        """
        i = self._made.get(number)
        if i is None or i.op not in _STEPS or not _is_simple(i.target):
            return None
        found: list[Do] = []
        args: list[Operand | None] = []
        for x in i.args:
            if not isinstance(x, Value):
                args.append(x)
            elif x.number in kept or x.number in self._there:
                args.append(kept.get(x.number) or self._there[x.number])
            else:
                part = self._fresh(x.type)
                steps = self._steps(x.number, part, kept)
                if steps is None:
                    return None
                found += steps
                args.append(part)
        found.append(type(i)(i.span, target, i.op, tuple(args), i.params))
        return found if len(found) <= _MOST else None


def _is_simple(v: Value) -> bool:
    """True for a float, and for a vector of floats, whose layout in memory is known."""
    if not is_array(v.type):
        return v.type == "float"
    dtype, shape = dtype_and_shape(v.type)
    return dtype == "float64" and len(shape) == 1 and not directions(v.type)
