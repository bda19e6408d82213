"""Timing that is fair to both sides: contestants take turns, and the rows say how they spread."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping

Times = dict[str, list[float]]


def take_turns(contestants: Mapping[str, Callable[[], object]], repeats: int) -> Times:
    """Seconds of each contestant, one call after the other in every round; one round warms up."""
    times: Times = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in contestants.items():
            gc.collect()
            start = time.perf_counter()
            work()
            if turn:
                times[name].append(time.perf_counter() - start)
    return times


def table(title: str, times: Times, base: str, unit: str = "ms", per: float = 1.0) -> str:
    """A table in Markdown: median and least time, and the ratio of the least to that of `base`.

    Args:
        title: What was measured.
        times: Seconds of each contestant.
        base: The contestant that the ratios refer to.
        unit: "s", "ms" or "us".
        per: How many iterations or nodes a time covers.
    """
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit] / per
    lines = [
        f"### {title}",
        "",
        f"| | median, {unit} | least, {unit} | ratio |",
        "|---|---|---|---|",
    ]
    for name, spent in times.items():
        median, least = statistics.median(spent) * scale, min(spent) * scale
        lines.append(
            f"| {name} | {median:.3g} | {least:.3g} | {min(spent) / min(times[base]):.2f} |"
        )
    return "\n".join([*lines, ""])
