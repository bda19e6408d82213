"""Write elements of arrays, and loops over them: the base of what writes steps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from gradcli.engine.compile.export.names import Names
from gradcli.engine.compile.export.ranges import Ranges
from gradcli.engine.compile.export.written import (
    Apply,
    Count,
    Expression,
    Item,
    Let,
    Room,
    Statement,
    Store,
    Table,
    Total,
    Variable,
    every,
    is_atom,
)
from gradcli.engine.compile.llvm.arrays.nests import merged
from gradcli.engine.compile.llvm.arrays.steps import Node, Part
from gradcli.engine.compile.llvm.emit.writer import SIZES, Number
from gradcli.engine.compile.typed import NotCompilable

Write: TypeAlias = "Callable[[list[Statement]], None]"
Inner: TypeAlias = "Callable[[Write], list[Statement]]"


class Numbered(Number):
    """A number whose expression is known."""

    __slots__ = ("value",)

    def __init__(self, value: Expression, type: str) -> None:
        super().__init__("%", type)
        self.value = value


class Elements:
    """Writes elements of arrays.

    Args:
        names: Gives each variable a name of its own.
        stored: Declares an array, and gives it its name.
        wishes: The names that the program has for arrays.
        ranges: The ranges of ints.

    Fields:
        known: the arrays whose elements are known.
        tables: the declarations of those that are read.
        single: the numbers of arrays of one element.
        once: those of them that are read once, in the same block.
        given: the names of the arrays that are the function's parameters.
    """

    def __init__(
        self,
        names: Names,
        stored: Callable[[Node], Room],
        wishes: Mapping[Node, str],
        ranges: Ranges,
    ) -> None:
        self._ranges = ranges
        self.known: dict[Node, Any] = {}
        self.tables: list[Table] = []
        self.single: dict[Node, Expression] = {}
        self.once: set[Node] = set()
        self.given: set[str] = set()
        self.names, self._declared, self._wishes = names, stored, wishes
        self._indices: list[Variable] = []

    def index(self, depth: int) -> Variable:
        """The variable that counts in a loop inside `depth` others."""
        while len(self._indices) <= depth:
            name = self.names("ijklmnop"[len(self._indices)])
            self._indices.append(Variable(name, "int"))
        return self._indices[depth]

    def item(self, x: Part, at: Expression) -> Expression:
        """The element of an array at a place."""
        node = x.node
        if node in self.single:
            return self.single[node]
        self._table(node)
        assert node.at, "an array that is read has been made"
        return Item(node.at, at, node.type)

    def _table(self, node: Node) -> None:
        """Declare an array that is known, unless it is there."""
        if not node.at and node in self.known:
            wish = self._wishes.get(node)
            node.at = self.names.numbered("float") if wish is None else self.names(wish)
            values = tuple(self.known[node].ravel().tolist())
            self.tables.append(Table(node.at, node.type, values))

    def room(self, made: list[Statement], node: Node) -> None:
        """Declare an array, unless it is there. An array of one number is filled with it."""
        self._table(node)
        if node in self.single:
            x = self.single.pop(node)
            made.append(self._declared(node))
            made.append(Store(node.at, 0, x))
        elif not node.at:
            made.append(self._declared(node))

    def variable(
        self, made: list[Statement], x: Expression, type: str, of: Node | None = None
    ) -> Expression:
        """A variable for a number, named like an array if that has a name."""
        if is_atom(x):
            return x
        variable = self.new(type, of)
        made.append(Let(variable, x, True))
        return variable

    def can_wait(self, node: Node, x: Expression) -> bool:
        """True if the number of an array may be computed where it is read: nothing changes before
        what it is computed of.
        """
        tables = {table.array for table in self.tables}
        read = [part for part in every(x) if isinstance(part, (Item, Total))]
        return node in self.once and all(r.array in self.given | tables for r in read)

    def new(self, type: str, of: Node | None = None) -> Variable:
        """A new variable, named like an array if that has a name."""
        wish = None if of is None or of.at else self._wishes.get(of)
        name = self.names.numbered(type) if wish is None else self.names(wish)
        return Variable(name, type)

    def nest(
        self,
        sizes: Sequence[int],
        inner: Inner,
        each: Callable[[list[Statement], Sequence[Variable]], None],
        at: Sequence[Variable] = (),
    ) -> list[Statement]:
        """Loops over dimensions, the first outermost."""
        if not sizes:
            return inner(lambda made: each(made, at))
        i = self.index(len(at))
        return [Count(i, 0, sizes[0], 1, tuple(self.nest(sizes[1:], inner, each, (*at, i))))]

    def at(self, x: Part, at: Sequence[Variable], strides: Sequence[int]) -> Expression:
        """The element of a part for the variables of loops."""
        return self.item(x, spot(x, at, strides))

    def array(self, x: Part) -> str:
        """The name of an array."""
        if x.node in self.single:
            raise NotCompilable("a sum of one number")
        found = self.item(x, 0)
        assert isinstance(found, Item)
        return found.array


def number(x: Number) -> Expression:
    """The expression of a number of a step."""
    if isinstance(x, Numbered):
        return x.value
    if x.type == "bool":
        return x.text == "true"
    if x.type == "int":
        return int(x.text)
    (found,) = struct.unpack(">d", bytes.fromhex(x.text.removeprefix("0x")))
    return float(found)


def merged_loops(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides of loops over dimensions; neighbours are merged where that is possible."""
    sizes, found = merged(shape, strides)
    return ([], [[] for _ in found]) if sizes == [1] else (sizes, found)


def start_of(x: Part) -> int:
    """The place of the first element of a part in its array."""
    return x.offset // SIZES[x.node.type]


def spot(
    x: Part, at: Sequence[Variable], strides: Sequence[int], type: str | None = None
) -> Expression:
    """The place of an element in an array for the variables of loops; strides are in bytes."""
    word = SIZES[type or x.node.type]
    terms = [(v, s // word) for v, s in zip(at, strides, strict=False)]
    return place_of(start_of(x), terms)


def place_of(start: int, terms: Sequence[tuple[Expression, int]]) -> Expression:
    """A sum of products with constants."""
    found: Expression | None = None
    for x, by in terms:
        if type(x) is int:
            start += x * by
        elif by:
            term = x if by == 1 else Apply("int_mul", (x, by))
            found = term if found is None else Apply("int_add", (found, term))
    if found is None:
        return start
    if start:
        return Apply("int_add", (found, start))
    return found


def whole_of(node: Node) -> Part:
    """A whole array, row by row."""
    strides = [SIZES[node.type] * prod(node.shape[k + 1 :]) for k in range(len(node.shape))]
    return Part(node, 0, node.shape, tuple(strides))
