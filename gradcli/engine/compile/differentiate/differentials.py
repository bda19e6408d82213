"""Tangents and cotangents ("deltas") in typed programs, and the differentiated program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.symbols import Builder, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Leave,
    NotCompilable,
    Operand,
    Placed,
    Program,
    Value,
    along,
    directions,
    dtype_and_shape,
    is_array,
    is_floating,
    type_of,
)
from gradcli.engine.compile.walk import unused
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np
from gradcli.record import Record
from gradcli.source import Span

NOTHING = -0.0
"""What stands for no tangent or cotangent at all: added to any number it gives that number."""

MANY = 1 << 30

LOST = "a derivative is nan"
"""Why code bails out where a derivative has become nan."""


class Delta(Record):
    """A tangent or cotangent.

    Fields:
        value: the number.
        absent: whether there is none at all; then the value is `NOTHING`.
        terms: of how many terms it is the sum; `MANY` where that depends on the path.
    """

    __slots__ = ("value", "absent", "terms")
    value: Operand
    absent: Operand
    terms: int

    @property
    def parts(self) -> tuple[Operand, Operand]:
        """The operands that hold it."""
        return self.value, self.absent


ABSENT = Delta(NOTHING, True, 0)


def present(value: Operand) -> Delta:
    """Return a delta that is certainly present."""
    return Delta(value, False, 1)


class Deltas:
    """Emits instructions on deltas.

    Args:
        builder: Takes the instructions.
        counts: For each direction of the pass, the number of directions that it holds as a batch.

    Fields:
        types: the types of the program's values, by number.
        constants: instructions that make constant arrays; they go before all others.
        flags: the numbers of the flags that branches, loops and stacks pass on.
    """

    def __init__(self, builder: Builder, counts: Sequence[int] = ()) -> None:
        self.builder = builder
        self.counts = counts
        self.types: dict[int, str] = {}
        self.constants: list[Instruction] = []
        self.flags: set[int] = set()
        self._filled: dict[tuple[str, str], Value] = {}
        self._held: set[int] = set()  # numbers of deltas passed unchanged to several values
        self._positive: set[int] = set()  # numbers of sums that are never the negative zero

    def type(self, d: int, type: str) -> str:
        """Return the type of deltas, in a direction, of values of a type."""
        return along(type, self.counts[d])

    def hold_single(self, d: int, span: Span) -> None:
        """Refuse a batch of directions: the program's own rules take one at a time."""
        if self.counts[d] != 1:
            raise NotCompilable("several directions go through a rule of the program", span)

    def new(self, type: str) -> tuple[Delta, tuple[Value, Value]]:
        """Return a delta of a type whose two values a later instruction will define, and these
        values.
        """
        value, absent = self.builder.value(type), self.builder.value("bool")
        self.flags.add(absent.number)
        return Delta(value, absent, MANY), (value, absent)

    def filled(self, number: Operand, type: str) -> Operand:
        """Return a number as an operand of a type: for an array type, a constant array."""
        if not is_array(type):
            return number
        key = str(number), type
        if key not in self._filled:
            dtype, shape = dtype_and_shape(type)
            with self.builder.block() as body:
                made = self.builder.held(np.full(shape, number, dtype))
                found = self.builder.divided(made) if directions(type) else made
                self._filled[key] = found.value
            self.constants += body
        return self._filled[key]

    def as_type(self, delta: Delta, type: str) -> Delta:
        """Return the delta with its value as an operand of a type."""
        value = delta.value
        if not isinstance(value, Value):
            value = self.filled(value, type)
        elif directions(type) and not directions(value.type):
            value = self.builder.repeated(value, directions(type))
        elif is_array(value.type) and not is_array(type):
            value = operand(ops.unboxed(self.builder.known(value)))
        return Delta(value, delta.absent, delta.terms)

    def parts(self, deltas: Sequence[Delta], types: Sequence[str]) -> tuple[Operand, ...]:
        """Return the operands that hold several deltas, converted to these types."""
        typed = map(self.as_type, deltas, types)
        return tuple([part for delta in typed for part in delta.parts])

    def through(self, found: Any, by: Delta) -> Delta:
        """Return the delta that a rule has computed from another."""
        value = operand(self.builder.whole(found))
        if isinstance(value, Value) and _same(value, by.value):
            self._held.add(value.number)
        else:
            value = self.unless(by.absent, NOTHING, value)
        return Delta(value, by.absent, 1)

    def together(self, deltas: Sequence[Delta | None]) -> tuple[list[Operand], Delta]:
        """Return the values of several deltas, zero for an absent one, and a delta that is present
        if any of them is.
        """
        absent: Operand = True
        for delta in deltas:
            absent = self._both(absent, True if delta is None else delta.absent)
        found = [
            0.0 if delta is None else self.unless(delta.absent, 0.0, delta.value)
            for delta in deltas
        ]
        return found, Delta(NOTHING, absent, 1)

    def sum(self, a: Delta, b: Delta) -> Delta:
        """Return the sum of two deltas.

        If the pass is differentiated again and one delta is absent, the other one stays the same
        value if it is shared, as in an interpreted run. A sum would collect its cotangents.
        """
        value = self._kept(a, b) if self.builder.do_type is Placed else self._sum(a.value, b.value)
        return Delta(value, self._both(a.absent, b.absent), min(MANY, a.terms + b.terms))

    def _sum(self, a: Operand, b: Operand) -> Operand:
        has_zero = any(type(x) is float and str(x) == "0.0" for x in (a, b))
        if has_zero and isinstance(a, Value) and a.number in self._positive:
            return a
        value = operand(ops.add(self.builder.known(a), self.builder.known(b)))
        sums = {x.number for x in (a, b) if isinstance(x, Value)} & self._positive
        if isinstance(value, Value) and (has_zero or sums):
            self._positive.add(value.number)
        return value

    def where(self, test: Operand, delta: Delta) -> tuple[Delta, Delta]:
        """Return two deltas: this one if a test is true, and this one if it is false; else
        absent.
        """
        if not isinstance(test, Value):
            return (delta, ABSENT) if test else (ABSENT, delta)
        type_ = type_of(delta.value)
        (then, these), (orelse, those) = self.new(type_), self.new(type_)
        none = self.as_type(ABSENT, type_).parts
        sides = (*delta.parts, *none), (*none, *delta.parts)
        blocks = (Block((), side) for side in sides)
        self.builder.add(If(self.builder.span, (*these, *those), test, *blocks))
        if self._is_held(delta):
            self._held |= {these[0].number, those[0].number}
        then = Delta(then.value, then.absent, delta.terms)
        return then, Delta(orelse.value, orelse.absent, delta.terms)

    def _kept(self, a: Delta, b: Delta) -> Operand:
        """Return the sum of two deltas, or the shared one of them if the other is absent."""

        def added() -> Operand:
            return self._sum(a.value, b.value)

        def unless_second() -> Operand:
            return self._chosen(b.absent, lambda: a.value, added) if self._is_held(a) else added()

        if _same(a.absent, b.absent):
            return added()
        if self._is_held(b):
            return self._chosen(a.absent, lambda: b.value, unless_second)
        return unless_second()

    def _is_held(self, delta: Delta) -> bool:
        return isinstance(delta.value, Value) and delta.value.number in self._held

    def _chosen(
        self, test: Operand, then: Callable[[], Operand], orelse: Callable[[], Operand]
    ) -> Operand:
        """Emit a branch between two computations and return its target."""
        if not isinstance(test, Value):
            return then() if test else orelse()
        sides = []
        for make in (then, orelse):
            with self.builder.block() as body:
                result = make()
            sides.append(Block(tuple(body), (result,)))
        target = self.builder.value(type_of(result))
        self.builder.add(If(self.builder.span, (target,), test, *sides))
        self._held.add(target.number)  # a name of the chosen value
        return target

    def unless(self, test: Operand, then: float, value: Operand) -> Operand:
        """Return a value, replaced by a number if a test is true."""
        if not isinstance(test, Value):
            return then if test else value
        target = self.builder.value(type_of(value))
        sides = Block((), (self.filled(then, target.type),)), Block((), (value,))
        self.builder.add(If(self.builder.span, (target,), test, *sides))
        return target

    def _both(self, a: Operand, b: Operand) -> Operand:
        """Return the logical and of two operands."""
        if not isinstance(a, Value):
            return b if a else False
        if not isinstance(b, Value) or _same(a, b):
            return a if b is not False else False
        target = self.builder.value("bool")
        self.builder.add(Do(self.builder.span, target, ops.logical_and.name, (a, b), ()))
        return target


