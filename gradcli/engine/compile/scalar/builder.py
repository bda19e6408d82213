"""Builds a function of the scalar form, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from gradcli.engine.compile.scalar.form import (
    CHECKED,
    PRIMITIVES,
    Bail,
    Block,
    Branch,
    Call,
    Do,
    Edge,
    Function,
    Give,
    GiveUp,
    Instruction,
    Jump,
    Library,
    Operand,
    Repeat,
    Value,
)

CARRIERS = {
    **{type: type for type in ("float", "int", "bool")},
    "whole": "float",
    "mixed": "float",
    "integral": "int",
}
"""The type of the form that holds each type of number. A "whole" is an int that a float has been
rounded to, which may be larger than 64 bits. A "mixed" number is a float, an int or a bool, an
"integral" one an int or a bool; which of them is known only when the code runs.
"""


class Number:
    """A number that is unknown until the code runs, or a constant: an operand of the form, and the
    number's type.
    """

    __slots__ = ("type", "value")

    def __init__(self, value: Operand, type: str) -> None:
        self.value = value
        self.type = type


class Builder:
    """Builds a function with parameters of given types.

    Fields:
        params: the parameters.
        label: the label of the open block.
        ended: True if that block has its end.
        length: the number of instructions and ends.
        bails: True if the function may bail out.
    """

    def __init__(self, types: Sequence[str]) -> None:
        self.params = tuple(Value(k, t) for k, t in enumerate(types))
        self._values = len(self.params)
        self._labels = 0
        self._block = _Open(0)
        self._blocks = {0: self._block}
        self._handlers: list[Mapping[str, Handler]] = []
        self.ended = False
        self.length = 0
        self.bails = False

    @property
    def label(self) -> int:
        return self._block.label

    def new_label(self) -> int:
        """An unused label."""
        self._labels += 1
        return self._labels

    # instructions

    def put(self, primitive: str, *args: Operand) -> Value:
        """Emit a primitive and return its value."""
        if primitive in CHECKED:
            self.bails = True
        return self._defined(Do, primitive, args, PRIMITIVES[primitive].gives)

    def number(self, type: str, primitive: str, *args: Operand) -> Number:
        """Emit a primitive whose value is a number of a type."""
        return Number(self.put(primitive, *args), type)

    def library(self, function: str, *args: Operand) -> Value:
        """Emit a call of a function on floats from the C library, and return its value."""
        return self._defined(Library, function, args, "float")

    def called(self, function: str, type: str, args: Sequence[Operand]) -> Number:
        """Emit a call of another function of the form, which may bail out."""
        self.bails = True
        return Number(self._defined(Call, function, tuple(args), type), type)

    def _defined(self, kind: Any, name: str, args: tuple[Operand, ...], type: str) -> Value:
        target = Value(self._values, type)
        self._values += 1
        self._write(kind(target, name, args))
        return target

    def _write(self, instruction: Instruction) -> None:
        self._block.body.append(instruction)
        self.length += 1

    # paths

    def start(self, label: int) -> None:
        """Open a block."""
        self._block = self._blocks[label] = _Open(label)
        self.ended = False

    def go(self, label: int) -> None:
        """End the block with a jump to a later one."""
        self._end(Jump, label)

    def repeat(self, label: int, most: int) -> None:
        """End the block with a jump back to an earlier one, at most `most` times."""
        self._end(Repeat, label, extra=most)

    def branch(self, test: Operand, yes: int, no: int, *, rare: bool = False) -> None:
        """End the block with a branch to one of two later ones."""
        self._end(Branch, yes, no, extra=rare, test=test)

    def give_up(self, kind: str) -> None:
        """End the block with a bail-out."""
        self.bails = True
        self._end(GiveUp, extra=kind)

    def _end(self, kind: Any, *labels: int, extra: Any = None, test: Any = None) -> None:
        self._block.end = kind, labels, extra, test
        self.length += 1
        self.ended = True

    def merged(self, type: str, ways: Sequence[tuple[Operand, int]]) -> Operand:
        """The merge of values from several blocks at the start of this one: an argument of the
        block, or a constant if all values are the same.
        """
        first = ways[0][0]
        if not isinstance(first, Value) and all(_is_same(x, first) for x, _ in ways):
            return first
        return self.arguments([(type, ways)])[0]

    def arguments(
        self, several: Sequence[tuple[str, Sequence[tuple[Operand, int]]]]
    ) -> list[Value]:
        """New arguments of the block just opened, each from a type and the value that each block
        passes.
        """
        made = []
        for type, ways in several:
            made.append(Value(self._values, type))
            self._values += 1
            self._block.params.append(made[-1])
            for x, label in ways:
                self._blocks[label].hand(self.label, x)
        return made

    def hand(self, label: int, args: Sequence[Operand]) -> None:
        """Pass further arguments along the jump back to an earlier block."""
        for x in args:
            self._block.hand(label, x)

    @contextmanager
    def at_the_end_of(self, label: int) -> Iterator[None]:
        """Context in which instructions go to the end of a finished block."""
        block, self._block = self._block, self._blocks[label]
        try:
            yield
        finally:
            self._block = block

    # errors

    def fail(self, test: Operand, kind: str) -> None:
        """Raise an error of a kind if the test is true: jump to its handler, or bail out."""
        for handlers in reversed(self._handlers):
            if kind in handlers:
                handlers[kind].used = True
                on = self.new_label()
                self.branch(test, handlers[kind].label, on, rare=True)
                self.start(on)
                return
        self.bails = True
        self._write(Bail(test, kind))

    @contextmanager
    def handling(self, kinds: Sequence[str]) -> Iterator[dict[str, Handler]]:
        """Context in which errors of these kinds have handlers."""
        handlers = {kind: Handler(self.new_label()) for kind in kinds}
        self._handlers.append(handlers)
        try:
            yield handlers
        finally:
            self._handlers.pop()

    # the whole

    def function(self, name: str, result: Number) -> Function:
        """The finished function, with a number as its result."""
        self._end(Give, extra=result.value)
        blocks = tuple(block.closed() for block in self._blocks.values())
        return Function(name, self.params, CARRIERS[result.type], blocks, self.bails)


class Handler:
    """The label of the block that handles errors of a kind; `used` if a path leads there."""

    __slots__ = ("label", "used")

    def __init__(self, label: int) -> None:
        self.label = label
        self.used = False


_Ending: TypeAlias = tuple[Any, tuple[int, ...], Any, Any]


class _Open:
    """A block under construction."""

    __slots__ = ("args", "body", "end", "label", "params")

    def __init__(self, label: int) -> None:
        self.label = label
        self.params: list[Value] = []
        self.body: list[Instruction] = []
        self.end: _Ending = (None, (), None, None)
        self.args: dict[int, list[Operand]] = {}

    def hand(self, label: int, x: Operand) -> None:
        self.args.setdefault(label, []).append(x)

    def closed(self) -> Block:
        kind, labels, extra, test = self.end
        edges = [Edge(label, tuple(self.args.get(label, ()))) for label in labels]
        before = () if test is None else (test,)
        after = () if extra is None else (extra,)
        return Block(
            self.label, tuple(self.params), tuple(self.body), kind(*before, *edges, *after)
        )


def _is_same(x: Operand, y: Operand) -> bool:
    return type(x) is type(y) and repr(x) == repr(y)
