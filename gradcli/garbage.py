"""Python's search for cycles, which makes many objects that stay cost more than they are."""

from __future__ import annotations

import gc


class Uncollected:
    """A stretch in which Python looks for no cycles: what is made in it is many and stays, as a
    graph does, or is soon gone, and has few.
    """

    __slots__ = ("_collecting",)

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *error: object) -> None:
        if self._collecting:
            gc.enable()
