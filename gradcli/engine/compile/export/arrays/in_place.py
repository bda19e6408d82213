"""Find the sums of arrays that source code does in place.

The cotangent of an item is an array of zeros with one number in it, which is added to the
cotangents of the array so far. Where nothing else reads these, the number is added to one of their
elements. The other elements would get a zero, which changes at most the sign of a zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from math import prod

from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Loop,
    Operand,
    Program,
    Value,
    directions,
    dtype_and_shape,
)
from gradcli.engine.compile.walk import defined, operands_of
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import parts
from gradcli.record import Record

_NEVER: Counter[int] = Counter()


class InPlace(Record):
    """What is done in the memory of other arrays.

    Fields:
        sums: the sums, by number, each with the instruction that makes the array with zeros, which
            nothing else reads.
        handed: the numbers of the arrays that only a loop reads, which begins with them.
    """

    __slots__ = ("sums", "handed")
    sums: dict[int, Do]
    handed: set[int]


def in_place(program: Program) -> InPlace:
    """What may be done in the memory of other arrays."""
    found = InPlace({}, set())
    _look(program.block, (), {}, {}, found)
    return found


def dense(i: Do, sparse: Do) -> Value:
    """The array that a sum in place is added to."""
    a, b = i.args[:2]
    x = a if b == sparse.target else b
    assert isinstance(x, Value)
    return x


def _look(
    block: Block,
    params: Collection[Value],
    owned: dict[int, Counter[int]],
    made: dict[int, tuple[Do, Counter[int]]],
    found: InPlace,
) -> None:
    """Look through a block.

    Args:
        block: The block.
        params: The params of its loop.
        owned: The arrays around it that are memory of their own, with the reads of their block.
        made: The arrays with zeros around it, with the reads of their block.
        found: Receives what is found.
    """
    reads = _reads(block)
    owned = {**owned, **{p.number: reads for p in params}}
    made = dict(made)
    for i in block.body:
        match i:
            case If():
                _look(i.then, (), owned, made, found)
                _look(i.orelse, (), owned, made, found)
            case Loop():
                for x in i.initial:
                    if isinstance(x, Value) and owned.get(x.number, _NEVER)[x.number] == 1:
                        found.handed.add(x.number)
                _look(i.body, i.params, {}, {}, found)
            case Do():
                sparse = _sparse(i, owned, made)
                if sparse is not None:
                    found.sums[i.target.number] = sparse
                    owned[i.target.number] = reads
                elif _is_with_zeros(i):
                    made[i.target.number] = i, reads
                    if isinstance(i.args[0], Value):  # else it is a table
                        owned[i.target.number] = reads
        if isinstance(i, (If, Loop)):
            owned.update((v.number, reads) for v in defined(i))


def _sparse(
    i: Do, owned: dict[int, Counter[int]], made: dict[int, tuple[Do, Counter[int]]]
) -> Do | None:
    """The array with zeros that a sum adds to another one, if that may be done in place."""
    if i.op != ops.add.name or any(x != 1 for _, x in i.params):
        return None
    a, b = i.args[:2]
    if not isinstance(a, Value) or not isinstance(b, Value):
        return None
    if not a.type == b.type == i.target.type:
        return None
    for x, y in ((a, b), (b, a)):
        if y.number in made and owned.get(x.number, _NEVER)[x.number] == 1:
            sparse, reads = made[y.number]
            if reads[y.number] == 1:
                return sparse
    return None


def _is_with_zeros(i: Do) -> bool:
    """True for zeros of a shape with numbers in one region, or at one place."""
    dtype, shape = dtype_and_shape(i.target.type)
    if dtype != "float64" or directions(i.target.type) or prod(shape) <= 1:
        return False
    if i.op != ops.unindex.name:
        return bool(i.op == ops.unrow.name)
    _, advanced = parts(dict(i.params)["index"], shape)
    return not advanced


def _reads(block: Block) -> Counter[int]:
    """How often values are read on a path through a block; what a loop reads counts twice."""
    found: Counter[int] = Counter()

    def note(several: Collection[Operand | None], times: int = 1) -> None:
        for x in several:
            if isinstance(x, Value):
                found[x.number] += times

    for i in block.body:
        note(tuple(operands_of(i)))
        if isinstance(i, If):
            found.update(_reads(i.then) | _reads(i.orelse))
        elif isinstance(i, Loop):
            inner = _reads(i.body)
            found.update({n: 2 * count for n, count in inner.items()})
    note(block.results)
    return found
