"""Scalar functions on Python numbers that follow IEEE arithmetic and never raise, without NumPy.

Python's own operators and `math` raise where IEEE has inf and nan. Integers are signed 64-bit: a
result outside of that range, and an integer division by zero, is an error here, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import copysign, inf, nan
from typing import Any, TypeAlias

from gradcli.engine.values.data import INT64_MAX, INT64_MIN
from gradcli.engine.values.sizes import describe, no_int, number
from gradcli.engine.values.sizes import whole as an_int
from gradcli.errors import RunError, run_error

Num: TypeAlias = Any
"""A Python float, int or bool."""

Function: TypeAlias = Callable[..., Any]

LN2 = math.log(2.0)
LN10 = math.log(10.0)

_exp, _log, _sqrt, _pow, _fmod = math.exp, math.log, math.sqrt, math.pow, math.fmod


def whole(r: Num) -> Num:
    """An integer result, checked to fit in 64 bits; a float unchanged."""
    if type(r) is float or INT64_MIN <= r <= INT64_MAX:
        return r
    raise overflow()


def overflow() -> RunError:
    """The error for an integer result outside of 64 bits."""
    return run_error(
        "integer-overflow",
        "the integer result does not fit into 64 bits",
        help="calculate with floats, as in `2.0 ** 100`",
    )


def zero_divisor(name: str) -> RunError:
    """The error for an integer divided by zero, Python's for a program that catches it."""
    said = "modulo" if name == "remainder" else "division or modulo"
    return _by_zero(name, ZeroDivisionError(f"integer {said} by zero"))


def zero_divisors(name: str) -> RunError:
    """The error for a tensor's integers divided by zero; a program catches PyTorch's."""
    return _by_zero(name, RuntimeError("ZeroDivisionError"))


def _by_zero(name: str, raises: Exception) -> RunError:
    return run_error("division-by-zero", f"integer {name} by zero", raises=raises)


# Arithmetic


def add(x: Num, y: Num, alpha: Num = 1) -> Num:
    r = x + y if alpha == 1 else x + number(alpha, "alpha") * y
    return r if type(r) is float else whole(r)


def sub(x: Num, y: Num, alpha: Num = 1) -> Num:
    r = x - y if alpha == 1 else x - number(alpha, "alpha") * y
    return r if type(r) is float else whole(r)


def mul(x: Num, y: Num) -> Num:
    r = x * y
    return r if type(r) is float else whole(r)


def div(x: Num, y: Num, rounding_mode: str | None = None) -> Num:
    if rounding_mode is None:
        return x / y if y else by_zero(x, y)
    check_rounding(rounding_mode)
    if rounding_mode == "floor":
        return floor_divide(x, y)
    return _trunc_divide(x, y)


def check_rounding(mode: Any) -> None:
    """Refuse an unknown rounding mode of a quotient."""
    if not isinstance(mode, str) or mode not in ("trunc", "floor"):
        raise run_error(
            "bad-argument", f"`rounding_mode` is None, 'trunc' or 'floor', got {describe(mode)}"
        )


def by_zero(x: Num, y: Num) -> float:
    """Quotient x / y of a y that is zero, which may have a sign."""
    if x == 0 or x != x:
        return nan
    return copysign(inf, x) * copysign(1.0, y)


def _trunc_divide(x: Num, y: Num) -> Num:
    if type(x) is float or type(y) is float:
        return trunc(x / y if y else by_zero(x, y))
    if not y:
        raise zero_divisor("division")
    q = abs(x) // abs(y)
    return whole(q if (x < 0) == (y < 0) else -q)


