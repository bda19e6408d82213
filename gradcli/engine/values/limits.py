"""Count steps and calls of a run, and measure memory before large values are made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from threading import local
from typing import Any, NoReturn

from gradcli.errors import DepthError, Diagnostic, LimitError
from gradcli.limits import DEFAULT, MOST_CALLS, OPTIONS, Limits, human
from gradcli.machine import free, resident

_ITEM = 8  # bytes of a float64, of a reference in a list
_LARGE = 1 << 23  # bytes; the watchdog sees smaller ones in time
_SMALL = 1 << 16  # bytes; smaller ones are not checked beforehand


_ENDLESS = 2**62


class Counters:
    """The turns of loops and calls that a run has left (`steps`), and the calls within each other
    (`depth`): numbers that code of any kind can count down.

    Args:
        limits: The limits of the run.
        patience: Called wherever steps begin; returns how many more may follow. May be None.
    """

    __slots__ = ("_behind", "_patience", "depth", "limits", "steps")

    @property
    def exact(self) -> bool:
        """True if anybody wants all steps and calls counted."""
        limits = self.limits
        wanted = limits.steps is not None or self._patience is not None
        return wanted or limits.depth != MOST_CALLS

    def __init__(self, limits: Limits, patience: Callable[[], int] | None = None) -> None:
        self.limits = limits
        self.depth = limits.depth
        most = _ENDLESS if limits.steps is None else limits.steps
        self._patience = patience
        self.steps, self._behind = (most, 0) if patience is None else (0, most)

    def out_of_steps(self) -> None:
        """Steps begin: those that come next, if there may be any.

        Raises:
            LimitError: If the run takes more steps than it may.
        """
        if self._patience is not None and self._behind:
            further = min(self._patience(), self._behind)
            self._behind -= further
            self.steps += further
            return
        message = f"the run takes more than {self.limits.steps:,} steps, turns of loops and calls"
        raise limit_error("step-limit", message, "steps")

    def too_deep(self) -> NoReturn:
        """The end of a run whose calls are within each other more deeply than they may be."""
        message = f"functions call each other more than {self.limits.depth} deep"
        raise DepthError(*limit_error("recursion-limit", message, "depth").diagnostics)


class Meter:
    """The memory and the end of one question. `reached` is the limit at which it was stopped from
    outside, if it was, and `seen` whether it has taken notice.
    """

    __slots__ = ("_base", "_most", "limits", "reached", "seen")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.reached: Diagnostic | None = None
        self.seen = False
        self._base = 0
        self._most: int | None = None
        if type(limits.memory) is int:
            self._begin()

    def _begin(self) -> int:
        """Count memory from now on. A share is one of the memory that is free now."""
        memory = self.limits.memory
        self._base = resident()
        self._most = memory if type(memory) is int else int(memory * free())
        return self._most

    @property
    def most(self) -> int:
        """The number of bytes that the question may take."""
        return self._begin() if self._most is None else self._most

    @property
    def left(self) -> int:
        """The number of bytes that are left."""
        most = self.most
        return most - max(resident() - self._base, 0)

    @property
    def whole(self) -> int:
        """The number of bytes that are left where all that the process has counts."""
        return self.most - resident()

    @property
    def large(self) -> int:
        """The number of bytes from which on memory is checked before it is taken."""
        memory = self.limits.memory
        return max(min(memory // 64, _LARGE), _SMALL) if type(memory) is int else _LARGE


class Reached(BaseException):
    """Stops a question from outside, at the limit that its meter tells. It is no error that code on
    its way may take for one of its own.
    """


class _Question(local):
    """The settings and counters of the question that a thread answers."""

    meter: Meter | None = None
    printing: Any = None  # how its run wants tensors printed, where that is not as usual
    array_printing: Any = None  # how arrays, in a program of NumPy's or JAX's
    default_dtype: str = "float64"  # of floats that its run writes


QUESTION = _Question()
"""The question that a thread is at, and its meter."""


def meter() -> Meter:
    """The current question's meter; one with the default limits outside of questions."""
    return QUESTION.meter or Meter(DEFAULT)


def limit_error(code: str, message: str, field: str) -> LimitError:
    """A limit is reached; `field` is that of `Limits`."""
    return LimitError(Diagnostic(code, message, help=f"`{OPTIONS[field]}` sets this limit"))


# before it is taken -------------------------------------------------------------------------------


def check_memory(size: Sequence[int], item: int = _ITEM) -> None:
    """Refuse a tensor that does not fit into memory, before it is made.

    Raises:
        LimitError: If it does not fit.
    """
    count = math.prod(size)
    if not count:
        check_strides(size)
    elif count * item >= _SMALL:
        check_bytes(count * item, f"a tensor of size {list(size)}")


def check_items(count: int, item: int = _ITEM) -> None:
    """Refuse a list or tuple of `count` items, each of `item` bytes, if it does not fit into
    memory.
    """
    if count * item >= _SMALL:
        check_bytes(count * item, f"a list of {count:,} items")


def check_text(length: int) -> None:
    """Refuse a text of `length` characters if it does not fit into memory."""
    if length >= _SMALL:
        check_bytes(length, f"a text of {length:,} characters")


def joined_text(between: str, parts: Iterable[str]) -> str:
    """The parts of a text with something between them, if there is memory for it."""
    parts = list(parts)
    check_text(sum(map(len, parts)) + len(between) * len(parts))
    return between.join(parts)


def check_bytes(needed: int, what: str) -> None:
    """Refuse what needs so many bytes if it does not fit into memory."""
    found = meter()
    if needed < found.large:
        return
    left = found.left
    if needed > left:
        raise out_of_memory(f"{what} needs {human(needed)} of memory, and {_are(left)} left", found)


def out_of_memory(message: str, found: Meter) -> LimitError:
    """The error of a question that wants more memory than it may take."""
    if type(found.limits.memory) is int:
        message += f" of {human(found.most)}"
    return limit_error("memory-limit", message, "memory")


def _are(left: int) -> str:
    return f"{human(left)} are" if left > 0 else "none is"


def check_work(size: Sequence[int], name: str) -> None:
    """Refuse to read a view with more elements than memory could hold: it takes no memory, but
    would take forever.

    Raises:
        LimitError: If it has more.
    """
    count = math.prod(size)
    found = meter()
    if count * _ITEM > found.most:
        elements = f"the {count:,} elements of a tensor of size {list(size)}"
        message = f"`{name}` reads {elements}, more than memory could hold"
        raise limit_error("work-limit", message, "memory")


def check_strides(size: Sequence[int]) -> None:
    """Refuse a tensor that has more elements than an index can count, though it takes no memory."""
    count = math.prod(max(n, 1) for n in size)
    if count >= 1 << 59:
        message = f"a tensor of size {list(size)} has too many elements"
        raise LimitError(Diagnostic("memory-limit", message))
