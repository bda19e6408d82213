"""The addresses of NumPy's inner loops, found by the layout in NumPy's public header."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import DTYPES

TYPE_OF = {np.dtype(name): type_ for type_, name in DTYPES.items()}


class _Struct(ctypes.Structure):
    """What NumPy's public header says of its functions, behind the head of the object."""

    _fields_ = (
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
    )


@cache
def types_of(ufunc: Any, types: tuple[str, ...]) -> tuple[str, ...]:
    """The types that a function takes numbers of these types as, and that of its result."""
    try:
        found = ufunc.resolve_dtypes((*(np.dtype(DTYPES[t]) for t in types), None))
        return tuple(TYPE_OF[dtype] for dtype in found)
    except (TypeError, KeyError):
        raise Untranslatable(f"`{ufunc.__name__}` has no value of {types}") from None


@cache
def inner_loop(ufunc: Any, types: tuple[str, ...]) -> tuple[int, int]:
    """The address of the loop of a function for numbers of these types, the last those of its
    results, and that of its data.
    """
    struct = _Struct.from_address(id(ufunc) + object.__basicsize__)
    known = (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes)
    *taken, result = (np.dtype(DTYPES[t]).char for t in types)
    signature = "".join(taken) + "->" + result
    if known != (struct.nin, struct.nout, struct.nargs, struct.ntypes) or ufunc.nout != 1:
        raise Untranslatable(f"`{ufunc.__name__}` is not as NumPy's header says")
    if signature not in ufunc.types:
        raise Untranslatable(f"`{ufunc.__name__}` has no loop {signature}")
    at = 8 * ufunc.types.index(signature)
    address = ctypes.c_size_t.from_address(struct.functions + at).value
    data = ctypes.c_size_t.from_address(struct.data + at).value if struct.data else 0
    return address, data
