"""Handlers for the signals that a shell sends."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable
from types import FrameType
from typing import Any

_SOON = 0.01  # seconds between a signal and the same one sent again
_PATIENCE = 1.0  # seconds in which an interrupt cleans up before another may end that
_ENDING = [
    (getattr(signal, name), signal.SIG_DFL)
    for name in ("SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


class Signals:
    """The signals that end the process. SIGPIPE ends it silently and at once. Others raise
    KeyboardInterrupt, so that work in progress is cleaned up.

    Args:
        is_importing: True for a frame in which a module is imported. A signal waits until the
            import is over.
        is_of_program: True for code that is made of a program.

    Fields:
        over: True if the work is done; no interrupt is raised any more.
    """

    def __init__(
        self,
        is_importing: Callable[[FrameType | None], bool],
        is_of_program: Callable[[object], bool],
    ) -> None:
        self.over = False
        self._is_of_program = is_of_program
        self._is_importing = is_importing
        self._ended_by: int | None = None
        self._raised = 0.0  # when an interrupt was raised last
        self._waiting: int | None = None  # a signal that could not be raised yet
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for number, usual in [(signal.SIGINT, signal.default_int_handler), *_ENDING]:
            if signal.getsignal(number) == usual:
                signal.signal(number, self._end)
        sys.unraisablehook = self._unraisable

    def restore(self) -> None:
        """Let every signal end the process at once, also one that is pending."""
        self._waiting = None
        for number in (signal.SIGINT, *(number for number, _ in _ENDING)):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    def finish(self) -> None:
        """End the process by the signal that ended its work, unless that was an interrupt."""
        if self._ended_by not in (None, signal.SIGINT):
            os.kill(os.getpid(), self._ended_by)

    def _end(self, number: int, frame: FrameType | None) -> None:
        if self._is_importing(frame):
            self._send_until_raised(number)
            return
        self._waiting = None
        if not self.over and not self._is_ending():
            self._ended_by = self._ended_by or number
            self._raised = time.monotonic()
            raise KeyboardInterrupt

    def _is_ending(self) -> bool:
        """True while an interrupt cleans up: a second one would leave work half done. It may come
        at once, from a nervous hand or from a parent process that hands on the first one.
        """
        if time.monotonic() - self._raised > _PATIENCE:
            return False
        error = sys.exc_info()[1]  # also that of the functions that have called this one
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__context__
        return error is not None

    def _unraisable(self, found: Any) -> None:
        """Send an interrupt again that Python could not raise, as in a weak reference's callback.

        What a generator of a program raises when it is freed is ignored. Other such exceptions are
        written to standard error.
        """
        if found.exc_type is KeyboardInterrupt:
            self._send_until_raised(self._ended_by or signal.SIGINT)
        elif not self._is_of_program(getattr(found.object, "gi_code", None)):
            sys.__unraisablehook__(found)

    def _send_until_raised(self, number: int) -> None:
        """Send a signal from another thread soon, and again until it is raised: Python handles one
        that comes just before a system call only after that call.
        """
        if self._waiting is None:
            self._waiting = number
            start_new_thread(self._send, ())

    def _send(self) -> None:
        time.sleep(_SOON)
        while (number := self._waiting) is not None:
            os.kill(os.getpid(), number)
            time.sleep(_SOON)
