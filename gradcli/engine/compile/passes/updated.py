"""Find the arrays of loops that a loop may change in their memory.

A loop of the typed program has a new array in each turn: with one item replaced, or, of cotangents,
with a number added to one item. Where nothing else reads the array as it was, its memory can be
changed instead, so that a turn costs the same for any length.

A sum with an array of zeros and one item makes other elements 0.0 that are -0.0, too. The first
sum has to go through all of them, and the first one to another item. Behind it none is -0.0, since
a sum is that only if both of its terms are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import prod

from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Program,
    Value,
    directions,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import blocks, operands_of, with_blocks
from gradcli.engine.ops.catalog import ops
from gradcli.record import Record

_LEAST = 65  # elements of an array: fewer are copied as fast


def items_read_first(program: Program) -> Program:
    """The program in which an item of an array is read before that item is replaced, where it is
    replaced first: the array as it was is then not read behind the change.
    """
    return Program(program.inputs, _items_first(program.block), program.texts)


def _items_first(block: Block) -> Block:
    made: list[Instruction] = []
    replaced: dict[tuple[int, int, bool], int] = {}  # the place of the change, by array and item
    for i in block.body:
        if isinstance(i, (If, Loop)):
            made.append(with_blocks(i, _items_first))
            continue
        if isinstance(i, Do) and i.op in (ops.row.name, ops.with_row.name):
            array, at = i.args[0], i.args[-1]
            assert isinstance(array, Value)
            is_value = isinstance(at, Value)
            key = array.number, at.number if isinstance(at, Value) else int(at or 0), is_value
            if i.op == ops.with_row.name:
                replaced.setdefault(key, len(made))
            elif key in replaced:
                place = replaced.pop(key)
                made.insert(place, i)
                replaced = {x: k + (k >= place) for x, k in replaced.items()}
                continue
        made.append(i)
    return Block(tuple(made), block.results)


class Change(Record):
    """array[at] = value, or array[at] += value. `sparse` makes the array that is added, which
    nothing else reads. `root` is the param of the outermost loop that changes this memory.
    """

    __slots__ = ("array", "value", "at", "sparse", "root")
    array: Value
    value: Operand
    at: Operand
    sparse: Do | None
    root: int


class Updated:
    """What loops change in memory.

    Args:
        program: A typed program.

    Fields:
        changes: the changes, by the number of the array with the change.
        params: the numbers of the params of loops whose memory is changed.
        handed: those of them that begin in memory that an outer loop changes.
        aside: the numbers of the arrays that are added.
    """

    def __init__(self, program: Program) -> None:
        self.changes: dict[int, Change] = {}
        self.params: set[int] = set()
        self.handed: set[int] = set()
        self.aside: set[int] = set()
        self._block(program.block)

    def _block(self, block: Block) -> None:
        for i in block.body:
            if isinstance(i, Loop):
                self._loop(i)
            for inner in blocks(i):
                self._block(inner)

    def _loop(self, i: Loop) -> None:
        for k, param in enumerate(i.params):
            if param.number in self.params or not _is_long(param.type):
                continue
            found = _Found(param.number)
            if found.follows(i.body, param, k + 1) and found.changes:
                self.changes |= found.changes
                self.params |= {param.number, *found.handed}
                self.handed |= found.handed
                sparse = [change.sparse for change in found.changes.values()]
                self.aside.update(do.target.number for do in sparse if do is not None)


class _Found:
    """Follows an array through a turn of a loop.

    Args:
        root: The number of the param that the array is in the loop.

    Fields:
        changes, handed: as of `Updated`.
    """

    def __init__(self, root: int) -> None:
        self.changes: dict[int, Change] = {}
        self.handed: set[int] = set()
        self._root = root

    def follows(self, block: Block, array: Value, place: int) -> bool:
        """True if the result of a block at a place is an array that it is given, changed in memory,
        and nothing reads it as it was before a change.
        """
        before: set[int] = set()
        sparse: dict[int, Do] = {}
        uses = _reads(block)
        for i in block.body:
            if isinstance(i, Do) and i.op == ops.unrow.name and uses[i.target.number] == 1:
                sparse[i.target.number] = i
            read = {*_reads_of(i)}
            if read & before:
                return False
            if array.number in read:
                changed = self._through(i, array, sparse)
                if changed is None:
                    return False
                if changed != array:
                    before.add(array.number)
                    array = changed
        left = Counter(x.number for x in block.results if isinstance(x, Value))
        return block.results[place] == array and left[array.number] == 1 and not before & {*left}

    def _through(self, i: Instruction, array: Value, sparse: dict[int, Do]) -> Value | None:
        """The array behind an instruction that reads it; None if it may be read as it was."""
        match i:
            case Do():
                return self._changed(i, array, sparse)
            case If():
                places = [k for k, t in enumerate(i.targets) if t.type == array.type]
                for k in places:
                    if array.number in _numbers(side.results[k] for side in (i.then, i.orelse)):
                        return self._in_both(i, array, k)
                for k in places:
                    if self._in_both(i, array, k):
                        return i.targets[k]
            case Loop():
                places = [k for k, x in enumerate(i.initial) if x == array]
                if len(places) == 1 and not _reads(i.body)[array.number]:
                    (k,) = places
                    if self.follows(i.body, i.params[k], k + 1):
                        self.handed.add(i.params[k].number)
                        return i.targets[k]
                    return None
        only_items = all(self._only_items(inner, array) for inner in blocks(i))
        return array if blocks(i) and only_items and array not in operands_of(i) else None

    def _in_both(self, i: If, array: Value, k: int) -> Value | None:
        sides = (i.then, i.orelse)
        return i.targets[k] if all(self.follows(side, array, k) for side in sides) else None

    def _changed(self, i: Do, array: Value, sparse: dict[int, Do]) -> Value | None:
        first, *others = i.args
        if i.op == ops.row.name and array not in others:
            return array
        if i.op == ops.with_row.name and array not in others:
            value, at = others
            assert value is not None
            assert at is not None
            if not _is_item(value, array):
                return None
            self.changes[i.target.number] = Change(array, value, at, None, self._root)
            return i.target
        if i.op != ops.add.name or any(x != 1 for _, x in i.params) or i.target.type != array.type:
            return None
        if dtype_and_shape(array.type)[0] != "float64":
            return None
        other = others[0] if first == array else first
        if not isinstance(other, Value) or other.type != array.type or other.number not in sparse:
            return None
        made = sparse[other.number]
        value, at = made.args
        assert value is not None
        assert at is not None
        if array in made.args or not _is_item(value, array):
            return None
        self.changes[i.target.number] = Change(array, value, at, made, self._root)
        return i.target

    def _only_items(self, block: Block, array: Value) -> bool:
        """True if a block reads nothing but items of an array."""
        if array in block.results:
            return False
        for i in block.body:
            if isinstance(i, Do):
                if array in i.args and (i.op != ops.row.name or array in i.args[1:]):
                    return False
            elif array in operands_of(i):
                return False
            if not all(self._only_items(inner, array) for inner in blocks(i)):
                return False
        return True


def _is_long(type: str) -> bool:
    """True for a type of arrays with many elements along one direction."""
    return is_array(type) and not directions(type) and prod(dtype_and_shape(type)[1]) >= _LEAST


def _is_item(x: Operand, array: Value) -> bool:
    """True for a number or array of the type of an item of an array, and its shape or none."""
    dtype, shape = dtype_and_shape(array.type)
    kind, of = dtype_and_shape(type_of(x))
    return kind == dtype and of in ((), shape[1:])


def _numbers(several: Iterable[Operand | None]) -> set[int]:
    return {x.number for x in several if isinstance(x, Value)}


def _reads_of(i: Instruction) -> Iterable[int]:
    """The numbers of the values that an instruction and its blocks read."""
    yield from _numbers(operands_of(i))
    for block in blocks(i):
        yield from _reads(block)


def _reads(block: Block) -> Counter[int]:
    """How often a block and its blocks read values, by number."""
    found: Counter[int] = Counter()

    def note(several: Sequence[Operand | None]) -> None:
        found.update(x.number for x in several if isinstance(x, Value))

    for i in block.body:
        note([*operands_of(i)])
        for inner in blocks(i):
            found.update(_reads(inner))
    note(block.results)
    return found
