"""The steps that a run takes to solve differential equations, for other runs to take the same."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.record import Record


class Steps(Record):
    """The steps of one solution.

    Fields:
        times: the times of the solution.
        lengths: the lengths of the steps to each time from the one before; none to the first.
    """

    __slots__ = ("times", "lengths")
    times: Sequence[float]
    lengths: list[list[float]]

    def take(self, i: int, length: float) -> None:
        """Add a step towards the time of a number."""
        self.lengths[i].append(float(length))


class TakenSteps:
    """The steps of all solutions of a run, in the order of their calls.

    Args:
        before: those of a run at another point, to be taken again. A call that was not there takes
            the steps of the last.
    """

    def __init__(self, before: Sequence[Steps] = ()) -> None:
        self.calls: list[Steps] = []
        self._before = before

    def of(self, times: Sequence[float]) -> tuple[Steps, bool]:
        """The steps of the next solution, and whether they are known."""
        if self._before:
            steps = self._before[min(len(self.calls), len(self._before) - 1)]
            if len(steps.times) == len(times):
                self.calls.append(steps)
                return steps, True
        steps = Steps(times, [[] for _ in times])
        self.calls.append(steps)
        return steps, False
