"""Validate typed programs. The tests validate each one that is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    type_of,
)
from gradcli.engine.ops.catalog import ops


def faults(program: Program) -> list[str]:
    """The broken rules: each value is defined once and before it is read, types fit, ops exist and
    have a value on numbers.
    """
    return list(_Walk(len(program.texts)).program(program))


class _Walk:
    def __init__(self, texts: int) -> None:
        self.texts = texts
        self.types: dict[int, str] = {}
        self.stacks: dict[int, list[str]] = {}

    def program(self, program: Program) -> Iterator[str]:
        seen: set[int] = set()
        yield from self.define(program.inputs, seen)
        yield from self.block(program.block, seen)

    def block(self, block: Block, outside: set[int]) -> Iterator[str]:
        seen = set(outside)
        for i in block.body:
            yield from self.instruction(i, seen)
        yield from self.read(block.results, seen, "the end of a block")

    def instruction(self, i: Instruction, seen: set[int]) -> Iterator[str]:
        match i:
            case Do():
                yield from self.read(i.args, seen, i.op)
                if i.op not in ops.families or not _has_value(i):
                    yield f"`{i.op}` has no value on these"
                yield from self.define((i.target,), seen)
            case DoSeveral():
                yield from self.read(i.args, seen, i.op)
                if i.op not in ops.families or ops[i.op].value.array is None:
                    yield f"`{i.op}` has no value on these"
                yield from self.define(i.targets, seen)
            case If():
                yield from self.read((i.test,), seen, "if")
                yield from self.fit(("bool",), (i.test,), "the test of an if")
                wanted = [v.type for v in i.targets]
                for side in (i.then, i.orelse):
                    yield from self.block(side, seen)
                    yield from self.fit(wanted, side.results, "a side of an if")
                yield from self.define(i.targets, seen)
            case Loop():
                yield from self.read(i.initial, seen, "loop")
                wanted = [v.type for v in i.params]
                yield from self.fit(wanted, i.initial, "the beginning of a loop")
                inside = set(seen)
                yield from self.define(i.params, inside)
                yield from self.block(i.body, inside)
                yield from self.fit(["bool", *wanted], i.body.results, "the body of a loop")
                yield from self.fit(wanted, i.targets, "the targets of a loop")
                yield from self.fit(("int",), (i.turns,), "the turns of a loop")
                yield from self.define((*i.targets, i.turns), seen)
            case Ruled():
                yield from self.read((*i.values, *i.args, *i.reads), seen, "a rule")
                yield from self.define(i.targets, seen)
                yield from self.fit([v.type for v in i.targets], i.values, "a rule")
            case Push():
                yield from self.read(i.values, seen, "push")
                yield from self.stacked(i.stack, i.values)
            case Pop():
                yield from self.stacked(i.stack, i.targets)
                yield from self.define(i.targets, seen)
            case Leave():
                yield from self.read((i.when,), seen, "leave")
                yield from self.fit(("bool",), (i.when,), "leave")
            case Tell():
                yield from self.read(i.args, seen, "tell")
                if not 0 <= i.text < self.texts:
                    yield f"there is no text {i.text}"
            case _:
                yield f"{type(i).__name__} is no instruction"

    def define(self, values: Iterable[Value], seen: set[int]) -> Iterator[str]:
        for value in values:
            if value.number in self.types:
                yield f"%{value.number} is defined twice"
            self.types[value.number] = value.type
            seen.add(value.number)

    def read(self, operands: Iterable[Operand | None], seen: set[int], by: str) -> Iterator[str]:
        for x in operands:
            if not isinstance(x, Value):
                continue
            if x.number not in seen:
                yield f"%{x.number} is not there where {by} reads it"
            elif self.types[x.number] != x.type:
                yield f"%{x.number} is {self.types[x.number]} and read as {x.type} by {by}"

    def stacked(self, stack: int, operands: Iterable[Operand]) -> Iterator[str]:
        found = [type_of(x) for x in operands]
        types = self.stacks.setdefault(stack, found)
        if types != found:
            yield f"stack {stack} has types {types} and {found}"

    def fit(self, wanted: Iterable[str], operands: Iterable[Operand], where: str) -> Iterator[str]:
        several = list(operands)
        types, found = list(wanted), [type_of(x) for x in several]
        if len(types) != len(found) or not all(map(_fits, types, several)):
            yield f"{where} has types {found}, not {types}"


def _fits(wanted: str, x: Operand | None) -> bool:
    """True if an operand has a type; a number may stand for an array that nobody reads."""
    return type_of(x) == wanted or (is_array(wanted) and not isinstance(x, Value))


def _has_value(i: Do) -> bool:
    """True if an op has a value for such arguments."""
    op, types = ops[i.op], [type_of(x) for x in (i.target, *i.args)]
    return (op.value.array if any(map(is_array, types)) else op.value.number) is not None
