"""Functions whose machine code is not made of their Python text: Python's built-ins and `math`,
with the errors that these raise, and those of `ieee` that are just what C has.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from gradcli.engine.compile.llvm.emit.libm import from_library
from gradcli.engine.compile.llvm.emit.writer import RARE, TYPES, Number, Writer, constant
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.numbers import (
    INF,
    ZERO,
    compared,
    intrinsic,
    is_nan,
    nonfinite,
    size,
    to_bool,
    to_float,
    to_int,
)
from gradcli.engine.numerics import ieee

Native = Callable[..., Any]


def native(function: Any) -> Native | None:
    """What writes a call of the function, `native(w, *args)`; it gives None of arguments that it
    does not know.
    """
    try:
        return _NATIVE.get(function)
    except TypeError:  # not hashable
        return None


def _of_c(name: str) -> Native:
    """A function of floats that is C's, whatever they are."""

    def write(w: Writer, *args: Any) -> Any:
        if not all(a.type == "float" for a in args):
            return None
        return Number(from_library(w, name, *(a.text for a in args)), "float")

    return write


def _of_numbers(name: str) -> Native:
    """A function of numbers that is C's of them as floats, whatever they are."""
    return lambda w, *args: Number(
        from_library(w, name, *(to_float(w, a).text for a in args)), "float"
    )


def _watchful(name: str) -> Native:
    """A function of `math` that raises OverflowError where a finite number gives inf, and
    ValueError where one gives nan.
    """

    def write(w: Writer, *args: Any) -> Any:
        floats = [to_float(w, a) for a in args]
        r = Number(from_library(w, name, *(a.text for a in floats)), "float")
        return _watched(w, r, floats, "OverflowError")

    return write


def _watched(w: Writer, r: Number, args: list[Number], kind: str) -> Number:
    on, look = w.label(), w.label()
    w.branch(nonfinite(w, r), look, on, RARE)
    w.start(look)
    finite = "true"
    numbers = "true"
    for a in args:
        finite = w.put(f"and i1 {finite}, {w.put(f'xor i1 {nonfinite(w, a)}, true')}")
        numbers = w.put(f"and i1 {numbers}, {w.put(f'xor i1 {is_nan(w, a)}, true')}")
    nan = is_nan(w, r)
    w.fail(w.put(f"and i1 {nan}, {numbers}"), "ValueError")
    infinite = w.put(f"xor i1 {nan}, true")
    w.fail(w.put(f"and i1 {infinite}, {finite}"), kind)
    w.go(on)
    w.start(on)
    return r


def _power(w: Writer, x: Number, y: Number) -> Number:
    """`math.pow`, for which a power of zero that is inf is no overflow."""
    x, y = to_float(w, x), to_float(w, y)
    zero = w.put(f"fcmp oeq double {x.text}, {ZERO}")
    below = w.put(f"fcmp olt double {y.text}, {ZERO}")
    finite = w.put(f"fcmp ogt double {y.text}, 0xFFF0000000000000")
    pole = w.put(f"and i1 {zero}, {below}")
    w.fail(w.put(f"and i1 {pole}, {finite}"), "ValueError")
    r = Number(from_library(w, "pow", x.text, y.text), "float")
    return _watched(w, r, [x, y], "OverflowError")


def _logarithm(name: str, least: str) -> Native:
    """A function of `math` that raises ValueError up to a number."""

    def write(w: Writer, x: Number) -> Number:
        x = to_float(w, x)
        w.fail(w.put(f"fcmp ole double {x.text}, {least}"), "ValueError")
        return Number(from_library(w, name, x.text), "float")

    return write


def _square_root(w: Writer, x: Number) -> Number:
    x = to_float(w, x)
    w.fail(w.put(f"fcmp olt double {x.text}, {ZERO}"), "ValueError")
    return Number(intrinsic(w, "sqrt", "double", x.text), "float")


def _any_square_root(w: Writer, x: Number) -> Number:
    return Number(intrinsic(w, "sqrt", "double", to_float(w, x).text), "float")


def _quotient(w: Writer, x: Any, y: Any, *mode: Any) -> Any:
    if not all(isinstance(a, Number) for a in (x, y)) or "float" not in (x.type, y.type):
        return None
    if mode and mode != (None,):
        return None
    return w.number("float", f"fdiv double {to_float(w, x).text}, {to_float(w, y).text}")


def _reciprocal(w: Writer, x: Number) -> Number | None:
    if x.type != "float":
        return None
    return w.number("float", f"fdiv double 0x3FF0000000000000, {x.text}")


def _copysign(w: Writer, x: Number, y: Number) -> Number:
    """The sign of a nan hangs on how it has come about: it fails there."""
    x, y = to_float(w, x), to_float(w, y)
    w.fail(is_nan(w, y))
    return Number(intrinsic(w, "copysign", "double", x.text, y.text), "float")


def _whole(name: str) -> Native:
    """A function of `math` that rounds to an int, of any size."""

    def write(w: Writer, x: Number) -> Number:
        if x.type != "float":
            return to_int(w, x)
        w.fail(nonfinite(w, x), "OverflowError")
        near = from_library(w, name, x.text)
        return w.number("whole", f"fadd double {near}, {ZERO}")  # of zero without its sign

    return write


def _round(w: Writer, x: Number, decimals: Any = None) -> Number | None:
    if x.type != "float":
        return to_int(w, x) if decimals is None or _is_zero(decimals) else None
    if decimals is None:
        w.fail(nonfinite(w, x), "OverflowError")
        return w.number("whole", f"fadd double {_near(w, x)}, {ZERO}")
    return Number(_near(w, x), "float") if _is_zero(decimals) else None


def _is_zero(x: Any) -> bool:
    return isinstance(x, Number) and x.text == "0"


def _near(w: Writer, x: Number) -> str:
    """The whole number next to a float, the even one of two: beside 2 ** 52 doubles are whole."""
    positive = intrinsic(w, "fabs", "double", x.text)
    moved = w.put(f"fadd double {positive}, {_ALL_WHOLE}")
    near = w.put(f"fsub double {moved}, {_ALL_WHOLE}")
    signed = intrinsic(w, "copysign", "double", near, x.text)
    small = w.put(f"fcmp olt double {positive}, {_ALL_WHOLE}")
    return w.put(f"select i1 {small}, double {signed}, double {x.text}")


def _test(write: Callable[[Writer, Number], str]) -> Native:
    """A question about floats, of which a bool or int says no."""
    return lambda w, x: (
        Number(write(w, x), "bool") if x.type == "float" else Number("false", "bool")
    )


def _is_finite(w: Writer, x: Number) -> Number:
    if x.type != "float":
        return Number("true", "bool")
    return w.number("bool", f"xor i1 {nonfinite(w, x)}, true")


def _is_infinite(w: Writer, x: Number) -> str:
    return w.put(f"fcmp oeq double {intrinsic(w, 'fabs', 'double', x.text)}, {INF}")


def _chosen(sign: str) -> Native:
    """Python's `min` or `max` of two numbers of one type: the second where it compares so with
    the first.
    """

    def write(w: Writer, x: Any, y: Any) -> Any:
        if x.type != y.type or x.type == "whole":
            raise Untranslatable("a choice of numbers of several types")
        llvm = TYPES[x.type]
        test = compared(w, sign, y, x).text
        return w.number(x.type, f"select i1 {test}, {llvm} {y.text}, {llvm} {x.text}")

    return write


def _times(factor: float) -> Native:
    said = constant(factor)
    assert said is not None
    return lambda w, x: w.number("float", f"fmul double {to_float(w, x).text}, {said.text}")


def _remainder(w: Writer, x: Any, y: Any) -> Any:
    """C's; zero has the sign of `x`, which a library loses beside the smallest numbers."""
    r = _watchful("remainder")(w, x, y)
    zero = intrinsic(w, "copysign", "double", ZERO, to_float(w, x).text)
    is_zero = w.put(f"fcmp oeq double {r.text}, {ZERO}")
    return w.number("float", f"select i1 {is_zero}, double {zero}, double {r.text}")


_ONE_BELOW, _NONE = "0xBFF0000000000000", ZERO
_ALL_WHOLE = "0x4330000000000000"

_SURE = (math.asinh, math.atan, math.atan2, math.tanh, math.erf, math.erfc)
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
    math.isnan: _test(is_nan),
    math.isinf: _test(_is_infinite),
    math.isfinite: _is_finite,
    math.copysign: _copysign,
    math.remainder: _remainder,
    math.floor: _whole("floor"),
    math.ceil: _whole("ceil"),
    math.trunc: _whole("trunc"),
    math.sqrt: _square_root,
    math.pow: _power,
    math.log: _logarithm("log", _NONE),
    math.log2: _logarithm("log2", _NONE),
    math.log10: _logarithm("log10", _NONE),
    math.log1p: _logarithm("log1p", _ONE_BELOW),
    math.degrees: _times(180.0 / math.pi),
    math.radians: _times(math.pi / 180.0),
    **{function: _of_numbers(function.__name__) for function in _SURE},
    **{function: _watchful(function.__name__) for function in _WATCHED},
    **{function: _of_numbers(function.__name__) for function in _AS_IN_C},
    **{function: _of_c(function.__name__) for function in _OF_FLOATS_AS_IN_C},
    ieee.power: _of_c("pow"),
    ieee.sqrt: _any_square_root,
    ieee.div: _quotient,
    ieee.reciprocal: _reciprocal,
}
"""By function. Of `ieee` those are here whose errors C says by inf and nan, as they do."""
