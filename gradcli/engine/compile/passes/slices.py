"""Split instructions on vectors of one length in two: those that act on the vectors, and those on
numbers that need sums over them.

Both halves have the same branches and loops, which depend on numbers alone that are known without
any sum; both compute these numbers. The first half pushes each sum on a stack, the second pops it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Pop,
    Push,
    Value,
    array_type,
    directions,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import Fresh, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS

_X = TypeVar("_X")
_Half: TypeAlias = Callable[[Sequence[Instruction]], Iterator[Instruction]]
_Stays: TypeAlias = Callable[..., bool]

_DTYPES = ("float64", "int64", "bool")
_COPIES = (ops.copied.name, ops.detached.name)


class Slices:
    """The two halves of some instructions.

    Args:
        body: The instructions, in order.
        length: The elements of each vector.
        stack: An unused stack, for the sums.
        fresh: Makes new values.

    Fields:
        has_sums: true if there is a sum over a vector.
    """

    def __init__(self, body: Sequence[Instruction], length: int, stack: int, fresh: Fresh) -> None:
        self._body = body
        self._length = length
        self._stack = stack
        self._fresh = fresh
        self._late: set[int] = set()  # numbers that depend on sums
        self._places: set[tuple[int, int]] = set()  # of stacks, where such numbers are pushed
        every = [*instructions(body)]
        self.has_sums = any(isinstance(i, Do) and self._is_sum(i) for i in every)
        while sum(map(self._spread, every)):
            pass

    @property
    def is_possible(self) -> bool:
        """True if the instructions can be split so."""
        return all(map(self._fits, instructions(self._body)))

    # --- what depends on sums ----------------------------------------------------------

    def _is_late(self, x: Operand | None) -> bool:
        return isinstance(x, Value) and x.number in self._late

    def _spread(self, i: Instruction) -> bool:
        """Record the values of an instruction that depend on sums; true if one is new."""
        before = len(self._late), len(self._places)
        match i:
            case Do():
                if self._is_sum(i) or any(map(self._is_late, i.args)):
                    self._late.add(i.target.number)
            case If():
                for side in (i.then, i.orelse):
                    self._pass_on(side.results, i.targets)
            case Loop():
                for xs in (i.initial, i.body.results[1:]):
                    self._pass_on(xs, i.params)
                    self._pass_on(xs, i.targets)
            case Push():
                self._places |= {(i.stack, k) for k, x in enumerate(i.values) if self._is_late(x)}
            case Pop():
                self._late |= {
                    v.number for k, v in enumerate(i.targets) if (i.stack, k) in self._places
                }
        return (len(self._late), len(self._places)) != before

    def _pass_on(self, xs: Iterable[Operand], to: Iterable[Value]) -> None:
        self._late |= {v.number for x, v in zip(xs, to, strict=True) if self._is_late(x)}

    # --- what can be split -------------------------------------------------------------

    def _fits(self, i: Instruction) -> bool:
        match i:
            case Do():
                return self._does(i)
            case If():
                return not self._is_late(i.test) and self._have_types(i.targets)
            case Loop():
                return not self._is_late(i.body.results[0]) and self._have_types(i.params)
            case Pop():
                return self._have_types(i.targets)
            case Push() | Leave():
                return True
        return False

    def _have_types(self, several: Sequence[Value]) -> bool:
        return all(
            self._is_number(v) or (self._is_vector(v) and not self._is_late(v)) for v in several
        )

    def _is_vector(self, x: Operand | None) -> bool:
        if not isinstance(x, Value) or not is_array(x.type) or directions(x.type):
            return False
        dtype, shape = dtype_and_shape(x.type)
        return shape == (self._length,) and dtype in _DTYPES

    def _is_number(self, x: Operand | None) -> bool:
        return not isinstance(x, Value) or not dtype_and_shape(x.type)[1]

    def _is_sum(self, i: Do) -> bool:
        """True for a sum or mean of all elements of a vector."""
        if not self._is_number(i.target) or not i.args or not self._is_vector(i.args[0]):
            return False
        (x, *_), given = i.args, dict(i.params)
        assert isinstance(x, Value)
        if i.op == ops.sum_to.name:
            return x.type.startswith("float")
        whole = given.get("dim") is None and not given.get("keepdim") and not given.get("dtype")
        return i.op in (ops.sum.name, ops.mean.name) and x.type.startswith("float") and whole

    def _does(self, i: Do) -> bool:
        """True for an op that acts on each element alone, or that one of the halves can do."""
        if self._is_number(i.target):
            return self._is_sum(i) or all(map(self._is_number, i.args))
        if not self._is_vector(i.target) or any(map(self._is_late, i.args)):
            return False
        if i.op == ops.expand.name:
            return self._is_number(i.args[0])
        fit = all(x is None or self._is_number(x) or self._is_vector(x) for x in i.args)
        return fit and (ops[i.op].elementwise or i.op in _COPIES)

    # --- the halves --------------------------------------------------------------------

    def of_vectors(self) -> tuple[Instruction, ...]:
        """The instructions on vectors, with a push of each sum."""
        return tuple(self._vectors(self._body))

    def of_numbers(self) -> tuple[Instruction, ...]:
        """The instructions on numbers, which pop the sums."""
        return tuple(self._numbers(self._body))

    def _vectors(self, body: Sequence[Instruction]) -> Iterator[Instruction]:
        for i in body:
            if isinstance(i, Do) and self._is_sum(i):
                total = self._fresh(array_type("float64", ()))
                yield Do(i.span, total, ops.sum_to.name, i.args, (("size", ()),))
                yield Push(i.span, self._stack, (total,))
            elif isinstance(i, Do):
                if not self._is_late(i.target):
                    yield i
            elif not isinstance(i, Leave):
                yield from self._kept(i, self._vectors, self._is_early)

    def _is_early(self, x: Operand, place: tuple[int, int] | None = None) -> bool:
        """True for a value that the half on vectors has, given its place on a stack."""
        return not self._is_late(x) if place is None else place not in self._places

    def _numbers(self, body: Sequence[Instruction]) -> Iterator[Instruction]:
        for i in body:
            if isinstance(i, Do) and self._is_sum(i):
                yield from self._summed(i)
            elif isinstance(i, Do):
                if self._is_number(i.target):
                    yield i
            elif isinstance(i, Leave):
                yield i
            else:
                yield from self._kept(i, self._numbers, self._is_of_numbers)

    def _is_of_numbers(self, x: Operand, place: tuple[int, int] | None = None) -> bool:
        return self._is_number(x)

    def _summed(self, i: Do) -> Iterator[Instruction]:
        if i.op != ops.mean.name:
            yield Pop(i.span, self._stack, (i.target,))
            return
        total = self._fresh("float")
        yield Pop(i.span, self._stack, (total,))
        made = i.target if not is_array(i.target.type) else self._fresh("float")
        yield Do(i.span, made, OPS["/", 2], (total, float(self._length)), ())
        if made is not i.target:
            yield Do(i.span, i.target, ops.copied.name, (made,), ())

    def _kept(self, i: Instruction, half: _Half, stays: _Stays) -> Iterator[Instruction]:
        """The part of an instruction that belongs to a half."""

        def block(inner: Block, places: Sequence[int]) -> Block:
            return Block(tuple(half(inner.body)), _at(inner.results, places))

        match i:
            case If():
                places = [k for k, v in enumerate(i.targets) if stays(v)]
                sides = [block(side, places) for side in (i.then, i.orelse)]
                yield If(i.span, _at(i.targets, places), i.test, *sides)
            case Loop():
                places = [k for k, v in enumerate(i.params) if stays(v)]
                body = block(i.body, [0, *[k + 1 for k in places]])
                targets, params = _at(i.targets, places), _at(i.params, places)
                initial = _at(i.initial, places)
                yield Loop(i.span, targets, i.turns, params, initial, body)
            case Push():
                places = [k for k, x in enumerate(i.values) if stays(x, (i.stack, k))]
                if places:
                    yield Push(i.span, i.stack, _at(i.values, places))
            case Pop():
                places = [k for k, v in enumerate(i.targets) if stays(v, (i.stack, k))]
                if places:
                    yield Pop(i.span, i.stack, _at(i.targets, places))


def _at(xs: tuple[_X, ...], places: Sequence[int]) -> tuple[_X, ...]:
    return tuple([xs[k] for k in places])
