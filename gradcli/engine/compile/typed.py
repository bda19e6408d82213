"""The typed program: what is left of a program when everything known of it before a run is gone.

It is structured code over values that are defined once: numbers of three types and arrays of known
dtype and shape, the ops' own values on them (`Op.value`), branches, loops, stacks of
values for what a pass back reads again. It knows no names, lists, tensors or functions; arrays are
never changed. Derivatives of one are typed programs, too, so that
they nest; a back end makes code of one and needs to know nothing else.

Copies are no instructions: two names of one value are one value, as they are one node of the graph
that the interpreter records. The order of sums in a backward pass depends on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from gradcli.record import Record
from gradcli.source import Span


class Value(Record):
    """What one instruction, or the program's beginning, defines. `type` is "float", "int" (of 64
    bits) or "bool", or that of an array, such as "float64[2,3]", or of what goes along several
    directions; `number` is its own in the whole program.
    """

    __slots__ = ("number", "type")
    number: int
    type: str


Operand: TypeAlias = Value | float | int | bool
"""A value, or a constant whose Python type is its type."""


class Instruction(Record):
    """Base of the instructions; `span` is the program text that asks for it."""

    __slots__ = ("span",)
    _ignored = frozenset({"span"})
    span: Span


class Block(Record):
    """Instructions done one after the other, and what they leave. Values that are defined in a
    block are seen in it and in the blocks inside.
    """

    __slots__ = ("body", "results")
    body: tuple[Instruction, ...]
    results: tuple[Operand, ...]


class Do(Instruction):
    """target = the value on numbers of the op with the name `op`, or that on arrays where there are
    any; an argument that is left out is None.
    """

    __slots__ = ("target", "op", "args", "params")
    target: Value
    op: str
    args: tuple[Operand | None, ...]
    params: tuple[tuple[str, object], ...]


class Placed(Do):
    """Likewise, and an array lies in memory as the result of an op on tensors does."""

    __slots__ = ()


class DoSeveral(Instruction):
    """targets = the several values on arrays of the op with the name `op`, as of `Do`."""

    __slots__ = ("targets", "op", "args", "params")
    targets: tuple[Value, ...]
    op: str
    args: tuple[Operand | None, ...]
    params: tuple[tuple[str, object], ...]


class PlacedSeveral(DoSeveral):
    """Likewise, and arrays lie in memory as the results of an op on tensors do."""

    __slots__ = ()


class If(Instruction):
    """targets = the results of `then` if the test is true, else those of `orelse`."""

    __slots__ = ("targets", "test", "then", "orelse")
    targets: tuple[Value, ...]
    test: Operand
    then: Block
    orelse: Block


class Loop(Instruction):
    """Turns of a body, one at least. The first has the params from `initial`. The first result of
    the body tells whether there is another turn, the others are the params of that; targets = those
    of the last turn; `turns` = the number of turns that were done.
    """

    __slots__ = ("targets", "turns", "params", "initial", "body")
    targets: tuple[Value, ...]
    turns: Value
    params: tuple[Value, ...]
    initial: tuple[Operand, ...]
    body: Block


class Push(Instruction):
    """Put numbers together on the stack with that number. Every push and pop of one stack is of as
    many numbers and of the same types; at the end of the program every stack is empty.
    """

    __slots__ = ("stack", "values")
    stack: int
    values: tuple[Operand, ...]


class Pop(Instruction):
    """targets = what was put on the stack last, taken from it."""

    __slots__ = ("stack", "targets")
    stack: int
    targets: tuple[Value, ...]


class Leave(Instruction):
    """Leave the code where `when` is true: the interpreter has the answer. `reason` says why."""

    __slots__ = ("when", "reason")
    when: Operand
    reason: str


class Tell(Instruction):
    """Print what the text with the number `text` makes of the values."""

    __slots__ = ("text", "args")
    text: int
    args: tuple[Operand, ...]


class Ruled(Instruction):
    """targets = the values, which depend on `args` by a rule that the program has for that: its
    derivatives are those of the rule, which reads `reads` and the targets.
    """

    __slots__ = ("targets", "values", "args", "reads", "rule")
    _ignored = frozenset({"span", "rule"})
    targets: tuple[Value, ...]
    values: tuple[Operand, ...]
    args: tuple[Operand, ...]
    reads: tuple[Operand, ...]
    rule: Rule


class Program(Record):
    """A typed program. `inputs` are given, `block.results` is what it gives; `texts` make what it
    prints.
    """

    __slots__ = ("inputs", "block", "texts")
    inputs: tuple[Value, ...]
    block: Block
    texts: tuple[Callable[..., str], ...]


class Rule:
    """The derivatives of a function of the program's own, as typed programs.

    Args:
        pull: Its cotangents: inputs are the cotangents of the targets, the targets and what it
            reads, results those of the arguments in `given`. Or why there is none.
        given: Which of the arguments have one.
        push: Its tangents: inputs are the tangents of the arguments, the targets and what it reads,
            results those of the targets in `moved`. Or why there is none; None where it is to be
            found by `pull`.
        moved: Which of the targets have one.
    """

    __slots__ = ("given", "moved", "pull", "push")

    def __init__(
        self,
        pull: Program | NotCompilable,
        given: tuple[int, ...],
        push: Program | NotCompilable | None,
        moved: tuple[int, ...],
    ) -> None:
        self.pull = pull
        self.given = given
        self.push = push
        self.moved = moved


TYPES = {float: "float", int: "int", bool: "bool"}
DTYPES = {"float": "float64", "int": "int64", "bool": "bool"}


def type_of(x: Operand | None) -> str:
    """The type of an operand; "none" of what is left out."""
    if isinstance(x, Value):
        return x.type
    if x is not None and type(x) not in TYPES:  # as what a 0-d tensor of float32 holds
        raise NotCompilable("a tensor of another dtype than float64, int64 or bool")
    return "none" if x is None else TYPES[type(x)]


def array_type(dtype: str, shape: Sequence[int]) -> str:
    """The type of arrays of a dtype and shape; without dimensions they are no numbers."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def is_array(type: str) -> bool:
    """Whether a type is one of arrays."""
    return type[-1] == "]"


