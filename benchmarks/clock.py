"""How a workload is timed: candidates take turns, so that a noisy machine is noisy for all."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple


class Timing(NamedTuple):
    """Seconds of the repeats of one candidate."""

    least: float
    median: float


def of_children() -> float:
    """Seconds of processor time that processes started from here have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def race(
    candidates: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timing]:
    """Time each candidate `repeats` times, in turn, after one turn that is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(repeats + 1):
        for name, work in candidates.items():
            start = clock()
            work()
            if turn:
                taken[name].append(clock() - start)
    return {name: Timing(min(t), statistics.median(t)) for name, t in taken.items()}


def table(title: str, timings: Mapping[str, Timing], unit: str, scale: float, base: str) -> str:
    """The timings as lines of text, each with its ratio to that of `base`."""
    lines = [title, f"  {'':34}{'least':>11}{'median':>11}   ratio to {base}"]
    for name, t in timings.items():
        ratio = t.least / timings[base].least
        lines.append(f"  {name:34}{t.least * scale:11.3f}{t.median * scale:11.3f}   {ratio:.2f}")
    return "\n".join([*lines, f"  ({unit})", ""])
