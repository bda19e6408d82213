"""The shapes that inputs are declared with, and the sizes that values bring."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from gradcli.engine.run.execution.inputs import misfit
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, listed
from gradcli.ir.program import Build, Const, Input, Instruction, Operand, Slot

Shape: TypeAlias = tuple[int, ...]
Declared: TypeAlias = tuple[int | str, ...]
"""A declared shape: sizes, and names of sizes that a value brings."""


class Shapes:
    """The shapes of a program's inputs, by name: sizes, and names of sizes that values bring."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = inputs
        self.declared = {i.name: declared(i) for i in inputs}

    def ndim(self, name: str) -> int:
        """The number of dimensions of an input."""
        return len(self.declared.get(name, ()))

    def are_sure(self, names: Collection[str]) -> bool:
        """True if the data that a program needs can have no other dimensions than are known."""
        needed = [i for i in self._inputs if i.name in names]
        return all(i.type is not None or i.default is not None for i in needed)

    def ints(self, data: Mapping[str, Any]) -> dict[str, int]:
        """The values that data have for inputs which are single ints."""
        return {
            i.name: int(data[i.name])
            for i in self._inputs
            if i.name in data
            and _is_int(i)
            and np.ndim(data[i.name]) == 0
            and data[i.name] % 1 == 0
        }

    def with_data(self, data: Mapping[str, Shape]) -> dict[str, Declared]:
        """The declared shapes, with the sizes that data of these shapes and defaults bring.

        Raises:
            InputError: If a value has not the declared shape; the message names its input.
        """
        bound: dict[str, tuple[int, str]] = {}
        for i in self._inputs:
            if i.name in data and i.type is not None and i.type[1] is not None:
                wrong = misfit(i.name, data[i.name], i.type[1], bound)
                if wrong is not None:
                    raise InputError(Diagnostic("shape-mismatch", wrong))
        for i in self._inputs:
            if i.name not in data:
                for size, own in zip(self.declared[i.name], built(i.default, i.body), strict=False):
                    if isinstance(size, str):
                        bound.setdefault(size, (own, i.name))
        return {
            name: data[name] if name in data else tuple([_size(x, bound) for x in shape])
            for name, shape in self.declared.items()
        }


def of_point(shapes: Mapping[str, Declared], got: Sequence[int]) -> dict[str, Shape]:
    """The shapes of the tensors that a point is made of, whose numbers lie along the last axis of
    the shape that it has got. One unknown size is found from that.

    Raises:
        InputError: If they cannot have so many numbers, or more sizes are not known.
    """
    unknown = {size for shape in shapes.values() for size in shape if isinstance(size, str)}
    if len(unknown) > 1:
        message = f"the sizes {listed(sorted(unknown))} are not known"
        help = "bind data that have them, `f.bind(name=values)`"
        raise InputError(Diagnostic("shape-mismatch", message, help=help))
    width = got[-1]
    most = width if unknown else 0
    for count in range(most + 1):
        found = {
            name: tuple([count if isinstance(size, str) else size for size in shape])
            for name, shape in shapes.items()
        }
        if sum(map(prod, found.values())) == width:
            return found
    raise InputError(Diagnostic("shape-mismatch", wanted(shapes, got)))


def wanted(shapes: Mapping[str, Declared], got: Sequence[int]) -> str:
    """What is said of a point of another shape."""
    is_known = all(isinstance(size, int) for shape in shapes.values() for size in shape)
    numbers = sum(prod(map(int, shape)) for shape in shapes.values()) if is_known else "some"
    return f"there are {numbers} numbers to differentiate by, got shape {[*got]}"


def split(points: Data, names: Sequence[str], shapes: Mapping[str, Shape]) -> dict[str, Data]:
    """The values of the names that points are made of."""
    ends = np.cumsum([prod(shapes[name]) for name in names])
    several = np.split(points, ends[:-1], -1)
    return {
        name: part.reshape((*points.shape[:-1], *shapes[name]))
        for name, part in zip(names, several, strict=True)
    }


def _is_int(i: Input) -> bool:
    """True if an input is a single int, by its type or else by its default."""
    if i.type is not None:
        return i.type == ("int", None)
    return isinstance(i.default, Const) and type(i.default.value) is int


def _size(size: int | str, bound: Mapping[str, tuple[int, str]]) -> int | str:
    return bound[size][0] if isinstance(size, str) and size in bound else size


def declared(i: Input) -> Declared:
    """The declared shape of an input; that of its default if that is a list which is written out;
    one without either is a number.
    """
    sizes = None if i.type is None else i.type[1]
    if sizes is None:
        return built(i.default, i.body) if i.type is None else ()
    if Ellipsis in sizes:
        return built(i.default, i.body)
    return tuple([size if isinstance(size, int) else str(size) for size in sizes])


def built(x: Operand | None, body: Sequence[Instruction]) -> Shape:
    """The shape of a list that is written out; of anything else none."""
    for place in reversed(range(len(body))):  # a slot is used again: the last counts
        made = body[place]
        if isinstance(x, Slot) and getattr(made, "target", None) == x.index:
            if not isinstance(made, Build) or made.kind != "list":
                return ()
            first = made.items[0] if made.items else None
            return len(made.items), *built(first, body[:place])
    return ()