def floor_divide(x: Num, y: Num) -> Num:
    if type(x) is float or type(y) is float:
        return x // y if y else by_zero(x, y)
    if not y:
        raise zero_divisor("division")
    return whole(x // y)


def remainder(x: Num, y: Num) -> Num:
    if y:
        return x % y
    if type(x) is float or type(y) is float:
        return nan
    raise zero_divisor("remainder")


def fmod(x: Num, y: Num) -> Num:
    if type(x) is float or type(y) is float:
        try:
            return _fmod(x, y)
        except ValueError:
            return nan
    if not y:
        raise zero_divisor("remainder")
    r = abs(x) % abs(y)
    return -r if x < 0 else r


def neg(x: Num) -> Num:
    return -x if type(x) is float else whole(-x)


def positive(x: Num) -> Num:
    return +x


def absolute(x: Num) -> Num:
    return abs(x) if type(x) is float else whole(abs(x))


def sign(x: Num) -> Num:
    if type(x) is float:
        return 1.0 if x > 0 else -1.0 if x < 0 else x + 0.0  # of a zero the positive one
    return (x > 0) - (x < 0)


def raising_power(x: Num, y: Num) -> float:
    """A power that is a float; it raises where C's `pow` has an error. The square of a float is a
    product, as in an array and in PyTorch: `pow` has another last bit in 8 of 10,000 cases.
    """
    return x * x if y == 2 and type(x) is float else _pow(x, y)


def power(x: Num, y: Num) -> Num:
    if type(x) is float or type(y) is float or y < 0:
        try:
            return raising_power(x, y)
        except OverflowError:
            return -inf if x < 0 and y % 2 == 1 else inf
        except ValueError:
            if x == 0:
                return copysign(inf, x) if y % 2 == 1 else inf
            return nan
    if y * (abs(x).bit_length() - 1) > 63:
        raise overflow()
    return whole(x**y)


def left_shift(x: Num, n: Num) -> Num:
    if n < 0:
        raise negative_shift()
    if x == 0:
        return 0
    if n > 63:
        raise overflow()
    return whole(int(x) * 2**n)


def right_shift(x: Num, n: Num) -> Num:
    if n < 0:
        raise negative_shift()
    return int(x) // 2**n if n < 63 else -int(x < 0)


def negative_shift() -> RunError:
    """The error for bits that are to be moved a negative number of places."""
    message = "bits cannot be moved a negative number of places"
    return run_error("bad-argument", message, raises=ValueError("negative shift count"))


def float_power(x: Num, y: Num) -> float:
    return power(float(x), float(y))  # type: ignore[no-any-return]


def square(x: Num) -> Num:
    r = x * x
    return r if type(r) is float else whole(r)


def reciprocal(x: Num) -> float:
    return 1.0 / x if x else copysign(inf, x)


def sqrt(x: Num) -> float:
    try:
        return _sqrt(x)
    except ValueError:
        return nan


def rsqrt(x: Num) -> float:
    if x > 0:
        return 1.0 / _sqrt(x)
    return copysign(inf, x) if x == 0 else nan


def hypot(x: Num, y: Num) -> float:
    return math.hypot(x, y)


def lerp(x: Num, end: Num, weight: Num) -> float:
    if abs(weight) < 0.5:
        return float(x + weight * (end - x))
    return float(end - (end - x) * (1 - weight))


# Rounding


def floor(x: Num) -> Num:
    return _rounded(x, math.floor)


def ceil(x: Num) -> Num:
    return _rounded(x, math.ceil)


def trunc(x: Num) -> Num:
    return _rounded(x, math.trunc)


def within(decimals: int | None) -> int:
    """The decimals to round to, as many as a float or an int may have."""
    return min(max(0 if decimals is None else an_int(decimals, "decimals"), -400), 400)


def round_even(x: Num, decimals: int | None = None) -> Num:
    """X rounded half to even, a float as a float."""
    decimals = within(decimals)
    if type(x) is not float:
        return x if decimals >= 0 else whole(round(x, decimals))
    try:
        return copysign(round(x, decimals), x)
    except OverflowError:
        return copysign(inf, x)


def python_round(x: Num, decimals: int | None = None) -> Num:
    """Python's `round`: an int, or a float where a float is rounded to some decimals."""
    if decimals is not None:
        return round_even(x, decimals)
    if not math.isfinite(x):
        raise run_error("bad-argument", f"{x} cannot be rounded to an int", raises=no_int(x))
    return whole(round(x))


def _rounded(x: Num, to: Any) -> Num:
    if type(x) is not float or not math.isfinite(x):
        return x
    return copysign(to(x), x)


def frac(x: Num) -> Num:
    if type(x) is not float:
        return x - x
    return x - trunc(x) if math.isfinite(x) else nan


# Exponentials and logarithms


def exp(x: Num) -> float:
    try:
        return _exp(x)
    except OverflowError:
        return inf


def exp2(x: Num) -> float:
    try:
        return math.exp2(x)
    except OverflowError:
        return inf


def expm1(x: Num) -> float:
    try:
        return math.expm1(x)
    except OverflowError:
        return inf


def log(x: Num) -> float:
    try:
        return _log(x)
    except ValueError:
        return -inf if x == 0 else nan


def log2(x: Num) -> float:
    try:
        return math.log2(x)
    except ValueError:
        return -inf if x == 0 else nan


def log10(x: Num) -> float:
    try:
        return math.log10(x)
    except ValueError:
        return -inf if x == 0 else nan


def log1p(x: Num) -> float:
    try:
        return math.log1p(x)
    except ValueError:
        return -inf if x == -1 else nan


def logaddexp(x: Num, y: Num) -> float:
    if x == y:
        return float(x + LN2)
    if x != x or y != y:
        return nan
    return float(max(x, y) + math.log1p(_exp(-abs(x - y))))


def logaddexp2(x: Num, y: Num) -> float:
    if x == y:
        return float(x + 1)
    if x != x or y != y:
        return nan
    return float(max(x, y) + math.log1p(math.exp2(-abs(x - y))) / LN2)


def xlogy(x: Num, y: Num) -> float:
    return 0.0 if x == 0 and y == y else float(x * log(y))


def xlog1py(x: Num, y: Num) -> float:
    return 0.0 if x == 0 and y == y else float(x * log1p(y))


def entr(x: Num) -> float:
    if x > 0:
        return float(-x * _log(x))
    return 0.0 if x == 0 else -inf if x < 0 else nan


def sigmoid(x: Num) -> float:
    if x >= 0:
        return 1.0 / (1.0 + _exp(-x))
    e = _exp(x)
    return e / (1.0 + e)


def sech_square(x: Num) -> float:
    """1 / cosh(x) ** 2, which keeps its digits in both tails."""
    e = _exp(-abs(x))
    root = 2.0 * e / (1.0 + e * e)  # a number as long as the result is one
    return root * root


def sigmoid_slope(x: Num) -> float:
    """sigmoid(x) sigmoid(-x)."""
    e = _exp(-0.5 * abs(x))
    root = e / (1.0 + e * e)
    return root * root


def logit(x: Num, eps: float | None = None) -> float:
    if eps is not None:
        eps = number(eps, "eps")
        x = min(max(float(x), eps), 1.0 - eps) if x == x else nan
    return log(x) - log1p(-x)


# Trigonometric and hyperbolic functions


def sin(x: Num) -> float:
    try:
        return math.sin(x)
    except ValueError:
        return nan


def cos(x: Num) -> float:
    try:
        return math.cos(x)
    except ValueError:
        return nan


TOGETHER = {sin: cos, cos: sin}
"""Functions that C libraries compute in one call: by each, the other."""


def tan(x: Num) -> float:
    try:
        return math.tan(x)
    except ValueError:
        return nan


def asin(x: Num) -> float:
    try:
        return math.asin(x)
    except ValueError:
        return nan


def acos(x: Num) -> float:
    try:
        return math.acos(x)
    except ValueError:
        return nan


def sinh(x: Num) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return copysign(inf, x)


def cosh(x: Num) -> float:
    try:
        return math.cosh(x)
    except OverflowError:
        return inf


def acosh(x: Num) -> float:
    try:
        return math.acosh(x)
    except ValueError:
        return nan


def atanh(x: Num) -> float:
    try:
        return math.atanh(x)
    except ValueError:
        return copysign(inf, x) if abs(x) == 1 else nan


def sinc(x: Num) -> float:
    if x == 0:
        return 1.0
    return sin(math.pi * fmod(float(x), 2.0)) / (math.pi * float(x))


# Comparison and choice


def maximum(x: Num, y: Num) -> Num:
    if x != x or y != y:
        return nan
    return like(x if x >= y else y, x, y)


def minimum(x: Num, y: Num) -> Num:
    if x != x or y != y:
        return nan
    return like(x if x <= y else y, x, y)


def fmax(x: Num, y: Num) -> Num:
    return like(x if x >= y or y != y else y, x, y)


def fmin(x: Num, y: Num) -> Num:
    return like(x if x <= y or y != y else y, x, y)


def like(r: Num, x: Num, y: Num) -> Num:
    """r, one of x and y, in the type that both have in common."""
    if type(x) is type(y):
        return r
    return float(r) if type(x) is float or type(y) is float else int(r)


def heaviside(x: Num, values: Num) -> Num:
    return like(values if x == 0 else x if x != x else type(x)(x > 0), x, values)


def isclose(
    x: Num, y: Num, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    if x == y:
        return True
    if x != x or y != y:
        return bool(equal_nan and x != x and y != y)
    return bool(abs(x - y) <= atol + rtol * abs(y)) and math.isfinite(y)


def nan_to_num(
    x: Num, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Num:
    if x != x:
        return float(nan)
    if x == inf:
        return LARGEST if posinf is None else float(posinf)
    if x == -inf:
        return -LARGEST if neginf is None else float(neginf)
    return x


LARGEST = 1.7976931348623157e308
"""The largest finite double."""

RAISING: dict[Function, Function] = {
    power: raising_power,
    sqrt: _sqrt,
    exp: _exp,
    exp2: math.exp2,
    expm1: math.expm1,
    log: _log,
    log2: math.log2,
    log10: math.log10,
    log1p: math.log1p,
    sin: math.sin,
    cos: math.cos,
    tan: math.tan,
    asin: math.asin,
    acos: math.acos,
    sinh: math.sinh,
    cosh: math.cosh,
    acosh: math.acosh,
    atanh: math.atanh,
    hypot: math.hypot,
    absolute: abs,
}
"""The functions of `math` that some of these are on floats, where `math` does not raise."""
