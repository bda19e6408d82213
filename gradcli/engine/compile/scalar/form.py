"""The scalar form: functions on numbers as basic blocks that every back end can print.

Values have one of three types: "float" (64-bit IEEE 754), "int" (signed, 64 bits) and "bool". The
form is in single-assignment form, with block arguments in place of merges: each edge passes values
for the arguments of its block. Edges lead to later blocks; only a `Repeat` leads back, a bounded
number of times. A function returns a result, or bails out for one of the reasons in `KINDS`.

A function gives the same bits in every back end: each arithmetic operation is rounded once and
never fused, and `Library` calls the C functions that Python's `math` calls.
"""

from __future__ import annotations

from typing import TypeAlias

from gradcli.record import Record

ZERO_DIVISION, OVERFLOW, DOMAIN = "ZeroDivisionError", "OverflowError", "ValueError"
RAISED, LARGE, INEXACT = "raised", "large", "inexact"
SIGN, OTHER_TYPE, UNKNOWN = "sign", "other type", "unknown"
KINDS = {
    ZERO_DIVISION: "Python raises ZeroDivisionError",
    OVERFLOW: "Python raises OverflowError",
    DOMAIN: "Python raises ValueError",
    RAISED: "the op raises an error of its own",
    LARGE: "an int is larger than 64 bits",
    INEXACT: "an int beyond 2 ** 53 meets a float, which it would have to be exactly",
    SIGN: "the sign of a nan decides",
    OTHER_TYPE: "the value is of another type than the one that is wanted",
    UNKNOWN: "a function that is called has bailed out",
}
"""Why a function bails out. Of the first three, a `try` of Python's is an edge to its handler."""


class Value(Record):
    """The value of an instruction, a block's argument or a parameter; numbers are unique in the
    function.
    """

    __slots__ = ("number", "type")
    number: int
    type: str


class Undefined(Record):
    """The value of code that bails out on every path; nothing reads it."""

    __slots__ = ("type",)
    type: str


Operand: TypeAlias = Value | Undefined | float | int | bool
"""A value, or a constant whose Python type is its type."""


class Instruction(Record):
    """Base of the instructions of a block."""

    __slots__ = ()


class Do(Instruction):
    """target = a primitive, one of `PRIMITIVES`, of its operands."""

    __slots__ = ("target", "primitive", "args")
    target: Value
    primitive: str
    args: tuple[Operand, ...]


class Library(Instruction):
    """target = a function on floats from C's math library."""

    __slots__ = ("target", "function", "args")
    target: Value
    function: str
    args: tuple[Operand, ...]


class Call(Instruction):
    """target = another function of the form; if that bails out, so does the caller."""

    __slots__ = ("target", "function", "args")
    target: Value
    function: str
    args: tuple[Operand, ...]


class Bail(Instruction):
    """Bail out if `when` is true, which is rare."""

    __slots__ = ("when", "kind")
    when: Operand
    kind: str


class Edge(Record):
    """An edge to a block, with the block's arguments."""

    __slots__ = ("label", "args")
    label: int
    args: tuple[Operand, ...]


class Jump(Record):
    """End of a block: a jump to a later one."""

    __slots__ = ("to",)
    to: Edge


class Repeat(Record):
    """End of a block: a jump back to an earlier one, at most `most` times in a row."""

    __slots__ = ("to", "most")
    to: Edge
    most: int


class Branch(Record):
    """End of a block: a branch to one of two later ones; `rare` if the first is unlikely."""

    __slots__ = ("test", "yes", "no", "rare")
    test: Operand
    yes: Edge
    no: Edge
    rare: bool


class Give(Record):
    """End of a block: return the function's result."""

    __slots__ = ("result",)
    result: Operand


class GiveUp(Record):
    """End of a block: bail out."""

    __slots__ = ("kind",)
    kind: str


End: TypeAlias = Jump | Repeat | Branch | Give | GiveUp


class Block(Record):
    """Instructions in order, and the end that decides where control goes."""

    __slots__ = ("label", "params", "body", "end")
    label: int
    params: tuple[Value, ...]
    body: tuple[Instruction, ...]
    end: End


class Function(Record):
    """A function on numbers. Its first block is the entry.

    Fields:
        name: unique among the functions that call each other.
        params: its parameters.
        type: the type of its result.
        blocks: in an order in which edges lead to later ones.
        bails: True if it may bail out.
    """

    __slots__ = ("name", "params", "type", "blocks", "bails")
    name: str
    params: tuple[Value, ...]
    type: str
    blocks: tuple[Block, ...]
    bails: bool


class Signature(Record):
    """The types of a primitive's operands and of its value, and its meaning in Python."""

    __slots__ = ("takes", "gives", "meaning")
    takes: tuple[str, ...]
    gives: str
    meaning: str


