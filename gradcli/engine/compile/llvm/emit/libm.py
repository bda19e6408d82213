"""Find the addresses of the C functions that Python's `math` calls. LLVM gets addresses instead of
names, so that it replaces no call, such as `pow(x, 2)` by `x * x`.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Sequence
from functools import cache
from struct import pack
from typing import Any

from gradcli.engine.compile.scalar.errors import Untranslatable

PURE = "nounwind willreturn memory(none)"
STORES = "nounwind willreturn memory(argmem: write)"
"""What calls of the C functions of a double do, and of those that store values."""

_LIBRARIES = ("ucrtbase",) if sys.platform == "win32" else (None, "libm.so.6", "libm.so")
BOTH = {("sin", "cos"): ("sincos", "__sincos")}
"""Names of C functions that store the values of two functions. Windows has none."""
_TRIED = (0.1, 0.37, 0.75, 0.9, 1.3, 2.6, 7.2, 33.3, 0.0123)
"""Points at which a function must give what `math` gives: libraries differ in some last digits."""


def from_library(name: str, args: Sequence[str]) -> str:
    """A call of a C function on doubles."""
    said = ", ".join(f"double {a}" for a in args)
    return f"call double inttoptr (i64 {address(name, len(args))} to ptr)({said}) {PURE}"


def address_of(function: Any) -> int:
    """The address of a C function; `ctypes.cast` would make a reference cycle."""
    return ctypes.c_size_t.from_address(ctypes.addressof(function)).value


@cache
def address(name: str, count: int) -> int:
    """The address of the C function of a name with `count` doubles as arguments.

    Raises:
        Untranslatable: If the C library lacks it, or `math` calls another one.
    """
    for library in _LIBRARIES:
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        if _agrees(function, name, count):
            return address_of(function)
    raise Untranslatable(f"the C library has no `{name}` that is that of `math`")


@cache
def address_of_both(first: str, second: str) -> int | None:
    """The address of the C function of a double that stores the values of two functions under two
    addresses; None if the C library has none that gives the values of `math`.
    """
    for name in BOTH[first, second]:
        for library in _LIBRARIES:
            try:
                function = getattr(ctypes.CDLL(library), name)
            except (OSError, AttributeError):
                continue
            if _both_agree(function, first, second):
                return address_of(function)
    return None


def both_of(function: Any, x: float) -> tuple[float, float]:
    """The two values that such a C function stores."""
    found = ctypes.c_double(), ctypes.c_double()
    function.restype = None
    function(ctypes.c_double(x), *map(ctypes.byref, found))
    return found[0].value, found[1].value


def _both_agree(function: Any, first: str, second: str) -> bool:
    known = getattr(math, first), getattr(math, second)
    return all(
        pack("2d", *both_of(function, x)) == pack("2d", *(f(x) for f in known)) for x in _TRIED
    )


def _agrees(function: Any, name: str, count: int) -> bool:
    known = getattr(math, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * count
    points = zip(*(_TRIED[i:] + _TRIED[:i] for i in range(count)), strict=True)
    for args in points:
        try:
            expected = float(known(*args))
        except ValueError:
            continue
        if pack("d", function(*args)) != pack("d", expected):
            return False
    return True
