"""Runs the blocks of a `Blockwise` instruction, in as many threads as large products of matrices
get.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.compile.llvm.calls import address
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.run import Run
from gradcli.engine.compile.passes.blocks import shortened
from gradcli.engine.compile.sum_order import halves
from gradcli.engine.compile.typed import (
    Blockwise,
    NotCompilable,
    Program,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.numerics.products import at_once, threads
from gradcli.engine.values.data import Data, Quiet, np

if TYPE_CHECKING:
    from typing import Protocol

    from gradcli.engine.compile.control import Control

    class Code(Protocol):
        """What is asked of machine code; see `code.Code`."""

        stacks: Mapping[int, int]
        calls_python: bool

        @property
        def machine(self) -> Any: ...
        @property
        def source(self) -> str: ...
        def run(self, control: Control) -> Run: ...
        def check(self, run: Run, left: int) -> None: ...


MOST = 512
"""Elements of a block: its stack for some hundred turns stays in a processor's cache."""

_WORD = 8

Cut: TypeAlias = tuple[int, int]
"""A block: its first element, and how many it has."""


class Blocks:
    """The blocks of an instruction, whose vectors are cut where NumPy's sums are.

    Args:
        i: The instruction.
        make: Makes the code of a program.
        stacks: The indices of the stacks of the code that the instruction belongs to.

    Raises:
        NotCompilable: If there is no machine code of it alone.
    """

    def __init__(
        self, i: Blockwise, make: Callable[[Program], Code], stacks: Mapping[int, int]
    ) -> None:
        self._length = i.length
        self._cuts = [*cuts(i.length)] if i.stack is not None else even_cuts(i.length)
        counts = {count for _, count in self._cuts}
        self._codes = {n: make(shortened(i.program, i.length, n)) for n in sorted(counts)}
        self._stack, self._pushed = i.stack, stacks[i.stack] if i.stack is not None else -1
        if any(code.calls_python for code in self._codes.values()):
            raise NotCompilable("a step of a block is done in Python")
        types = [v.type for v in (*i.program.inputs, *i.targets)]
        self._given = len(i.program.inputs)
        self._steps = np.array([_bytes(t) for t in types], np.int64)

    @property
    def sources(self) -> Sequence[str]:
        """The texts of the code for the different sizes."""
        return [code.source for code in self._codes.values()]

    def __call__(self, run: Run, at: int) -> None:
        """Do all blocks, and put their sums on the stack.

        Args:
            run: The run of the code that the instruction belongs to.
            at: The address of the instruction's arguments and targets.

        Raises:
            Left: If a block bails out.
        """
        words = np.array((ctypes.c_int64 * len(self._steps)).from_address(at))
        left = [*enumerate(self._cuts)]
        sums: list[Any] = [None] * len(left)
        failed: list[BaseException] = []

        def work() -> None:
            rooms: dict[int, _Room] = {}
            try:
                while left:
                    with suppress(IndexError):  # another thread took the last one
                        k, (start, count) = left.pop()
                        if count not in rooms:
                            rooms[count] = _Room(self._codes[count], run)
                        moved = words + start * self._steps
                        sums[k] = rooms[count].done(moved, self._given, self._stack)
            except BaseException as error:
                failed.append(error)
                left.clear()

        at_once(work, min(threads(), len(left)) if run.told else 1)
        if failed:
            raise failed[0]
        if self._stack is not None:
            with Quiet():
                run.put_on(self._pushed, joined(sums, self._length)[::-1].tobytes())


class _Room:
    """The memory of the calls that a thread does of one code."""

    def __init__(self, code: Code, outer: Run) -> None:
        self._code = code
        self._run = code.run(outer.control)
        self._turns = outer.words[state.TURNS]

    def done(self, words: Data, given: int, stack: int | None) -> Data | None:
        """Do a block whose arguments and targets are given; its sums, if it has a stack for them.

        Raises:
            Left: If the code bails out.
        """
        run, at = self._run, address(words)
        run.words[state.TURNS] = self._turns
        left = self._code.machine.call(at, at + _WORD * given, ctypes.addressof(run.words))
        self._code.check(run, left)
        if stack is None:
            return None
        return np.frombuffer(run.numbers_on(self._code.stacks[stack]))

    def __del__(self) -> None:
        self._run.end()


def cuts(length: int) -> Iterator[Cut]:
    """The blocks of a vector whose sums NumPy adds up on the way to the sum of the vector."""
    yield from _cuts(0, length)


def _cuts(start: int, length: int) -> Iterator[Cut]:
    if length <= MOST:
        yield start, length
        return
    half, rest = halves(length)
    yield from _cuts(start, half)
    yield from _cuts(start + half, rest)


def even_cuts(length: int) -> list[Cut]:
    """Blocks of one size, the last of which begins before the end of the one before it."""
    count = min(MOST, length)
    return [(min(start, length - count), count) for start in range(0, length, count)]


def joined(sums: Sequence[Data], length: int) -> Data:
    """The sums over vectors of a length, added as NumPy does, from those over their blocks."""
    following = iter(sums)

    def total(length: int) -> Data:
        if length <= MOST:
            return next(following)
        half, rest = halves(length)
        first = total(half)
        return np.add(first, total(rest))

    return total(length)


def _bytes(type: str) -> int:
    """The bytes from one element of a vector to the next; 0 for a number."""
    if not is_array(type):
        return 0
    return np.dtype(dtype_and_shape(type)[0]).itemsize
