"""Fuses steps on arrays, orders them, and gives their results memory.

Element-wise steps on arrays of one size are fused where dependences allow it. Memory of an array
that is no longer read goes to a free list, as in `scratch.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    AddRows,
    Call,
    Copy,
    Fold,
    Kernel,
    Locate,
    Map,
    Node,
    Order,
    Part,
    Pick,
    PickAlong,
    PickRows,
    Product,
    Put,
    Recur,
    Scan,
    Step,
)

_MOST = 40  # steps in a fused unit

_LINE = 64  # bytes: alignment of arrays


class Unit:
    """Fused element-wise steps on arrays of one size, or a single other step."""

    __slots__ = ("count", "steps")

    def __init__(self, step: Step) -> None:
        self.steps = [step]
        self.count = step.target.count if isinstance(step, Map) else -1

    def reads(self) -> Iterator[Node]:
        """The arrays that the steps read and other units make."""
        made = {id(s.target) for s in self.steps}
        for s in self.steps:
            yield from (x.node for x in parts(s) if id(x.node) not in made)

    def made(self) -> list[Node]:
        return list({id(s.target): s.target for s in self.steps}.values())


def parts(step: Step) -> Iterator[Part]:
    """The arrays that a step reads."""
    match step:
        case Map() | Call():
            found: Sequence[object] = step.operands
        case Fold() | Scan() | Kernel() | Order() | Locate():
            found = (step.operand,)
        case Product() | Recur():
            found = (step.a, step.b)
        case Copy() | Pick() | Put():
            found = (step.source,)
        case PickRows() | AddRows() | PickAlong() | AddAlong():
            found = (step.source, step.at)
    yield from (x for x in found if isinstance(x, Part))


def units(steps: Sequence[Step]) -> list[Unit]:
    """The steps fused into units, in an order in which they can be done."""
    found: list[Unit] = []
    place: dict[int, int] = {}
    for step in steps:
        at = _joined(step, found, place) if isinstance(step, Map) else None
        if at is None:
            at = len(found)
            found.append(Unit(step))
        else:
            found[at].steps.append(step)
        place[id(step.target)] = at
    return found


def _joined(step: Map, found: Sequence[Unit], place: dict[int, int]) -> int | None:
    """The number of the first unit that a step can be fused with, or None."""
    count, first = step.target.count, 0
    for x in parts(step):
        k = place.get(id(x.node), -1)
        is_whole = bool(x.shape) or count == 1
        together = is_whole and k >= 0 and found[k].count == count == x.node.count
        first = max(first, k if together else k + 1)
    for k in range(first, len(found)):
        if found[k].count == count and len(found[k].steps) < _MOST:
            return k
    return None


class Memory:
    """Offsets of arrays in the memory of one call.

    Fields:
        size: in bytes.
    """

    def __init__(self) -> None:
        self.size = 0
        self._free: dict[int, list[int]] = {}

    def lasting(self, bytes_: int) -> int:
        """The offset of memory that is never reused."""
        at, self.size = self.size, self.size + _rounded(bytes_)
        return at

    def passing(self, found: Sequence[Unit], placed: Collection[int]) -> dict[int, int]:
        """Offsets, by identity, of arrays made by one unit and read by others, not later. Their
        memory is reused after the last read. Arrays in `placed` have memory already.
        """
        last: dict[int, int] = {}
        for k, unit in enumerate(found):
            last.update((id(x), k) for x in unit.reads())
        places: dict[int, int] = {}
        sizes: dict[int, int] = {}
        for k, unit in enumerate(found):
            for node in unit.made():
                at = last.get(id(node), -1)
                is_new = id(node) not in placed and id(node) not in places
                if is_new and (at > k or unit.count < 0):
                    sizes[id(node)] = size = _rounded(node.bytes)
                    free = self._free.setdefault(size, [])
                    places[id(node)] = free.pop() if free else self.lasting(size)
            for key, place in places.items():
                if max(last.get(key, -1), 0) == k and key in sizes:
                    self._free[sizes.pop(key)].append(place)
        for key, size in sizes.items():
            self._free[size].append(places[key])
        return places


def _rounded(bytes_: int) -> int:
    return -(-bytes_ // _LINE) * _LINE
