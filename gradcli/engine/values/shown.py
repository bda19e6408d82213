"""Objects that a program only shows: plots, and what notebooks display."""

from __future__ import annotations

from typing import Any


class Shown:
    """Base of objects that have every attribute and method, take every item, and can be called and
    unpacked. `run.language.pictures` says what each of these gives.
    """

    __slots__ = ()

    def spread(self, names: int) -> list[Any]:
        """What as many names get when the object is unpacked into them."""
        raise NotImplementedError
