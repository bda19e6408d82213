"""Steps on whole arrays: what machine code does to arrays in memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.llvm.emit.writer import SIZES, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.record import Record


class Node:
    """A contiguous array in memory.

    Fields:
        type: "float", "int" or "bool".
        at: LLVM's name of its address, "" if it has none yet.
        lasts: True if nothing overwrites it before its block ends.
        certain: True if the interpreter's array is contiguous, too; that of a broadcast number may
            not be.
        ordered: True if the interpreter's array has its elements in this order in memory, or all of
            them at one place.
    """

    __slots__ = ("at", "certain", "lasts", "ordered", "shape", "type")

    def __init__(self, type: str, shape: Sequence[int], at: str = "") -> None:
        self.type = type
        self.shape = tuple(shape)
        self.at = at
        self.lasts = True
        self.certain = self.ordered = True
        if 0 in self.shape:
            raise Untranslatable("an array of no elements")

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.count * SIZES[self.type]


class Part(Record):
    """Some elements of an array; offset and strides are in bytes."""

    __slots__ = ("node", "offset", "shape", "strides")
    node: Node
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def count(self) -> int:
        return math.prod(self.shape)


Operand: TypeAlias = Part | Number
"""An operand of a `Map`: a contiguous array, one element of an array, or a number."""


class Map(Record):
    """target = function(*operands), element by element. `function` is a NumPy function, "select" or
    "cast"; `types` are those of the operands, then the target's.
    """

    __slots__ = ("target", "function", "types", "operands")
    target: Node
    function: Any
    types: tuple[str, ...]
    operands: tuple[Operand, ...]


class Fold(Record):
    """target = operand reduced by a NumPy function over the dimensions `axes`, starting with a
    number, or with what is in the target.
    """

    __slots__ = ("target", "function", "operand", "axes", "first")
    target: Node
    function: Any
    operand: Part
    axes: tuple[int, ...]
    first: Number | None


class Scan(Record):
    """target = the running sums or products, by a NumPy function, of a contiguous array along a
    dimension.
    """

    __slots__ = ("target", "function", "operand", "axis")
    target: Node
    function: Any
    operand: Part
    axis: int


class Kernel(Record):
    """target = a function of each element of a contiguous array, by element-wise steps of its own
    from the array `source` to `result`.
    """

    __slots__ = ("target", "operand", "traced")
    target: Node
    operand: Part
    traced: Traced


class Traced(Record):
    """The steps of a `Kernel`, from the array `source` to the array `result`."""

    __slots__ = ("steps", "source", "result")
    steps: tuple[Map, ...]
    source: Node
    result: Node


class Product(Record):
    """target = a @ b, by NumPy's own loop; a vector has no first or no last size. Matrices may be
    stacked along dimensions in front.
    """

    __slots__ = ("target", "a", "b")
    target: Node
    a: Part
    b: Part


class Copy(Record):
    """Copy an array, a part of one, or a number to a part of `target`."""

    __slots__ = ("target", "to", "source")
    target: Node
    to: Part
    source: Operand


class Pick(Record):
    """target = source[at], at a place that is known only when the code runs."""

    __slots__ = ("target", "source", "at")
    target: Node
    source: Part
    at: Number


class Put(Record):
    """target[at] = source, at a place that is known only when the code runs."""

    __slots__ = ("target", "at", "source")
    target: Node
    at: Number
    source: Operand


class PickRows(Record):
    """target = source[at], at places that are known only when the code runs. The first dimension of
    `source` is picked from.
    """

    __slots__ = ("target", "source", "at")
    target: Node
    source: Part
    at: Part


class AddRows(Record):
    """target[at] += source, one place behind the other, at places that are known only when the code
    runs. `shape` is the one in which the target is seen.
    """

    __slots__ = ("target", "source", "at", "shape")
    target: Node
    source: Part
    at: Part
    shape: tuple[int, ...]


class PickAlong(Record):
    """target = the elements of a contiguous array at places in one dimension; see
    `np.take_along_axis`.
    """

    __slots__ = ("target", "source", "at", "axis")
    target: Node
    source: Part
    at: Part
    axis: int


class AddAlong(Record):
    """Add a contiguous array, element by element in order, to those elements of `target`."""

    __slots__ = ("target", "source", "at", "axis")
    target: Node
    source: Part
    at: Part
    axis: int


class Order(Record):
    """target = the places of the elements of a contiguous array in their order along a dimension:
    equal ones keep theirs, nan comes last.
    """

    __slots__ = ("target", "operand", "axis")
    target: Node
    operand: Part
    axis: int


class Locate(Record):
    """target = the first places of the extreme elements of a contiguous array along a dimension, by
    `np.argmax` or `np.argmin`.
    """

    __slots__ = ("target", "function", "operand", "axis")
    target: Node
    function: Any
    operand: Part
    axis: int


class Recur(Record):
    """target = s with s[0] = b[0] and s[i] = b[i] + a[i] s[i - 1] along the last dimension."""

    __slots__ = ("target", "a", "b")
    target: Node
    a: Part
    b: Part


class Call(Record):
    """target = the result of a function in Python, the callback with this number."""

    __slots__ = ("target", "number", "operands")
    target: Node
    number: int
    operands: tuple[Operand, ...]


AtPlaces: TypeAlias = PickRows | AddRows | PickAlong | AddAlong
"""The steps at several places, each of which may be out of range."""

Step: TypeAlias = (
    Map
    | Fold
    | Scan
    | Kernel
    | Product
    | Copy
    | Pick
    | Put
    | AtPlaces
    | Order
    | Locate
    | Recur
    | Call
)
