"""Take from the tape what the derivative can read without it.

The number of turns of a counted loop is its bound. A value that is pushed once, outside of all
loops, stays where it is; a branch passes it on. Others are pushed as soon as they are there, so
that nothing else has to keep them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gradcli.engine.compile.export.loops import counted, tests_first
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import (
    Block,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Value,
    nothing,
    type_of,
)
from gradcli.engine.compile.walk import (
    Fresh,
    blocks,
    defined,
    instructions,
    read,
    with_blocks,
    with_names,
)
from gradcli.record import Record


class Relieved(Record):
    """A program whose tape holds only what cannot be read elsewhere.

    Fields:
        program: the program.
        turns: the tests on which numbers of turns are above zero, by the numbers of both.
    """

    __slots__ = ("program", "turns")
    program: Program
    turns: Mapping[int, int]


def relieved(program: Program) -> Relieved:
    """The program with less on its tape."""
    program = with_names(program, _turns(program))
    program = tidy(with_names(program, _outermost(program)), 0)
    lift = _Lift(program)
    block = lift.block(program.block)
    made = with_names(Program(program.inputs, block, ()), lift.names)
    made = tidy(made, 0)
    return Relieved(Program(made.inputs, _pushed_early(made.block), ()), lift.turns)


def _pushed_early(block: Block) -> Block:
    """The block with each push right behind what makes its values, in the same order."""
    body: list[Instruction] = []
    for i in block.body:
        if not isinstance(i, Push):
            body.append(with_blocks(i, _pushed_early))
            continue
        at = len(body)
        while at and _may_follow(body[at - 1], i):
            at -= 1
        body.insert(at, i)
    return Block(tuple(body), block.results)


def _may_follow(i: Instruction, push: Push) -> bool:
    """True if an instruction may be done after a push."""
    is_plain = not blocks(i) and not isinstance(i, (Push, Pop))
    return is_plain and not any(x in defined(i) for x in push.values)


def _turns(program: Program) -> dict[int, Operand]:
    """The numbers of turns that are bounds of loops: those that count from 0 by 1."""
    uses = Counter(v.number for v in read(program.block))
    found: dict[int, Operand] = {}
    for i in instructions(program.block.body):
        if isinstance(i, Loop) and not tests_first(i):
            how = counted(i, uses)
            start = None if how is None else i.initial[how.at]
            if how is None or how.step != 1 or type(start) is not int:
                continue
            if start == 0:
                found[i.turns.number] = how.stop
            elif type(how.stop) is int and start < how.stop:
                found[i.turns.number] = how.stop - start
    return found


def _outermost(program: Program) -> dict[int, Operand]:
    """The values of the outermost block that are popped, by the numbers of the popped ones."""
    outermost = {v.number for i in program.block.body for v in defined(i)}
    outermost |= {v.number for v in program.inputs}
    pushed: dict[int, list[Operand | None]] = {}
    for i in instructions(program.block.body):
        if isinstance(i, Push):
            before = pushed.setdefault(i.stack, [*i.values])
            for k, (x, y) in enumerate(zip(before, i.values, strict=True)):
                if not (isinstance(x, Value) and isinstance(y, Value) and x.number == y.number):
                    before[k] = None
    names: dict[int, Operand] = {}
    for i in instructions(program.block.body):
        if isinstance(i, Pop):
            for t, x in zip(i.targets, pushed.get(i.stack, ()), strict=False):
                if isinstance(x, Value) and x.number in outermost:
                    names[t.number] = x
    return names


class _Lift:
    """Passes on, as targets of branches, what is pushed outside of all loops.

    Fields:
        names: what the popped values are, by number.
        turns: as of `Relieved`.
    """

    def __init__(self, program: Program) -> None:
        self._fresh = Fresh(program)
        every = [*instructions(program.block.body)]
        inside = [j for i in every if isinstance(i, Loop) for j in instructions(i.body.body)]
        looped = {i.stack for i in inside if isinstance(i, (Push, Pop))}
        pops = Counter(i.stack for i in every if isinstance(i, Pop))
        pushes = Counter(i.stack for i in every if isinstance(i, Push))
        self._stacks = {s for s in pushes if pushes[s] == pops[s] == 1 and s not in looped}
        self._targets = {i.stack: i.targets for i in every if isinstance(i, Pop)}
        self._counts = {i.turns.number for i in every if isinstance(i, Loop)}
        self._pending: list[tuple[int, list[Operand]]] = []
        self.names: dict[int, Operand] = {}
        self.turns: dict[int, int] = {}

    def block(self, block: Block) -> Block:
        """The outermost block."""
        made = self._inner(block)
        for stack, values in self._pending:
            for t, x in zip(self._targets[stack], values, strict=True):
                self.names[t.number] = x
        return made

    def _inner(self, block: Block) -> Block:
        body: list[Instruction] = []
        for i in block.body:
            match i:
                case Push() if i.stack in self._stacks:
                    self._pending.append((i.stack, [*i.values]))
                case Pop() if i.stack in self._stacks:
                    pass
                case If():
                    body.append(self._branch(i))
                case _:
                    body.append(i)
        return Block(tuple(body), block.results)

    def _branch(self, i: If) -> If:
        targets, results = [*i.targets], ([*i.then.results], [*i.orelse.results])
        sides = []
        outside = self._pending
        given: list[tuple[int, list[Operand]]] = []
        for k, side in enumerate((i.then, i.orelse)):
            self._pending = []
            sides.append(self._inner(side))
            for stack, values in self._pending:
                new: list[Operand] = []
                for x in values:
                    made = self._fresh(type_of(x))
                    new.append(made)
                    targets.append(made)
                    results[k].append(x)
                    results[1 - k].append(nothing(type_of(x)))
                    is_count = isinstance(x, Value) and x.number in self._counts
                    if is_count and k == 0 and isinstance(i.test, Value):
                        self.turns[made.number] = i.test.number
                given.append((stack, new))
        self._pending = [*outside, *given]
        then, orelse = (
            Block(side.body, tuple(found)) for side, found in zip(sides, results, strict=True)
        )
        return If(i.span, tuple(targets), i.test, then, orelse)
