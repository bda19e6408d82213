"""Matrices of derivatives of programs with arrays: all of their directions go in one pass, as the
interpreter takes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any, TypeAlias

from gradcli.engine.autodiff.linearize import ELEMENTS
from gradcli.engine.compile.typed import NotCompilable, Program, dtype_and_shape
from gradcli.engine.compile.walk import values
from gradcli.engine.values.data import np

Shape: TypeAlias = tuple[int, ...]


def count_of(shapes: Sequence[Shape]) -> int:
    """The number of elements of values with these shapes."""
    return sum(map(prod, shapes))


def hold_together(program: Program, count: int) -> None:
    """Refuse `count` directions that are too large for one pass through a program."""
    if not count:
        raise NotCompilable("the result has no elements")
    largest = max((prod(dtype_and_shape(v.type)[1]) for v in values(program)), default=1)
    if count * max(largest, 1) > ELEMENTS:
        raise NotCompilable(f"{count} directions do not go together, so many elements they have")


def units(shapes: Sequence[Shape]) -> list[Any]:
    """The unit vectors of the space of values of these shapes: the part of each value in all of
    them, one behind the other; of a single one without that axis.
    """
    count = count_of(shapes)
    if count == 1:
        return [np.ones(shape) if shape else 1.0 for shape in shapes]
    parts = np.split(np.eye(count), [*accumulate(map(prod, shapes))][:-1], axis=1)
    pairs = zip(parts, shapes, strict=True)
    return [np.ascontiguousarray(part).reshape((count, *shape)) for part, shape in pairs]


def by_rows(found: Any, out: Shape, shape: Shape) -> Any:
    """The derivatives of a value by another, found for each element of the first."""
    return settled(np.reshape(found, (*out, *shape)))


def by_columns(found: Any, out: Shape, shapes: Sequence[Shape]) -> list[Any]:
    """The derivatives of a value by others, found for each element of these."""
    count = count_of(shapes)
    whole = np.reshape(found, (count, *out))
    parts = np.split(whole, [*accumulate(map(prod, shapes))][:-1])
    return [
        settled(np.moveaxis(part, 0, -1).reshape((*out, *shape)))
        for part, shape in zip(parts, shapes, strict=True)
    ]


def settled(x: Any) -> Any:
    """An array; one without dimensions as a number."""
    return x if x.ndim else x.item()
