"""One run of machine code: its limits, its stacks and its texts."""

from __future__ import annotations

import ctypes
import struct
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.libm import address_of

_FORMATS = {"float": "d", "int": "q", "bool": "q"}

_WORDS = 1 << 13  # words for texts before they are printed
_STACK = 1 << 16  # bytes of a stack at first
_ALIGNED = 64  # bytes: alignment of arrays

_realloc = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)(
    ("PyMem_RawRealloc", ctypes.pythonapi)
)
_free: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyMem_RawFree", ctypes.pythonapi))

_KEPT = 1 << 26  # bytes of stacks and arrays that are kept for the next run

_Serve = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

_Kept = ctypes.c_int64 * _WORDS


class Words:
    """The layout of inputs or results: 8 bytes for each number or address of an array."""

    def __init__(self, types: Sequence[str]) -> None:
        self.types = types
        self._layout = struct.Struct("=" + "".join(_FORMATS.get(t, "Q") for t in types))
        self._room = ctypes.c_char * max(self._layout.size, 1)
        self._bools = [k for k, t in enumerate(types) if t == "bool"]

    def room(self) -> Any:
        """New memory for them."""
        return self._room()

    def at(self, address: int) -> Any:
        """The bytes at an address."""
        return ctypes.string_at(address, self._layout.size)

    def packed(self, numbers: Sequence[Any]) -> Any:
        try:
            room = self._room()
            self._layout.pack_into(room, 0, *numbers)
        except struct.error:
            raise Left(state.NUMBER) from None
        return room

    def unpacked(self, room: Any) -> tuple[Any, ...]:
        found = self._layout.unpack_from(room)
        if not self._bools:
            return found
        numbers = list(found)
        for k in self._bools:
            numbers[k] = bool(numbers[k])
        return tuple(numbers)


class Shape:
    """The common data of all runs of one code.

    Fields:
        stacks, texts: the number of stacks, and the functions that make the texts.
        tells: for each place that prints, the number of its text and the layout of its numbers.
        size, entries: bytes for arrays, and for each entry of a stack with arrays.
        depths: by stack: how many entries it gets, where that is known.
        callbacks: the steps that Python does.
        blockwise: the instructions whose blocks Python has done: functions of the run and of the
            address of the instruction's arguments.
    """

    def __init__(
        self,
        stacks: int,
        texts: Sequence[Callable[..., str]] = (),
        tells: Sequence[tuple[int, Words]] = (),
        size: int = 0,
        entries: Mapping[int, int] | None = None,
        depths: Mapping[int, int] | None = None,
        callbacks: Sequence[Callable[[int], bool]] = (),
        blockwise: Sequence[Callable[[Run, int], None]] = (),
    ) -> None:
        self.stacks = stacks
        self.callbacks = callbacks
        self.blockwise = blockwise
        self.size = size
        self.entries = entries or {}
        self.depths = depths or {}
        self.texts = texts
        self.tells = tells
        self.words = ctypes.c_int64 * state.count(stacks)
        self.memory = Memory()


