"""Plain data in another dtype.

A float becomes an int by cutting off its fraction. One that fits no int of 64 bits is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from gradcli.engine.values.data import INT64_MAX, INT64_MIN, NUMBERS, Data, dtype_of, is_whole, np
from gradcli.engine.values.limits import QUESTION
from gradcli.engine.values.sizes import no_int
from gradcli.errors import run_error

_ENDS = float(INT64_MIN), -float(INT64_MIN)
"""The least float that becomes an int, and the least above that becomes none."""


def converted(x: Data, dtype: str) -> Data:
    """Plain data in a dtype, itself where it has it: a number of a number, if the dtype is that of
    Python's, an array of an array. An int that is too long for its dtype loses its first bits.

    Raises:
        RunError: If a float has no int.
    """
    if type(x) in NUMBERS:
        if dtype in _KINDS:
            return _KINDS[dtype](x)
        return np.asarray(whole(x) if is_whole(dtype) else x).astype(dtype)
    if is_whole(dtype) and dtype != "bool" and x.dtype.kind == "f":
        least, end = _ENDS
        fits = np.greater_equal(x, least) & np.less(x, end)
        if not fits.all():
            whole(x[~fits].flat[0].item())
        x = x.astype(np.int64)
    return x if dtype_of(x) == dtype else x.astype(dtype)


def fitting(x: Data, dtype: str) -> Data:
    """A number or array that a program writes, in another dtype.

    Raises:
        RunError: If an int does not fit.
    """
    made = converted(x, dtype)
    if (
        is_whole(dtype)
        and dtype not in _KINDS
        and not np.all(np.equal(made, converted(x, "int64")))
    ):
        raise run_error("integer-overflow", f"an int does not fit into {dtype}")
    return made


def check_written(x: Any, dtype: str | None) -> None:
    """Refuse a number that a program writes into a tensor of fewer than 64 bits and that does not
    fit. As in PyTorch, a negative int counts as its complement in a uint8.

    Raises:
        RunError: If it does not fit; a program catches PyTorch's RuntimeError.
    """
    if dtype is None or dtype in _KINDS or not is_whole(dtype):
        return
    ends = np.iinfo(dtype)
    least = -ends.max if ends.min == 0 and type(x) is not float else ends.min
    if not least <= x <= ends.max:
        message = f"{x} does not fit into {dtype}"
        raise run_error("integer-overflow", message, raises=RuntimeError)


def default_for(x: Data) -> str | None:
    """The default dtype for floats that a program writes, None where they have it."""
    name = QUESTION.default_dtype
    return None if name == "float64" or dtype_of(x) != "float64" else name


def can_hold(dtype: str, result: str) -> bool:
    """True if a tensor of a dtype can be changed in place to a result of another: floats hold all,
    ints hold bools.
    """
    return _rank(result) <= _rank(dtype)


def _rank(dtype: str) -> int:
    return 2 if dtype.startswith("float") else int(dtype != "bool")


def whole(x: Any) -> int:
    """The int of a number, cut off towards zero.

    Raises:
        RunError: If there is none.
    """
    if type(x) is float and not isfinite(x):
        raise run_error("bad-argument", f"there is no int for {x}", raises=no_int(x))
    n = int(x)
    if not INT64_MIN <= n <= INT64_MAX:
        raise run_error("integer-overflow", f"the int of {x} does not fit into 64 bits")
    return n


_KINDS: dict[str, Callable[[Any], Data]] = {"float64": float, "int64": whole, "bool": bool}
