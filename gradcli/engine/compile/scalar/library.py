"""Functions with hand-written forms: Python's built-ins and `math`, with the errors that they
raise, and the functions of `ieee` that equal C's.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from gradcli.engine.compile.scalar.builder import CARRIERS, Builder, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import DOMAIN, OVERFLOW, SIGN, Operand
from gradcli.engine.compile.scalar.numbers import (
    INF,
    common,
    compared,
    rarely,
    refuse_nonfinite,
    size,
    to_bool,
    to_float,
    to_int,
)
from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.hypot import binade

Native = Callable[..., Any]


def native(function: Any) -> Native | None:
    """The function that emits a call, `write(b, *args)`, or None if there is none. It returns None
    for arguments that it does not support.
    """
    try:
        return _NATIVE.get(function)
    except TypeError:  # not hashable
        return None


def _of_c(name: str) -> Native:
    """A function that equals C's for all floats."""

    def write(b: Builder, *args: Any) -> Any:
        if not all(a.type == "float" for a in args):
            return None
        return Number(b.library(name, *(a.value for a in args)), "float")

    return write


def _of_numbers(name: str) -> Native:
    """A function that equals C's for all numbers, converted to floats."""
    return lambda b, *args: Number(b.library(name, *(to_float(b, a).value for a in args)), "float")


def _watchful(name: str) -> Native:
    """A function of `math` that raises OverflowError if a finite number gives inf, and ValueError
    if any number gives nan.
    """

    def write(b: Builder, *args: Any) -> Any:
        floats = [to_float(b, a).value for a in args]
        return _watched(b, b.library(name, *floats), floats)

    return write


def _watched(b: Builder, r: Operand, args: list[Operand]) -> Number:
    with rarely(b, b.put("float_is_nonfinite", r)):
        finite: Operand = True
        numbers: Operand = True
        for a in args:
            is_finite = b.put("bool_not", b.put("float_is_nonfinite", a))
            finite = b.put("bool_and", finite, is_finite)
            is_number = b.put("bool_not", b.put("float_is_nan", a))
            numbers = b.put("bool_and", numbers, is_number)
        nan = b.put("float_is_nan", r)
        b.fail(b.put("bool_and", nan, numbers), DOMAIN)
        infinite = b.put("bool_not", nan)
        b.fail(b.put("bool_and", infinite, finite), OVERFLOW)
    return Number(r, "float")


def _power(b: Builder, x: Number, y: Number) -> Number:
    """`math.pow`, which raises ValueError, not OverflowError, for a negative power of zero."""
    x, y = to_float(b, x), to_float(b, y)
    zero = b.put("float_eq", x.value, 0.0)
    below = b.put("float_lt", y.value, 0.0)
    finite = b.put("float_gt", y.value, -INF)
    pole = b.put("bool_and", zero, below)
    b.fail(b.put("bool_and", pole, finite), DOMAIN)
    return _watched(b, b.library("pow", x.value, y.value), [x.value, y.value])


def _power_of_floats(b: Builder, x: Number, y: Number) -> Number | None:
    """`ieee.power` of a float to a float or to a known number: the square is a product."""
    known = y.value if isinstance(y.value, (int, float)) else None
    if x.type != "float" or (known is None and y.type != "float"):
        return None
    square = partial(b.number, "float", "float_mul", x.value, x.value)
    if known is not None:
        return square() if known == 2 else Number(b.library("pow", x.value, float(known)), "float")
    is_two = b.put("float_eq", y.value, 2.0)
    found = b.library("pow", x.value, y.value)
    return b.number("float", "float_select", is_two, square().value, found)


def _logarithm(name: str, least: float) -> Native:
    """A function of `math` that raises ValueError up to `least`."""

    def write(b: Builder, x: Number) -> Number:
        x = to_float(b, x)
        b.fail(b.put("float_le", x.value, least), DOMAIN)
        return Number(b.library(name, x.value), "float")

    return write


def _square_root(b: Builder, x: Number) -> Number:
    x = to_float(b, x)
    b.fail(b.put("float_lt", x.value, 0.0), DOMAIN)
    return b.number("float", "float_sqrt", x.value)


def _any_square_root(b: Builder, x: Number) -> Number:
    return b.number("float", "float_sqrt", to_float(b, x).value)


def _quotient(b: Builder, x: Any, y: Any, *mode: Any) -> Any:
    if not all(isinstance(a, Number) for a in (x, y)) or "float" not in (x.type, y.type):
        return None
    if mode and mode != (None,):
        return None
    return b.number("float", "float_div", to_float(b, x).value, to_float(b, y).value)


def _reciprocal(b: Builder, x: Number) -> Number | None:
    if x.type != "float":
        return None
    return b.number("float", "float_div", 1.0, x.value)


def _copysign(b: Builder, x: Number, y: Number) -> Number:
    """`math.copysign`; fails for a nan in y, whose sign depends on how it was computed."""
    x, y = to_float(b, x), to_float(b, y)
    b.fail(b.put("float_is_nan", y.value), SIGN)
    return b.number("float", "float_copysign", x.value, y.value)


