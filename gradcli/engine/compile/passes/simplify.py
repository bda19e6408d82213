"""Constant folding and dead-code elimination: constants carried through loops, branches never
taken, and stack entries that nobody pops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gradcli.engine.compile.typed import (
    TYPES,
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    nothing,
)
from gradcli.engine.compile.walk import (
    blocks,
    defined,
    instructions,
    is_straight,
    operands_of,
    rewritten,
)
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError

ALL = 1 << 62
"""Above the number of any value."""


def tidy(program: Program, first: int) -> Program:
    """Fold constants and delete dead code. Ops whose targets have numbers below `first` stay,
    because their errors must stay.
    """
    return _Needed(Simple({}).last(program), first).program()


class Simple:
    """Replaces known values by constants or other values. It walks the program until a walk finds
    nothing new, because each walk uses the findings of the one before. Without loops and stacks one
    walk finds all: each value is defined before it is read.
    """

    def __init__(self, known: Mapping[int, Operand]) -> None:
        self.known = dict(known)
        self.changed = False

    def last(self, program: Program) -> Program:
        """Return the program after the last walk."""
        while True:
            self.changed = False
            once = is_straight(program)
            if not once:
                self._stacks(program)
            program = self._program(program)
            if once or not self.changed:
                return program

    def _program(self, program: Program) -> Program:
        return Program(program.inputs, self._block(program.block), program.texts)

    def note(self, value: Value, x: Operand) -> None:
        """Record the constant or other value that a value equals."""
        if value.number not in self.known and not _alike(value, x):
            self.known[value.number] = x
            self.changed = True

    def _operand(self, x: Operand) -> Operand:
        while isinstance(x, Value) and x.number in self.known:
            x = self.known[x.number]
        return x

    def _operands(self, xs: Iterable[Operand]) -> tuple[Operand, ...]:
        return tuple([self._operand(x) for x in xs])

    def _block(self, block: Block) -> Block:
        body: list[Instruction] = []
        for i in block.body:
            body += self.instruction(i)
        return Block(tuple(body), self._operands(block.results))

    def instruction(self, i: Instruction) -> Sequence[Instruction]:
        """Return the instructions that replace an instruction."""
        match i:
            case Do():
                known, number = self.known, i.target.number
                if number in known:
                    return ()
                args = i.args
                if any(type(a) is Value and a.number in known for a in args):
                    args = tuple([None if a is None else self._operand(a) for a in args])
                self.evaluated(i, args)
                if number in known:
                    return ()
                return (i if args is i.args else type(i)(i.span, i.target, i.op, args, i.params),)
            case If():
                return self._branch(i)
            case Loop():
                return (self._loop(i),)
            case Leave() if self._operand(i.when) is False:
                return ()
        return (rewritten(i, self._operand),)

    def evaluated(self, i: Do, args: Sequence[Operand | None]) -> None:
        """Record the result of an op if its known arguments determine it."""
        if i.op in _LOGIC and all(map(_is_truth, args)):
            whole, nothing = _LOGIC[i.op]
            a, b = args
            if a is whole or b is whole:
                self.note(i.target, whole)
            elif a is nothing or _alike(a, b):
                self.note(i.target, b)  # type: ignore[arg-type]  # it takes two
            elif b is nothing:
                self.note(i.target, a)  # type: ignore[arg-type]
        elif any(type(a) is Value for a in args):
            return
        elif i.op != ops.passed.name:  # a product with the number 1.0 would be no node
            number = ops[i.op].value.number
            found: Any = None
            if number is not None:
                with suppress(GradError, ArithmeticError, ValueError):  # raised at run time
                    found = number(*args, **dict(i.params))
            if TYPES.get(type(found)) == i.target.type and math.isfinite(found):
                self.note(i.target, found)

    def _branch(self, i: If) -> Sequence[Instruction]:
        test = self._operand(i.test)
        if not isinstance(test, Value):
            side = self._block(i.then if test else i.orelse)
            for target, x in zip(i.targets, side.results, strict=True):
                self.note(target, x)
            return side.body
        then, orelse = self._block(i.then), self._block(i.orelse)
        for target, a, b in zip(i.targets, then.results, orelse.results, strict=True):
            if _alike(a, b):
                self.note(target, a)
            elif a is True and b is False:
                self.note(target, test)
        return (If(i.span, i.targets, test, then, orelse),)

    def _loop(self, i: Loop) -> Instruction:
        initial = self._operands(i.initial)
        body = self._block(i.body)
        inside = {v.number for v in i.params}
        inside |= {v.number for j in body.body for v in defined(j)}
        for param, first, then, target in zip(
            i.params, initial, body.results[1:], i.targets, strict=True
        ):
            if _alike(then, param) or _alike(then, first):
                self.note(param, first)
            if not isinstance(then, Value) or then.number not in inside:
                self.note(target, then)
            elif _alike(then, param):
                self.note(target, first)
        return Loop(i.span, i.targets, i.turns, i.params, initial, body)

    def _stacks(self, program: Program) -> None:
        """Record the constant that a pop returns if every push puts the same one."""
        pushed: dict[int, list[Operand | None]] = {}
        pops = []
        for i in instructions(program.block.body):
            if isinstance(i, Push):
                values = self._operands(i.values)
                before = pushed.setdefault(i.stack, list(values))
                for k, (a, b) in enumerate(zip(before, values, strict=True)):
                    if isinstance(b, Value) or not _alike(a, b):
                        before[k] = None
            elif isinstance(i, Pop):
                pops.append(i)
        for i in pops:
            for target, x in zip(i.targets, pushed.get(i.stack, ()), strict=False):
                if x is not None:
                    self.note(target, x)


_LOGIC = {"logical_or": (True, False), "logical_and": (False, True)}
"""Logical ops: the operand that decides the result, and the one that leaves it to the other."""


def _is_truth(x: Operand | None) -> bool:
    """True for a bool operand, not for a number used as a condition."""
    return x.type == "bool" if isinstance(x, Value) else type(x) is bool


def _alike(a: Operand | None, b: Operand | None) -> bool:
    """True if two operands are the same value, or the same constant including the sign of zero."""
    if isinstance(a, Value) or isinstance(b, Value):
        return isinstance(a, Value) and isinstance(b, Value) and a.number == b.number
    return type(a) is type(b) and repr(a) == repr(b)


class _Needed:
    """The values that the results and side effects of a program need."""

    def __init__(self, program: Program, first: int) -> None:
        self._program = program
        self._first = first
        self._reads: dict[int, Sequence[Operand | None]] = {}
        self._pushed: dict[tuple[int, int], list[Operand]] = {}
        self._popped: dict[int, tuple[int, int]] = {}
        self._places: set[tuple[int, int]] = set()
        self._values: set[int] = set()
        self._waiting: list[Operand | None] = [*program.block.results]
        pops = (i for i in instructions(program.block.body) if isinstance(i, Pop))
        self._taken = {i.stack for i in pops}
        self._collect(program.block, ())
        self._mark()

    def program(self) -> Program:
        block = self._program.block
        return Program(
            self._program.inputs, Block(self._body(block), block.results), self._program.texts
        )

    def _collect(self, block: Block, around: tuple[Operand, ...]) -> None:
        """Record the operands of each value and the tests on which it depends."""
        for i in block.body:
            if isinstance(i, Do):  # most are
                number = i.target.number
                self._reads[number] = [*i.args, *around] if around else i.args
                if number < self._first:
                    self._waiting.append(i.target)
                continue
            inside = around
            match i:
                case DoSeveral() | Ruled():
                    for t in defined(i):
                        self._reads[t.number] = [*operands_of(i), *around]
                        if t.number < self._first and not isinstance(i, Ruled):
                            self._waiting.append(t)
                case If():
                    inside = (*around, i.test)
                    for k, t in enumerate(i.targets):
                        self._reads[t.number] = [i.then.results[k], i.orelse.results[k], *inside]
                case Loop():
                    inside = (*around, i.body.results[0])
                    self._reads[i.turns.number] = [*inside]
                    for k, (p, t) in enumerate(zip(i.params, i.targets, strict=True)):
                        then = i.body.results[k + 1]
                        self._reads[p.number] = [i.initial[k], then, *inside]
                        self._reads[t.number] = [then, *inside]
                case Push() if i.stack not in self._taken:  # later code reads it
                    self._waiting += (*i.values, *around)
                case Push():
                    for k, x in enumerate(i.values):
                        self._pushed.setdefault((i.stack, k), []).extend((x, *around))
                case Pop():
                    for k, t in enumerate(i.targets):
                        self._popped[t.number] = i.stack, k
                        self._reads[t.number] = [*around]
                        # values pushed together are popped together
                        self._pushed.setdefault((i.stack, k), []).extend(around)
                case Leave() | Tell():
                    self._waiting += (*operands_of(i), *around)
            for inner in blocks(i):
                self._collect(inner, inside)

    def _mark(self) -> None:
        while self._waiting:
            x = self._waiting.pop()
            if not isinstance(x, Value) or x.number in self._values:
                continue
            self._values.add(x.number)
            self._waiting += self._reads.get(x.number, ())
            place = self._popped.get(x.number)
            if place is not None and place not in self._places:
                self._places.add(place)
                self._waiting += self._pushed.get(place, ())

    def _has(self, x: Value) -> bool:
        return x.number in self._values

    def _body(self, block: Block) -> tuple[Instruction, ...]:
        return tuple([kept for i in block.body if (kept := self._kept(i)) is not None])

    def _kept(self, i: Instruction) -> Instruction | None:
        match i:
            case Do():
                return i if i.target.number in self._values else None
            case DoSeveral() | Ruled():
                return i if any(map(self._has, defined(i))) else None
            case If():
                places = [k for k, t in enumerate(i.targets) if self._has(t)]
                then, orelse = (
                    Block(self._body(side), tuple([side.results[k] for k in places]))
                    for side in (i.then, i.orelse)
                )
                if not places and not then.body and not orelse.body:
                    return None
                return If(i.span, tuple([i.targets[k] for k in places]), i.test, then, orelse)
            case Loop():
                return self._loop(i)
            case Push() if i.stack in self._taken:
                places = self._of_stack(i.stack, len(i.values))
                kept = tuple([i.values[k] for k in places])
                return Push(i.span, i.stack, kept) if kept else None
            case Pop():
                places = self._of_stack(i.stack, len(i.targets))
                targets = tuple([i.targets[k] for k in places])
                return Pop(i.span, i.stack, targets) if targets else None
        return i

    def _loop(self, i: Loop) -> Instruction | None:
        places = [
            k
            for k, (p, t) in enumerate(zip(i.params, i.targets, strict=True))
            if self._has(p) or self._has(t)
        ]
        body = self._body(i.body)
        if not places and not body and not self._has(i.turns):
            return None
        again, *nexts = i.body.results
        params = [(k, i.params[k]) for k in places]
        return Loop(
            i.span,
            tuple([i.targets[k] for k in places]),
            i.turns,
            tuple([p for _, p in params]),
            tuple([i.initial[k] if self._has(p) else nothing(p.type) for k, p in params]),
            Block(body, (again, *[nexts[k] for k in places])),
        )

    def _of_stack(self, stack: int, count: int) -> list[int]:
        return [k for k in range(count) if (stack, k) in self._places]
