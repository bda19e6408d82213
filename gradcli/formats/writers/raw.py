"""Numbers alone, one a line, in row-major order."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.formats.texts.literal import numbers
from gradcli.results import Value


def raw(values: Iterable[Value]) -> str:
    """The numbers of the values, one after the other."""
    return "".join(f"{number}\n" for value in values for number in numbers(value))
