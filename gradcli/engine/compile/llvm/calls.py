"""Many calls of machine code in which few inputs change: all else is packed once.

A call takes a room, writes the numbers that change into it, runs the code and gives the room back.
A room has the memory of one call: inputs, results, the words shared with Python, and the stacks,
which it keeps. So threads may call at once, and none waits for another.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.run import Run, Words
from gradcli.engine.compile.typed import Places, dtype_and_shape, is_array
from gradcli.engine.values.data import Data, np

if TYPE_CHECKING:
    from typing import Protocol

    class Code(Protocol):
        """What is asked of machine code; see `code.Code`."""

        given: Words
        gives: Words
        short: int

        @property
        def machine(self) -> Any: ...
        @property
        def is_long(self) -> bool: ...
        @property
        def raised(self) -> Mapping[int, BaseException]: ...
        def run(self) -> Run: ...
        def check(self, run: Run) -> None: ...
        def with_addresses(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], list[Data]]: ...


_WORD = 8
_TURNS = state.TURNS


class Layout:
    """Words of inputs or results with the elements of some arrays behind, all in one array.

    Args:
        words: The layout of the words.
        own: The arrays whose elements are in it; words hold their addresses.
    """

    def __init__(self, words: Words, own: Sequence[int]) -> None:
        self._words = words
        self._size = len(words.types)
        self._starts: dict[int, int] = {}
        for k in own:
            self._starts[k] = self._size
            self._size += math.prod(dtype_and_shape(words.types[k])[1])

    def index(self, places: Places) -> Any:
        """The index of some elements: a slice where they follow each other."""
        found = [self._starts.get(k, k) + element for k, element in places]
        if found and all(b == a + 1 for a, b in pairwise(found)):
            return slice(found[0], found[-1] + 1)
        return np.array(found, np.intp)

    def made(self, values: Sequence[Any] | None = None) -> Data:
        """New memory with these words, or zeros; the addresses of its own arrays replace theirs."""
        room = np.zeros(self._size)
        words = [0] * len(self._words.types) if values is None else [*values]
        for k, start in self._starts.items():
            words[k] = address(room) + _WORD * start
        packed = self._words.packed(words)
        room[: len(words)] = np.frombuffer(packed, np.float64, len(words))
        return room


class Calls:
    """Machine code as a function of some of its inputs.

    Args:
        code: The machine code.
        inputs: The values of all inputs.
        point: The elements of inputs that a call gives, all of floats.
        chosen: The elements of results that it gets, all of floats.
    """

    def __init__(self, code: Code, inputs: Sequence[Any], point: Places, chosen: Places) -> None:
        self._code = code
        self._call, self._short, self._raised = code.machine.call, code.short, code.raised
        words, self._kept = code.with_addresses(inputs)
        given = Layout(code.given, arrays_of(code.given, point))
        gives = Layout(code.gives, [k for k, t in enumerate(code.gives.types) if is_array(t)])
        self._inputs, self._results = partial(given.made, words), gives.made
        self._into, self._from = given.index(point), gives.index(chosen)
        self._is_slice = isinstance(self._from, slice)
        self._rooms: list[_Room] = []
        is_dense = isinstance(self._into, slice)  # to pack writes zeros in between
        self._packed = _floats(self._into) if is_dense else None
        self._unpacked = _floats(self._from)

    def __call__(self, x: Data) -> Data | None:
        """The chosen results for a point, an array of floats; None if the code bails out or takes
        so long that it needs a thread.
        """
        try:
            room = self._rooms.pop()
        except IndexError:
            if self._code.is_long:
                return None
            room = self._new()
        room.inputs[self._into] = x
        room.words[_TURNS] = self._short
        if self._call(room.inputs_at, room.results_at, room.words_at) or self._raised:
            self._leave(room)
            return None
        found = room.results[self._from]
        if self._is_slice:
            found = found.copy()
        self._rooms.append(room)
        return found

    def listed(self, numbers: Sequence[float]) -> Sequence[float] | None:
        """The chosen results for the numbers of a point; None as of a call. No array is made if
        the numbers are in the order of memory: for few of them that takes most of the time.
        """
        if self._packed is None or self._unpacked is None:
            made = self(np.array(numbers, np.float64))
            return None if made is None else made.tolist()
        try:  # as in `__call__`: a method for these lines would cost a tenth of the call
            room = self._rooms.pop()
        except IndexError:
            if self._code.is_long:
                return None
            room = self._new()
        layout, start = self._packed
        layout.pack_into(room.given, start, *numbers)
        room.words[_TURNS] = self._short
        if self._call(room.inputs_at, room.results_at, room.words_at) or self._raised:
            self._leave(room)
            return None
        layout, start = self._unpacked
        found = layout.unpack_from(room.gives, start)
        self._rooms.append(room)
        return found

    def _new(self) -> _Room:
        """The memory of a call."""
        return _Room(self._code.run(), self._inputs(), self._results())

    def _leave(self, room: _Room) -> None:
        """Forget a call that has bailed out."""
        with suppress(Exception):  # it comes up again where the answer is asked for otherwise
            self._code.check(room.run)


def _floats(index: Any) -> tuple[struct.Struct, int] | None:
    """The layout of floats in memory, and the place of the first in bytes; None if they are not in
    ascending order.
    """
    places = [*range(index.start, index.stop)] if isinstance(index, slice) else index.tolist()
    gaps = [b - a - 1 for a, b in pairwise(places)]
    if not places or min(gaps, default=0) < 0:
        return None
    layout = "=d" + "".join(f"{_WORD * gap}xd" for gap in gaps)
    return struct.Struct(layout), _WORD * places[0]


class _Room:
    """The memory of one call. `given` and `gives` are the bytes of `inputs` and `results`."""

    __slots__ = (
        *("given", "gives", "inputs", "inputs_at", "results", "results_at"),
        *("run", "words", "words_at"),
    )

    def __init__(self, run: Run, inputs: Data, results: Data) -> None:
        self.run = run
        self.inputs, self.results, self.words = inputs, results, run.words
        self.given, self.gives = (memoryview(x).cast("B") for x in (inputs, results))
        self.inputs_at, self.results_at = address(inputs), address(results)
        self.words_at = ctypes.addressof(run.words)

    def __del__(self) -> None:
        self.run.end()


def arrays_of(words: Words, places: Places) -> list[int]:
    """The numbers of the inputs or results among the places that are arrays."""
    return [k for k in dict.fromkeys(k for k, _ in places) if is_array(words.types[k])]


def address(array: Data) -> int:
    """The address of an array's first element."""
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]
