"""Source code for arrays of any size, from code for several sizes.

The compiler knows all sizes. What is written of a program for one size and for another differs in
numbers alone, if the sizes are not small. Each of these numbers is a polynomial of the sizes, of
degree two at most; so many samples as it has coefficients determine it, and one more confirms it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from math import prod
from typing import Any

from gradcli.engine.compile.export.unit import Output, Parameter, Tape, Unit
from gradcli.engine.compile.export.written import (
    Apply,
    Expression,
    Room,
    Statement,
    Variable,
    statements,
)
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.values.data import np
from gradcli.record import Record

_STAND_INS = (
    (101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151),
    (157, 163, 167, 173, 179, 181, 191, 193, 197, 199, 211),
    (223, 227, 229, 233, 239, 241, 251, 257, 263, 269, 271),
)
"""What stands for each size, in each sample: too much for loops without turns, and primes."""
_LAST = ((2520,), (840, 720), (120, 168, 180))
"""One more sample: larger, and divided by all small numbers."""

_DEGREE = 2


class Differs(NotCompilable):
    """The form of source code depends on a size."""


def samples(names: Sequence[str]) -> list[dict[str, int]]:
    """The sizes for which code is written, by name, to find that for any.

    Raises:
        NotCompilable: If there are too many names.
    """
    if len(names) > len(_STAND_INS):
        raise Differs(f"it has {len(names)} free sizes, {', '.join(names)}")
    count = len(_monomials(len(names)))
    every = range(len(names))
    turns = [[_STAND_INS[k][s * (k + 1) % len(_STAND_INS[k])] for k in every] for s in range(count)]
    turns.append([*_LAST[len(names) - 1]])
    return [dict(zip(names, each, strict=True)) for each in turns]


def general(units: Sequence[Unit], sizes: Sequence[Mapping[str, int]]) -> Unit:
    """The function for any size, of those for some.

    Raises:
        NotCompilable: If they differ in more than such numbers.
    """
    first = units[0]
    joiner = _Joiner(first.free, [[*sample.values()] for sample in sizes])
    body: tuple[Statement, ...] = joiner.joined([u.body for u in units])
    for s in statements(body):
        if isinstance(s, Room) and s.type != "float" and type(s.count) is not int and s.at is None:
            raise Differs("it keeps an array of ints of a free size")
    parameters = tuple(_parameters(units, joiner))
    tape: Tape = joiner.joined([u.tape for u in units])
    several = zip(*(u.outputs for u in units), strict=True)
    outputs = tuple([_output(each, joiner) for each in several])
    room: Expression = joiner.joined([u.room for u in units])
    functions = joiner.joined([u.functions for u in units])
    work: Expression = joiner.joined([u.work for u in units])
    return Unit(
        first.name,
        first.source,
        first.about,
        parameters,
        functions,
        body,
        outputs,
        tape,
        room,
        work,
        first.unread,
        first.fixed,
        first.is_exact,
        first.free,
        1,
    )


def _monomials(count: int) -> list[tuple[int, ...]]:
    """The products of sizes, by their places, of each degree: the empty one first."""
    every = range(count)
    return [m for n in range(_DEGREE + 1) for m in combinations_with_replacement(every, n)]


class _Joiner:
    """Joins what differs in numbers alone.

    Args:
        names: The names of the sizes in the code.
        rows: Their values in each sample.
    """

    def __init__(self, names: Sequence[str], rows: Sequence[Sequence[int]]) -> None:
        self.names = names
        self._monomials = _monomials(len(names))
        self._table = np.array([[prod(row[k] for k in m) for m in self._monomials] for row in rows])

    def joined(self, several: Sequence[Any]) -> Any:
        """One of several records, tuples or numbers, with polynomials of the sizes in it."""
        first = several[0]
        kinds = {type(x) for x in several}
        if len(kinds) > 1:
            raise Differs("the form of the code depends on the size")
        if all(x == first for x in several):
            return first
        if isinstance(first, Record):
            fields = [self.joined([getattr(x, f) for x in several]) for f in first._fields]
            return type(first)(*fields)
        if isinstance(first, tuple):
            if len({len(x) for x in several}) > 1:
                raise Differs("the form of the code, or a table in it, depends on the size")
            return tuple([self.joined(parts) for parts in zip(*several, strict=True)])
        if isinstance(first, int) and not isinstance(first, bool):
            return self._polynomial(several)
        if isinstance(first, float):
            return self._float(several)
        raise Differs("the form of the code depends on the size")

    def _float(self, several: Sequence[float]) -> Expression:
        """A float that is an int of the sizes, or its reciprocal."""
        if all(x.is_integer() for x in several):
            return Apply("int_to_float", (self._polynomial([int(x) for x in several]),))
        below = [round(1 / x) if x else 0 for x in several]
        if all(n and 1.0 / n == x for n, x in zip(below, several, strict=True)):
            whole = Apply("int_to_float", (self._polynomial(below),))
            return Apply("float_div", (1.0, whole))
        raise Differs("a number depends on the size in a way that has no formula")

    def _polynomial(self, several: Sequence[int]) -> Expression:
        count = len(self._monomials)
        table, wanted = self._table, np.array(several)
        solved = np.linalg.solve(table[:count].astype(float), wanted[:count].astype(float))
        found = np.round(solved).astype(np.int64)
        if (table @ found != wanted).any():
            raise Differs("a number depends on the size in a way that has no formula")
        return self._sum(found.tolist())

    def _sum(self, coefficients: Sequence[int]) -> Expression:
        """The polynomial, from the highest degree on, the terms that are added first."""
        pairs = [*zip(coefficients, self._monomials, strict=True)][::-1]
        terms = [(c, self._product(m)) for c, m in pairs if c]
        total: Expression | None = None
        for c, x in sorted(terms, key=lambda term: term[0] < 0):
            by = abs(c)
            part = x if by == 1 else by * x if isinstance(x, int) else Apply("int_mul", (by, x))
            if total is None:
                total = part if c > 0 else Apply("int_sub", (0, part))
            else:
                total = Apply("int_add" if c > 0 else "int_sub", (total, part))
        return 0 if total is None else total

    def _product(self, monomial: Sequence[int]) -> Expression:
        total: Expression = 1
        for k in monomial:
            size = Variable(self.names[k], "size")
            total = size if total == 1 else Apply("int_mul", (total, size))
        return total


def _parameters(units: Sequence[Unit], joiner: _Joiner) -> Iterator[Parameter]:
    """The parameters; each size comes behind the first that has it."""
    seen: set[str] = set()
    for several in zip(*(u.parameters for u in units), strict=True):
        made: Parameter = joiner.joined(several)
        every = [x.name for x in made.shape if isinstance(x, Variable) and x.name not in seen]
        own = [*dict.fromkeys(every)]
        seen.update(own)
        sizes = tuple([Variable(name, "size") for name in own])
        yield Parameter(made.name, made.of, made.type, made.shape, made.about, sizes)


def _output(several: Sequence[Output], joiner: _Joiner) -> Output:
    """Several outputs as one."""
    first = several[0]
    runs = joiner.joined([o.runs for o in several])
    size = joiner.joined([o.size for o in several])
    return Output(first.name, runs, size, first.says, first.is_number)
