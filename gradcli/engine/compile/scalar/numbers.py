"""Python's operators and built-ins on numbers in LLVM's language. Ints are of 64 bits: code fails
where one would be larger.
"""

from __future__ import annotations

from collections.abc import Callable

from gradcli.engine.compile.llvm.emit.libm import from_library
from gradcli.engine.compile.llvm.emit.writer import TYPES, Number, Writer
from gradcli.engine.compile.scalar.errors import Untranslatable

LEAST, HALF = -(2**63), "0x3FE0000000000000"
ZERO, INF = "0x0000000000000000", "0x7FF0000000000000"
_EXACT = 2**53  # ints up to here are doubles


def intrinsic(w: Writer, name: str, type: str, *args: str) -> str:
    """The value of one of LLVM's own functions on numbers of one type."""
    said = ", ".join(f"{type} {a}" for a in args)
    dotted = {"double": "f64"}.get(type, type)
    return w.put(f"call {type} @llvm.{name}.{dotted}({said})")


# from one type to another -------------------------------------------------------------------------


def to_float(w: Writer, x: Number) -> Number:
    """As Python's `float`."""
    if x.type in ("float", "whole", "mixed"):
        return Number(x.text, "float")
    instruction = "sitofp" if x.type == "int" else "uitofp"
    return w.number("float", f"{instruction} {TYPES[x.type]} {x.text} to double")


def to_int(w: Writer, x: Number) -> Number:
    """As Python's `int`; fails where the int is larger than 64 bits, and of what is not finite."""
    if x.type == "int":
        return x
    if x.type == "bool":
        return w.number("int", f"zext i1 {x.text} to i64")
    if x.type == "mixed":
        raise Untranslatable("an int or a float")
    low = w.put(f"fcmp oge double {x.text}, 0xC3E0000000000000")
    high = w.put(f"fcmp olt double {x.text}, 0x43E0000000000000")
    within = w.put(f"and i1 {low}, {high}")
    w.fail(w.put(f"xor i1 {within}, true"), "OverflowError")
    return w.number("int", f"fptosi double {x.text} to i64")


def to_bool(w: Writer, x: Number) -> Number:
    """As Python's `bool`."""
    if x.type == "bool":
        return x
    if x.type == "int":
        return w.number("bool", f"icmp ne i64 {x.text}, 0")
    if x.type == "mixed":
        raise Untranslatable("an int or a float")
    return w.number("bool", f"fcmp une double {x.text}, {ZERO}")


def converted(w: Writer, x: Number, type: str) -> Number:
    """X as a number of that type, which it stands for."""
    if x.type == type:
        return x
    if x.type == "whole" and type == "int":
        return to_int(w, x)
    raise Untranslatable(f"{x.type} where {type} is wanted")


def _exact(w: Writer, x: Number) -> Number:
    """The same as a float; fails where that would be another number."""
    if x.type in ("float", "bool"):
        return to_float(w, x)
    x = to_int(w, x)
    if x.text.lstrip("-").isdigit():
        if abs(int(x.text)) > _EXACT:
            raise Untranslatable("an int that is no float")
        return to_float(w, x)
    moved = w.put(f"add i64 {x.text}, {_EXACT}")
    w.fail(w.put(f"icmp ugt i64 {moved}, {2 * _EXACT}"))
    return to_float(w, x)


# operators ----------------------------------------------------------------------------------------


def negative(w: Writer, x: Number) -> Number:
    """-x."""
    if x.type == "float":
        return w.number("float", f"fneg double {x.text}")
    return _checked(w, "ssub", Number("0", "int"), to_int(w, x))


def positive(w: Writer, x: Number) -> Number:
    """+x."""
    return x if x.type == "float" else to_int(w, x)


def inverted(w: Writer, x: Number) -> Number:
    """~x."""
    return w.number("int", f"xor i64 {_integral(w, x).text}, -1")