def _same(a: Operand, b: Operand) -> bool:
    return isinstance(a, Value) and isinstance(b, Value) and a.number == b.number


class Derived(Record):
    """A derivative of a program.

    Fields:
        program: returns the results of the original, then the derivatives, direction by direction.
            It bails out if one of them is nan.
        absent: for each derivative a flag: true if it does not exist; its value is then 0.0.
        first: the number of the first value that the original does not have.
        flags: the numbers of the flags, true if a cotangent is absent, that branches and loops
            pass on.
        cotangents: the number of the value that each cotangent belongs to, by its own number.
    """

    __slots__ = ("program", "absent", "first", "flags", "cotangents")
    program: Program
    absent: tuple[Operand, ...]
    first: int
    flags: Collection[int]
    cotangents: Mapping[int, int]


def derived(
    program: Program,
    found: Sequence[Delta | None],
    types: Sequence[str],
    deltas: Deltas,
    first: int,
) -> Derived:
    """Append derivatives to the results of a program.

    Args:
        program: The program that computes them.
        found: The derivatives.
        types: Their types.
        deltas: Has emitted them.
        first: The number of the first value that the original program does not have.
    """
    builder, absent, results = deltas.builder, [], [*program.block.results]
    builder.span = Span(0, 0)
    with builder.block() as body:
        for delta, type_ in zip(found, types, strict=True):
            absent.append(True if delta is None else delta.absent)
            if delta is None:
                results.append(deltas.filled(0.0, type_))
            else:
                typed = deltas.as_type(delta, type_) if directions(type_) else delta
                results.append(deltas.unless(delta.absent, 0.0, typed.value))
            lost = ops.isnan(builder.merged(builder.known(results[-1])))
            builder.add(Leave(builder.span, builder.any(lost), LOST))
    block = Block((*deltas.constants, *program.block.body, *body), (*results, *absent))
    made = tidy(Program(program.inputs, block, program.texts), first)
    block, count = made.block, len(results)
    made = Program(made.inputs, Block(block.body, block.results[:count]), made.texts)
    return Derived(made, block.results[count:], first, deltas.flags, {})


