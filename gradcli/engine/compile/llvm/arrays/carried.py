"""Replaces small vectors that loops carry, branches give and stacks keep by their elements, where
code holds them as numbers all the way: at the end of each turn, on both sides, at each push. So
they are in registers, not in memory. A tensor without dimensions always becomes a number.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.contiguity import dense
from gradcli.engine.compile.llvm.arrays.elements import FEW, Elements, Exact, filled
from gradcli.engine.compile.llvm.arrays.functions import FUNCTIONS
from gradcli.engine.compile.llvm.arrays.held import Held
from gradcli.engine.compile.llvm.arrays.steps import Node
from gradcli.engine.compile.llvm.arrays.symbolic import Steps
from gradcli.engine.compile.llvm.emit.writer import WIDE, Number, Writer
from gradcli.engine.compile.typed import (
    DTYPES,
    Block,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Value,
    array_type,
    dtype_and_shape,
    is_array,
    nothing,
    type_of,
)
from gradcli.engine.compile.walk import Fresh, instructions, values
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span

_KINDS = {dtype: type_ for type_, dtype in DTYPES.items()}

_NOWHERE = Span(0, 0)

Key: TypeAlias = tuple[str, int]
"""A loop, branch or stack: its kind, and a number."""

Place: TypeAlias = tuple[str, int, int]
"""A place among the values that a loop carries, a branch gives or a stack keeps."""


def apart(program: Program) -> tuple[Program, frozenset[int]]:
    """The program with these vectors replaced, and the numbers of those that the interpreter may
    lay out otherwise.
    """
    if not any(_may_be(v.type) for v in values(program)):
        return program, frozenset()
    places = _chosen(program)
    return _Apart(program, places).program(program), _doubtful(program, places)


def _doubtful(program: Program, places: Collection[Place]) -> frozenset[int]:
    """The values at these places that may not be contiguous."""
    placed = _Trial(program, places).placed
    named = {number for number, place in placed.items() if place in places}
    return frozenset(named - dense(program)) if named else frozenset()


def _may_be(type: str) -> bool:
    if not is_array(type):
        return False
    dtype, shape = dtype_and_shape(type)
    return (not shape and dtype in _KINDS) or (
        dtype == "float64" and len(shape) == 1 and shape[0] <= FEW
    )


def _chosen(program: Program) -> set[Place]:
    """The places of what is carried as numbers.

    Vectors that one vector operation could hold are taken to be numbers until one of them is found
    not to get numbers; larger ones only if they get numbers although they are not.
    """
    places = {place: type_ for place, _, type_ in _carried(program) if _may_be(type_)}
    sizes = {place: math.prod(dtype_and_shape(type_)[1]) for place, type_ in places.items()}
    found = {place for place, size in sizes.items() if size < WIDE}
    while lost := found & _Comings(program, found, places).lost(found):
        found -= lost
    while more := _Comings(program, found, places).won() - found:
        found |= more
    return found


class _Comings:
    """What comes to the places of small arrays, if those in `found` get numbers."""

    def __init__(
        self, program: Program, found: Collection[Place], places: Mapping[Place, str]
    ) -> None:
        trial = _Trial(program, found)
        self._numbers: set[Place] = set()
        self._arrays: set[Place] = set()
        self._from: set[tuple[Place, Place]] = set()
        for place, x, type_ in _carried(program):
            if place not in places or not isinstance(x, Value):
                continue
            before = trial.placed.get(x.number)
            if x.number in trial.held or not dtype_and_shape(type_)[1]:
                self._numbers.add(place)
            elif before is not None and before in places:
                self._from.add((before, place))
            else:
                self._arrays.add(place)

    def lost(self, found: Collection[Place]) -> set[Place]:
        """The places where an array in memory comes."""
        return self._arrays | {place for before, place in self._from if before not in found}

    def won(self) -> set[Place]:
        """The places where numbers come, from other places or at once, and nothing else."""
        return _reached(self._numbers, self._from) - _reached(self._arrays, self._from)


def _reached(places: Collection[Place], ways: Collection[tuple[Place, Place]]) -> set[Place]:
    found = {*places}
    while more := {place for before, place in ways if before in found} - found:
        found |= more
    return found


def _carried(program: Program) -> Iterator[tuple[Place, Operand, str]]:
    """Each place of what is carried, with each operand that comes there and its type."""
    for i in instructions(program.block.body):
        match i:
            case Loop():
                for k, (param, x) in enumerate(zip(i.params, i.body.results[1:], strict=True)):
                    yield ("loop", i.turns.number, k), x, param.type
            case If():
                for side in (i.then, i.orelse):
                    for k, (target, x) in enumerate(zip(i.targets, side.results, strict=True)):
                        yield (*_key(i), k), x, target.type
            case Push():
                for k, x in enumerate(i.values):
                    yield ("stack", i.stack, k), x, type_of(x)


class _Trial:
    """A walk that finds out what code would hold as numbers if the places get numbers.

    Fields:
        held: what is held, by the number of the value.
        placed: the place that a value comes from, by its number.
    """

    def __init__(self, program: Program, places: Collection[Place]) -> None:
        self.held: dict[int, Elements] = {}
        self.placed: dict[int, Place] = {}
        writer = Writer("")
        self._places = places
        self._steps = Steps([], FUNCTIONS)
        self._code = Exact(writer)
        self._rule = Held(writer, self._steps)
        self._body(program.block.body)

    def _body(self, body: Sequence[Instruction]) -> None:
        for i in body:
            match i:
                case Do():
                    self._do(i)
                case Loop():
                    self._get("loop", i.turns.number, i.params)
                    self._body(i.body.body)
                    self._get("loop", i.turns.number, i.targets)
                case If():
                    self._body(i.then.body)
                    self._body(i.orelse.body)
                    self._get(*_key(i), i.targets)
                case Pop():
                    self._get("stack", i.stack, i.targets)

    def _get(self, kind: str, number: int, targets: Sequence[Value]) -> None:
        for k, target in enumerate(targets):
            self.placed[target.number] = kind, number, k
            if (kind, number, k) in self._places:
                _, shape = dtype_and_shape(target.type)
                if shape:
                    self.held[target.number] = self._unknown("float", shape)

    def _unknown(self, type: str, shape: Sequence[int]) -> Elements:
        return Elements(self._code, type, filled(shape, Number("%x", type)))

    def _do(self, i: Do) -> None:
        if len(dtype_and_shape(i.target.type)[1]) != 1:
            return
        args = [*map(self._argument, i.args)]
        found = self._rule.done(i, args, lambda x: self._unknown(x.type, x.shape))
        if found is not None:
            self.held[i.target.number] = found

    def _argument(self, x: Operand | None) -> Any:
        if not isinstance(x, Value):
            return x
        if x.number in self.held:
            return self.held[x.number]
        dtype, shape = dtype_and_shape(x.type)
        if dtype not in _KINDS:
            return x
        if not shape:
            return self._steps.number(Number("%x", _KINDS[dtype]))
        return self._steps.whole(Node(_KINDS[dtype], shape))


class _Apart:
    """Rewrites a program whose carried values at some places become numbers."""

    def __init__(self, program: Program, places: Collection[Place]) -> None:
        self._fresh = Fresh(program)
        self._places = places

    def program(self, program: Program) -> Program:
        """The whole program."""
        block = program.block
        body = Block(tuple(self._body(block.body)), block.results)
        return Program(program.inputs, body, program.texts)

    def _body(self, body: Sequence[Instruction]) -> Iterator[Instruction]:
        for i in body:
            yield from self._instruction(i)

    def _instruction(self, i: Instruction) -> Iterator[Instruction]:
        match i:
            case Loop():
                key, types = ("loop", i.turns.number), [v.type for v in i.params]
                initial = yield from self._numbers(key, i.initial, types)
                params, named = self._parts(key, i.params)
                targets, after = self._parts(key, i.targets)
                body = self._block(i.body, key, types, named, 1)
                yield Loop(i.span, targets, i.turns, params, initial, body)
                yield from after
            case If():
                key, types = _key(i), [v.type for v in i.targets]
                then, orelse = (self._block(side, key, types) for side in (i.then, i.orelse))
                targets, after = self._parts(key, i.targets)
                yield If(i.span, targets, i.test, then, orelse)
                yield from after
            case Push():
                key = "stack", i.stack
                pushed = yield from self._numbers(key, i.values, [*map(type_of, i.values)])
                yield Push(i.span, i.stack, pushed)
            case Pop():
                targets, after = self._parts(("stack", i.stack), i.targets)
                yield Pop(i.span, i.stack, targets)
                yield from after
            case _:
                yield i

    def _block(
        self,
        block: Block,
        key: Key,
        types: Sequence[str],
        named: Sequence[Instruction] = (),
        first: int = 0,
    ) -> Block:
        """A block whose results from the `first` on are carried; it begins with `named`."""
        body = [*named, *self._body(block.body)]
        more = self._numbers(key, block.results[first:], types)
        while True:
            try:
                body.append(next(more))
            except StopIteration as end:
                return Block(tuple(body), (*block.results[:first], *end.value))

    def _parts(
        self, key: Key, old: Sequence[Value]
    ) -> tuple[tuple[Value, ...], Sequence[Instruction]]:
        """The numbers in place of carried values, and what makes these of them."""
        new: list[Value] = []
        made: list[Instruction] = []
        for k, v in enumerate(old):
            if (*key, k) not in self._places:
                new.append(v)
                continue
            dtype, shape = dtype_and_shape(v.type)
            parts = tuple([self._fresh(_KINDS[dtype]) for _ in range(math.prod(shape))])
            new += parts
            op, params = (ops.assembled, (("size", shape),)) if shape else (ops.copied, ())
            made.append(Do(_NOWHERE, v, op.name, parts, params))
        return tuple(new), made

    def _numbers(
        self, key: Key, old: Sequence[Operand], types: Sequence[str]
    ) -> Generator[Instruction, None, tuple[Operand, ...]]:
        """Yield what takes carried values apart, and return the numbers in place of them."""
        new: list[Operand] = []
        for k, (x, type_) in enumerate(zip(old, types, strict=True)):
            if (*key, k) not in self._places:
                new.append(x)
                continue
            dtype, shape = dtype_and_shape(type_)
            for at in range(math.prod(shape)):
                if not isinstance(x, Value):  # nobody reads it
                    new.append(nothing(_KINDS[dtype]))
                    continue
                item = x
                if shape:
                    item = self._fresh(array_type(dtype, ()))
                    yield Do(_NOWHERE, item, ops.getitem.name, (x,), (("index", at),))
                number = self._fresh(_KINDS[dtype])
                yield Do(_NOWHERE, number, ops.unboxed.name, (item,), ())
                new.append(number)
        return tuple(new)


def _key(i: If) -> Key:
    return "if", i.targets[0].number if i.targets else -1
