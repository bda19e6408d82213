"""Derivatives in many directions: a loop over the rows or columns of a matrix.

Machine code takes all directions at once, as arrays with one more axis. People write a loop that
takes one after the other, and what does not depend on the direction before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Tell,
    Value,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import (
    Inliner,
    blocks,
    defined,
    instructions,
    operands_of,
    read,
    unused,
    unused_stack,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.record import Record
from gradcli.source import Span

_NOWHERE = Span(0, 0)
_ADD, _LESS = OPS["+", 2], OPS["<", 2]


class Layout(Record):
    """Where a matrix has the numbers that one direction after the other gives.

    Fields:
        starts: the place of the first number of each value, in the first direction.
        shapes: the shape of each value.
        per_direction: how far the numbers of the next direction are.
        per_number: how far the next number of a value is.
    """

    __slots__ = ("starts", "shapes", "per_direction", "per_number")
    starts: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    per_direction: int
    per_number: int


class Sweep(Record):
    """A derivative along a direction, to be taken along each of several.

    Fields:
        program: the program whose results are the numbers of one direction.
        seed: its input that the direction is; its elements are 1 one after the other.
        layout: where the numbers go.
    """

    __slots__ = ("program", "seed", "layout")
    program: Program
    seed: Value
    layout: Layout


class Swept(Record):
    """A program with sweeps behind it.

    Fields:
        program: the program. A `Tell` gives what the layout of its number puts into the matrix: the
            number of the direction, and the values.
        layouts: the layouts.
        size: how many numbers the matrix has.
        copies: the values that values of the sweeps are copies of, by number.
        names: the names of the values that count directions.
    """

    __slots__ = ("program", "layouts", "size", "copies", "names")
    program: Program
    layouts: tuple[Layout, ...]
    size: int
    copies: Mapping[int, int]
    names: Mapping[int, str]


def swept(program: Program, sweeps: Sequence[Sweep], size: int) -> Swept:
    """A program with sweeps behind it, which read what it has computed."""
    writer = _Writer(program, [s.program for s in sweeps])
    for k, sweep in enumerate(sweeps):
        writer.sweep(k, sweep)
    made = Program(program.inputs, Block(tuple(writer.body), program.block.results), ())
    return Swept(made, tuple([s.layout for s in sweeps]), size, writer.copies, writer.names)


class _Writer:
    def __init__(self, program: Program, others: Sequence[Program]) -> None:
        every = (program, *others)
        self._next = max(map(unused, every))
        self._stack = max(map(unused_stack, every))
        self._there = {v.number for v in program.inputs}
        self._there |= {v.number for i in program.block.body for v in defined(i)}
        self.body: list[Instruction] = [*program.block.body]
        self.copies: dict[int, int] = {}
        self.names: dict[int, str] = {}

    def _fresh(self, type: str) -> Value:
        self._next += 1
        return Value(self._next - 1, type)

    def _new_stack(self) -> int:
        self._stack += 1
        return self._stack - 1

    def sweep(self, number: int, sweep: Sweep) -> None:
        """Write a sweep: what depends on the direction in a loop, the rest before it."""
        before, inside = self._parted(tidy(sweep.program, 0), sweep.seed)
        shape = dtype_and_shape(sweep.seed.type)[1]
        direction = self._fresh("int")
        self.names[direction.number] = "row" if sweep.layout.per_number == 1 else "column"
        seed, made = self._seed(sweep.seed, direction, prod(shape))
        copier = _Copies({sweep.seed.number: seed}, self._fresh, self._new_stack, {})
        self.body += copier.body(before)
        copied = copier.body(inside)
        values = copier.operands(sweep.program.block.results)
        self.copies |= copier.copies
        if prod(shape) == 1:
            self.body += [*made, *copied, Tell(_NOWHERE, number, (0, *values))]
            return
        told = Tell(_NOWHERE, number, (direction, *values))
        self.body.append(self._loop(direction, prod(shape), (*made, *copied, told)))

    def _parted(
        self, program: Program, seed: Value
    ) -> tuple[Sequence[Instruction], Sequence[Instruction]]:
        """The instructions that a sweep needs, but those of the program itself: those that do not
        depend on the direction, and those that do, or use stacks.
        """
        moving = {seed.number}
        before: list[Instruction] = []
        inside: list[Instruction] = []
        for i in program.block.body:
            own = [v.number for v in defined(i) if v.number not in self._there]
            every = [*instructions([i])]
            has_stack = any(isinstance(j, (Push, Pop)) for j in every)
            reads = [x for j in every for x in operands_of(j)]
            reads += [x for block in blocks(i) for x in read(block)]
            depends = any(isinstance(x, Value) and x.number in moving for x in reads)
            if depends or has_stack:
                inside.append(i)
                moving.update(own)
            elif own or not defined(i):
                before.append(i)
        return before, inside

    def _seed(
        self, seed: Value, direction: Value, count: int
    ) -> tuple[Operand, Sequence[Instruction]]:
        """The direction of a number: zeros but for one element."""
        if count == 1 and not is_array(seed.type):
            return 1.0, ()
        place: Operand = 0 if count == 1 else direction
        shape = dtype_and_shape(seed.type)[1]
        flat = self._fresh(f"float64[{count}]")
        made = [Do(_NOWHERE, flat, ops.unrow.name, (1.0, place), (("size", (count,)),))]
        if shape == (count,):
            return flat, made
        laid = self._fresh(seed.type)
        made.append(Do(_NOWHERE, laid, ops.reshape.name, (flat,), (("shape", shape),)))
        return laid, made

    def _loop(self, direction: Value, count: int, body: Sequence[Instruction]) -> Loop:
        then, again = self._fresh("int"), self._fresh("bool")
        counting = (
            Do(_NOWHERE, then, _ADD, (direction, 1), ()),
            Do(_NOWHERE, again, _LESS, (then, count), ()),
        )
        block = Block((*body, *counting), (again, then))
        last, turns = self._fresh("int"), self._fresh("int")
        return Loop(_NOWHERE, (last,), turns, (direction,), (0,), block)


class _Copies(Inliner):
    """A copier that keeps what its values are copies of, as `copies`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.copies: dict[int, int] = {}

    def _new(self, value: Value) -> Value:
        made = super()._new(value)
        self.copies[made.number] = value.number
        return made