def _whole(name: str) -> Native:
    """A function of `math` that rounds to an int of any size."""

    def write(b: Builder, x: Number) -> Number:
        if x.type != "float":
            return to_int(b, x)
        refuse_nonfinite(b, x)
        near = b.library(name, x.value)
        return b.number("whole", "float_add", near, 0.0)  # removes the sign of zero

    return write


def _round(b: Builder, x: Number, decimals: Any = None) -> Number | None:
    if x.type != "float":
        return to_int(b, x) if decimals is None or _is_zero(decimals) else None
    if decimals is None:
        refuse_nonfinite(b, x)
        return b.number("whole", "float_add", _near(b, x), 0.0)
    return Number(_near(b, x), "float") if _is_zero(decimals) else None


def _is_zero(x: Any) -> bool:
    return isinstance(x, Number) and type(x.value) is int and x.value == 0


def _near(b: Builder, x: Number) -> Operand:
    """The nearest whole number, the even one of two. From 2 ** 52 on all floats are whole."""
    positive = b.put("float_abs", x.value)
    moved = b.put("float_add", positive, _ALL_WHOLE)
    near = b.put("float_sub", moved, _ALL_WHOLE)
    signed = b.put("float_copysign", near, x.value)
    small = b.put("float_lt", positive, _ALL_WHOLE)
    return b.put("float_select", small, signed, x.value)


def _is_nan(b: Builder, x: Number) -> Number:
    if x.type != "float":
        return Number(False, "bool")
    return b.number("bool", "float_is_nan", x.value)


def _is_finite(b: Builder, x: Number) -> Number:
    if x.type != "float":
        return Number(True, "bool")
    return b.number("bool", "bool_not", b.put("float_is_nonfinite", x.value))


def _is_infinite(b: Builder, x: Number) -> Number:
    if x.type != "float":
        return Number(False, "bool")
    return b.number("bool", "float_eq", b.put("float_abs", x.value), INF)


def _chosen(sign: str) -> Native:
    """Python's `min` or `max` of two numbers: the second if the comparison holds for it."""

    def write(b: Builder, x: Any, y: Any) -> Any:
        types = {x.type, y.type}
        if "whole" in types:
            raise Untranslatable("a choice of numbers that may be larger than 64 bits")
        test = compared(b, sign, y, x).value
        if len(types) > 1:
            x, y = common(b, x, types), common(b, y, types)
        return b.number(x.type, f"{CARRIERS[x.type]}_select", test, y.value, x.value)

    return write


def _times(factor: float) -> Native:
    return lambda b, x: b.number("float", "float_mul", to_float(b, x).value, factor)


def _remainder(b: Builder, x: Any, y: Any) -> Any:
    """C's `remainder`, with the sign of `x` for zero, which some libraries lose for the smallest
    numbers.
    """
    r = _watchful("remainder")(b, x, y).value
    zero = b.put("float_copysign", 0.0, to_float(b, x).value)
    is_zero = b.put("float_eq", r, 0.0)
    return b.number("float", "float_select", is_zero, zero, r)


_ALL_WHOLE = 2.0**52

_SURE = (math.cbrt, math.asinh, math.atan, math.atan2, math.tanh, math.erf, math.erfc)
_WATCHED = (
    *(math.exp, math.exp2, math.expm1, math.sin, math.cos, math.tan, math.sinh, math.cosh),
    math.fmod,
)
_AS_IN_C = (
    *(ieee.sin, ieee.cos, ieee.tan, ieee.asin, ieee.acos, ieee.sinh, ieee.cosh, ieee.acosh),
    *(ieee.atanh, ieee.exp, ieee.exp2, ieee.expm1, ieee.log, ieee.log2, ieee.log10, ieee.log1p),
)
_OF_FLOATS_AS_IN_C = (ieee.floor, ieee.ceil, ieee.trunc, ieee.fmod)

_NATIVE: dict[Any, Native] = {
    builtins.float: to_float,
    builtins.int: to_int,
    builtins.bool: to_bool,
    builtins.abs: size,
    builtins.round: _round,
    builtins.min: _chosen("Lt"),
    builtins.max: _chosen("Gt"),
    math.isnan: _is_nan,
    math.isinf: _is_infinite,
    math.isfinite: _is_finite,
    math.copysign: _copysign,
    math.remainder: _remainder,
    math.floor: _whole("floor"),
    math.ceil: _whole("ceil"),
    math.trunc: _whole("trunc"),
    math.sqrt: _square_root,
    math.pow: _power,
    math.log: _logarithm("log", 0.0),
    math.log2: _logarithm("log2", 0.0),
    math.log10: _logarithm("log10", 0.0),
    math.log1p: _logarithm("log1p", -1.0),
    math.degrees: _times(180.0 / math.pi),
    math.radians: _times(math.pi / 180.0),
    **{function: _of_numbers(function.__name__) for function in _SURE},
    **{function: _watchful(function.__name__) for function in _WATCHED},
    **{function: _of_numbers(function.__name__) for function in _AS_IN_C},
    **{function: _of_c(function.__name__) for function in _OF_FLOATS_AS_IN_C},
    ieee.power: _power_of_floats,
    ieee.sqrt: _any_square_root,
    ieee.div: _quotient,
    ieee.reciprocal: _reciprocal,
    binade: lambda b, x: b.number("float", "float_binade", x.value),
}
"""By function. Of `ieee` those are here whose errors C says by inf and nan, as they do."""
