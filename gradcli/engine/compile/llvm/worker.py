"""Run machine code in a thread of its own, while errors may come at any moment in the thread that
waits for it: Ctrl-C, even twice, or a limit.
"""

from __future__ import annotations

import ctypes
from _thread import start_new_thread
from collections.abc import Callable
from typing import Any

from gradcli.engine.compile.llvm.run import Run
from gradcli.engine.run.session.watchdog import WATCHDOG

_LOOK = 50_000  # microseconds between checks of the code
_STOPS = 1_000_000  # microseconds in which code stops, unless it prints or calls something slow

_new: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
_free: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("PyThread_free_lock", ctypes.pythonapi))
_release: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(
    ("PyThread_release_lock", ctypes.pythonapi)
)
_acquire: Any = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_int)(
    ("PyThread_acquire_lock_timed", ctypes.pythonapi)
)
"""Acquire a lock within so many microseconds; true unless they have passed. Python handles signals
only after the call. A signal ends the wait if the last argument is 1, and not if it is 0.
"""


class _Event:
    """An event that has not happened yet: a C lock that is taken. `at` is its address."""

    at = None  # until it is there: an error may come before

    def __init__(self) -> None:
        self.at = _new()
        if not self.at:
            raise MemoryError
        _acquire(self.at, 0, 0)

    def __del__(self, free: Callable[[Any], None] = _free) -> None:  # globals are gone at exit
        if self.at:
            free(self.at)


def wait(work: Callable[[], None], run: Run) -> None:
    """Run `work` in another thread, print its texts meanwhile, and raise its error if it has one.

    An error in this thread stops the code, and is raised once the code has stopped. CPython raises
    errors that come from outside only where a call ends or a loop turns, so none comes between two
    statements that do neither. If one nevertheless ends the wait early, the code still stops soon,
    and the closure of the other thread keeps all memory that the code uses.
    """
    asked = [work]  # until the thread takes it, or until it is withdrawn
    failed: list[BaseException] = []
    ended: list[bool] = []  # unlike an event, it can be asked twice
    begins, over = _Event(), _Event()

    def done() -> None:
        _release(begins.at)
        try:
            while asked:
                asked.pop()()
        except BaseException as error:
            failed.append(error)
        finally:
            ended.append(True)
            _release(over.at)

    try:
        with WATCHDOG.lock:
            start_new_thread(done, ())
            _acquire(begins.at, -1, 0)
        while not ended:
            if not _acquire(over.at, _LOOK, 1):
                run.look()
    except BaseException:
        if asked:
            del asked[:]  # not by a call, after which there might be another error
            raise
        run.control.stop.value = 1
        try:
            if not ended:
                _acquire(over.at, _STOPS, 0)
        finally:
            if ended:
                run.control.stop.value = 0
        raise
    if failed:
        raise failed.pop()
