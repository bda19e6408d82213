"""The work that specializing a program may take."""

from __future__ import annotations

import math

from gradcli.engine.compile.typed import NotCompilable


class Budget:
    """Counts the instructions of the ops program that are followed, in each turn and round anew,
    the values that are merged behind branches, and the items of lists that loops change: these take
    most of the time.

    Args:
        most: How many there may be, in all attempts to specialize a program together.

    Fields:
        used: how many there were.
    """

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self.used = 0

    @property
    def is_used_up(self) -> bool:
        """True if the program would take more work than it may."""
        return self.used > self._most

    def use(self, count: int) -> None:
        """Count some work.

        Raises:
            NotCompilable: If it is too much.
        """
        self.used += count
        if self.used > self._most:
            raise NotCompilable("making code takes longer than it may save")