class Memory:
    """Memory of finished runs, kept for reuse: the system would clear new memory page by page,
    which takes as long as filling it. Any number of threads may use it.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[int, int]] = []

    @property
    def largest(self) -> int:
        """The most bytes that are kept in one piece."""
        return max((size for _, size in [*self._kept]), default=0)

    def take(self, most: int) -> tuple[int, int]:
        """Address and size of the largest kept memory of at most `most` bytes; zeros if there is
        none.
        """
        for each in sorted(self._kept, key=lambda each: -each[1]):
            if each[1] <= most:
                with suppress(ValueError):  # another thread took it
                    self._kept.remove(each)
                    return each
        return 0, 0

    def room(self, size: int, most: int) -> tuple[int, int]:
        """Address and size of memory of `size` to `most` bytes, kept or new; zeros if there is
        none.
        """
        for each in sorted(self._kept, key=lambda each: each[1]):
            if size <= each[1] <= most:
                with suppress(ValueError):
                    self._kept.remove(each)
                    return each
        base = _realloc(None, size) if size <= most else None
        return (base, size) if base else (0, 0)

    def give(self, base: int, size: int) -> None:
        """Keep memory for reuse, or return it to the system."""
        if base and size + sum(size for _, size in self._kept) <= _KEPT:
            self._kept.append((base, size))
        else:
            _free(base or None)

    def __del__(self, free: Callable[[int], None] = _free) -> None:  # globals are gone at exit
        for base, _ in self._kept:
            free(base)


class Run:
    """One run of the code: the words that it shares with Python, its stacks and its texts.

    Fields:
        raised: an error raised while Python served the code.
        told: True if texts may be printed while the code runs.
        turns: the number of turns that the run has done.
        memory: the inputs, the results, and all that holds their arrays. The code has only the
            addresses, and may go on for a moment after its caller has left.
    """

    def __init__(
        self, shape: Shape, control: Control, turns: int, memory: Sequence[Any], told: bool = False
    ) -> None:
        self.control = control
        self.memory = memory
        self.raised: BaseException | None = None
        self.turns = 0
        self.told = told
        self._shape = shape
        self._told = self._seen = 0
        self._telling = allocate_lock()
        self._allowed = turns
        self._left = control.memory
        self.words: Any = shape.words()
        self.words[state.STOP] = ctypes.addressof(control.stop)
        self.words[state.TURNS] = turns
        self._serve: Any = None
        if shape.stacks or shape.tells or shape.callbacks or shape.blockwise:
            self._serve = _Serve(self._served)
            self.words[state.SERVE] = address_of(self._serve)
        self._taken: list[tuple[int, int]] = []
        if shape.size:
            self.words[state.ARENA], _ = self._room(shape.size)
        if shape.texts:
            self._kept = _Kept()
            self.words[state.WORDS] = ctypes.addressof(self._kept)
            self.words[state.ROOM] = _WORDS

    def end(self) -> None:
        """Clean up after the code has ended."""
        self.turns = self._allowed - self.words[state.TURNS]
        self._serve = None  # it refers to this run
        for k in range(self._shape.stacks):
            at = state.of_stack(k, state.BASE)
            base, end = self.words[at : at + 2]
            self.words[at] = 0
            if k in self._shape.entries:
                _free(base or None)
            else:
                self._shape.memory.give(base, end - base)
        for base, size in self._taken:
            self._shape.memory.give(base, size)
        self._taken.clear()

    def tell(self) -> None:
        """Print the waiting texts."""
        with self._telling:
            self._tell(self.words[state.USED])

    def _tell(self, end: int) -> None:
        while self._told < end:
            text, layout = self._shape.tells[self._kept[self._told]]
            at = ctypes.addressof(self._kept) + 8 * (self._told + 1)
            self._told += 1 + len(layout.types)
            self.control.echo(self._shape.texts[text](*layout.unpacked(layout.at(at))))

    def _served(self, _words: int, what: int, amount: int) -> None:
        """Serve a request of the code."""
        try:
            self.words[state.REFUSED] = self._refused(what, amount)
        except BaseException as error:  # raised again in the calling thread
            self.raised = error

    def _refused(self, what: int, amount: int) -> int:
        """Serve a request; the result is 0, or 1 if the code has to bail out."""
        if what == state.FLUSH:
            return self._flush(amount)
        if what < state.FLUSH:
            return not self._shape.callbacks[state.of_callback(what)](amount)
        if what >= self._shape.stacks:
            self._shape.blockwise[what - self._shape.stacks](self, amount)
            return 0
        entry = self._shape.entries.get(what)
        return self._grow(what, amount) if entry is None else self._extend(what, entry)

    def numbers_on(self, stack: int) -> Any:
        """The bytes on a stack of numbers, once the code has ended."""
        base, _, top = self.words[state.of_stack(stack, 0) :][: state.TOP + 1]
        return ctypes.string_at(base, top - base)

    def put_on(self, stack: int, numbers: bytes) -> None:
        """Put numbers on an empty stack, while Python serves the code.

        Raises:
            Left: If the limit is reached.
        """
        at = state.of_stack(stack, 0)
        self.words[at + state.TOP] = self.words[at]
        if self._grow(stack, len(numbers)):
            raise Left(state.MEMORY)
        base = self.words[at]
        ctypes.memmove(base, numbers, len(numbers))
        self.words[at + state.TOP] = base + len(numbers)

    def look(self) -> None:
        """Print the texts that were there at the last look: their numbers are complete by now."""
        if self.told:
            with self._telling:
                self._tell(self._seen)
                self._seen = self.words[state.USED]

    def _flush(self, amount: int) -> int:
        if not self.told or amount > self.words[state.ROOM]:
            return 1
        with self._telling:
            self._tell(self.words[state.USED])
            self.words[state.USED] = self._told = self._seen = 0
        return 0

    def _room(self, size: int) -> tuple[int, int]:
        """Address and size of memory for arrays, of at least `size` bytes.

        Raises:
            Left: If the limit is reached.
        """
        if size + _ALIGNED > self._left:
            self._left = max(self._left, self.control.more())
        base, size = self._shape.memory.room(size + _ALIGNED, self._left)
        if not base:
            raise Left(state.MEMORY)
        self._left -= size
        self._taken.append((base, size))
        return base + -base % _ALIGNED, size - _ALIGNED

    def _moved(self, at: int, size: int) -> int:
        """The address of a stack's memory with another size; 0 if there is none. The words of the
        stack are at `at`. They forget its memory meanwhile: an interrupt right after the call must
        not leave them an address that is free.
        """
        words = self.words[at : at + 3]
        self.words[at : at + 3] = [0, 0, 0]
        made = _realloc(words[0] or None, size)
        if not made:
            self.words[at : at + 3] = words
        return made or 0

    def _extend(self, stack: int, entry: int) -> int:
        """Add memory for more entries to a stack of addresses, if possible as many as it will need,
        or else as many as it has. Existing entries stay in place.
        """
        at = state.of_stack(stack, 0)
        base, end, top = self.words[at : at + 3]
        count = (end - base) // 8
        known = self._shape.depths.get(stack, 0) - count
        for wanted in (*([known] if known > 0 else ()), max(count, _STACK // entry, 1), 1):
            with suppress(Left):
                first, size = self._room(wanted * entry)
                break
        else:
            return 1
        more = size // entry
        made = self._moved(at, 8 * (count + more))
        if not made:
            return 1
        places = range(first, first + more * entry, entry)
        (ctypes.c_int64 * more).from_address(made + 8 * count)[:] = [*places]
        self.words[at : at + 3] = [made, made + 8 * (count + more), made + top - base]
        return 0

    def _first(self, stack: int, entry: int) -> tuple[int, int]:
        """Address and size of the first memory of a stack of numbers; zeros if there is none."""
        memory, depth = self._shape.memory, self._shape.depths.get(stack)
        wanted = memory.largest if depth is None else depth * entry
        if wanted > self._left:
            self._left = max(self._left, self.control.more())
        if depth is None:
            return memory.take(self._left)
        return memory.room(wanted, self._left)

    def _grow(self, stack: int, amount: int) -> int:
        """Add at least `amount` bytes to a stack, if possible as many as it will need, or else as
        many as it has.
        """
        at = state.of_stack(stack, 0)
        base, end, top = self.words[at : at + 3]
        size, used = end - base, top - base
        if not base:
            base, size = self._first(stack, amount)
            self._left -= size
            self.words[at : at + 3] = [base, base + size, base]
        if size >= used + amount:
            return 0
        more = max(size, used + amount - size, _STACK - size)
        if more > self._left:
            self._left = max(self._left, self.control.more())
        more = min(more, self._left)
        base = self._moved(at, size + more) if size + more >= used + amount else 0
        if not base:
            return 1
        self._left -= more
        self.words[at : at + 3] = [base, base + size + more, base + used]
        return 0
