"""The median of more numbers than memory holds, in a few passes over them, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from gradcli.models.triangle import Array

_AT_ONCE = 1 << 16  # numbers that are sorted in memory
_BINS = 1 << 12

Numbers: TypeAlias = Iterable[Array]
"""The numbers of a part, some at a time."""
Each: TypeAlias = Callable[..., Iterator[Any]]
"""Gives the answers of a function to the numbers of each part, and to more, part by part."""


def median(each: Each) -> float:
    """The median of finite numbers; of an even count the middle of the two in the middle; nan of
    none.
    """
    ends = [found for found in each(_ends) if found is not None]
    if not ends:
        return float("nan")
    count = sum(size for size, _, _ in ends)
    low, high = min(low for _, low, _ in ends), max(high for _, _, high in ends)
    below = 0  # numbers under `low`
    ranks = (count - 1) // 2, count // 2
    inside = count
    while inside > _AT_ONCE and low < high:
        edges = np.linspace(low, high, _BINS + 1)
        found = sum(each(_histogram, edges), np.zeros(_BINS, np.int64))
        sums = below + np.concatenate([[0], np.cumsum(found)])
        a, b = (int(np.searchsorted(sums, rank, "right")) - 1 for rank in ranks)
        narrowed = edges[a], edges[b + 1]
        if narrowed == (low, high):
            break
        low, high = narrowed
        below, inside = int(sums[a]), int(sums[b + 1] - sums[a])
    if inside > _AT_ONCE:
        return float(0.5 * (low + high))  # neighbours, or equal
    several = [*each(_between, low, high)]
    kept = np.concatenate([numbers for numbers, _ in several])
    under = sum(count for _, count in several)
    return 0.5 * sum(float(np.partition(kept, rank - under)[rank - under]) for rank in ranks)


def _ends(numbers: Numbers) -> tuple[int, float, float] | None:
    """How many numbers there are, the least and the largest; None of none."""
    found = [(len(part), part.min(), part.max()) for part in numbers if len(part)]
    if not found:
        return None
    counts, lows, highs = zip(*found, strict=True)
    return sum(counts), min(lows), max(highs)


def _histogram(numbers: Numbers, edges: Array) -> Any:
    """How many numbers are in each bin."""
    counts = (np.histogram(part, edges)[0] for part in numbers)
    return sum(counts, np.zeros(len(edges) - 1, np.int64))


def _between(numbers: Numbers, low: float, high: float) -> tuple[Array, int]:
    """The numbers from one through another, and how many are below them."""
    kept, below = [np.zeros(0)], 0
    for part in numbers:
        kept.append(part[(part >= low) & (part <= high)])
        below += int(np.count_nonzero(part < low))
    return np.concatenate(kept), below
