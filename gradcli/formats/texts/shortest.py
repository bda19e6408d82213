"""The shortest texts of many floats that read back to the same bits, equal to `repr`'s.

A float from 1e-4 to 1e16, times a power of ten that is a float itself, is the exact sum of two
floats. Its first 15, 16 or 17 digits are the shortest text if they lie within half the distance to
the next float. Below a power of two the next float is closer, but the powers from 1e-4 to 1e16 have
at most 16 digits, which are exact. Close calls and all other floats are left to `repr`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_LEAST, _MOST = 1e-4, 1e16  # `repr` writes no exponent between them
_POWERS = np.array([10.0**k for k in range(-4, 17)])
_SCALES = np.array([10.0 ** (20 - k) for k in range(20)])  # by power: the factor to 17 digits
_SPLIT = 2.0**27 + 1.0
_HIGH = _SCALES * _SPLIT - (_SCALES * _SPLIT - _SCALES)
_LOW = _SCALES - _HIGH
_CLOSE = 1e-6
_FOUR = np.array([list(b"%04d" % k) for k in range(10_000)], np.uint8).view(np.uint32).ravel()
_WIDTH = 25  # characters of the longest text, and a delimiter


def delimited(rows: Any, delimiter: bytes) -> bytes:
    """The texts of a matrix of floats: a row a line, with delimiters between numbers."""
    flat = np.ascontiguousarray(rows, np.float64).ravel()
    sizes = np.abs(flat)
    is_zero = sizes == 0.0
    is_usual = (sizes >= _LEAST) & (sizes < _MOST)
    digits, power, is_sure = _digits(np.where(is_usual, sizes, 1.0))
    digits[is_zero] = 0
    signs, ends = _laid_out(digits, power)
    signs[:, 0] = ord("-")
    is_written = np.arange(_WIDTH, dtype=np.int8) < ends[:, None]
    is_written[:, 0] = np.signbit(flat)
    odd = np.flatnonzero(~(is_usual & is_sure | is_zero))
    for place, number in zip(odd.tolist(), flat[odd].tolist(), strict=True):
        text = float.__repr__(number).encode()
        signs[place, : len(text)] = list(text)
        is_written[place] = False
        is_written[place, : len(text)] = True
    is_written[:, -1] = True
    last = signs.reshape(*np.shape(rows), _WIDTH)[..., -1]
    last[:] = ord(delimiter)
    last[:, -1] = ord("\n")
    found: bytes = signs[is_written].tobytes()
    return found


def _digits(x: Any) -> tuple[Any, Any, Any]:
    """17 digits of each float as an int, zeros after the shortest; the power of ten of the first
    digit; and a mask of the floats whose digits are certain.
    """
    place = np.searchsorted(_POWERS, x, "right") - 1
    high = x * (scale := _SCALES[place])
    part = x * _SPLIT
    upper = part - (part - x)
    lower = x - upper
    up, low = _HIGH[place], _LOW[place]
    rest = ((upper * up - high) + upper * low + lower * up) + lower * low
    bits = x.view(np.int64)
    half = (((bits >> 52) - 53) << 52).view(np.float64) * scale  # of the distance to the next
    whole = high.astype(np.int64)
    two, one = whole % 100 + rest, whole % 10 + rest
    by_two, by_one, by_none = np.rint(two / 100), np.rint(one / 10), np.rint(rest)
    off_two, off_one = np.abs(two - 100 * by_two), np.abs(one - 10 * by_one)
    off_none = np.abs(rest - by_none)
    is_15 = off_two < half
    is_16 = off_one < half
    found = np.where(
        is_15, (two - 100 * by_two), np.where(is_16, one - 10 * by_one, rest - by_none)
    )
    found = whole - np.rint(found - rest).astype(np.int64)
    sure_15 = np.abs(off_two - half) > _CLOSE
    sure_16 = (np.abs(off_one - half) > _CLOSE) & (np.abs(off_one - 5) > _CLOSE)
    sure_17 = np.abs(off_none - 0.5) > _CLOSE
    is_sure = sure_15 & (is_15 | (sure_16 & (is_16 | sure_17)))
    return found, place - 4, is_sure & (found < 10**17)


def _laid_out(digits: Any, power: Any) -> tuple[Any, Any]:
    """The characters of each text, after a place for a minus sign, and where it ends."""
    order = np.argsort(power.astype(np.int8), kind="stable")  # groups equal positions of the point
    digits, power = digits[order], power[order]
    groups = np.empty((len(digits), 5), np.uint32)
    rest = digits
    for k in (4, 3, 2, 1):
        rest, group = np.divmod(rest, 10_000)
        groups[:, k] = _FOUR[group]
    groups[:, 0] = _FOUR[rest]
    written = groups.view(np.uint8)[:, 3:]
    count = 17 - _zeros_behind(digits)
    signs = np.full((len(digits), _WIDTH), ord("0"), np.uint8)
    ends = np.empty(len(digits), np.int8)
    first = 0
    for k in (np.flatnonzero(np.bincount(power + 4)) - 4).tolist():
        among = slice(first, first := int(np.searchsorted(power, k, "right")))
        if k >= 0:
            signs[among, 1 : k + 2] = written[among, : k + 1]
            signs[among, k + 2] = ord(".")
            signs[among, k + 3 : 19] = written[among, k + 1 :]
            ends[among] = 2 + np.maximum(count[among], k + 2)
        else:
            signs[among, 2] = ord(".")
            signs[among, 2 - k : 19 - k] = written[among]
            ends[among] = 2 - k + count[among]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return signs[back], ends[back]


def _zeros_behind(digits: Any) -> Any:
    """The number of trailing zeros among 17 digits."""
    zeros = np.zeros(len(digits), np.int8)
    ending = np.flatnonzero(digits % 10 == 0)
    left = digits[ending]
    count = np.zeros(len(left), np.int8)
    for k in (8, 4, 2, 1, 1):
        quotient, rest = np.divmod(left, 10**k)
        even = rest == 0
        left = np.where(even, quotient, left)
        count += np.where(even, np.int8(k), np.int8(0))
    zeros[ending] = count
    return zeros
