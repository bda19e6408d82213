"""Numbers with an uncertainty for people: rounded to two digits of the uncertainty."""

from __future__ import annotations

from math import floor, isfinite, log10

_DIGITS = 2  # of an uncertainty: JCGM 100:2008, 7.2.6
_LARGE, _SMALL = 1e7, 1e-4  # beyond which powers of ten are written
_USUAL = 6  # significant digits of a number without an uncertainty


def places(uncertainty: float) -> int | None:
    """The decimal place to which a value with an uncertainty is rounded; None without one."""
    if not (isfinite(uncertainty) and uncertainty > 0.0):
        return None
    exponent = floor(log10(float(f"{uncertainty:.{_DIGITS - 1}e}")))
    return _DIGITS - 1 - exponent


def rounded(value: float, uncertainty: float) -> tuple[str, str, str]:
    """A value and its uncertainty as texts, and the power of ten that both are multiplied by:
    "" or "e-7".
    """
    place = places(uncertainty)
    if place is None or not isfinite(value):
        return f"{value:.{_USUAL}g}", f"{uncertainty:.{_DIGITS}g}", ""
    size = max(abs(value), uncertainty)
    if _SMALL <= size < _LARGE or (size >= _LARGE and place >= 0 and size < 1e12):
        return fixed(value, place), fixed(uncertainty, place), ""
    exponent = floor(log10(size))
    scale = 10.0**-exponent
    if not isfinite(scale) or scale == 0.0:
        return f"{value:.{_USUAL}g}", f"{uncertainty:.{_DIGITS}g}", ""
    own = place + exponent
    return fixed(value * scale, own), fixed(uncertainty * scale, own), f"e{exponent}"


def fixed(value: float, place: int) -> str:
    """A number rounded at a decimal place, which is below zero for tens and hundreds."""
    return f"{round(value, place) + 0.0:.{max(place, 0)}f}"


def plus_minus(value: float, uncertainty: float) -> str:
    """`25.00 ± 0.71`, or `(1.234 ± 0.012)e-7`."""
    number, beside, power = rounded(value, uncertainty)
    text = f"{number} ± {beside}"
    return f"({text}){power}" if power else text


def short(value: float, uncertainty: float) -> str:
    """`25.00(71)`, or `1.234(12)e-7`; "" where it would not be clear."""
    place = places(uncertainty)
    if place is None or not isfinite(value):
        return ""
    number, beside, power = rounded(value, uncertainty)
    digits = beside.replace(".", "").lstrip("0")
    if float(beside) >= 1.0 and "." in beside:
        digits = beside
    return f"{number}({digits}){power}"


def alone(value: float, uncertainty: float) -> str:
    """A number rounded as its uncertainty wants it: `25.00`."""
    number, _, power = rounded(value, uncertainty)
    return f"{number}{power}"


def two_digits(uncertainty: float) -> str:
    """An uncertainty with two digits: `0.10`."""
    return digits(uncertainty, _DIGITS)


def digits(value: float, count: int) -> str:
    """A number with so many significant digits, zeros included: `0.10`, `-125`, `-1.10e7`."""
    if not isfinite(value) or value == 0.0:
        return f"{value + 0.0:g}"
    mantissa, _, exponent = f"{value:.{count - 1}e}".partition("e")
    power = int(exponent)
    if -4 <= power < 6:
        return fixed(value, count - 1 - power)
    return f"{mantissa}e{power}"
