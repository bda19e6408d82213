"""Read numbers as files write them."""

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
    """The number in a text, with blanks around it ignored.

    Raises:
        ValueError: If it is not a number; TooLarge if no float can hold it.
    """
    text = text.strip()
    word = WORDS.get(text)
    if word is not None:
        return word
    if "_" in text or not text.isascii():  # Python would accept it
        raise ValueError(text)
    return whole(text) if text.lstrip("+-").isdigit() else real(text)


def whole(text: str) -> int | float:
    """The number in a text of digits: an int, or a float if it exceeds 64 bits."""
    if len(text) < 19 or (len(text) < 21 and int(text) in INTS):
        return int(text)
    return real(text)


def real(text: str) -> float:
    """The float in a text."""
    value = float(text)
    if math.isinf(value) and any(map(str.isdigit, text)):
        raise TooLarge(text)
    return value
