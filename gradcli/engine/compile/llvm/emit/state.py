"""What machine code and Python tell each other while the code runs: words in memory."""

from __future__ import annotations

STOP, TURNS, WORDS, USED, ROOM, REASON, SERVE, ARENA, _FIRST = range(9)
"""The words: the address of the byte that stops the code; the turns that it may do; where texts
are kept, how many words they take and may take; why the code has left; the function that serves
it; memory for arrays. Behind them is what is told of each stack.
"""

BASE, END, TOP, _EACH = range(4)
"""Of a stack: where it begins and ends, and its top while it grows."""


def of_stack(k: int, field: int) -> int:
    """The word that tells something of stack k."""
    return _FIRST + _EACH * k + field


def count(stacks: int) -> int:
    """The number of words with so many stacks."""
    return of_stack(stacks, 0)


FLUSH = -1
"""What the code asks for where it needs so many words more for texts; by the number of a stack it
asks for so many bytes more there, by `of_callback` for a step in Python, of addresses in memory.
"""


def of_callback(k: int) -> int:
    """What the code asks for to have step k in Python done, and for what it asks the step."""
    return FLUSH - 1 - k


NUMBER, STOPPED, STEPS, MEMORY, TEXTS = "number", "stopped", "steps", "memory", "texts"
REASONS = (NUMBER, STOPPED, STEPS, MEMORY, TEXTS)
"""Why code leaves by itself: a number that the interpreter has the answer of, and what it may not
take.
"""
