"""Values that a reverse computes again instead of keeping: those that take one or two exact steps
from others that it has. A step takes less time than to store a value and load it.

The counter of a loop can be one that it has, if the loop's turns are known, and so can items of
arrays from outside the loop at places that depend on the counter alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.engine.compile.passes.mirrored import Mirrored, counting_back, mirrored
from gradcli.engine.compile.passes.simple_stacks import Pair, edited, simple_stacks
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Value,
    directions,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import Fresh, blocks, defined, read, with_names
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.record import Record

_MOST = 2  # steps that take less than a store and a load
_ADD, _SUB, _MUL = OPS["+", 2], OPS["-", 2], OPS["*", 2]
_STEPS = (_ADD, _SUB, _MUL, ops.neg.name)


class ReadAgain(Record):
    """A program that makes such values anew where they would be popped, items among them.

    Fields:
        program: the program.
        counters: the counters of loops, by the numbers of the counters of their reverses.
    """

    __slots__ = ("program", "counters")
    program: Program
    counters: Mapping[int, Value]


def recomputed(program: Program) -> Program:
    """Return the program with such values made anew, but for items, whose places machine code
    checks.
    """
    return _changed(program, {}).program


def read_again(program: Program) -> ReadAgain:
    """Make such values anew, and read items again."""
    return _changed(program, loops_around(program.block))


def _changed(program: Program, around: Mapping[int, Sequence[Loop]]) -> ReadAgain:
    fresh = Fresh(program)
    outside = {v.number: v for i in program.block.body for v in defined(i)}
    outside |= {v.number: v for v in program.inputs}
    edits: dict[int, Sequence[Instruction]] = {}
    names: dict[int, Operand] = {}
    counters: dict[int, Mirrored] = {}
    for pair in simple_stacks(program.block):
        loops = around.get(id(pair.forward), ()), around.get(id(pair.backward), ())
        kept = _Kept(outside, pair, loops, fresh)
        edits |= kept.edits()
        names |= kept.names
        counters.update((by.back.number, by) for by in kept.counters)
    made = counting_back(with_names(edited(program, edits), names), counters)
    return ReadAgain(made, {number: by.param for number, by in counters.items()})


def loops_around(block: Block) -> dict[int, tuple[Loop, ...]]:
    """Return the loops around a block and each block in it, by `id`, the innermost first."""
    found: dict[int, tuple[Loop, ...]] = {}

    def look(block: Block, around: tuple[Loop, ...]) -> None:
        found[id(block)] = around
        for i in block.body:
            for inner in blocks(i):
                look(inner, (i, *around) if isinstance(i, Loop) else around)

    look(block, ())
    return found


class _Kept:
    """What a stack keeps.

    Args:
        outside: The values of the outermost block.
        pair: The stack.
        loops: The loops around its push, and the reverses of these around its pop.
        fresh: Makes values.

    Fields:
        names: what has been popped and is there under another name.
        counters: the counters that the reverse reads.
    """

    def __init__(
        self,
        outside: Mapping[int, Value],
        pair: Pair,
        loops: tuple[Sequence[Loop], Sequence[Loop]],
        fresh: Fresh,
    ) -> None:
        self._pair = pair
        self._fresh = fresh
        own = {t.number for t in pair.pop.targets}
        self._there = {v.number: v for v in read(pair.backward) if v.number not in own}
        before = [v for v in read(pair.forward) if v.number in outside]
        self._there |= {v.number: v for v in before}
        made = (*pair.forward.body, *(i for loop in loops[0] for i in loop.body.body))
        self._made = {i.target.number: i for i in made if isinstance(i, Do)}
        self._ranges: dict[int, tuple[int, int]] = {}
        self.names: dict[int, Operand] = {}
        self.counters: Sequence[Mirrored] = [
            found
            for forward, backward in zip(*loops, strict=False)
            if forward is not backward and (found := mirrored(forward, backward)) is not None
        ]
        for counter in self.counters:
            self._there[counter.param.number] = counter.back
            self._ranges[counter.param.number] = counter.first, counter.last

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
            if number in self._there:
                self.names[target.number] = self._there[number]
            elif steps is None:
                kept[number] = target
            else:
                again = [*steps, *again]
        taken = (*self.names.values(), *(x for i in again for x in i.args))
        self.counters = [counter for counter in self.counters if counter.back in taken]
        if not again and not self.names:
            return {}
        gone = {i.target.number for i in again} | self.names.keys()
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
        if i is None or not (self._is_step(i) or self._is_sure_item(i)):
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
        return found if sum(step.target.type != "int" for step in found) <= _MOST else None

    def _is_step(self, i: Do) -> bool:
        """True for an exact step on numbers or vectors, and for the place of an item."""
        is_square = i.op == ops.pow.name and i.args[1:] == (2,)
        if i.target.type == "int":
            return self._range(i.target) is not None
        return (is_square or i.op in _STEPS) and _is_simple(i.target)

    def _is_sure_item(self, i: Do) -> bool:
        """True for a number out of a vector at a place that is known to be in it."""
        if i.op != ops.row.name:
            return False
        x, at = i.args
        assert isinstance(x, Value)
        _, shape = dtype_and_shape(x.type)
        found = self._range(at)
        is_number = len(shape) == 1 and not directions(x.type)
        return is_number and found is not None and found[0] >= 0 and found[1] < shape[0]

    def _range(self, x: Operand | None) -> tuple[int, int] | None:
        """The least and the largest value of an int that depends on the counter alone."""
        if type(x) is int:
            return x, x
        if not isinstance(x, Value):
            return None
        if x.number not in self._ranges:
            i = self._made.get(x.number)
            if i is None or i.op not in (_ADD, _SUB, _MUL) or i.target.type != "int":
                return None
            several = [self._range(y) for y in i.args]
            if None in several:
                return None
            (a, b), (c, d) = several  # type: ignore[misc]  # none is None
            ends = {
                _ADD: (a + c, b + d),
                _SUB: (a - d, b - c),
                _MUL: (min(a * c, a * d, b * c, b * d), max(a * c, a * d, b * c, b * d)),
            }
            self._ranges[x.number] = ends[i.op]
        return self._ranges[x.number]


def _is_simple(v: Value) -> bool:
    """True for a float, and for a vector of floats, whose layout in memory is known."""
    if not is_array(v.type):
        return v.type == "float"
    dtype, shape = dtype_and_shape(v.type)
    return dtype == "float64" and len(shape) == 1 and not directions(v.type)