_F, _I, _B = "float", "int", "bool"

PRIMITIVES: dict[str, Signature] = {
    name: Signature(takes, gives, meaning)
    for name, takes, gives, meaning in (
        ("float_add", (_F, _F), _F, "x + y"),
        ("float_sub", (_F, _F), _F, "x - y"),
        ("float_mul", (_F, _F), _F, "x * y"),
        ("float_div", (_F, _F), _F, "x / y, of zero inf or nan"),
        ("float_neg", (_F,), _F, "-x"),
        ("float_abs", (_F,), _F, "abs(x)"),
        ("float_sqrt", (_F,), _F, "the square root, nan below zero"),
        ("float_copysign", (_F, _F), _F, "abs(x) with the sign of y"),
        ("float_binade", (_F,), _F, "the largest power of two up to x, of a normal x above zero"),
        ("float_eq", (_F, _F), _B, "x == y"),
        ("float_ne", (_F, _F), _B, "x != y"),
        ("float_lt", (_F, _F), _B, "x < y"),
        ("float_le", (_F, _F), _B, "x <= y"),
        ("float_gt", (_F, _F), _B, "x > y"),
        ("float_ge", (_F, _F), _B, "x >= y"),
        ("float_is_nan", (_F,), _B, "x is nan"),
        ("float_is_nonfinite", (_F,), _B, "x is nan or infinite"),
        ("float_select", (_B, _F, _F), _F, "y if x else z"),
        ("float_to_int", (_F,), _I, "int(x), of x between -2 ** 63 and 2 ** 63"),
        ("int_add", (_I, _I), _I, "x + y; bails out where that is larger than 64 bits"),
        ("int_sub", (_I, _I), _I, "x - y; bails out where that is larger than 64 bits"),
        ("int_mul", (_I, _I), _I, "x * y; bails out where that is larger than 64 bits"),
        ("int_wrapped_add", (_I, _I), _I, "x + y modulo 2 ** 64"),
        ("int_wrapped_sub", (_I, _I), _I, "x - y modulo 2 ** 64"),
        ("int_div", (_I, _I), _I, "x / y cut to a whole number, of y neither 0 nor -1"),
        ("int_rest", (_I, _I), _I, "x - y * int_div(x, y), of y neither 0 nor -1"),
        ("int_abs", (_I,), _I, "abs(x), of x above -2 ** 63"),
        ("int_and", (_I, _I), _I, "x & y"),
        ("int_or", (_I, _I), _I, "x | y"),
        ("int_xor", (_I, _I), _I, "x ^ y"),
        ("int_half", (_I,), _I, "x >> 1, of x from 0"),
        ("int_is_odd", (_I,), _B, "x % 2 == 1"),
        ("int_bit_length", (_I,), _I, "x.bit_length(), of x from 0"),
        ("int_is_inexact", (_I,), _B, "abs(x) > 2 ** 53: a float may not be that int"),
        ("int_eq", (_I, _I), _B, "x == y"),
        ("int_ne", (_I, _I), _B, "x != y"),
        ("int_lt", (_I, _I), _B, "x < y"),
        ("int_le", (_I, _I), _B, "x <= y"),
        ("int_gt", (_I, _I), _B, "x > y"),
        ("int_ge", (_I, _I), _B, "x >= y"),
        ("int_select", (_B, _I, _I), _I, "y if x else z"),
        ("int_to_float", (_I,), _F, "float(x)"),
        ("bool_and", (_B, _B), _B, "x and y"),
        ("bool_or", (_B, _B), _B, "x or y"),
        ("bool_xor", (_B, _B), _B, "x != y"),
        ("bool_not", (_B,), _B, "not x"),
        ("bool_select", (_B, _B, _B), _B, "y if x else z"),
        ("bool_to_int", (_B,), _I, "int(x)"),
        ("bool_to_float", (_B,), _F, "float(x)"),
    )
}
CHECKED = frozenset({"int_add", "int_sub", "int_mul"})
"""The primitives that bail out, of the kind `LARGE`."""

LIBRARY = {
    **dict.fromkeys(("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil"), 1),
    **dict.fromkeys(
        ("cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10"), 1
    ),
    **dict.fromkeys(("log1p", "log2", "sin", "sinh", "tan", "tanh", "trunc"), 1),
    **dict.fromkeys(("atan2", "fmod", "pow", "remainder"), 2),
}
"""The functions of C's math library, with the number of floats that each takes."""


def type_of(x: Operand) -> str:
    """The type of an operand."""
    return x.type if isinstance(x, Value | Undefined) else _TYPES[type(x)]


_TYPES = {float: _F, int: _I, bool: _B}
