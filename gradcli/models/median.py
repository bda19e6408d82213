"""The median of more numbers than memory holds, in a few passes over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gradcli.models.triangle import Array

_AT_ONCE = 1 << 16  # numbers that are sorted in memory
_BINS = 1 << 12


def median(numbers: Callable[[], Iterable[Array]]) -> float:
    """The median of finite numbers; of an even count the middle of the two in the middle.

    Args:
        numbers: Gives all numbers, some at a time, at each call.
    """
    parts = iter(numbers())
    first, second = next(parts, np.zeros(0)), next(parts, None)
    if second is None:
        return float(np.median(first))
    counts = [(len(part), part.min(), part.max()) for part in numbers() if len(part)]
    count = sum(size for size, _, _ in counts)
    low, high = min(low for _, low, _ in counts), max(high for _, _, high in counts)
    below = 0  # numbers under `low`
    ranks = (count - 1) // 2, count // 2
    inside = count
    while inside > _AT_ONCE and low < high:
        edges = np.linspace(low, high, _BINS + 1)
        found = np.zeros(_BINS, np.int64)
        for part in numbers():
            found += np.histogram(part, edges)[0]
        sums = below + np.concatenate([[0], np.cumsum(found)])
        a, b = (int(np.searchsorted(sums, rank, "right")) - 1 for rank in ranks)
        narrowed = edges[a], edges[b + 1]
        if narrowed == (low, high):
            break
        low, high = narrowed
        below, inside = int(sums[a]), int(sums[b + 1] - sums[a])
    if inside > _AT_ONCE:
        return float(0.5 * (low + high))  # neighbours, or equal
    kept = np.concatenate([part[(part >= low) & (part <= high)] for part in numbers()])
    under = sum(int(np.count_nonzero(part < low)) for part in numbers())
    return 0.5 * sum(float(np.partition(kept, rank - under)[rank - under]) for rank in ranks)