def slope_type(x: Operand) -> str:
    """Return the type of the derivatives of an operand: that of a number if it has none."""
    type_ = type_of(x)
    return type_ if is_floating(type_) else "float"


def certain(found: Derived) -> Program:
    """Return a program that bails out if, on the path taken, its result does not depend on the
    values that it is differentiated by.
    """
    block, span = found.program.block, Span(0, 0)
    why = "the result may not depend on the differentiated inputs"
    leaves = [Leave(span, absent, why) for absent in found.absent if isinstance(absent, Value)]
    body = (*block.body, *leaves)
    return Program(found.program.inputs, Block(body, block.results), found.program.texts)


def without_zeros(program: Program, start: int) -> Program:
    """Return a program that bails out if a result, from place `start` on, is zero. The sign of such
    a zero depends on terms that the program leaves out.
    """
    first, body = unused(program), [*program.block.body]
    for k, x in enumerate(program.block.results[start:]):
        if isinstance(x, Value):
            is_zero = Value(first + k, "bool")
            body.append(Do(Span(0, 0), is_zero, ops.eq.name, (x, 0.0), ()))
            body.append(Leave(Span(0, 0), is_zero, "a derivative is zero"))
    block = Block(tuple(body), program.block.results)
    return Program(program.inputs, block, program.texts)
