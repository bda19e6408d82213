"""Walk typed programs: the values that an instruction defines, and copies of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.typed import (
    Block,
    Blockwise,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Placed,
    PlacedSeveral,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    is_array,
)
from gradcli.engine.ops.catalog import ops


def defined(i: Instruction) -> tuple[Value, ...]:
    """Return the values that an instruction defines in its block."""
    match i:
        case Do():
            return (i.target,)
        case DoSeveral() | If() | Pop() | Ruled() | Blockwise():
            return i.targets
        case Loop():
            return (*i.targets, i.turns)
    return ()


_STRAIGHT = frozenset({Do, Placed, DoSeveral, PlacedSeveral, Leave, Ruled, Tell})
_AROUND = (If, Loop)


def is_straight(program: Program) -> bool:
    """True if each instruction of a program runs once, in order, and none uses a stack."""
    return _STRAIGHT.issuperset(map(type, program.block.body))


def blocks(i: Instruction) -> tuple[Block, ...]:
    """Return the blocks of an instruction."""
    match i:
        case If():
            return (i.then, i.orelse)
        case Loop():
            return (i.body,)
    return ()


def instructions(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Yield each instruction of a block, each followed by those of its inner blocks."""
    for i in body:
        yield i
        if isinstance(i, _AROUND):  # few are
            for block in blocks(i):
                yield from instructions(block.body)


def renamed(i: Instruction) -> Iterator[tuple[Operand, Value]]:
    """Yield each operand that a branch or a loop passes on under another name, with that name."""
    match i:
        case If():
            for side in (i.then, i.orelse):
                yield from zip(side.results, i.targets, strict=True)
        case Loop():
            nexts = i.body.results[1:]
            yield from zip(i.initial, i.params, strict=True)
            yield from zip(nexts, i.params, strict=True)
            yield from zip(nexts, i.targets, strict=True)


def has_arrays(program: Program) -> bool:
    """True if a value of a program is an array, or comes from an op that works on arrays alone."""
    on_numbers: set[str] = set()  # ops
    for i in instructions(program.block.body):
        if isinstance(i, Do) and i.op not in on_numbers:
            if ops[i.op].value.number is None:
                return True
            on_numbers.add(i.op)
    return any(is_array(v.type) for v in values(program))


def values(program: Program) -> Iterator[Value]:
    """Yield all values that a program defines."""
    yield from program.inputs
    for i in instructions(program.block.body):
        if isinstance(i, Do):  # most are
            yield i.target
            continue
        yield from defined(i)
        if isinstance(i, Loop):
            yield from i.params


def unused(program: Program) -> int:
    """Return a number above those of all values."""
    return 1 + max((v.number for v in values(program)), default=-1)


def unused_stack(program: Program) -> int:
    """Return a number above those of all stacks."""
    stacks = (i.stack for i in instructions(program.block.body) if isinstance(i, (Push, Pop)))
    return 1 + max(stacks, default=-1)


def read(block: Block) -> Iterator[Value]:
    """Yield the values that a block and its inner blocks read, and its results."""
    for i in instructions(block.body):
        for x in operands_of(i):
            if isinstance(x, Value):
                yield x
        if isinstance(i, _AROUND):
            for inner in blocks(i):
                yield from (x for x in inner.results if isinstance(x, Value))
    yield from (x for x in block.results if isinstance(x, Value))


def operands_of(i: Instruction) -> Iterable[Operand | None]:
    """Return the operands of an instruction itself."""
    match i:
        case Do() | DoSeveral() | Tell() | Blockwise():
            return i.args
        case If():
            return (i.test,)
        case Loop():
            return i.initial
        case Push():
            return i.values
        case Leave():
            return (i.when,)
        case Ruled():
            return (*i.values, *i.args, *i.reads)
    return ()


def with_blocks(i: Instruction, block: Callable[[Block], Block]) -> Instruction:
    """An instruction with other blocks, if it has any."""
    match i:
        case If():
            return If(i.span, i.targets, i.test, block(i.then), block(i.orelse))
        case Loop():
            return Loop(i.span, i.targets, i.turns, i.params, i.initial, block(i.body))
    return i


def with_loops(program: Program, replaced: Callable[[Loop], Sequence[Instruction]]) -> Program:
    """The program with each loop replaced by instructions, inner loops first."""

    def whole(block: Block) -> Block:
        return Block(tuple([made for i in block.body for made in each(i)]), block.results)

    def each(i: Instruction) -> Sequence[Instruction]:
        made = with_blocks(i, whole)
        return replaced(made) if isinstance(made, Loop) else (made,)

    return Program(program.inputs, whole(program.block), program.texts)


