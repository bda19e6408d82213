"""A plain evaluator of the scalar form, the reference for back ends."""

import ctypes
import math
import operator
import struct
import sys
from functools import cache

from gradcli.engine.compile.llvm.emit.libm import address
from gradcli.engine.compile.scalar.form import (
    CHECKED,
    LARGE,
    LIBRARY,
    UNKNOWN,
    Bail,
    Branch,
    Call,
    Do,
    Give,
    GiveUp,
    Jump,
    Library,
    Repeat,
    Undefined,
    Value,
)
from gradcli.engine.numerics.hypot import binade

INF, NAN = math.inf, math.nan


class BailsOut(Exception):
    """A function bails out; the first argument is the reason."""


def evaluate(function, args, called):
    """The value of a function for numbers; `called` has the functions that it may call, by name.
    Raises `BailsOut` if it bails out.
    """
    values = {p.number: x for p, x in zip(function.params, args, strict=True)}
    blocks = {block.label: block for block in function.blocks}
    block, turns = function.blocks[0], {}

    def read(xs):
        found = []
        for x in xs:
            assert not isinstance(x, Undefined), f"{function.name} reads what is not defined"
            found.append(values[x.number] if isinstance(x, Value) else x)
        return found

    while True:
        for i in block.body:
            match i:
                case Do():
                    x = _MEANINGS[i.primitive](*read(i.args))
                    if i.primitive in CHECKED and not -(2**63) <= x < 2**63:
                        raise BailsOut(LARGE)
                    assert type(x).__name__ == i.target.type, (i, x)
                    values[i.target.number] = x
                case Library():
                    values[i.target.number] = _library(i.function)(*read(i.args))
                case Call():
                    try:
                        x = evaluate(called[i.function], read(i.args), called)
                    except BailsOut:
                        raise BailsOut(UNKNOWN) from None
                    values[i.target.number] = x
                case Bail():
                    if read((i.when,))[0]:
                        raise BailsOut(i.kind)
        match block.end:
            case Give(result=result):
                return read((result,))[0]
            case GiveUp(kind=kind):
                raise BailsOut(kind)
            case Branch(test=test, yes=yes, no=no):
                edge = yes if read((test,))[0] else no
            case Jump(to=edge):
                pass
            case Repeat(to=edge, most=most):
                turns[block.label] = turns.get(block.label, 0) + 1
                assert turns[block.label] <= most, f"{function.name} repeats too often"
        block = blocks[edge.label]
        values.update({p.number: x for p, x in zip(block.params, read(edge.args), strict=True)})


@cache
def _library(name):
    count = LIBRARY[name]
    return ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * count)(address(name, count))


def _quotient(x, y):
    if y:
        return x / y
    return NAN if not x or math.isnan(x) else math.copysign(INF, x) * math.copysign(1.0, y)


def _binade(x):
    assert sys.float_info.min <= x < INF, "its bits are not those of a normal number"
    return binade(x)


def _cut(x, y):
    assert y not in (0, -1), "machines have no quotient"
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _whole(x):
    assert -(2.0**63) <= x < 2.0**63, "machines have no such int"
    return int(x)


def _wrapped(x):
    return struct.unpack("q", struct.pack("Q", x % 2**64))[0]


def _size(x):
    assert x > -(2**63), "machines have no such int"
    return abs(x)


_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
_MEANINGS = {
    **{f"{t}_{name}": getattr(operator, name) for t in ("float", "int") for name in _COMPARED},
    **{f"{t}_select": lambda x, y, z: y if x else z for t in ("float", "int", "bool")},
    **{f"float_{name}": getattr(operator, name) for name in ("add", "sub", "mul", "neg", "abs")},
    **{f"int_{name}": getattr(operator, name) for name in ("add", "sub", "mul", "xor")},
    **{
        f"{t}_{name}": getattr(operator, f"{name}_")
        for t in ("int", "bool")
        for name in ("and", "or")
    },
    "float_div": _quotient,
    "float_sqrt": lambda x: NAN if x < 0 else math.sqrt(x),
    "float_copysign": math.copysign,
    "float_binade": _binade,
    "float_is_nan": math.isnan,
    "float_is_nonfinite": lambda x: not math.isfinite(x),
    "float_to_int": _whole,
    "int_wrapped_add": lambda x, y: _wrapped(x + y),
    "int_wrapped_sub": lambda x, y: _wrapped(x - y),
    "int_div": _cut,
    "int_rest": lambda x, y: x - y * _cut(x, y),
    "int_abs": _size,
    "int_half": lambda x: x >> 1,
    "int_is_odd": lambda x: x % 2 == 1,
    "int_bit_length": int.bit_length,
    "int_is_inexact": lambda x: abs(x) > 2**53,
    "int_to_float": float,
    "bool_xor": operator.xor,
    "bool_not": operator.not_,
    "bool_to_int": int,
    "bool_to_float": float,
}
