"""Limits of a compiled program while it runs, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_byte

MOST = 2**63 - 1
"""Turns of a program that nobody limits."""


class Left(Exception):
    """Compiled code has left: the interpreter has the answer. `reason` says why, as "steps" where
    it has done all turns that it may, "memory", "stopped", or what a `Leave` of the program says.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def nowhere(text: str) -> None:
    """Where texts go that nobody reads."""


def nothing() -> int:
    """The bytes that there are beside those that a call may take without asking."""
    return 0


class Control:
    """What a call of compiled code keeps to.

    Fields:
        stop: Code looks at it in each turn of a loop, and leaves where its `value` is not 0. Any
            thread may write it.
        turns: The turns of loops that the code may do, all of them together; a call that has an
            answer takes from it what it has done. The rows of one call have so many each.
        memory: Bytes that the stacks of a call may take without asking.
        more: Asked where they need more than that: how many bytes are left then.
        echo: Takes the texts that the program prints, in their order.
    """

    __slots__ = ("echo", "memory", "more", "stop", "turns")

    def __init__(
        self,
        turns: int = MOST,
        memory: int = MOST,
        echo: Callable[[str], None] = nowhere,
        more: Callable[[], int] = nothing,
    ) -> None:
        self.stop = c_byte(0)
        self.turns = turns
        self.memory = memory
        self.more = more
        self.echo = echo