def opposite(w: Writer, x: Number) -> Number:
    """Not x."""
    return w.number("bool", f"xor i1 {to_bool(w, x).text}, true")


def size(w: Writer, x: Number) -> Number:
    """abs(x)."""
    if x.type == "float":
        return Number(intrinsic(w, "fabs", "double", x.text), "float")
    x = _integral(w, x)
    w.fail(w.put(f"icmp eq i64 {x.text}, {LEAST}"))
    return w.number("int", f"call i64 @llvm.abs.i64(i64 {x.text}, i1 false)")


def operation(w: Writer, sign: str, x: Number, y: Number) -> Number:
    """X and y with an operator between them, which has Python's name in `ast`."""
    if sign in _BITS:
        if x.type == y.type == "bool":
            return w.number("bool", f"{_BITS[sign]} i1 {x.text}, {y.text}")
        return w.number("int", f"{_BITS[sign]} i64 {_integral(w, x).text}, {_integral(w, y).text}")
    if "mixed" in (x.type, y.type):
        raise Untranslatable("an int or a float")
    integral = "float" not in (x.type, y.type)
    operators = _ON_INTS if integral else _ON_FLOATS
    if sign not in operators:
        raise Untranslatable(f"operator {sign}")
    if integral:
        return operators[sign](w, _integral(w, x), _integral(w, y))
    return operators[sign](w, to_float(w, x), to_float(w, y))


def compared(w: Writer, sign: str, x: Number, y: Number) -> Number:
    """Whether the comparison is true, which has Python's name in `ast`."""
    floats, ints = _COMPARISONS[sign]
    if "mixed" in (x.type, y.type):
        raise Untranslatable("an int or a float")
    if "float" not in (x.type, y.type):
        a, b = _integral(w, x), _integral(w, y)
        return w.number("bool", f"icmp {ints} i64 {a.text}, {b.text}")
    a, b = _exact(w, x), _exact(w, y)
    return w.number("bool", f"fcmp {floats} double {a.text}, {b.text}")


def nonfinite(w: Writer, x: Number) -> str:
    """Whether a float is inf or nan."""
    return w.put(f"fcmp ueq double {intrinsic(w, 'fabs', 'double', x.text)}, {INF}")


def is_nan(w: Writer, x: Number) -> str:
    """Whether a float is nan."""
    return w.put(f"fcmp uno double {x.text}, {ZERO}")


def bit_length(w: Writer, x: Number) -> Number:
    """The number of bits of an int without its sign."""
    leading = w.put(f"call i64 @llvm.ctlz.i64(i64 {size(w, x).text}, i1 false)")
    return w.number("int", f"sub i64 64, {leading}")


def _integral(w: Writer, x: Number) -> Number:
    if x.type == "float":
        raise Untranslatable("a float where only ints can be")
    return to_int(w, x)


def _checked(w: Writer, name: str, x: Number, y: Number) -> Number:
    both = w.put(f"call {{i64, i1}} @llvm.{name}.with.overflow.i64(i64 {x.text}, i64 {y.text})")
    w.fail(w.put(f"extractvalue {{i64, i1}} {both}, 1"))
    return w.number("int", f"extractvalue {{i64, i1}} {both}, 0")


def _float_sum(w: Writer, x: Number, y: Number) -> Number:
    return w.number("float", f"fadd double {x.text}, {y.text}")


def _float_difference(w: Writer, x: Number, y: Number) -> Number:
    return w.number("float", f"fsub double {x.text}, {y.text}")


def _float_product(w: Writer, x: Number, y: Number) -> Number:
    return w.number("float", f"fmul double {x.text}, {y.text}")


def _refuse_zero(w: Writer, y: Number) -> None:
    if y.type == "int":
        w.fail(w.put(f"icmp eq i64 {y.text}, 0"), "ZeroDivisionError")
    else:
        w.fail(w.put(f"fcmp oeq double {y.text}, {ZERO}"), "ZeroDivisionError")


