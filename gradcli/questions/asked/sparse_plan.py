"""The products that show all entries of a sparse matrix of derivatives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from gradcli.engine.compile.sparsity.coloring import colored
from gradcli.engine.values.data import Data, np
from gradcli.record import Record
from gradcli.results import Coo

Shape = tuple[int, ...]


class Pattern(Record):
    """The entries of a matrix of derivatives that may differ from zero, row by row.

    Fields:
        names: the names that it is differentiated by; their elements are its columns.
        shapes: their shapes.
        out: the shape of the result, whose elements are its rows; None for second derivatives,
            whose rows are as its columns.
        rows: the row of each entry.
        columns: the column of each.
        dense: what has no pattern, so that all elements there count as dependent on each other.
    """

    __slots__ = ("names", "shapes", "out", "rows", "columns", "dense")
    names: Sequence[str]
    shapes: Sequence[Shape]
    out: Shape | None
    rows: Data
    columns: Data
    dense: Sequence[str]

    @property
    def sizes(self) -> list[int]:
        """The number of elements of each name."""
        return [*map(math.prod, self.shapes)]

    def parts(self) -> Iterator[tuple[str, int, int]]:
        """Each name with its first column and the one behind its last."""
        ends = [*accumulate(self.sizes, initial=0)]
        return zip(self.names, ends[:-1], ends[1:], strict=True)


class Group(Record):
    """Directions of products, so colored that no two of one color meet in one entry.

    Fields:
        colors: the color of each direction, -1 for one without entries.
        ends: how many entries the products of the first colors show, for 0, 1, 2, ... of them.
        entries: the entries that the products show, color by color.
        of: the direction of each of these.
        at: its place in the product.
    """

    __slots__ = ("colors", "ends", "entries", "of", "at")
    colors: Data
    ends: Data
    entries: Data
    of: Data
    at: Data

    @property
    def count(self) -> int:
        """The number of colors."""
        return len(self.ends) - 1

    def seeds(self, start: int, stop: int) -> Data:
        """The sums of the directions of some colors, a row each."""
        return (self.colors == np.arange(start, stop)[:, None]).astype(np.float64)

    def alone(self, colors: Data) -> Group:
        """The directions of some colors, each in a color of its own."""
        own = np.flatnonzero(np.isin(self.colors, colors))
        numbers = np.full(len(self.colors), -1)
        numbers[own] = np.arange(len(own))
        kept = numbers[self.of] >= 0
        return _group(numbers, len(own), self.entries[kept], self.of[kept], self.at[kept])

    def put(self, products: Data, start: int, values: Data) -> None:
        """Take the entries of some colors from their products, a row each."""
        shown = slice(self.ends[start], self.ends[start + len(products)])
        rows = self.colors[self.of[shown]] - start
        values[self.entries[shown]] = products[rows, self.at[shown]]


def _group(colors: Data, count: int, entries: Data, of: Data, at: Data) -> Group:
    """Directions with the entries that their products show, in any order."""
    own = colors[of]
    order = np.argsort(own, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=count))])
    return Group(colors, ends, entries[order], of[order], at[order])


class Plan(Record):
    """The products of a sparse matrix of derivatives.

    Fields:
        pattern: where it has entries.
        mode: "forward" if the directions are columns, "reverse" if they are rows.
        groups: the directions; of second derivatives the rows of each name.
    """

    __slots__ = ("pattern", "mode", "groups")
    pattern: Pattern
    mode: str
    groups: Sequence[Group]

    @property
    def key(self) -> tuple[str, bool]:
        """What code for the products depends on."""
        return self.mode, self.pattern.out is None

    @property
    def told(self) -> dict[str, Any]:
        """The fields of a result that tell how it was found."""
        dense = tuple(self.pattern.dense)
        return {"mode": self.mode, "products": self.products, "dense": dense}

    @property
    def products(self) -> int:
        """The number of products."""
        return sum(group.count for group in self.groups)

    def coo(self, values: Data) -> dict[str, Any]:
        """The entries by name, of second derivatives by two names."""
        pattern = self.pattern
        if pattern.out is not None:
            return _by_column(pattern, values, np.ones(len(values), np.bool_), 0, pattern.out)
        found = {}
        for (name, start, stop), shape in zip(pattern.parts(), pattern.shapes, strict=True):
            own = (pattern.rows >= start) & (pattern.rows < stop)
            found[name] = _by_column(pattern, values, own, start, shape)
        return found


def _by_column(pattern: Pattern, values: Data, own: Data, first: int, out: Shape) -> dict[str, Coo]:
    """Some of the entries by the name of their column; rows are counted from `first`."""
    found = {}
    for (name, start, stop), shape in zip(pattern.parts(), pattern.shapes, strict=True):
        there = own & (pattern.columns >= start) & (pattern.columns < stop)
        row, column = pattern.rows[there] - first, pattern.columns[there] - start
        found[name] = Coo((math.prod(out), math.prod(shape)), row, column, values[there])
    return found


class Asked(Record):
    """What is asked of a sparse matrix: its plan, or None and the reason why it has none."""

    __slots__ = ("plan", "reason")
    plan: Plan | None
    reason: str

    @property
    def key(self) -> Any:
        """What code for the answer depends on."""
        return None if self.plan is None else self.plan.key


def jacobian_plan(pattern: Pattern, mode: str) -> Plan:
    """The products of a Jacobian by rows or by columns, for the mode "auto" those that are fewer.
    As many are taken in the mode in which the dense matrix is found.
    """
    assert pattern.out is not None, "second derivatives"
    height, width = math.prod(pattern.out), sum(pattern.sizes)
    every = np.arange(len(pattern.rows))
    by_column, by_row = (
        (pattern.columns, pattern.rows, width),
        (pattern.rows, pattern.columns, height),
    )
    made = {}
    for name, (of, at, count) in (("forward", by_column), ("reverse", by_row)):
        if mode in ("auto", name):
            made[name] = _group(*colored(at, of, count), every, of, at)
    first = "forward" if width <= height else "reverse"
    best = min(made, key=lambda name: (made[name].count, name != first))
    return Plan(pattern, best, [made[best]])


def hessian_plan(pattern: Pattern) -> Plan:
    """The products of second derivatives, by rows: those of each name by themselves."""
    groups = []
    for _, start, stop in pattern.parts():
        entries = np.flatnonzero((pattern.rows >= start) & (pattern.rows < stop))
        of, at = pattern.rows[entries] - start, pattern.columns[entries]
        groups.append(_group(*colored(at, of, stop - start), entries, of, at))
    return Plan(pattern, "reverse", groups)
