"""Arithmetic on arrays that is exact, or an error, on 64-bit integers; floats follow IEEE."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import Function, alike, integral, one_call, real, ufunc
from gradcli.engine.values.data import INT64_MAX, INT64_MIN, Data, dtype_of, np, plain, shape_of
from gradcli.engine.values.sizes import broadcast, number
from gradcli.errors import run_error

__all__ = [
    "absolute",
    "add",
    "add_at",
    "div",
    "float_power",
    "folded",
    "floor_divide",
    "fmod",
    "left_shift",
    "neg",
    "plus",
    "power",
    "quotient",
    "remainder",
    "right_shift",
    "sub",
    "times",
]


def _checked(name: str, fits: Function) -> Function:
    """NumPy's function of that name; `fits(r, *args)` tells where an integer result is true."""
    function = ufunc(name)

    def call(*args: Data) -> Data:
        r = function(*args)
        if r.dtype.kind == "i" and not np.all(fits(r, *args)):
            raise ieee.overflow()
        return r

    return one_call(lambda: getattr(np, name))(call)


def _sum_fits(r: Data, x: Data, y: Data) -> Data:
    """True if r has the sign of one of its terms."""
    return np.greater_equal(np.bitwise_and(np.bitwise_xor(x, r), np.bitwise_xor(y, r)), 0)


def _difference_fits(r: Data, x: Data, y: Data) -> Data:
    return np.greater_equal(np.bitwise_and(np.bitwise_xor(x, y), np.bitwise_xor(x, r)), 0)


def _product_fits(r: Data, x: Data, y: Data) -> Data:
    return _agrees(r, np.multiply, np.multiply(np.asarray(x, np.float64), y), x, y)


def _agrees(r: Data, function: Function, about: Data, x: Data, y: Data) -> bool:
    """True if the integers r are the function of x and y, which is `about` so much.

    Far from 64 bits, a double decides; near them, Python's integers.
    """
    size = np.abs(np.asarray(about))
    if np.any(size >= 2.0**64):
        return False
    near = size >= 2.0**62
    if not np.any(near):
        return True
    x, y = (a[near].astype(object) for a in np.broadcast_arrays(x, y))
    return bool(np.all(np.equal(function(x, y), np.asarray(r)[near])))


def folded(name: str, x: Data, **where: Any) -> Data:
    """NumPy's sum or product of that name, or its running one, of an array of ints or bools."""
    function = getattr(np, name)
    size = function(np.abs(x.astype(np.float64)), **where)
    if x.size == 0 or np.max(size) < 2.0**62:
        return function(x, dtype=np.int64, **where)
    return _in_range(np.asarray(function(x.astype(object), **where)))


def add_at(zeros: Data, places: Any, values: Data) -> None:
    """Add values to elements of an array of zeros; an index may occur several times."""
    if zeros.dtype.kind == "i":
        size = np.zeros(zeros.shape)
        np.add.at(size, places, np.abs(np.asarray(values, np.float64)))
        if np.max(size, initial=0.0) >= 2.0**62:
            sums = zeros.astype(object)
            np.add.at(sums, places, np.asarray(values, object))
            zeros[...] = _in_range(sums)
            return
    np.add.at(zeros, places, values)


def _in_range(ints: Data) -> Data:
    """Python's ints, if they are of 64 bits."""
    if ints.min() < INT64_MIN or ints.max() > INT64_MAX:
        raise ieee.overflow()
    return ints.astype(np.int64)


plus = _checked("add", _sum_fits)
times = _checked("multiply", _product_fits)
absolute = _checked("absolute", lambda r, x: np.not_equal(x, INT64_MIN))
quotient = real("true_divide")
_minus = _checked("subtract", _difference_fits)
_negated = _checked("negative", lambda r, x: np.not_equal(x, INT64_MIN))
_floored = ufunc("floor_divide")
_left = ufunc("left_shift")
_right = ufunc("right_shift")
_left_floored = ufunc("remainder")
_left_truncated = ufunc("fmod")
_raised = ufunc("power")


@one_call(lambda: np.add)
def add(x: Data, y: Data, alpha: Any = 1) -> Data:
    """Sum x + alpha y."""
    if alpha != 1:
        x, y = alike((x, y))
        y = scaled(y, alpha, "alpha")
    return plus(x, y)


@one_call(lambda: np.subtract)
def sub(x: Data, y: Data, alpha: Any = 1) -> Data:
    """Difference x - alpha y."""
    _refuse_bool(x, y)
    if alpha != 1:
        x, y = alike((x, y))
        y = scaled(y, alpha, "alpha")
    return _minus(x, y)


