"""A function of a point whose evaluations are counted, for searches by SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from gradcli.models.triangle import Array

Found = TypeVar("Found")

INTERRUPTED = "interrupted"
"""Why a search has ended at Ctrl-C."""


class Ended(Exception):
    """The end, out of SciPy's iteration."""


class Counted(Generic[Found]):
    """A function that knows its last answer.

    Args:
        at: The function.
        most: The most evaluations.

    Fields:
        count: How many there were.
        nan: The last point at which the function was nan; None if there is none.
    """

    def __init__(self, at: Callable[[Array], Found], most: int) -> None:
        self._at, self._most = at, most
        self._last: tuple[bytes, Found] | None = None
        self.count = 0
        self.nan: Array | None = None

    @property
    def is_spent(self) -> bool:
        """True if there are no evaluations left."""
        return self.count >= self._most

    def __call__(self, point: Array) -> tuple[Found, bool]:
        """The function at a point, and whether that is another point than the last.

        Raises:
            Ended: If there are no evaluations left.
        """
        key = point.tobytes()
        if self._last is not None and key == self._last[0]:
            return self._last[1], False
        if self.is_spent:
            raise Ended
        self.count += 1
        found = self._at(point)
        self._last = key, found
        return found, True


def place(labels: Sequence[str], point: Array) -> str:
    """A point as people read it, of many unknowns the first."""
    pairs = [*zip(labels, point.tolist(), strict=True)]
    return ", ".join(f"{name}={x:.6g}" for name, x in pairs[:_NAMED])


_NAMED = 3
