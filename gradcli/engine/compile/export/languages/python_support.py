"""The words of Python, and functions that follow C where those of `math` raise an error."""

from __future__ import annotations

import builtins
import keyword

_OVERFLOW = '''\
def {name}(x: float) -> float:
    """The function of `math`, which is infinite where that overflows."""
    try:
        return math.{name}(x)
    except OverflowError:
        return math.inf
'''
_ODD_OVERFLOW = '''\
def {name}(x: float) -> float:
    """The function of `math`, which is infinite where that overflows."""
    try:
        return math.{name}(x)
    except OverflowError:
        return math.copysign(math.inf, x)
'''
_DOMAIN = '''\
def {name}(x: float) -> float:
    """The function of `math`, which is nan where that has no value."""
    try:
        return math.{name}(x)
    except ValueError:
        return math.nan
'''
_LOGARITHM = '''\
def {name}(x: float) -> float:
    """The function of `math`; it is -inf at {pole} and nan below."""
    try:
        return math.{name}(x)
    except ValueError:
        return -math.inf if x == {pole} else math.nan
'''
_DOMAIN_OF_TWO = '''\
def {name}(x: float, y: float) -> float:
    """The function of `math`, which is nan where that has no value."""
    try:
        return math.{name}(x, y)
    except ValueError:
        return math.nan
'''
_ROUNDED = '''\
def {name}(x: float) -> float:
    """The function of `math` as a float."""
    return math.copysign(math.{name}(x), x) if math.isfinite(x) else x
'''

SUPPORT = {
    **{name: _OVERFLOW.format(name=name) for name in ("exp", "exp2", "expm1", "cosh")},
    "sinh": _ODD_OVERFLOW.format(name="sinh"),
    **{name: _DOMAIN.format(name=name) for name in ("sin", "cos", "tan", "asin", "acos", "acosh")},
    **{name: _LOGARITHM.format(name=name, pole="0") for name in ("log", "log2", "log10")},
    "log1p": _LOGARITHM.format(name="log1p", pole="-1"),
    **{name: _DOMAIN_OF_TWO.format(name=name) for name in ("fmod", "remainder")},
    **{name: _ROUNDED.format(name=name) for name in ("floor", "ceil", "trunc")},
    "sqrt": _DOMAIN.format(name="sqrt"),
    "atanh": '''\
def atanh(x: float) -> float:
    """The function of `math`; it is infinite at 1 and -1 and nan beyond."""
    try:
        return math.atanh(x)
    except ValueError:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
''',
    "power": '''\
def power(x: float, y: float) -> float:
    """x ** y, which is infinite or nan where `math.pow` raises an error."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan
''',
    "divide": '''\
def divide(x: float, y: float) -> float:
    """x / y, which is infinite or nan if y is zero."""
    if y:
        return x / y
    if x == 0 or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)
''',
    "pairwise_sum": '''\
def pairwise_sum(x: list[float]) -> float:
    """The sum of numbers, added as NumPy does it."""
    return float(np.sum(np.array(x)))
''',
    "int64": '''\
def int64(x: int) -> int:
    """An int of 64 bits; an error if it is larger."""
    if not -(2**63) <= x < 2**63:
        raise OverflowError("an int is larger than 64 bits")
    return x
''',
    "wrapped": '''\
def wrapped(x: int) -> int:
    """An int modulo 2 ** 64, between -2 ** 63 and 2 ** 63."""
    return (x + 2**63) % 2**64 - 2**63
''',
    "cut": '''\
def cut(x: int, y: int) -> int:
    """x / y cut to a whole number."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
''',
    "rest": '''\
def rest(x: int, y: int) -> int:
    """What is left of x after x / y, with the sign of x."""
    return abs(x) % abs(y) * (1 if x >= 0 else -1)
''',
    "refuse": '''\
def refuse(test: bool) -> None:
    """Raise an error if a test holds."""
    if test:
        raise ArithmeticError("no result: a value is outside of what a function takes")
''',
}
"""Functions that are printed if they are called, by name."""

SURE = frozenset(["cbrt", "erf", "erfc", "atan", "atan2", "asinh", "tanh"])
"""Functions of `math` that are called as they are, as they raise no error."""

WORDS = frozenset([*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *SUPPORT])
WORDS |= SURE | {"math", "np", "tape"}
"""Words that no variable and no function may be named."""
