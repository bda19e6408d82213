"""`math.hypot` in arithmetic alone, bit for bit: compiled code cannot call CPython's own.

Source: vector_norm in CPython's Modules/mathmodule.c. Its versions square exactly in two ways
(splitting in 3.11, fma from 3.12 on) with the same result, and differ for the smallest numbers.
"""

from __future__ import annotations

import math
import sys
from math import inf, nan

from gradcli.engine.numerics import ieee

_NORMAL = sys.float_info.min
_TINY = _NORMAL / 4.0
_SPLIT = 2.0**27 + 1.0
_SCALES_TINY = sys.version_info >= (3, 12)


def hypot(x: float, y: float) -> float:
    """The square root of x * x + y * y."""
    x, y = abs(float(x)), abs(float(y))
    if math.isinf(x) or math.isinf(y):
        return inf
    if math.isnan(x) or math.isnan(y):
        return nan
    large = x if x > y else y
    if large == 0.0:
        return 0.0
    if large >= _NORMAL:
        return _norm(x, y, binade(large))
    if large >= 2.0 * _TINY:
        return _norm(x, y, 2.0 * _TINY)
    if large >= _TINY:
        return _norm(x, y, _TINY)
    if _SCALES_TINY:
        return _norm(x / _NORMAL, y / _NORMAL, binade(large / _NORMAL)) * _NORMAL
    return _plain_norm(ieee.div(x, large), ieee.div(y, large)) * large


def binade(x: float) -> float:
    """The largest power of two up to a normal x above zero."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


def _norm(x: float, y: float, unit: float) -> float:
    """The norm, where `unit` is the binade of the larger number. Squares and sums are exact: the
    rounding errors are kept beside the rounded values. One Newton step corrects the square root.
    """
    scale = ieee.div(0.5, unit)
    xx, error_x = _square(x * scale)
    yy, error_y = _square(y * scale)
    total, rest_x = _sum(1.0, xx)
    total, rest_y = _sum(total, yy)
    root = ieee.sqrt(total - 1.0 + ((error_x + error_y) + (rest_x + rest_y)))
    square, error = _square(root)
    total, rest = _sum(total, -square)
    left = total - 1.0 + ((error_x + error_y - error) + (rest_x + rest_y + rest))
    corrected: float = root + ieee.div(left, 2.0 * root)
    return corrected * 2.0 * unit


def _plain_norm(x: float, y: float) -> float:
    total, rest_x = _sum(1.0, x * x)
    total, rest_y = _sum(total, y * y)
    return ieee.sqrt(total - 1.0 + (rest_x + rest_y))


def _square(x: float) -> tuple[float, float]:
    """The rounded square of x and its error (T. J. Dekker, 1971)."""
    far = _SPLIT * x
    high = far - (far - x)
    low = x - high
    near = x * x
    return near, high * high - near + 2.0 * high * low + low * low


def _sum(large: float, small: float) -> tuple[float, float]:
    """The rounded sum of two numbers and its error, where |large| >= |small|."""
    near = large + small
    return near, (large - near) + small
