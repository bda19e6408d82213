"""Buffers for the arrays of a typed program: an array takes over the buffer of one that is no
longer read, so that a loop allocates nothing in each turn.

Source of the method: Poletto and Sarkar, Linear Scan Register Allocation, ACM TOPLAS 21 (1999).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from gradcli.engine.compile.contiguity import direct
from gradcli.engine.compile.typed import Block, Do, Program, Value, dtype_and_shape, is_array
from gradcli.engine.compile.walk import blocks, read
from gradcli.engine.values.data import np


class Scratch:
    """The shared memory of one program.

    Fields:
        places: the place of each value, by number.
        types: the type of each place.
    """

    def __init__(self, program: Program, dense: frozenset[int]) -> None:
        self.places: dict[int, int] = {}
        self.types: list[str] = []
        if dense:
            self._dense = dense
            self._reads = Counter(v.number for v in read(program.block))
            self._block(program.block)

    def _block(self, block: Block) -> None:
        last = self._last(block)
        free: dict[str, list[int]] = {}
        for k, i in enumerate(block.body):
            for inner in blocks(i):
                self._block(inner)
            if not isinstance(i, Do):
                continue
            for v in {v.number: v for v in _values(i)}.values():
                if last.get(v.number) == k and v.number in self.places:
                    free.setdefault(v.type, []).append(self.places[v.number])
            if i.target.number in last:
                self.places[i.target.number] = self._place(i.target.type, free)

    def _place(self, type_: str, free: Mapping[str, list[int]]) -> int:
        if free.get(type_):
            return free[type_].pop()
        self.types.append(type_)
        return len(self.types) - 1

    def _last(self, block: Block) -> dict[int, int]:
        """Return the last reads of values that only this block reads, and only by instructions that
        do not keep their memory: element-wise functions of NumPy, and ops that return a number.
        """
        made = {i.target.number for i in block.body if isinstance(i, Do) and self._is_plain(i)}
        reads: Counter[int] = Counter()
        last: dict[int, int] = {}
        for k, i in enumerate(block.body):
            if isinstance(i, Do) and (not is_array(i.target.type) or self._is_plain(i)):
                for v in _values(i):
                    reads[v.number] += 1
                    last[v.number] = k
        return {
            number: k
            for number, k in last.items()
            if number in made and reads[number] == self._reads[number]
        }

    def _is_plain(self, i: Do) -> bool:
        """True if an op is one call of NumPy that can write to given memory with the same
        layout.
        """
        in_order = all(v.number in self._dense for v in _values(i))
        is_call = is_array(i.target.type) and isinstance(direct(i, self._dense), np.ufunc)
        return is_call and (in_order or len(dtype_and_shape(i.target.type)[1]) == 1)


def _values(i: Do) -> Iterator[Value]:
    return (x for x in i.args if isinstance(x, Value) and is_array(x.type))
