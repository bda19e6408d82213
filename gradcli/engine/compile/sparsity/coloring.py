"""Columns of a matrix in groups without a common row, so that one product shows a whole group."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.engine.values.data import Data, np


def colored(rows: Data, columns: Data, count: int) -> tuple[Data, int]:
    """A color for each column that has entries, -1 for others, and the number of colors. No two
    columns of a color have an entry in one row (greedily: each column gets the first color that is
    left, in order; the columns with the most entries first if that takes fewer colors).

    Args:
        rows: The row of each entry.
        columns: Its column.
        count: The number of columns.
    """
    ordered = np.argsort(columns, kind="stable")
    rows, sizes = rows[ordered], np.bincount(columns, minlength=count)
    ends = np.cumsum(sizes)
    least = int(np.bincount(rows).max(initial=0))
    there = np.flatnonzero(sizes)
    found = _greedy(rows, ends - sizes, ends, there, count)
    if int(found.max(initial=-1)) + 1 > least:
        order = there[np.argsort(-sizes[there], kind="stable")]
        found = min(found, _greedy(rows, ends - sizes, ends, order, count), key=np.max)
    return found, int(found.max(initial=-1)) + 1


def _greedy(rows: Data, starts: Data, ends: Data, order: Iterable[int], count: int) -> Data:
    """The first color for each column, in order, that no other column in its rows has."""
    taken = [0] * (int(rows.max(initial=-1)) + 1)  # for each row a bit for each color
    row_of, first, last = rows.tolist(), starts.tolist(), ends.tolist()
    found = np.full(count, -1)
    for column in map(int, order):
        own = row_of[first[column] : last[column]]
        bits = 0
        for row in own:
            bits |= taken[row]
        free = ~bits & (bits + 1)
        for row in own:
            taken[row] |= free
        found[column] = free.bit_length() - 1
    return found
