"""Numbers as files write them."""

from __future__ import annotations

import math

INTS = range(-(2**63), 2**63)
WORDS = {
    **{word: float(word) for word in ("nan", "inf", "-inf", "NaN", "Infinity", "-Infinity")},
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class TooLarge(ValueError):
    """A number that no float can hold."""


def number(text: str) -> int | float | bool:
    """The number that a text is, blanks around it aside.

    Raises:
        ValueError: If it is none; TooLarge if no float can hold it.
    """
    text = text.strip()
    word = WORDS.get(text)
    if word is not None:
        return word
    if "_" in text or not text.isascii():  # which Python takes for a number
        raise ValueError(text)
    return whole(text) if text.lstrip("+-").isdigit() else real(text)


def whole(text: str) -> int | float:
    """The number that digits are: an int, or a float where 64 bits do not hold it."""
    if len(text) < 19 or (len(text) < 21 and int(text) in INTS):
        return int(text)
    return real(text)


def real(text: str) -> float:
    """The float that a text is."""
    value = float(text)
    if math.isinf(value) and any(map(str.isdigit, text)):
        raise TooLarge(text)
    return value
