"""Loops with their first turn before them.

A param of a loop is at first a value from outside. If that is used elsewhere, too, its cotangents
come from both names by turns; in a turn by itself the two are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.activity import Activity, leading, moving
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    NotCompilable,
    Operand,
    Program,
    Push,
    Value,
)
from gradcli.engine.compile.walk import Copier, defined, instructions, unused
from gradcli.engine.ops.catalog import ops

_MOST = 64
"""How many times as large as it is a program may become."""


def peeled(program: Program, wrt: Sequence[Value], results: Sequence[Operand]) -> Program:
    """The program with a first turn before each loop that needs one for its cotangents.

    Args:
        program: The program.
        wrt: What it is differentiated by.
        results: What is differentiated.
    """
    most = _MOST * _size(program)
    while True:
        active = moving(program, wrt).shared(leading(program, results))
        uses = _Uses(program, active, results)
        if not uses.shared:
            return program
        program = _Peeler(program, uses.shared).program()
        if _size(program) > most:
            raise NotCompilable("a loop's variables exchange their values too long")


def _size(program: Program) -> int:
    return sum(1 for _ in instructions(program.block.body))


class _Uses:
    """Where the values are used that a derivative goes through.

    Fields:
        shared: the loops, by their `turns`, of which a first value is used inside or behind.
    """

    def __init__(self, program: Program, active: Activity, results: Sequence[Operand]) -> None:
        self._active = active
        self._time = 0
        self._uses: dict[int, list[int]] = {}
        self._began: dict[int, int] = {}
        self._around: list[tuple[int, int]] = []
        self._loops: list[tuple[Loop, int, list[int]]] = []
        self._block(program.block, [])
        self._time += 1
        for x in results:
            self._use(x)
        self.shared = {
            loop.turns.number for loop, at, around in self._loops if self._is(loop, at, around)
        }

    def _use(self, x: Operand | None) -> None:
        if isinstance(x, Value) and x in self._active:
            self._uses.setdefault(x.number, []).append(self._time)

    def _block(self, block: Block, around: list[int]) -> None:
        """Note the uses in a block inside loops that began at these times."""
        for i in block.body:
            self._time += 1
            match i:
                case Do():
                    if i.target in self._active:
                        for a in i.args:
                            self._use(a)
                case If():
                    for side in (i.then, i.orelse):
                        self._block(side, around)
                        self._ended(side.results, i.targets)
                case Loop():
                    at = self._time
                    self._loops.append((i, at, around))
                    for x, p in zip(i.initial, i.params, strict=True):
                        if p in self._active:
                            self._use(x)
                    for p in i.params:
                        self._began[p.number] = at
                    self._block(i.body, [*around, at])
                    self._ended(i.body.results[1:], i.params)
                case Push():
                    for k in self._active.places(i):
                        self._use(i.values[k])
            for v in defined(i):
                self._began[v.number] = self._time

    def _ended(self, results: Sequence[Operand], targets: Sequence[Value]) -> None:
        self._time += 1
        for x, target in zip(results, targets, strict=True):
            if target in self._active:
                self._use(x)

    def _is(self, loop: Loop, at: int, around: list[int]) -> bool:
        """Whether one of a loop's first values is used otherwise, inside or behind."""
        for x, param in zip(loop.initial, loop.params, strict=True):
            if not isinstance(x, Value) or x not in self._active or param not in self._active:
                continue
            uses = self._uses[x.number]
            if uses.count(at) > 1:
                return True
            since = at  # where an outer loop goes on using it, that is behind, too
            for start in around:
                if start >= self._began.get(x.number, -1):
                    since = min(since, start)
            if any(use != at and use > since for use in uses):
                return True
        return False


class _Peeler:
    """Writes the first turns of loops."""

    def __init__(self, program: Program, loops: set[int]) -> None:
        self._program = program
        self._loops = loops
        self._next = unused(program)

    def program(self) -> Program:
        program = self._program
        return Program(program.inputs, self._block(program.block), program.texts)

    def _fresh(self, type: str) -> Value:
        self._next += 1
        return Value(self._next - 1, type)

    def _block(self, block: Block) -> Block:
        return Block(
            tuple([made for i in block.body for made in self._instruction(i)]), block.results
        )

    def _instruction(self, i: Instruction) -> Sequence[Instruction]:
        match i:
            case If():
                return (If(i.span, i.targets, i.test, self._block(i.then), self._block(i.orelse)),)
            case Loop():
                body = self._block(i.body)
                whole = Loop(i.span, i.targets, i.turns, i.params, i.initial, body)
                return self._peeled(whole) if i.turns.number in self._loops else (whole,)
        return (i,)

    def _peeled(self, i: Loop) -> Sequence[Instruction]:
        names: dict[int, Operand] = {p.number: x for p, x in zip(i.params, i.initial, strict=True)}
        copier = Copier(names, self._fresh)
        first = copier.block(i.body)
        again, *nexts = first.results
        targets = tuple([self._fresh(t.type) for t in i.targets])
        turns, more = self._fresh("int"), self._fresh("int")
        rest = Loop(i.span, targets, turns, i.params, tuple(nexts), i.body)
        count = Do(i.span, more, ops.add.name, (turns, 1), ())
        then = Block((rest, count), (*targets, more))
        orelse = Block((), (*nexts, 1))
        return (*first.body, If(i.span, (*i.targets, i.turns), again, then, orelse))
