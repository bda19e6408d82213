"""The state that machine code and Python share while the code runs: words in memory."""

from __future__ import annotations

STOP, TURNS, WORDS, USED, ROOM, REASON, SERVE, REFUSED, ARENA, _FIRST = range(10)
"""The words, in this order:

- STOP: the address of a byte that is not zero once the code must stop;
- TURNS: the number of loop turns that are left;
- WORDS, USED, ROOM: the address of the buffer for texts, the words in it, and its size in words;
- REASON: why the code has bailed out, a place in `REASONS`;
- SERVE: the Python function that the code calls for what it cannot do itself;
- REFUSED: 0 if that has done it. The code writes a 1 before each call, as an error from outside may
  end the function at its start;
- ARENA: the address of the memory for arrays.

The words of each stack follow.
"""

BASE, END, TOP, _EACH = range(4)
"""The words of a stack: where its memory begins and ends, and its top while it grows."""


def of_stack(k: int, field: int) -> int:
    """The index of the word for a field of stack k."""
    return _FIRST + _EACH * k + field


def count(stacks: int) -> int:
    """The number of words for so many stacks."""
    return of_stack(stacks, 0)


FLUSH = -1
"""The code calls `SERVE` with a request and an amount:

- FLUSH: write out the texts; the amount is the number of words that the next one needs;
- the index of a stack: make it larger by an amount of bytes;
- the number of stacks, plus k: have the blocks of the k-th `Blockwise` instruction done; the amount
  is the address of its arguments and targets;
- `of_callback(k)`: do step k in Python; the amount is the address of the addresses of its arrays.
"""


def of_callback(k: int) -> int:
    """The request to do step k in Python."""
    return FLUSH - 1 - k


NUMBER, STOPPED, STEPS, MEMORY, TEXTS = "number", "stopped", "steps", "memory", "texts"
REASONS = (NUMBER, STOPPED, STEPS, MEMORY, TEXTS)
"""Why code bails out by itself: a number without an answer here, a stop by the user, or too many
steps, too much memory or too many texts.
"""
