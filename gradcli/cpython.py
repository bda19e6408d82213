"""What is special to CPython: recursion depth, garbage collector, imports, code of programs."""

from __future__ import annotations

import gc
import sys
from _thread import allocate_lock
from types import CodeType, FrameType

NESTED = 10_000
"""More calls than any walk over a program makes within each other."""

STACK = 64 << 20
"""Bytes of C stack that hold the 10,000 nested calls which some versions of Python allow. That many
are made to free, print or compare a deeply nested list.
"""

_USUAL = 1000
"""Python's own limit on nested calls."""

_limits: list[int] = []  # Python's limit, then those of the open rooms of all threads
_changing = allocate_lock()


def make_room() -> None:
    """Let the stack of the main thread grow to `STACK`, if the system allows it."""
    try:
        import resource
    except ImportError:  # not a system that has such limits
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


class Room:
    """A stretch in which functions may call each other `calls` levels deeper than where it begins.

    Python has one limit for all threads: it stays as high as the rooms need that other threads have
    open.
    """

    __slots__ = ("_limit", "_calls")

    def __init__(self, calls: int) -> None:
        self._calls = calls

    def __enter__(self) -> None:
        with _changing:
            before = sys.getrecursionlimit()
            # counting frames would slow down each run: the usual limit bounds the depth
            depth = before if before <= _USUAL else _depth()
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


class Uncollected:
    """A stretch without garbage collection, for work that makes many objects with few cycles.

    A graph's objects stay: looking through them for cycles would take longer than making them.
    """

    __slots__ = ("_collecting",)

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._collecting:
            gc.enable()


def leave_out(name: str) -> None:
    """Have a package count as not installed in this process, for libraries that import it if it is
    there although nothing of it is used.
    """
    sys.meta_path.insert(0, _LeftOut(name))


class _LeftOut:
    """A finder that says of one package that it is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Refuse the package, and leave all others to the next finder."""
        if name == self._name:
            raise ModuleNotFoundError(f"no module named {name!r} is wanted", name=name)


PROGRAM = "<grad program>"
"""The file's name in the code of a program."""

LIBRARY = "<grad library>"
"""The file's name in the code of the library, which is written in the language."""


def is_of_program(code: object) -> bool:
    """True for the code of a program or of the library."""
    return isinstance(code, CodeType) and code.co_filename in (PROGRAM, LIBRARY)


def is_importing(frame: FrameType | None) -> bool:
    """True if the frame imports a module, by a statement, a call or C code.

    No error from outside may end an import: C code of some modules crashes where one of their own
    imports fails, and others are left half done.
    """
    while frame is not None:
        if "importlib._bootstrap" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
