"""Walk typed programs: the values that an instruction defines, and copies of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from gradcli.engine.compile.typed import (
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
    is_array,
)
from gradcli.engine.ops.catalog import ops


def defined(i: Instruction) -> tuple[Value, ...]:
    """What an instruction defines in the block that it stands in."""
    match i:
        case Do():
            return (i.target,)
        case DoSeveral() | If() | Pop() | Ruled():
            return i.targets
        case Loop():
            return (*i.targets, i.turns)
    return ()


def blocks(i: Instruction) -> tuple[Block, ...]:
    """The blocks of an instruction."""
    match i:
        case If():
            return (i.then, i.orelse)
        case Loop():
            return (i.body,)
    return ()


def instructions(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Each of a block's instructions, and before the next those of its blocks."""
    for i in body:
        yield i
        for block in blocks(i):
            yield from instructions(block.body)


def has_arrays(program: Program) -> bool:
    """Whether any value of a program is an array, or made by what has a value on arrays alone."""
    return any(is_array(v.type) for v in values(program)) or any(
        isinstance(i, Do) and ops[i.op].value.number is None
        for i in instructions(program.block.body)
    )


def values(program: Program) -> Iterator[Value]:
    """All that is defined in a program."""
    yield from program.inputs
    for i in instructions(program.block.body):
        yield from defined(i)
        if isinstance(i, Loop):
            yield from i.params


def unused(program: Program) -> int:
    """A number from which on no value of the program is."""
    return 1 + max((v.number for v in values(program)), default=-1)


def unused_stack(program: Program) -> int:
    """A number from which on no stack of the program is."""
    stacks = (i.stack for i in instructions(program.block.body) if isinstance(i, (Push, Pop)))
    return 1 + max(stacks, default=-1)


def read(block: Block) -> Iterator[Value]:
    """The values that a block and those inside read, and what it leaves."""
    for i in instructions(block.body):
        for x in operands_of(i):
            if isinstance(x, Value):
                yield x
        for inner in blocks(i):
            yield from (x for x in inner.results if isinstance(x, Value))
    yield from (x for x in block.results if isinstance(x, Value))


def operands_of(i: Instruction) -> Iterable[Operand | None]:
    """What an instruction reads itself."""
    match i:
        case Do() | DoSeveral() | Tell():
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


class Copier:
    """Makes copies of instructions in which each value that they define is a new one.

    Args:
        names: What stands for the values from outside that are to be others, by number; those of
            the copies come to it.
        fresh: Makes a new value of a type.
    """

    def __init__(self, names: Mapping[int, Operand], fresh: Callable[[str], Value]) -> None:
        self._names = dict(names)
        self._fresh = fresh

    def operand(self, x: Operand) -> Operand:
        """What stands for an operand."""
        return self._names.get(x.number, x) if isinstance(x, Value) else x

    def operands(self, xs: Iterable[Operand]) -> tuple[Operand, ...]:
        """What stands for operands."""
        return tuple([self.operand(x) for x in xs])

    def block(self, block: Block) -> Block:
        """A copy of a block."""
        body = self.body(block.body)
        return Block(body, self.operands(block.results))

    def body(self, body: Iterable[Instruction]) -> tuple[Instruction, ...]:
        """Copies of instructions."""
        return tuple([self._instruction(i) for i in body])

    def _new(self, value: Value) -> Value:
        made = self._fresh(value.type)
        self._names[value.number] = made
        return made

    def _all_new(self, values: Iterable[Value]) -> tuple[Value, ...]:
        return tuple([self._new(v) for v in values])

    def _instruction(self, i: Instruction) -> Instruction:
        match i:
            case Do():
                args = tuple([None if a is None else self.operand(a) for a in i.args])
                return type(i)(i.span, self._new(i.target), i.op, args, i.params)
            case DoSeveral():
                args = tuple([None if a is None else self.operand(a) for a in i.args])
                return type(i)(i.span, self._all_new(i.targets), i.op, args, i.params)
            case If():
                then, orelse = self.block(i.then), self.block(i.orelse)
                test = self.operand(i.test)
                return If(i.span, self._all_new(i.targets), test, then, orelse)
            case Loop():
                initial = self.operands(i.initial)
                params = self._all_new(i.params)
                body = self.block(i.body)
                targets = self._all_new(i.targets)
                return Loop(i.span, targets, self._new(i.turns), params, initial, body)
            case Push():
                return Push(i.span, i.stack, self.operands(i.values))
            case Pop():
                return Pop(i.span, i.stack, self._all_new(i.targets))
            case Leave():
                return Leave(i.span, self.operand(i.when), i.reason)
            case Ruled():
                values, args, reads = map(self.operands, (i.values, i.args, i.reads))
                return Ruled(i.span, self._all_new(i.targets), values, args, reads, i.rule)
            case Tell():
                return Tell(i.span, i.text, self.operands(i.args))
        raise AssertionError(f"no copy of {type(i).__name__}")


class Inliner(Copier):
    """Copies with stacks of their own, too; `stack` makes a new one."""

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
