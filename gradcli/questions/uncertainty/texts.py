"""Read values with an uncertainty: `5.0+/-0.1`, `5.0±2%`, `5.00(12)`, `5.0+/-0.1:dof=9`."""

from __future__ import annotations

import re
from math import inf

from gradcli.record import Record

SHAPES = ("normal", "uniform", "triangular", "t")
"""The shapes of distributions."""

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DIGITS = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_POWER = r"[eE][-+]?\d+"
_SIGN = r"\s*(?:\+/-|±)\s*"
_SHORT = rf"({_DIGITS})\((\d+\.?\d*|\.\d+)\)({_POWER})?"  # 5.00(12)
_COMMON = rf"\(\s*({_DIGITS}){_SIGN}({_NUMBER})\s*\)({_POWER})"  # (5.0+/-0.1)e3
_LONG = rf"({_NUMBER}){_SIGN}({_NUMBER})(%)?"
_ITEM = re.compile(rf"{_SHORT}|{_COMMON}|{_LONG}|({_NUMBER})")
_SUM = re.compile(rf"\s*({_NUMBER})\s*\+\s*-\s*({_NUMBER})(%)?\s*")
_BETWEEN = re.compile(_SIGN)
_SUFFIX = re.compile(rf":\s*(?:dof=({_NUMBER})|(normal|uniform|triangular)|t\(({_NUMBER})\))\s*$")


class Uncertain(Record):
    """A value with an uncertainty, as it is written.

    Fields:
        value: The text of the value, a constant expression.
        width: The text of the number behind `+/-`, or of a list of them.
        percent: True if that is in per cent of the value.
        dof: Degrees of freedom of the uncertainty; infinite if none are written.
        shape: The shape of the distribution, one of `SHAPES`.
        degrees: The degrees of freedom of the shape `t`; infinite for others.
    """

    __slots__ = ("value", "width", "percent", "dof", "shape", "degrees")
    value: str
    width: str
    percent: bool
    dof: float
    shape: str
    degrees: float


def uncertain(text: str) -> Uncertain | None:
    """A value with an uncertainty; None if the text has none."""
    body, dof, shape, degrees = suffixes(text)
    how = (dof, shape, degrees)
    bare = body.strip()
    if (found := _ITEM.fullmatch(bare)) is not None:
        value, width, percent = _item(found)
        return Uncertain(value, width, percent, *how) if width else None
    signs = [m for m in _BETWEEN.finditer(body) if _is_outermost(body, m.start())]
    if len(signs) == 1:
        (sign,) = signs
        width, percent = body[sign.end() :].strip(), False
        if width.endswith("%"):
            width, percent = width[:-1].strip(), True
        value = body[: sign.start()].strip()
        is_whole = value and width and ":" not in width
        return Uncertain(value, width, percent, *how) if is_whole else None
    if bare.startswith("[") and not signs and _BETWEEN.search(bare):
        return _list(bare, how)
    return None


def in_sum(text: str) -> Uncertain | None:
    """The value in `5.0+-0.1`, which Python takes for a sum."""
    body, dof, shape, degrees = suffixes(text)
    found = _SUM.fullmatch(body)
    if found is None:
        return None
    return Uncertain(found[1], found[2], found[3] is not None, dof, shape, degrees)


def sum_of(text: str) -> tuple[str, str] | None:
    """The numbers of `5.0+-0.1`, which is Python's sum of a number and a negative one."""
    found = _SUM.fullmatch(text)
    return None if found is None or found[3] else (found[1], found[2])


def has_sign(text: str) -> bool:
    """True if a text has the sign of an uncertainty."""
    return _BETWEEN.search(text) is not None


def suffixes(text: str) -> tuple[str, float, str, float]:
    """The text before `:dof=9`, `:uniform` and the like, and what they say."""
    dof, shape, degrees = inf, "normal", inf
    while (found := _SUFFIX.search(text)) is not None:
        if found[1] is not None:
            dof = float(found[1])
        elif found[2] is not None:
            shape = found[2]
        else:
            shape, degrees = "t", float(found[3])
        text = text[: found.start()]
    return text, dof, shape, degrees


def without_width(text: str) -> tuple[str, str] | None:
    """The number and the suffix of a text such as `0.5:uniform`, which has no uncertainty between
    them; None for any other text.
    """
    value, *_ = suffixes(text)
    suffix = text[len(value) :].strip()
    is_number = re.fullmatch(_NUMBER, value.strip()) is not None
    return (value.strip(), suffix) if suffix and is_number else None


def _item(found: re.Match[str]) -> tuple[str, str, bool]:
    """Value, width and whether that is in per cent; of a number alone the width is ""."""
    short, digits, power, common, beside, exponent, long, width, percent, alone = found.groups()
    if short is not None:
        if "." not in digits:
            digits = f"{digits}e-{len(short.partition('.')[2])}"
        return short + (power or ""), _scaled(digits, power or ""), False
    if common is not None:
        return common + exponent, _scaled(beside, exponent), False
    if long is not None:
        return long, width, percent is not None
    return alone, "", False


def _scaled(digits: str, power: str) -> str:
    """A number times a power of ten, both texts, without rounding twice."""
    mantissa, _, own = digits.lower().partition("e")
    return f"{mantissa}e{int(own or '0') + int(power[1:] or '0')}"


def _list(text: str, how: tuple[float, str, float]) -> Uncertain | None:
    """A list whose items have uncertainties of their own; a number alone has none."""
    if any(m[9] for m in _ITEM.finditer(text)):
        return None  # a percentage in a list has nothing that could hold it
    value = _ITEM.sub(lambda m: _item(m)[0], text)
    width = _ITEM.sub(lambda m: _item(m)[1] or "0.0", text)
    return Uncertain(value, width, False, *how)


def _is_outermost(text: str, place: int) -> bool:
    before = text[:place]
    opened = sum(before.count(sign) for sign in "([{")
    return opened == sum(before.count(sign) for sign in ")]}")