class Fresh:
    """Makes values that a program does not have."""

    def __init__(self, program: Program) -> None:
        self._next = unused(program)

    def __call__(self, type: str) -> Value:
        self._next += 1
        return Value(self._next - 1, type)


def rewritten(
    i: Instruction,
    operand: Callable[[Operand], Operand],
    define: Callable[[Value], Value] = lambda v: v,
    block: Callable[[Block], Block] = lambda b: b,
) -> Instruction:
    """An instruction with other operands, other values that it defines and other blocks. The
    functions are called in the order in which it reads and defines them.
    """

    def all_of(xs: Iterable[Operand | None]) -> tuple[Any, ...]:
        return tuple([None if x is None else operand(x) for x in xs])

    def new(several: Iterable[Value]) -> tuple[Value, ...]:
        return tuple([define(v) for v in several])

    match i:
        case Do():
            args = all_of(i.args)
            return type(i)(i.span, define(i.target), i.op, args, i.params)
        case DoSeveral():
            args = all_of(i.args)
            return type(i)(i.span, new(i.targets), i.op, args, i.params)
        case If():
            then, orelse = block(i.then), block(i.orelse)
            test = operand(i.test)
            return If(i.span, new(i.targets), test, then, orelse)
        case Loop():
            initial, params = all_of(i.initial), new(i.params)
            body = block(i.body)
            targets = new(i.targets)
            return Loop(i.span, targets, define(i.turns), params, initial, body)
        case Push():
            return Push(i.span, i.stack, all_of(i.values))
        case Pop():
            return Pop(i.span, i.stack, new(i.targets))
        case Leave():
            return Leave(i.span, operand(i.when), i.reason)
        case Ruled():
            values, args, reads = map(all_of, (i.values, i.args, i.reads))
            return Ruled(i.span, new(i.targets), values, args, reads, i.rule)
        case Tell():
            return Tell(i.span, i.text, all_of(i.args))
        case Blockwise():
            args = all_of(i.args)
            return Blockwise(i.span, new(i.targets), args, i.program, i.length, i.stack)
    raise AssertionError(f"{type(i).__name__} cannot be rewritten")


class Copier:
    """Copies instructions; each value that they define gets a new name.

    Args:
        names: The replacements of outer values, by number. The copier adds those of the copies.
        fresh: Makes a new value of a type.
    """

    def __init__(self, names: Mapping[int, Operand], fresh: Callable[[str], Value]) -> None:
        self._names = dict(names)
        self._fresh = fresh

    def operand(self, x: Operand) -> Operand:
        """Return the replacement of an operand."""
        return self._names.get(x.number, x) if isinstance(x, Value) else x

    def operands(self, xs: Iterable[Operand]) -> tuple[Operand, ...]:
        """Return the replacements of operands."""
        return tuple([self.operand(x) for x in xs])

    def block(self, block: Block) -> Block:
        """Return a copy of a block."""
        body = self.body(block.body)
        return Block(body, self.operands(block.results))

    def body(self, body: Iterable[Instruction]) -> tuple[Instruction, ...]:
        """Return copies of instructions."""
        return tuple([self._instruction(i) for i in body])

    def _new(self, value: Value) -> Value:
        made = self._fresh(value.type)
        self._names[value.number] = made
        return made

    def _instruction(self, i: Instruction) -> Instruction:
        return rewritten(i, self.operand, self._new, self.block)


class Renamer(Copier):
    """A copier that keeps the names of what is defined."""

    def __init__(self, names: Mapping[int, Operand]) -> None:
        super().__init__(names, lambda type: Value(-1, type))

    def operand(self, x: Operand) -> Operand:
        while isinstance(x, Value) and x.number in self._names:
            x = self._names[x.number]
        return x

    def _new(self, value: Value) -> Value:
        return value


def with_names(program: Program, names: Mapping[int, Operand]) -> Program:
    """Return the program with values replaced by others."""
    if not names:
        return program
    return Program(program.inputs, Renamer(names).block(program.block), program.texts)


class Inliner(Copier):
    """A copier that also gives the copies new stacks, made by `stack`."""

    def __init__(
        self,
        names: Mapping[int, Operand],
        fresh: Callable[[str], Value],
        stack: Callable[[], int],
        stacks: Mapping[int, int],
    ) -> None:
        super().__init__(names, fresh)
        self._stack = stack
        self._stacks = dict(stacks)

    def _instruction(self, i: Instruction) -> Instruction:
        made = super()._instruction(i)
        if not isinstance(made, (Push, Pop)):
            return made
        if made.stack not in self._stacks:
            self._stacks[made.stack] = self._stack()
        stack = self._stacks[made.stack]
        if isinstance(made, Push):
            return Push(made.span, stack, made.values)
        return Pop(made.span, stack, made.targets)
