"""Typed programs as machine code."""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.llvm.blocks import Blocks
from gradcli.engine.compile.llvm.calls import Calls, address
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.machine import Machine
from gradcli.engine.compile.llvm.lower import Module, by_blocks, with_checkpoints
from gradcli.engine.compile.llvm.run import Run, Shape, Words
from gradcli.engine.compile.llvm.worker import wait
from gradcli.engine.compile.typed import (
    Listed,
    NotCompilable,
    Places,
    Program,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.values.data import Data, np

_SHORT = 1 << 26
"""Code first runs in the calling thread, for at most so many lines, some ten milliseconds. If loops
need more turns, the run starts again in a thread of its own, and so do later runs. A thread costs
some tenths of a millisecond.
"""

_MUCH = 1 << 26  # bytes that loops keep and that may not fit into memory
_LARGE = 3000  # lines; optimizing more would take too long


class Code:
    """A typed program as machine code. Any number of threads may run it at once. A copy in another
    process is compiled again.

    Fields:
        given, gives: the words of its inputs and results.
        calls_python: true if it does some steps in Python.
        stacks: the index of each stack, by its number in the program.
        short: how many turns of loops a call may do in the thread that asks for it.
    """

    made = "machine code"

    def __init__(self, program: Program) -> None:
        self.program = program
        self._sparing: Code | None = None
        module, blockwise = self._lowered()
        self._keeps = module.keeps
        self._reasons = module.reasons
        self.stacks: Mapping[int, int] = module.stacks
        self._waits = module.waits
        self.short = _SHORT // module.turn + 1
        self._last = module.turns  # of the last call, or of any call
        self._primitives = module.primitives
        self._made = module.text, _effort(module)
        self.given = Words([v.type for v in program.inputs])
        self.gives = Words([type_of(x) for x in program.block.results])
        tells = [(text, Words(types)) for text, types in module.tells]
        stacks = len(module.stacks)
        arrays = module.memory, module.entries, module.depths, module.callbacks, blockwise
        self._shape = Shape(stacks, program.texts, tells, *arrays)
        self.calls_python = bool(module.callbacks)
        self._silent = Shape(stacks, (), tells, *arrays)  # for rows, which do not print
        self._arrays_in = [k for k, t in enumerate(self.given.types) if is_array(t)]
        self._arrays_out = [k for k, t in enumerate(self.gives.types) if is_array(t)]
        if self._keeps < _MUCH:
            self.machine  # noqa: B018 - if it cannot be made, another back end is asked

    @cached_property
    def machine(self) -> Machine:
        """The functions of the code. Of a program that keeps much they are made when they are first
        called: its program with checkpoints may be called instead.
        """
        return Machine(*self._made)

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (self.program,)

    def call(self, inputs: Sequence[Any], control: Control) -> tuple[Any, ...]:
        """The program's results for some inputs. If what its loops keep does not fit into memory
        beside all else that the process has there, they keep checkpoints.

        Raises:
            Left: If the code bails out.
        """
        if self._keeps <= control.memory or self._keeps <= control.whole():
            try:
                return self._called(inputs, control)
            except Left as left:
                if left.reason != state.MEMORY or self.program.texts:
                    raise
        return self._with_checkpoints()._called(inputs, control)

    def _with_checkpoints(self) -> Code:
        """The code of the program with checkpoints.

        Raises:
            Left: If it has no loops for them.
        """
        if self._sparing is None:
            program = with_checkpoints(self.program)
            if program is self.program:
                raise Left(state.MEMORY)
            self._sparing = Code(program)
        return self._sparing

    def _called(self, inputs: Sequence[Any], control: Control) -> tuple[Any, ...]:
        """The results for some inputs."""
        inputs, kept = self.with_addresses(inputs)
        given = self.given.packed(inputs)
        results = {k: _empty(self.gives.types[k]) for k in self._arrays_out}
        out = self.gives.room()
        if results:
            places = {k: address(x) for k, x in results.items()}
            out = self.gives.packed([places.get(k, 0) for k in range(len(self.gives.types))])
        memory = given, out, kept, results
        if not self._waits:
            self._run(Run(self._shape, control, control.turns, memory))
        else:
            self._in_time(control, memory)
        found = self.gives.unpacked(out)
        return tuple([results.get(k, x) for k, x in enumerate(found)]) if results else found

    def at(
        self, inputs: Sequence[Any], point: Places, chosen: Places
    ) -> Callable[[Data], Data | None]:
        """The code as a function of elements of its inputs, for many calls; see `Calls`."""
        return Calls(self, inputs, point, chosen)

    def listed(self, inputs: Sequence[Any], point: Places, chosen: Places) -> Listed:
        """The code as such a function from numbers to numbers; see `Calls.listed`."""
        return Calls(self, inputs, point, chosen).listed

    @property
    def source(self) -> str:
        """The text of the code, with that of its blocks."""
        module, blockwise = self._lowered()
        return "\n".join([module.shown, *(text for each in blockwise for text in each.sources)])

    @property
    def is_long(self) -> bool:
        """True if the last call took so many turns that the next gets a thread of its own."""
        return self._last > self.short

    @property
    def raised(self) -> Mapping[int, BaseException]:
        """By thread: what a Python function that the code called has raised and nobody has seen."""
        return self._primitives.raised

    def run(self, control: Control | None = None) -> Run:
        """The state of runs that print nothing."""
        return Run(self._silent, control or Control(), 0, ())

    def _lowered(self) -> tuple[Module, Sequence[Blocks]]:
        """The module of the program and its blocks, by blocks if all of it is machine code."""
        with suppress(NotCompilable):
            module = Module(by_blocks(self.program))
            return module, [Blocks(i, Code, module.stacks) for i in module.blockwise]
        return Module(self.program), ()

    def with_addresses(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], list[Data]]:
        """The inputs with addresses in place of arrays, and these arrays."""
        if not self._arrays_in:
            return inputs, []
        found, kept = [*inputs], []
        for k in self._arrays_in:
            dtype, shape = dtype_and_shape(self.given.types[k])
            kept.append(np.require(inputs[k], dtype, ["C", "A"]))
            if kept[-1].shape != shape:
                raise Left(state.NUMBER)
            found[k] = address(kept[-1])
        return found, kept

    def _in_time(self, control: Control, memory: Sequence[Any]) -> None:
        """Run the code, in a thread of its own unless it ends within a few turns."""
        if self.is_long or not self._soon(control, memory):
            run = Run(self._shape, control, control.turns, memory, told=True)
            wait(lambda: self._run(run), run)
            self._end(run)

    def _soon(self, control: Control, memory: Sequence[Any]) -> bool:
        """Run the code for a few turns; true if it ends."""
        run = Run(self._shape, control, min(control.turns, self.short), memory)
        try:
            self._run(run)
        except Left as left:
            long = left.reason == state.STEPS and control.turns > self.short
            if not long and left.reason != state.TEXTS:
                raise
            return False
        self._end(run)
        return True

    def _end(self, run: Run) -> None:
        """Count the turns of a finished run, and print its texts."""
        self._last = run.turns
        run.control.turns -= run.turns
        run.tell()

    def _run(self, run: Run) -> None:
        given, out, *_ = run.memory
        try:
            left = self.machine.call(given, out, ctypes.addressof(run.words))
        finally:
            run.end()
        self.check(run, left)

    def check(self, run: Run, left: int = 0) -> None:
        """Raise the error of a Python function that the code called, or `Left` if it has bailed
        out.
        """
        raised = run.raised
        if self._primitives.raised:
            raised = self._primitives.raised.pop(get_ident(), None)
        if raised is not None:
            run.raised = None
            try:
                raise raised
            finally:
                del raised  # the error holds this frame
        if left:
            raise Left(self._reasons[run.words[state.REASON]])

    def rows(self, columns: Sequence[Data], control: Control) -> tuple[tuple[Data, ...], Data]:
        """The results for each row, as columns, and a mask of the rows that bailed out.

        Raises:
            Left: If it was stopped.
        """
        types = [v.type for v in self.program.inputs]
        given = [
            np.require(column, dtype_and_shape(type)[0], ["C", "A"])
            for column, type in zip(columns, types, strict=True)
        ]
        count = len(given[0]) if given else 0
        out = [_empty(t, count) for t in self.gives.types]
        left = np.zeros(count, np.uint8)
        run = Run(self._silent, control, control.turns, (given, out, left))
        columns_at, results_at, left_at = (_addresses(a) for a in (given, out, [left]))

        def work() -> None:
            try:
                done = self.machine.rows(
                    address(columns_at),
                    address(results_at),
                    left_at[0].item(),
                    0,
                    count,
                    self.given.room(),
                    self.gives.room(),
                    ctypes.addressof(run.words),
                )
            finally:
                run.end()
            self.check(run)
            if done < count:
                raise Left(state.STOPPED)

        if self._waits or count > self.short:
            wait(work, run)
        else:
            work()
        return tuple(out), left.view(np.bool_)


def _effort(module: Module) -> int:
    """LLVM's optimization level. It pays for loops; other code mostly waits for the C library."""
    return 1 if module.waits and module.length <= _LARGE else 0


def _empty(type: str, *rows: int) -> Data:
    """Memory for a value, or for a column of values."""
    dtype, shape = dtype_and_shape(type)
    return np.zeros((*rows, *shape), dtype)


def _addresses(arrays: Sequence[Data]) -> Data:
    return np.array([address(a) for a in arrays], np.uintp)
