"""The typed program: the remainder of a program after partial evaluation.

It is structured code in single-assignment form. Its values are numbers of three types and arrays of
known dtype and shape. Its instructions are ops (`Op.value`), branches, loops, and stacks of values
for a backward pass. It has no names, lists, tensors or functions, and arrays never change. The
derivative of a typed program is a typed program again. A back end needs nothing else to make code.

There is no instruction that copies: two names of one value are one value, as they are one node in
the interpreter's graph. The order of sums in a backward pass depends on that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeAlias

from gradcli.record import Record
from gradcli.source import Span


class Value(Record):
    """A value, defined once, by an instruction or as an input.

    Fields:
        number: unique in the program.
        type: "float", "int" (64 bits), "bool", an array such as "float64[2,3]", or a batch along
            directions such as "float64[5;2,3]".
    """

    __slots__ = ("number", "type")
    number: int
    type: str


Operand: TypeAlias = Value | float | int | bool
"""A value, or a constant whose Python type is its type."""


Places: TypeAlias = Sequence[tuple[int, int]]
"""Elements of a program's inputs or results: which input or result, and the element in it."""

Listed: TypeAlias = "Callable[[Sequence[float]], Sequence[float] | None]"
"""Code as a function of some numbers that gives some numbers; None where it has no answer."""


class Instruction(Record):
    """Base of the instructions; `span` is the program text that it comes from."""

    __slots__ = ("span",)
    _ignored = frozenset({"span"})
    span: Span


class Block(Record):
    """A sequence of instructions and its results. A value is visible in the block that defines it
    and in blocks inside that.
    """

    __slots__ = ("body", "results")
    body: tuple[Instruction, ...]
    results: tuple[Operand, ...]


class Do(Instruction):
    """target = the op named `op`, on numbers or, if an argument is an array, on arrays. An omitted
    argument is None.
    """

    __slots__ = ("target", "op", "args", "params")
    target: Value
    op: str
    args: tuple[Operand | None, ...]
    params: tuple[tuple[str, object], ...]


class Placed(Do):
    """A `Do` whose array has the memory layout of the result of an op on tensors."""

    __slots__ = ()


class DoSeveral(Instruction):
    """targets = the several results of the op named `op` on arrays."""

    __slots__ = ("targets", "op", "args", "params")
    targets: tuple[Value, ...]
    op: str
    args: tuple[Operand | None, ...]
    params: tuple[tuple[str, object], ...]


class PlacedSeveral(DoSeveral):
    """A `DoSeveral` whose arrays have the memory layout of the results of an op on tensors."""

    __slots__ = ()


class If(Instruction):
    """targets = the results of `then` if the test is true, else those of `orelse`."""

    __slots__ = ("targets", "test", "then", "orelse")
    targets: tuple[Value, ...]
    test: Operand
    then: Block
    orelse: Block


class Loop(Instruction):
    """A loop of at least one turn. The params begin as `initial`. The first result of the body
    tells whether another turn follows; the others are the params of that turn. targets = the params
    after the last turn; `turns` = the number of turns.
    """

    __slots__ = ("targets", "turns", "params", "initial", "body")
    targets: tuple[Value, ...]
    turns: Value
    params: tuple[Value, ...]
    initial: tuple[Operand, ...]
    body: Block


class Push(Instruction):
    """Push numbers together on the stack of that number. All pushes and pops of a stack have the
    same types. At the end of the program every stack is empty.
    """

    __slots__ = ("stack", "values")
    stack: int
    values: tuple[Operand, ...]


class Pop(Instruction):
    """targets = the values pushed last, which are removed from the stack."""

    __slots__ = ("stack", "targets")
    stack: int
    targets: tuple[Value, ...]


class Leave(Instruction):
    """Bail out if `when` is true, for this reason; the interpreter repeats the run."""

    __slots__ = ("when", "reason")
    when: Operand
    reason: str


class Tell(Instruction):
    """Print the text number `text`, made from the values."""

    __slots__ = ("text", "args")
    text: int
    args: tuple[Operand, ...]


