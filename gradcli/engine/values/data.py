"""NumPy at its first use, and the plain data that tensors hold.

Plain data is a Python float, int or bool, which stands for a 0-d array of dtype float64, int64 or
bool, or a NumPy array of a dtype of the language. A program of numbers only never makes an array,
and so never imports NumPy, which takes longer to load than such a program to run.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
else:

    class _FirstUse:
        """Imports NumPy at the first use; each attribute is fetched once and kept."""

        def __getattr__(self, name: str) -> Any:
            fresh = "numpy" not in sys.modules
            import numpy

            if fresh:
                numpy.seterr(**_SILENT)
                from contextlib import suppress

                with suppress(MemoryError):  # little memory may still do
                    numpy.empty(_FREED)  # and let go
            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _FirstUse()

__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "KEYS",
    "NUMBERS",
    "SCALARS",
    "SEQUENCES",
    "USUAL",
    "Data",
    "Quiet",
    "dtype_of",
    "holds_finite",
    "is_floating",
    "is_whole",
    "joined",
    "np",
    "plain",
    "shape_of",
]

Data: TypeAlias = Any
"""A Python float, int or bool, or a NumPy array."""

NUMBERS = frozenset({float, int, bool})
SCALARS = NUMBERS | {type(None)}  # None is an omitted argument
SEQUENCES = frozenset({list, tuple, str})
KEYS = frozenset({str, int})
"""Types of keys that Python hashes and compares without a method of the program."""
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
_DTYPES = {float: "float64", int: "int64", bool: "bool"}
# The C library requests each large array from the system and returns free memory at the end of
# its heap, until an array of this size has been freed: from then on it keeps 64 MB for the next.
# The pages of an array that is never written take no memory.
_FREED = 33_000_000 // 8
_SILENT = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


class Quiet:
    """Context in which NumPy follows IEEE arithmetic without warnings, loaded or not yet."""

    def __enter__(self) -> None:
        numpy = sys.modules.get("numpy")
        self.before = numpy.seterr(**_SILENT) if numpy is not None else _DEFAULT

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.seterr(**self.before)


def shape_of(x: Any) -> tuple[int, ...]:
    """Shape of plain data, a tensor or a `Like`; `()` for a number."""
    return () if type(x) in NUMBERS else x.shape


def dtype_of(x: Any) -> str:
    """Dtype name of plain data, a tensor or a `Like`; None where a value's is not known."""
    name = _DTYPES.get(type(x))
    if name is not None:
        return name
    dtype = x.dtype
    if dtype is None or type(dtype) is str:
        return dtype  # type: ignore[return-value]  # what reads it asks
    return _CHARS.get(dtype.char) or str(dtype)


def holds_finite(data: Data) -> bool:
    """True if plain data, or any other value, holds neither nan nor infinity."""
    if type(data) in NUMBERS:
        return bool(data - data == 0)
    kind = getattr(getattr(data, "dtype", None), "kind", None)  # `finfo` has a dtype that is a text
    return kind != "f" or bool(np.isfinite(data).all())


def squares_are_finite(array: Any) -> bool:
    """True if the sum of the squares of an array's float64s is finite, and thus each of them; it
    takes a fraction of the time of `holds_finite`. False for other dtypes.
    """
    if array.dtype.char != "d":
        return False
    total = np.vdot(array, array)
    return bool(total - total == 0.0)


def is_floating(x: Data) -> bool:
    """True if plain data can carry a gradient: floats of any precision."""
    kind = type(x)
    return kind is float or (kind not in NUMBERS and x.dtype.kind == "f")


def plain(x: Any) -> Data:
    """Plain data from the result of a NumPy function: 0-d float64, int64 and bool as numbers.

    Views and other dtypes of the language stay arrays; others yet become int64 or float64.
    """
    if type(x) in NUMBERS:
        return x
    if isinstance(x, np.ndarray):
        if x.ndim:
            return x if x.dtype.char in _CHARS else _widened(x)
        if x.base is not None or x.dtype.char in _UNUSUAL:
            return x
        return _widened(x).item()
    if isinstance(x, np.generic) and x.dtype.char in _UNUSUAL:
        return np.asarray(x)
    return x.item()


USUAL = frozenset("dl?")
"""NumPy's letters of the dtypes of Python's numbers."""

_CHARS = {
    "d": "float64",
    "f": "float32",
    "e": "float16",
    "l": "int64",
    "i": "int32",
    "h": "int16",
    "b": "int8",
    "B": "uint8",
    "?": "bool",
}
_UNUSUAL = frozenset(_CHARS) - USUAL
_ORDER = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


def is_whole(dtype: str | None) -> bool:
    """True if a dtype, if it is known, is of ints or bools: no gradient goes through it."""
    return dtype is not None and not dtype.startswith("float")


def joined(names: Collection[str]) -> str:
    """The dtype that holds several: floats before ints before bools, the wider before the other;
    uint8 and int8 both go into int16.
    """
    found = next((name for name in _ORDER if name in names), "bool")
    return "int16" if found == "int8" and "uint8" in names else found


def _widened(x: Any) -> Any:
    if x.dtype.char in _CHARS:
        return x
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
