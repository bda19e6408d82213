"""Handlers for the signals that a shell sends."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread
from types import FrameType
from typing import Any

_SOON = 0.01  # seconds
_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Signals:
    """The signals that end the process. SIGPIPE ends it silently and at once. Others are delayed
    until work in progress is cleaned up.
    """

    def __init__(self) -> None:
        self._ended_by: int | None = None
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, self._end)
        sys.unraisablehook = self._unraisable

    def restore(self) -> None:
        """Let every signal end the process at once, also one that is pending."""
        for number in (signal.SIGINT, *_ENDING):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)

    def finish(self) -> None:
        """End the process by the signal that ended its work, unless that was an interrupt."""
        if self._ended_by is not None:
            os.kill(os.getpid(), self._ended_by)

    def _end(self, number: int, _: FrameType | None) -> None:
        self._ended_by = number
        raise KeyboardInterrupt

    def _unraisable(self, found: Any) -> None:
        """Send an interrupt again that Python could not raise, as in a weak reference's callback.

        Other such exceptions are written to standard error.
        """
        if found.exc_type is KeyboardInterrupt:
            start_new_thread(self._send_soon, ())  # not at once: it would come here again
        else:
            sys.__unraisablehook__(found)

    def _send_soon(self) -> None:
        time.sleep(_SOON)
        os.kill(os.getpid(), self._ended_by or signal.SIGINT)