def along(type: str, count: int) -> str:
    """The type of as many values of a type as there are directions, in one array: "float64[5;2,3]"
    of those of 5. What goes along a single one is a value of the type itself.
    """
    if count == 1:
        return type
    dtype, shape = dtype_and_shape(type)
    return f"{dtype}[{count};{','.join(map(str, shape))}]"


@cache
def directions(type: str) -> int:
    """Of how many directions values of a type hold one each; 0 of one value alone."""
    count, found, _ = type.partition("[")[2].partition(";")
    return int(count) if found else 0


@cache
def dtype_and_shape(type: str) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape of values of a type; the axis of directions stands in front."""
    if not is_array(type):
        return DTYPES[type], ()
    dtype, _, sizes = type[:-1].partition("[")
    return dtype, tuple(map(int, filter(None, sizes.replace(";", ",").split(","))))


def bytes_of(type: str) -> int:
    """Bytes that an array of a type takes; those of a number do not count."""
    if not is_array(type):
        return 0
    dtype, shape = dtype_and_shape(type)
    return math.prod(shape) * (1 if dtype == "bool" else 8)


def is_floating(type: str) -> bool:
    """Whether values of a type have derivatives."""
    return type.startswith("float")


def nothing(type: str) -> float | int | bool:
    """A number that stands for a value of a type where nobody reads it."""
    return _NOTHING.get(type, 0.0)


_NOTHING: dict[str, float | int | bool] = {"float": 0.0, "int": 0, "bool": False}


class NotCompilable(Exception):
    """Something cannot be said by a typed program: why, and where that stands, if that is known."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class TooLarge(NotCompilable):
    """A tensor cannot be done element by element, but whole: mostly it is too large."""


class GoesBack(NotCompilable):
    """A program does something that is said only of one that goes back through its own graph."""
