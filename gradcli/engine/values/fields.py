"""Named results of an op with several results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Fields(tuple[Any, ...]):
    """Several results of one op, with names: `max(x, 0).values`."""

    name: str
    names: tuple[str, ...]

    def __new__(cls, name: str, names: tuple[str, ...], values: Iterable[Any]) -> Fields:
        made = super().__new__(cls, values)
        made.name = name
        made.names = names
        return made


class Named(Fields):
    """Several named values that are not an op's results; printed as Python's named tuples."""


VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
"""The types of views of a dictionary's keys, values or pairs."""
