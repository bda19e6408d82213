"""Read values with an uncertainty: `5.0+/-0.1`, `5.0±0.1`, `5.0+/-2%`."""

from __future__ import annotations

import re

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_UNCERTAIN = re.compile(rf"\s*({_NUMBER})\s*(?:\+/-|±)\s*({_NUMBER}%?)\s*")
_SUM = re.compile(rf"\s*({_NUMBER})\s*\+\s*-\s*({_NUMBER})\s*")


def value_of(text: str) -> str | None:
    """The number of a value with an uncertainty; None if the text is no such value."""
    found = _UNCERTAIN.fullmatch(text)
    return None if found is None else found[1]


def sum_of(text: str) -> tuple[str, str] | None:
    """The numbers of `5.0+-0.1`, which is Python's sum of a number and a negative one."""
    found = _SUM.fullmatch(text)
    return None if found is None else (found[1], found[2])