def scaled(x: Data, factor: Any, name: str) -> Data:
    """Product of x and a parameter of that name, a number beside which float32 stays it."""
    factor = number(factor, name)
    if type(factor) is float and getattr(x, "dtype", None) == np.float32:
        factor = np.float32(factor)
    return plain(times(x, factor))


@one_call(lambda: np.negative)
def neg(x: Data) -> Data:
    """The negative -x."""
    _refuse_bool(x)
    return _negated(x)


@one_call(lambda: np.true_divide)
def div(x: Data, y: Data, rounding_mode: str | None = None) -> Data:
    """Quotient x / y, rounded in the way that is asked for."""
    if rounding_mode is None:
        return quotient(x, y)
    ieee.check_rounding(rounding_mode)
    if rounding_mode == "floor":
        return floor_divide(x, y)
    if not integral(x, y):
        return np.trunc(quotient(x, y))
    down = floor_divide(x, y)
    return down + np.logical_and(down < 0, np.not_equal(np.remainder(x, y), 0))


def floor_divide(x: Data, y: Data) -> Data:
    """Quotient x / y rounded down."""
    if integral(x, y):
        broadcast(shape_of(x), shape_of(y))  # of other shapes nothing is said about zeros
        _refuse_zero(y, "division")
        if np.any(np.logical_and(np.equal(x, INT64_MIN), np.equal(y, -1))):
            raise ieee.overflow()
    return _floored(_counted(x), y)


def remainder(x: Data, y: Data) -> Data:
    """Remainder with the sign of y."""
    if integral(x, y):
        _refuse_zero(y, "remainder")
    return _left_floored(_counted(x), y)


def fmod(x: Data, y: Data) -> Data:
    """Remainder with the sign of x."""
    if integral(x, y):
        _refuse_zero(y, "remainder")
    return _left_truncated(_counted(x), y)


def _to_the_power(x: Data, y: Data) -> Data:
    """Power x ** y of floats. A whole power of a negative number is that of its size, with a sign:
    NumPy raises negative numbers forty times slower, and with other last digits.
    """
    is_whole = type(y) is int or (type(y) is float and y.is_integer())
    if is_whole and (y > 2 or y < -1) and x.dtype.kind == "f":
        size = np.absolute(x) ** y
        return np.copysign(size, x) if y % 2 else size
    return x**y  # NumPy squares, roots and inverts where a plain exponent says so


@one_call(lambda: _to_the_power)
def power(x: Data, y: Data) -> Data:
    """Power x ** y."""
    if not integral(x, y):
        x, y = alike((x, y))
        try:
            return _to_the_power(x, y)
        except ValueError:
            return _raised(x, y)  # its message tells the shapes
    if _all_bools(x, y):
        return np.logical_or(x, np.logical_not(y))
    if np.any(np.less(y, 0)):
        raise run_error(
            "bad-argument",
            "an integer tensor cannot be raised to a negative integer power",
            help="make the base or the exponent floating, as in `x ** -1.0`",
        )
    x, y = np.asarray(x, np.int64), np.asarray(y, np.int64)
    r = _raised(x, y)
    if not _agrees(r, np.power, np.power(x.astype(np.float64), y), x, y):
        raise ieee.overflow()
    return r


def float_power(x: Data, y: Data) -> Data:
    """Power x ** y in float64."""
    return power(np.asarray(x, np.float64), np.asarray(y, np.float64))


def _counted(x: Data) -> Data:
    """Bools as ints, as which they divide."""
    return np.asarray(x, np.int64) if _all_bools(x) else x


def _all_bools(*args: Data) -> bool:
    return all(type(a) is bool or getattr(a, "dtype", None) == np.bool_ for a in args)


def _refuse_zero(y: Data, name: str) -> None:
    if np.any(np.equal(y, 0)):
        raise ieee.zero_divisors(name)


def _refuse_bool(*args: Data) -> None:
    """Refuse a difference of bools only, which has no meaning."""
    if _all_bools(*args):
        raise run_error(
            "dtype-mismatch",
            "`-` is not defined on bool tensors",
            help="`~x` is the logical complement, `x ^ y` tells where two differ",
        )


def left_shift(x: Data, n: Data) -> Data:
    """Bits moved up; a result outside of 64 bits is an error."""
    x = _shifted(x, n)
    r = _left(x, n)
    if r.dtype == np.int64 and not np.all(np.equal(right_shift(r, n), x)):
        raise ieee.overflow()
    return r


def right_shift(x: Data, n: Data) -> Data:
    """Bits moved down, with the sign as it is."""
    return _right(_shifted(x, n), n)


def _shifted(x: Data, n: Data) -> Data:
    if np.any(np.less(n, 0)):
        raise ieee.negative_shift()
    return np.asarray(x, np.int64) if dtype_of(x) == "bool" else x
