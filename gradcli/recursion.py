"""How deep Python may recurse here: as deep as a program does whose nesting has a bound."""

from __future__ import annotations

import sys
from _thread import allocate_lock
from types import FrameType

NESTED = 10_000
"""More calls than any walk over a program needs, whose blocks and expressions nest a bounded
number of levels.
"""


STACK = 64 << 20
"""Bytes of stack that the calls of C which Python allows, 10,000 of them in some versions, fit in:
so deep it goes into a list of lists to free, print or compare it.
"""


def make_room() -> None:
    """Let the stack of the process's main thread grow to that, if it may."""
    try:
        import resource
    except ImportError:  # not a system that has such limits
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


_USUAL = 1000
"""How deep Python lets functions call each other where nobody has asked for more."""


_limits: list[int] = []  # Python's, then those of the rooms that are open, in any thread
_changing = allocate_lock()


class Room:
    """A stretch in which functions may call each other so many deep, wherever it begins. Python has
    one limit for all threads: it stays as high as the rooms need that are still open in others.
    """

    __slots__ = ("_limit", "_calls")

    def __init__(self, calls: int) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        with _changing:
            before = sys.getrecursionlimit()
            depth = (
                before if before <= _USUAL else _depth()
            )  # at most that; each run would feel a count
            self._limit = max(before, depth + self._calls)
            if not _limits:
                _limits.append(before)
            _limits.append(self._limit)
            sys.setrecursionlimit(self._limit)

    def __exit__(self, *raised: object) -> None:
        with _changing:
            if len(_limits) == 2:  # no other is open, which is usual
                sys.setrecursionlimit(_limits[0])
                _limits.clear()
            else:
                _limits.remove(self._limit)
                sys.setrecursionlimit(max(_limits))


def _depth() -> int:
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth
