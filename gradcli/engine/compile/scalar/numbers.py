"""Python's operators and built-ins on numbers in the scalar form. Code bails out if an int would
exceed 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from gradcli.engine.compile.scalar.builder import CARRIERS, Builder, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import (
    DOMAIN,
    INEXACT,
    LARGE,
    OVERFLOW,
    ZERO_DIVISION,
    Operand,
)

Operation: TypeAlias = Callable[[Builder, Number, Number], Number]

LEAST = -(2**63)
INF = float("inf")
_EXACT = 2**53  # ints up to it are exact as floats
_BITS = 64

# conversions --------------------------------------------------------------------------------------


def to_float(b: Builder, x: Number) -> Number:
    """Python's `float`."""
    if CARRIERS[x.type] == "float":
        return Number(x.value, "float")
    return b.number("float", f"{CARRIERS[x.type]}_to_float", x.value)


def to_int(b: Builder, x: Number) -> Number:
    """Python's `int`; fails as that does, and if the int exceeds 64 bits."""
    if CARRIERS[x.type] == "int":
        return Number(x.value, "int")
    if x.type == "bool":
        return b.number("int", "bool_to_int", x.value)
    if x.type == "mixed":
        raise Untranslatable("an int or a float")
    low = b.put("float_ge", x.value, float(LEAST))
    high = b.put("float_lt", x.value, -float(LEAST))
    outside = b.put("bool_not", b.put("bool_and", low, high))
    if x.type == "whole":
        b.fail(outside, LARGE)
    else:
        with rarely(b, outside):
            refuse_nonfinite(b, x)
            b.fail(True, LARGE)
    return b.number("int", "float_to_int", x.value)


def refuse_nonfinite(b: Builder, x: Number) -> None:
    """Fail as Python does if a float that is converted to an int is not finite."""
    with rarely(b, b.put("float_is_nonfinite", x.value)):
        is_nan = b.put("float_is_nan", x.value)
        b.fail(is_nan, DOMAIN)
        b.fail(b.put("bool_not", is_nan), OVERFLOW)


@contextmanager
def rarely(b: Builder, test: Operand) -> Iterator[None]:
    """Context for code that runs only if the test is true, which is rare."""
    inside, on = b.new_label(), b.new_label()
    b.branch(test, inside, on, rare=True)
    b.start(inside)
    yield
    b.go(on)
    b.start(on)


def to_bool(b: Builder, x: Number) -> Number:
    """Python's `bool`."""
    if x.type == "bool":
        return x
    if CARRIERS[x.type] == "int":
        return b.number("bool", "int_ne", x.value, 0)
    if x.type == "mixed":
        raise Untranslatable("an int or a float")
    return b.number("bool", "float_ne", x.value, 0.0)


def common(b: Builder, x: Number, types: set[str]) -> Number:
    """X, a number of one of several types, as a number of a type that covers them all."""
    if types <= {"int", "bool", "integral"}:
        return Number(to_int(b, x).value, "integral")
    return Number(to_float(b, x).value, "mixed")


def converted(b: Builder, x: Number, type: str) -> Number:
    """X as a number of another type with the same value."""
    if x.type == type:
        return x
    if x.type == "whole" and type == "int":
        return to_int(b, x)
    raise Untranslatable(f"{x.type} where {type} is wanted")


def _exact(b: Builder, x: Number) -> Number:
    """X as a float; fails if the float would not be equal."""
    if x.type in ("float", "bool"):
        return to_float(b, x)
    x = to_int(b, x)
    if type(x.value) is int:
        if abs(x.value) > _EXACT:
            raise Untranslatable("an int that is not exact as a float")
        return to_float(b, x)
    b.fail(b.put("int_is_inexact", x.value), INEXACT)
    return to_float(b, x)


# operators ----------------------------------------------------------------------------------------


def negative(b: Builder, x: Number) -> Number:
    """-x."""
    if x.type == "float":
        return b.number("float", "float_neg", x.value)
    return b.number("int", "int_sub", 0, to_int(b, x).value)


def positive(b: Builder, x: Number) -> Number:
    """+x."""
    return x if x.type == "float" else to_int(b, x)


def inverted(b: Builder, x: Number) -> Number:
    """~x."""
    return b.number("int", "int_xor", _integral(b, x).value, -1)


def opposite(b: Builder, x: Number) -> Number:
    """Not x."""
    return b.number("bool", "bool_not", to_bool(b, x).value)


def size(b: Builder, x: Number) -> Number:
    """abs(x)."""
    if x.type == "float":
        return b.number("float", "float_abs", x.value)
    x = _integral(b, x)
    b.fail(b.put("int_eq", x.value, LEAST), LARGE)
    return b.number("int", "int_abs", x.value)


def operation(b: Builder, sign: str, x: Number, y: Number) -> Number:
    """A Python operator on x and y, by its name in `ast`."""
    types = {x.type, y.type}
    if sign in _ON_BITS and "integral" not in types:
        if types == {"bool"}:
            return _plain("bool", _ON_BITS[sign])(b, x, y)
        return _plain("int", _ON_BITS[sign])(b, _integral(b, x), _integral(b, y))
    if "mixed" in types and "float" not in types:
        raise Untranslatable("an int or a float")
    integral = "float" not in types
    operators = _ON_INTS if integral else _ON_FLOATS
    if sign not in operators:
        raise Untranslatable(f"operator {sign}")
    if integral:
        return operators[sign](b, _integral(b, x), _integral(b, y))
    return operators[sign](b, to_float(b, x), to_float(b, y))


def compared(b: Builder, sign: str, x: Number, y: Number) -> Number:
    """A comparison of x and y, by its name in `ast`."""
    name = _COMPARISONS[sign]
    if "mixed" in (x.type, y.type):
        raise Untranslatable("an int or a float")
    if "float" not in (x.type, y.type):
        return b.number("bool", f"int_{name}", _integral(b, x).value, _integral(b, y).value)
    return b.number("bool", f"float_{name}", _exact(b, x).value, _exact(b, y).value)


def bit_length(b: Builder, x: Number) -> Number:
    """Python's `int.bit_length`."""
    return b.number("int", "int_bit_length", size(b, x).value)


def _integral(b: Builder, x: Number) -> Number:
    if x.type == "float":
        raise Untranslatable("a float where only ints can be")
    return to_int(b, x)


def _plain(type: str, name: str) -> Operation:
    """A primitive as an operator on two numbers of its type."""
    return lambda b, x, y: b.number(type, f"{type}_{name}", x.value, y.value)


def _refuse_zero(b: Builder, y: Number) -> None:
    zero = b.put("int_eq", y.value, 0) if y.type == "int" else b.put("float_eq", y.value, 0.0)
    b.fail(zero, ZERO_DIVISION)


def _float_quotient(b: Builder, x: Number, y: Number) -> Number:
    _refuse_zero(b, y)
    return b.number("float", "float_div", x.value, y.value)


def _int_quotient(b: Builder, x: Number, y: Number) -> Number:
    """The quotient of ints that are exact as floats; Python's is correct for all ints."""
    return _float_quotient(b, _exact(b, x), _exact(b, y))


def _ints_divided(b: Builder, x: Number, y: Number) -> tuple[Operand, Operand, Operand, Operand]:
    """Four values: y == -1; C's quotient and remainder, with 1 in place of -1; and True if Python's
    quotient is one less.
    """
    _refuse_zero(b, y)
    minus = b.put("int_eq", y.value, -1)
    divisor = b.put("int_select", minus, 1, y.value)
    quotient = b.put("int_div", x.value, divisor)
    rest = b.put("int_rest", x.value, divisor)
    signs = b.put("int_xor", rest, divisor)
    differ = b.put("int_lt", signs, 0)
    is_rest = b.put("int_ne", rest, 0)
    return minus, quotient, rest, b.put("bool_and", differ, is_rest)


def _int_floored(b: Builder, x: Number, y: Number) -> Number:
    minus, quotient, _, less = _ints_divided(b, x, y)
    floored = b.put("int_wrapped_sub", quotient, b.put("bool_to_int", less))
    least = b.put("int_eq", x.value, LEAST)
    b.fail(b.put("bool_and", minus, least), LARGE)
    opposite = b.put("int_wrapped_sub", 0, x.value)
    return b.number("int", "int_select", minus, opposite, floored)


def _int_rest(b: Builder, x: Number, y: Number) -> Number:
    _, _, rest, less = _ints_divided(b, x, y)
    moved = b.put("int_wrapped_add", rest, y.value)
    return b.number("int", "int_select", less, moved, rest)


def _int_power(b: Builder, x: Number, y: Number) -> Number:
    """X ** y by repeated squaring; fails if y is negative or the power exceeds 64 bits."""
    b.fail(b.put("int_lt", y.value, 0), LARGE)
    before, head, odd, again, done = b.label, *(b.new_label() for _ in range(4))
    b.go(head)
    b.start(head)
    first = [("int", [(start, before)]) for start in (1, x.value, y.value)]
    power, base, left = b.arguments(first)
    b.branch(b.put("int_eq", left, 0), done, odd)
    b.start(odd)
    is_odd = b.put("int_is_odd", left)
    product = b.put("int_mul", power, b.put("int_select", is_odd, base, 1))
    halved = b.put("int_half", left)
    last = b.put("int_select", b.put("int_eq", halved, 0), 1, base)
    square = b.put("int_mul", last, last)
    b.go(again)
    b.start(again)
    b.hand(head, (product, square, halved))
    b.repeat(head, _BITS)
    b.start(done)
    return Number(power, "int")


def _float_floored(b: Builder, x: Number, y: Number) -> Number:
    """CPython's float_floor_div."""
    _refuse_zero(b, y)
    rest = b.library("fmod", x.value, y.value)
    quotient: Operand = b.put("float_div", b.put("float_sub", x.value, rest), y.value)
    lower = b.put("float_sub", quotient, 1.0)
    less = _signs_differ(b, rest, y.value)
    quotient = b.put("float_select", less, lower, quotient)
    down = b.library("floor", quotient)
    over = b.put("float_sub", quotient, down)
    up = b.put("float_add", down, 1.0)
    nearer = b.put("float_gt", over, 0.5)
    near = b.put("float_select", nearer, up, down)
    whole = b.put("float_div", x.value, y.value)
    zero = b.put("float_copysign", 0.0, whole)
    some = b.put("float_ne", quotient, 0.0)
    return b.number("float", "float_select", some, near, zero)


def _float_rest(b: Builder, x: Number, y: Number) -> Number:
    """CPython's float_rem."""
    _refuse_zero(b, y)
    rest = b.library("fmod", x.value, y.value)
    moved = b.put("float_add", rest, y.value)
    differ = _signs_differ(b, rest, y.value)
    near = b.put("float_select", differ, moved, rest)
    zero = b.put("float_copysign", 0.0, y.value)
    some = b.put("float_ne", rest, 0.0)
    return b.number("float", "float_select", some, near, zero)


def _float_power(b: Builder, x: Number, y: Number) -> Number:
    """CPython's float_pow; fails if the result is not a float."""
    zero = b.put("float_eq", x.value, 0.0)
    below = b.put("float_lt", y.value, 0.0)
    b.fail(b.put("bool_and", zero, below), ZERO_DIVISION)
    r = b.library("pow", x.value, y.value)
    infinite = b.put("bool_or", *(b.put("float_is_nonfinite", a.value) for a in (x, y)))
    finite = b.put("bool_not", infinite)
    b.fail(b.put("bool_and", b.put("float_is_nonfinite", r), finite), OVERFLOW)
    return Number(r, "float")


def _signs_differ(b: Builder, rest: Operand, y: Operand) -> Operand:
    """True if a nonzero remainder and the divisor differ in sign."""
    below = b.put("float_lt", y, 0.0)
    negative = b.put("float_lt", rest, 0.0)
    some = b.put("float_ne", rest, 0.0)
    differ = b.put("bool_xor", below, negative)
    return b.put("bool_and", some, differ)


_ON_BITS = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}

_ON_INTS: dict[str, Operation] = {
    "Add": _plain("int", "add"),
    "Sub": _plain("int", "sub"),
    "Mult": _plain("int", "mul"),
    "Div": _int_quotient,
    "FloorDiv": _int_floored,
    "Mod": _int_rest,
    "Pow": _int_power,
}

_ON_FLOATS: dict[str, Operation] = {
    "Add": _plain("float", "add"),
    "Sub": _plain("float", "sub"),
    "Mult": _plain("float", "mul"),
    "Div": _float_quotient,
    "FloorDiv": _float_floored,
    "Pow": _float_power,
    "Mod": _float_rest,
}

_COMPARISONS = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
