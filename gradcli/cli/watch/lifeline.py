"""Ends processes with the one that watches or has started them, however that ends."""

from __future__ import annotations

import fcntl
import os
import signal
from contextlib import suppress


class Lifeline:
    """A pipe that one process, the watcher, holds at one end. The system kills the processes at the
    other end when it lets go: one that is in a call with Python's lock would not notice.
    """

    def __init__(self) -> None:
        self._read, self._written = os.pipe()

    def hold(self) -> None:
        """Be the process that the others end with."""
        os.close(self._read)

    def let_go(self) -> None:
        """Be none of its holders: what is forked from the watcher has its end, too."""
        os.close(self._written)

    def close(self) -> None:
        """Be done with it; the others have ended."""
        os.close(self._read)
        os.close(self._written)

    def follow(self) -> None:
        """End with the watcher from now on. Only Linux can tell a process of it by a signal."""
        if not hasattr(fcntl, "F_SETSIG"):
            return
        with suppress(OSError):
            own = os.open(f"/proc/self/fd/{self._read}", os.O_RDONLY | os.O_NONBLOCK)
            fcntl.fcntl(own, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(own, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(own, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
            if os.read(own, 1) == b"":  # it has ended already; else there is nothing to read
                os.kill(os.getpid(), signal.SIGKILL)