class Ruled(Instruction):
    """targets = the values, whose derivatives by `args` come from a rule of the program's own. The
    rule reads `reads` and the targets.
    """

    __slots__ = ("targets", "values", "args", "reads", "rule")
    _ignored = frozenset({"span", "rule"})
    targets: tuple[Value, ...]
    values: tuple[Operand, ...]
    args: tuple[Operand, ...]
    reads: tuple[Operand, ...]
    rule: Rule


class Blockwise(Instruction):
    """targets = the results of a program of vectors of one length and of numbers. It may be done
    block by block; a block is a part of the vectors. The sums over vectors that it pushes on
    `stack` are there behind this instruction, the first on top; None if it has none.
    """

    __slots__ = ("targets", "args", "program", "length", "stack")
    targets: tuple[Value, ...]
    args: tuple[Operand, ...]
    program: Program
    length: int
    stack: int | None


class Program(Record):
    """A typed program: its inputs, its block with the results, and the functions that make the
    texts it prints.
    """

    __slots__ = ("inputs", "block", "texts")
    inputs: tuple[Value, ...]
    block: Block
    texts: tuple[Callable[..., str], ...]


class Rule:
    """The derivatives of a function of the program's own, as typed programs.

    Args:
        pull: Its reverse mode. Inputs: the cotangents of the targets, the targets, and the values
            that the rule reads. Results: the cotangents of the arguments in `given`. Or the reason
            why it cannot be compiled.
        given: The arguments that get a cotangent.
        push: Its forward mode. Inputs: the tangents of the arguments, the targets, and the values
            that the rule reads. Results: the tangents of the targets in `moved`. Or the reason why
            it cannot be compiled; None to transpose `pull`.
        moved: The targets that get a tangent.
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
NUMBERS_IN = {dtype: type for type, dtype in DTYPES.items()}


def type_of(x: Operand | None) -> str:
    """Return the type of an operand; "none" if it is left out."""
    if isinstance(x, Value):
        return x.type
    if x is not None and type(x) not in TYPES:  # the number in a 0-d tensor of float32
        raise NotCompilable("a tensor of another dtype than float64, int64 or bool")
    return "none" if x is None else TYPES[type(x)]


def array_type(dtype: str, shape: Sequence[int]) -> str:
    """Return the type of arrays of a dtype and shape. One without dimensions is not a number."""
    return f"{dtype}[{','.join(map(str, shape))}]"


def is_array(type: str) -> bool:
    """True for a type of arrays."""
    return type[-1] == "]"


def along(type: str, count: int) -> str:
    """Return the type of a batch along directions: "float64[5;2,3]" for 5 directions. For a single
    direction it is the type itself.
    """
    if count == 1:
        return type
    dtype, shape = dtype_and_shape(type)
    return f"{dtype}[{count};{','.join(map(str, shape))}]"


@cache
def directions(type: str) -> int:
    """Return the number of directions of a batch type; 0 for another type."""
    count, found, _ = type.partition("[")[2].partition(";")
    return int(count) if found else 0


@cache
def dtype_and_shape(type: str) -> tuple[str, tuple[int, ...]]:
    """Return the dtype and shape of values of a type; the axis of directions comes first."""
    if not is_array(type):
        return DTYPES[type], ()
    dtype, _, sizes = type[:-1].partition("[")
    return dtype, tuple(map(int, filter(None, sizes.replace(";", ",").split(","))))


def bytes_of(type: str) -> int:
    """Return the bytes of an array of a type; 0 for a number."""
    if not is_array(type):
        return 0
    dtype, shape = dtype_and_shape(type)
    return math.prod(shape) * (1 if dtype == "bool" else 8)


def is_floating(type: str) -> bool:
    """True if values of a type have derivatives."""
    return type.startswith("float")


def nothing(type: str) -> float | int | bool:
    """Return a placeholder for a value of a type that nothing reads."""
    return _NOTHING.get(type, 0.0)


_NOTHING: dict[str, float | int | bool] = {"float": 0.0, "int": 0, "bool": False}


class NotCompilable(Exception):
    """A program cannot be compiled: the reason, and its place if known."""

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class TooLarge(NotCompilable):
    """A tensor cannot be scalarized, mostly because it is too large."""


class ManyItems(TooLarge):
    """One of many items is picked, which in an array is a load, else a tree of branches."""


class GoesBack(NotCompilable):
    """A program does something that compiles only if it takes gradients itself."""