def _float_quotient(w: Writer, x: Number, y: Number) -> Number:
    _refuse_zero(w, y)
    return w.number("float", f"fdiv double {x.text}, {y.text}")


def _int_quotient(w: Writer, x: Number, y: Number) -> Number:
    """A quotient of ints that are doubles; Python's is right of any ints."""
    return _float_quotient(w, _exact(w, x), _exact(w, y))


def _ints_divided(w: Writer, x: Number, y: Number) -> tuple[str, str, str]:
    """Quotient and remainder as C has them, and whether Python's quotient is one less."""
    _refuse_zero(w, y)
    minus = w.put(f"icmp eq i64 {y.text}, -1")
    divisor = w.put(f"select i1 {minus}, i64 1, i64 {y.text}")
    quotient = w.put(f"sdiv i64 {x.text}, {divisor}")
    rest = w.put(f"srem i64 {x.text}, {divisor}")
    signs = w.put(f"xor i64 {rest}, {divisor}")
    differ = w.put(f"icmp slt i64 {signs}, 0")
    is_rest = w.put(f"icmp ne i64 {rest}, 0")
    return quotient, rest, w.put(f"and i1 {differ}, {is_rest}")


def _int_floored(w: Writer, x: Number, y: Number) -> Number:
    quotient, _, less = _ints_divided(w, x, y)
    one = w.put(f"zext i1 {less} to i64")
    floored = w.put(f"sub i64 {quotient}, {one}")
    minus = w.put(f"icmp eq i64 {y.text}, -1")
    least = w.put(f"icmp eq i64 {x.text}, {LEAST}")
    w.fail(w.put(f"and i1 {minus}, {least}"))
    opposite = w.put(f"sub i64 0, {x.text}")
    return w.number("int", f"select i1 {minus}, i64 {opposite}, i64 {floored}")


def _int_rest(w: Writer, x: Number, y: Number) -> Number:
    _, rest, less = _ints_divided(w, x, y)
    moved = w.put(f"add i64 {rest}, {y.text}")
    return w.number("int", f"select i1 {less}, i64 {moved}, i64 {rest}")


def _int_power(w: Writer, x: Number, y: Number) -> Number:
    """The power x ** y by repeated squaring; fails where y is negative or the power too large."""
    w.fail(w.put(f"icmp slt i64 {y.text}, 0"))
    before, head, odd, again, done = w.block, *(w.label() for _ in range(4))
    w.go(head)
    w.start(head)
    power, base, left, product, square, halved = (w.name() for _ in range(6))
    w.do(f"{power} = phi i64 [ 1, %{before} ], [ {product}, %{again} ]")
    w.do(f"{base} = phi i64 [ {x.text}, %{before} ], [ {square}, %{again} ]")
    w.do(f"{left} = phi i64 [ {y.text}, %{before} ], [ {halved}, %{again} ]")
    w.branch(w.put(f"icmp eq i64 {left}, 0"), done, odd)
    w.start(odd)
    is_odd = w.put(f"trunc i64 {left} to i1")
    factor = w.put(f"select i1 {is_odd}, i64 {base}, i64 1")
    times = _checked(w, "smul", Number(power, "int"), Number(factor, "int"))
    w.do(f"{product} = add i64 {times.text}, 0")
    w.do(f"{halved} = lshr i64 {left}, 1")
    none = w.put(f"icmp eq i64 {halved}, 0")
    last = w.put(f"select i1 {none}, i64 1, i64 {base}")
    squared = _checked(w, "smul", Number(last, "int"), Number(last, "int"))
    w.do(f"{square} = add i64 {squared.text}, 0")
    w.go(f"{again}")
    w.start(f"{again}")
    w.go(head)
    w.start(done)
    return Number(power, "int")


