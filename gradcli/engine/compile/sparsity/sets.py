"""Sets of inputs: of a single number, and of each element of an array.

The inputs are counted from 0. An element of an array and an input in its set are one key, so that
a union of sets is one of sorted keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from gradcli.engine.values.data import Data, np

MOST = 1 << 25
"""How many inputs the elements of an array may have together; more take a gigabyte of memory."""


class TooMany(Exception):
    """The sets of an array have more than `MOST` inputs together."""


class Number:
    """A number that is not known, and the inputs that it depends on, one bit each."""

    __slots__ = ("bits",)

    def __init__(self, bits: int = 0) -> None:
        self.bits = bits

    def same(self, other: Any) -> bool:
        """True if this is the set of another value."""
        return type(other) is Number and other.bits == self.bits


class Array:
    """An array that is not known, and the inputs that each of its elements depends on.

    Args:
        size: The number of its elements.
        count: The number of inputs.
        parts: Sorted keys, `element * count + input`; their union is meant. A part is much larger
            than the next one, so that many unions with few elements take little time.
    """

    __slots__ = ("count", "parts", "size")

    def __init__(self, size: int, count: int, parts: tuple[Data, ...] = ()) -> None:
        self.size = size
        self.count = count
        self.parts = parts

    @property
    def keys(self) -> Data:
        """The keys of all parts."""
        if len(self.parts) > 1:
            self.parts = (_union(self.parts),)
        return self.parts[0] if self.parts else np.zeros(0, np.int64)

    def same(self, other: Any) -> bool:
        """True if these are the sets of another value."""
        return type(other) is Array and np.array_equal(self.keys, other.keys)

    def union(self, other: Array) -> Array:
        """The sets of both, element by element."""
        parts = [*self.parts]
        for part in other.parts:
            if not any(part is mine for mine in parts):
                _push(parts, part)
        return Array(self.size, self.count, tuple(parts))

    def into(self, groups: Data, size: int) -> Array:
        """The sets of groups: each element is in the group of its number, in none if that is -1."""
        found = []
        for part in self.parts:
            elements, inputs = np.divmod(part, self.count)
            at = groups[elements]
            left = at >= 0
            found.append(at[left] * self.count + inputs[left])
        return Array(size, self.count, (_union(found),) if found else ())

    def out_of(self, places: Data) -> Array:
        """The sets of the elements at some places, an empty one for the place -1.

        Raises:
            TooMany: If there are too many of them.
        """
        if len(places) == 1:  # as a loop over the elements takes them
            return Array(1, self.count, tuple(self._at(places.item())))
        keys = self.keys
        starts = np.searchsorted(keys, places * self.count)
        counts = np.searchsorted(keys, (places + 1) * self.count) - starts
        counts[places < 0] = 0
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        if total > MOST:
            raise TooMany
        picked = np.arange(total) + np.repeat(starts - ends + counts, counts)
        elements = np.repeat(np.arange(len(places)), counts)
        found = elements * self.count + keys[picked] % self.count
        return Array(len(places), self.count, (found,))

    def _at(self, place: int) -> Iterable[Data]:
        """The inputs of one element, part by part."""
        if place < 0:
            return
        for part in self.parts:
            start, stop = np.searchsorted(part, (place * self.count, (place + 1) * self.count))
            if start < stop:
                yield part[start:stop] - place * self.count

    @property
    def bits(self) -> int:
        """The inputs that any of the elements depends on, one bit each."""
        inputs = [part % self.count for part in self.parts]
        if sum(map(len, inputs)) <= _FEW:
            found = 0
            for part in inputs:
                for k in part.tolist():
                    found |= 1 << k
            return found
        there = np.zeros(self.count, np.uint8)
        for part in inputs:
            there[part] = 1
        return int.from_bytes(np.packbits(there, bitorder="little").tobytes(), "little")


Sets: TypeAlias = Number | Array

_FEW = 32


def inputs_of(bits: int, count: int) -> Data:
    """The inputs of a set of bits, in order."""
    few: list[int] = []
    left = bits
    while left and len(few) < _FEW:
        lowest = left & -left
        few.append(lowest.bit_length() - 1)
        left ^= lowest
    if not left:
        return np.array(few, np.int64)
    raw = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little"))


def as_array(found: Sets, count: int) -> Array:
    """Sets as those of an array; a number is its only element."""
    if isinstance(found, Array):
        return found
    return Array(1, count, (inputs_of(found.bits, count),) if found.bits else ())


def _push(parts: list[Data], part: Data) -> None:
    """Add a part behind larger ones; smaller ones become part of it."""
    while parts and len(parts[-1]) <= 2 * len(part):
        part = _union((parts.pop(), part))
    parts.append(part)


def _union(parts: Iterable[Data]) -> Data:
    """The union of some keys, sorted."""
    several = [*parts]
    if len(several) == 2 and np.array_equal(*several):  # most often, two uses of one value
        return several[0]
    keys = np.concatenate(several)
    keys.sort(kind="stable")  # merges sorted parts in one pass
    first = np.ones(len(keys), np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return keys[first]
