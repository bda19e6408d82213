"""What watched processes tell the process that watches them, in memory that all of them share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from mmap import mmap
from time import monotonic

from gradcli.cli.watch.lifeline import Lifeline
from gradcli.errors import Diagnostic, LimitError
from gradcli.limits import OPTIONS, Limits, memory_reached, time_reached
from gradcli.machine import resident

WORKERS = 256  # the most that --jobs starts
_CELLS = 6
_PROCESS, _SECONDS, _DEADLINE, _BYTES, _MOST, _KILLED = range(_CELLS)
_TEXT = 8 * _CELLS * (1 + WORKERS)  # where the names of folders begin
_SIZE = _TEXT + 2**14

_SHARE = 1.25  # of the memory that a question may take
_SPARE = 64 << 20  # bytes that it may always take beyond: modules that it imports need some

_TOO_LATE, _TOO_LARGE = 1.0, 2.0  # why a process was killed


class Table:
    """A place for the process of the command, one for each worker, and the folders in which the
    command writes files.

    Fields:
        lifeline: What ends them with the watcher.
        command: The place of the command.
        workers: The places of its workers.
    """

    def __init__(self) -> None:
        self.lifeline = Lifeline()
        self._memory = mmap(-1, _SIZE)
        cells = memoryview(self._memory)[:_TEXT].cast("d")
        starts = range(0, len(cells), _CELLS)
        self.command, *self.workers = (Place(cells[at : at + _CELLS]) for at in starts)

    @property
    def folders(self) -> list[str]:
        """The folders in which the command writes files."""
        return [os.fsdecode(name) for name in self._memory[_TEXT:].split(b"\0") if name]

    def writes_into(self, folder: str) -> None:
        """Note a folder in which the command writes files."""
        known = self._memory[_TEXT:].rstrip(b"\0")
        text = b"\0".join([known, os.fsencode(folder)])
        if len(text) < _SIZE - _TEXT:
            self._memory[_TEXT : _TEXT + len(text)] = text


class Place:
    """A process, and the bounds of the question that it is at.

    Its cells are numbers: the process, the limit and the deadline in seconds, the limit and the
    bound in bytes, and why the process was killed. 0 stands for none.
    """

    __slots__ = ("_cells",)

    def __init__(self, cells: memoryview[float]) -> None:
        self._cells = cells

    @property
    def process(self) -> int:
        """The process that has this place; 0 for none."""
        return int(self._cells[_PROCESS])

    def take(self) -> None:
        """Let the calling process have this place."""
        self._cells[_DEADLINE] = self._cells[_MOST] = self._cells[_KILLED] = 0.0
        self._cells[_PROCESS] = os.getpid()

    def leave(self) -> None:
        """Let no process have this place: it has ended, at a question perhaps."""
        self._cells[_DEADLINE] = self._cells[_MOST] = self._cells[_PROCESS] = 0.0

    @contextmanager
    def within(self, limits: Limits) -> Iterator[None]:
        """A block in which the process is at a question with these limits."""
        cells = self._cells
        if type(limits.memory) is int:
            cells[_BYTES] = limits.memory
            cells[_MOST] = resident() + max(_SHARE * limits.memory, limits.memory + _SPARE)
        if limits.seconds is not None:
            cells[_SECONDS] = limits.seconds
            cells[_DEADLINE] = monotonic() + limits.seconds
        try:
            yield
        finally:
            cells[_DEADLINE] = cells[_MOST] = 0.0

    @property
    def deadline(self) -> float:
        """When the time for the question is over; 0 for never."""
        return self._cells[_DEADLINE]

    @property
    def is_late(self) -> bool:
        """True if the time for the question is over."""
        return 0 < self.deadline < monotonic()

    @property
    def is_large(self) -> bool:
        """True if the process has taken a quarter more memory than the question may take."""
        return 0 < self._cells[_MOST] < resident(self.process)

    def end_late(self) -> None:
        """Kill the process because of its time."""
        self._kill(_TOO_LATE)

    def end_large(self) -> None:
        """Kill the process because of its memory."""
        self._kill(_TOO_LARGE)

    def _kill(self, reason: float) -> None:
        self._cells[_DEADLINE] = self._cells[_MOST] = 0.0
        self._cells[_KILLED] = reason
        with suppress(ProcessLookupError):  # it has just ended
            os.kill(self.process, signal.SIGKILL)

    @property
    def reached(self) -> LimitError | None:
        """The limit because of which the process was killed, if it was."""
        match self._cells[_KILLED]:
            case 1.0:
                return _error("time-limit", time_reached(self._cells[_SECONDS]), "seconds")
            case 2.0:
                return _error("memory-limit", memory_reached(self._cells[_BYTES]), "memory")
        return None


def _error(code: str, message: str, field: str) -> LimitError:
    note = "the process was in a call that cannot be stopped, so that the place is not known"
    help = f"`{OPTIONS[field]}` sets this limit"
    return LimitError(Diagnostic(code, message, notes=(note,), help=help))
