"""A thread that checks regularly whether a question has reached a limit, and stops it.

It stops code that runs in another thread and does not check limits itself: a loop, an operation, a
pass. Such code pays nothing for it.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from time import monotonic, sleep
from types import FrameType
from typing import Any, TypeAlias

from gradcli.cpython import is_importing
from gradcli.engine.values.limits import Meter, Reached, limit_error
from gradcli.errors import Diagnostic, LimitError
from gradcli.limits import memory_reached, time_reached

_INTERVAL = 0.05  # seconds between two checks
_IDLE = 40  # checks without a question after which the thread ends
_PATIENCE = 0.3  # seconds after which a question that does not end counts as stuck

Stuck: TypeAlias = Callable[[LimitError, FrameType], None]
"""Handles a question that cannot be stopped in its present call; takes the limit's error and the
frame of the thread.
"""


class Guard:
    """The meter and the end of one question, watched in the thread that asks it."""

    __slots__ = ("_begun", "_stopped", "_stuck", "meter", "thread")

    def __init__(self, meter: Meter, stuck: Stuck | None) -> None:
        self.meter = meter
        self._stuck = stuck
        self.thread = get_ident()
        self._begun = monotonic()
        self._stopped = 0.0

    def look(self) -> None:
        """Stop the question if it has reached a limit. Report it as stuck if it runs on."""
        if self.meter.reached is None:
            reached = self._reached()
            frame = sys._current_frames().get(self.thread)
            if reached is not None and not is_importing(frame):
                self.meter.reached = reached
                self._stopped = monotonic()
                _raise_in(self.thread, Reached)
        elif not self.meter.seen and self._stuck is not None:
            frame = sys._current_frames().get(self.thread)
            late = monotonic() - self._stopped > _PATIENCE
            if frame is not None and (late or self.meter.left < -self.meter.most // 4):
                self._stuck(LimitError(self.meter.reached), frame)

    def end(self) -> None:
        """Stop watching."""
        if self.meter.reached is not None and not self.meter.seen:
            _raise_in(self.thread, None)

    def _reached(self) -> Diagnostic | None:
        """The limit that is reached."""
        meter = self.meter
        seconds = meter.limits.seconds
        if seconds is not None and monotonic() - self._begun > seconds:
            error = limit_error("time-limit", time_reached(seconds), "seconds")
            return error.diagnostics[0]
        if meter.left >= 0:
            return None
        gc.collect()  # runs go without it
        if meter.left >= 0:
            return None
        error = limit_error("memory-limit", memory_reached(meter.most), "memory")
        return error.diagnostics[0]


class Watchdog:
    """Looks after questions; its thread is there while any are asked.

    Fields:
        lock: held while it looks. Whoever starts a thread holds it until that runs: until then
            CPython knows the new thread by the number of the one that starts it, so an error for
            that one could reach the new thread.
    """

    def __init__(self) -> None:
        self._guards: set[Guard] = set()
        self.lock = allocate_lock()
        self._process = 0  # in which the thread runs: none has it after a fork

    def watch(self, guard: Guard) -> None:
        """Look after a question from now on.

        Raises:
            LimitError: If the system starts no thread for it.
        """
        with self.lock:
            self._guards.add(guard)
            if self._process != os.getpid():
                self._guards = {g for g in self._guards if g.thread == guard.thread}
                try:
                    start_new_thread(self._run, ())
                except RuntimeError:
                    message = "no thread can be started that ends the run at its limits"
                    raise LimitError(Diagnostic("memory", message)) from None
                self._process = os.getpid()

    def leave(self, guard: Guard) -> None:
        """Look after it no more."""
        with self.lock:
            self._guards.discard(guard)
            guard.end()

    def _run(self) -> None:
        idle = 0
        while True:
            sleep(_INTERVAL)
            with self.lock:
                for guard in self._guards:
                    guard.look()
                idle = 0 if self._guards else idle + 1
                if idle > _IDLE:
                    self._process = 0
                    return


WATCHDOG = Watchdog()
"""Looks after all questions of the process: a thread for each program would be many."""


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise in a thread as soon as it runs Python code again, or with None no more."""
    import ctypes

    raised: Any = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