def _float_floored(w: Writer, x: Number, y: Number) -> Number:
    """As CPython's float_floor_div."""
    _refuse_zero(w, y)
    rest = from_library(w, "fmod", x.text, y.text)
    difference = w.put(f"fsub double {x.text}, {rest}")
    quotient = w.put(f"fdiv double {difference}, {y.text}")
    lower = w.put(f"fsub double {quotient}, 0x3FF0000000000000")
    less = _signs_differ(w, rest, y.text)
    quotient = w.put(f"select i1 {less}, double {lower}, double {quotient}")
    down = from_library(w, "floor", quotient)
    over = w.put(f"fsub double {quotient}, {down}")
    up = w.put(f"fadd double {down}, 0x3FF0000000000000")
    nearer = w.put(f"fcmp ogt double {over}, {HALF}")
    near = w.put(f"select i1 {nearer}, double {up}, double {down}")
    whole = w.put(f"fdiv double {x.text}, {y.text}")
    zero = intrinsic(w, "copysign", "double", ZERO, whole)
    some = w.put(f"fcmp une double {quotient}, {ZERO}")
    return w.number("float", f"select i1 {some}, double {near}, double {zero}")


def _float_rest(w: Writer, x: Number, y: Number) -> Number:
    """As CPython's float_rem."""
    _refuse_zero(w, y)
    rest = from_library(w, "fmod", x.text, y.text)
    moved = w.put(f"fadd double {rest}, {y.text}")
    differ = _signs_differ(w, rest, y.text)
    near = w.put(f"select i1 {differ}, double {moved}, double {rest}")
    zero = intrinsic(w, "copysign", "double", ZERO, y.text)
    some = w.put(f"fcmp une double {rest}, {ZERO}")
    return w.number("float", f"select i1 {some}, double {near}, double {zero}")


def _float_power(w: Writer, x: Number, y: Number) -> Number:
    """As CPython's float_pow; fails where it is no float."""
    zero = w.put(f"fcmp oeq double {x.text}, {ZERO}")
    below = w.put(f"fcmp olt double {y.text}, {ZERO}")
    w.fail(w.put(f"and i1 {zero}, {below}"), "ZeroDivisionError")
    r = Number(from_library(w, "pow", x.text, y.text), "float")
    infinite = w.put(f"or i1 {nonfinite(w, x)}, {nonfinite(w, y)}")
    finite = w.put(f"xor i1 {infinite}, true")
    w.fail(w.put(f"and i1 {nonfinite(w, r)}, {finite}"), "OverflowError")
    return r


def _signs_differ(w: Writer, rest: str, y: str) -> str:
    """Whether a remainder that is not zero has another sign than the divisor."""
    below = w.put(f"fcmp olt double {y}, {ZERO}")
    negative = w.put(f"fcmp olt double {rest}, {ZERO}")
    some = w.put(f"fcmp une double {rest}, {ZERO}")
    differ = w.put(f"xor i1 {below}, {negative}")
    return w.put(f"and i1 {some}, {differ}")


_BITS = {"BitAnd": "and", "BitOr": "or", "BitXor": "xor"}

_ON_INTS: dict[str, Callable[[Writer, Number, Number], Number]] = {
    "Add": lambda w, x, y: _checked(w, "sadd", x, y),
    "Sub": lambda w, x, y: _checked(w, "ssub", x, y),
    "Mult": lambda w, x, y: _checked(w, "smul", x, y),
    "Div": _int_quotient,
    "FloorDiv": _int_floored,
    "Mod": _int_rest,
    "Pow": _int_power,
}

_ON_FLOATS: dict[str, Callable[[Writer, Number, Number], Number]] = {
    "Add": _float_sum,
    "Sub": _float_difference,
    "Mult": _float_product,
    "Div": _float_quotient,
    "FloorDiv": _float_floored,
    "Pow": _float_power,
    "Mod": _float_rest,
}

_COMPARISONS = {
    "Eq": ("oeq", "eq"),
    "NotEq": ("une", "ne"),
    "Lt": ("olt", "slt"),
    "LtE": ("ole", "sle"),
    "Gt": ("ogt", "sgt"),
    "GtE": ("oge", "sge"),
}
