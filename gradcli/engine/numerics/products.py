"""Products of matrices, the large ones in pieces that are done at the same time.

What BLAS adds up depends on how many threads of its own it has. Here each piece is a product by
itself, cut by the sizes alone, so that the digits are the same however many are at work.
"""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from gradcli.engine.values.data import Data, Quiet, np
from gradcli.errors import run_error
from gradcli.machine import THREADS, processors

Piece: TypeAlias = tuple[Data, Data, Data]
"""Two factors, and the part of the result that their product fills."""

PIECE = 384
"""Rows or columns of a piece: a multiple of what BLAS takes at a time, so that it does the same
work as on the whole.
"""

LARGE = 1 << 27
"""Multiplications from which a product is cut: some milliseconds of work, so that threads pay."""


def product(a: Data, b: Data) -> Data:
    """The result of `np.matmul` for floats.

    Raises:
        ValueError: If the shapes do not fit.
        RunError: `bad-argument` where the environment asks for no number of threads.
    """
    if a.ndim != 2 or b.ndim != 2 or a.size * b.shape[1] < LARGE or a.shape[1] != b.shape[0]:
        return np.matmul(a, b)
    rows, columns = a.shape[0], b.shape[1]
    out = np.empty((rows, columns), np.result_type(a, b))
    if rows >= columns:
        pieces = [(a[k : k + PIECE], b, out[k : k + PIECE]) for k in range(0, rows, PIECE)]
    else:
        starts = range(0, columns, PIECE)
        pieces = [(a, b[:, k : k + PIECE], out[:, k : k + PIECE]) for k in starts]
    try:
        at_once(lambda: _take(pieces), min(threads(), len(pieces)))
    except BaseException:
        pieces.clear()
        raise
    return out


def at_once(work: Callable[[], None], threads: int) -> None:
    """Call a function in this thread and in others, so many in all, and wait for the others. An
    interrupt of this thread leaves them what they have begun. It may come between any two lines, so
    that the wait is on locks of C alone: those of `threading` are broken by it.
    """
    failed: list[BaseException] = []
    ends = []
    for _ in range(threads - 1):
        ended = allocate_lock()
        ended.acquire()
        start_new_thread(_help, (work, failed, ended))
        ends.append(ended)
    work()
    for ended in ends:
        ended.acquire()
    if failed:
        raise failed[0]


def _help(work: Callable[[], None], failed: list[BaseException], ended: LockType) -> None:
    """Call a function in a thread, and release the lock at the end."""
    try:
        work()
    except BaseException as error:
        failed.append(error)
    finally:
        ended.release()


def _take(pieces: list[Piece]) -> None:
    """Fill pieces until none is left; other threads take some, too."""
    with suppress(IndexError):
        while True:
            piece = pieces.pop()
            _fill(piece)


def _fill(piece: Piece) -> None:
    a, b, out = piece
    with Quiet():  # NumPy's settings are per thread
        np.matmul(a, b, out=out)


def threads() -> int:
    """The number of threads that work at once on what is cut in pieces.

    Raises:
        RunError: `bad-argument` where the environment asks for no number of threads.
    """
    said = os.environ.get(THREADS) or "1"
    if said == "all":
        return processors()
    if not said.isdecimal() or int(said) < 1:
        raise run_error(
            "bad-argument", f"`{THREADS}={said}` is neither a number from 1 on nor `all`"
        )
    return int(said)
