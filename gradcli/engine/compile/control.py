"""Limits of a compiled program while it runs, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_byte

MOST = 2**63 - 1
"""Turns of a program that nobody limits."""


class Left(Exception):
    """Compiled code has bailed out, and the interpreter repeats the run. `reason` is "steps" if all
    allowed turns are used up, "memory", "stopped", or the reason of a `Leave` instruction.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def nowhere(text: str) -> None:
    """Discard a text."""


def nothing() -> int:
    """Grant no further bytes."""
    return 0


class Control:
    """The limits of a call of compiled code.

    Fields:
        stop: Code reads it in each turn of a loop and bails out if its `value` is not 0. Any thread
            may write it.
        turns: The number of turns that all loops together may do. A call that succeeds subtracts
            its turns. Each row of a call has this number.
        memory: The bytes that the stacks of a call may take without asking.
        more: Called if they need more; returns the number of bytes that are left.
        whole: The same where all that the process has counts, not only what the call has taken;
            loops that need more keep checkpoints.
        echo: Takes the texts that the program prints, in order.
    """

    __slots__ = ("echo", "memory", "more", "stop", "turns", "whole")

    def __init__(
        self,
        turns: int = MOST,
        memory: int = MOST,
        echo: Callable[[str], None] = nowhere,
        more: Callable[[], int] = nothing,
        whole: Callable[[], int] | None = None,
    ) -> None:
        self.stop = c_byte(0)
        self.turns = turns
        self.memory = memory
        self.more = more
        self.whole = whole or more
        self.echo = echo
