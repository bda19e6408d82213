"""Calls of NumPy's inner loops, and numbers that record which ones an op on arrays needs.

Their addresses are found by the layout in NumPy's public header.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from gradcli.engine.compile.llvm.emit.libm import BOTH, address, address_of_both, both_of
from gradcli.engine.compile.llvm.emit.writer import Writer
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import DTYPES

TYPE_OF = {np.dtype(name): type_ for type_, name in DTYPES.items()}

BY_EXPONENT = {2.0: np.square, 1.0: np.positive, 0.5: np.sqrt, -1.0: np.reciprocal}
"""The function that NumPy calls for an array to the power of a plain number."""

_ALONE = (("exp",), ("log",), ("log2",))
"""The functions for which a call of the C library takes less than NumPy's loop."""


class _Struct(ctypes.Structure):
    """The fields of a NumPy function after the object's head, as in NumPy's public header."""

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
    """The types to which a NumPy function converts numbers of these types, and its result's."""
    try:
        found = ufunc.resolve_dtypes((*(np.dtype(DTYPES[t]) for t in types), None))
        return tuple(TYPE_OF[dtype] for dtype in found)
    except (TypeError, KeyError):
        raise Untranslatable(f"`{ufunc.__name__}` has no value of {types}") from None


@cache
def inner_loop(ufunc: Any, types: tuple[str, ...]) -> tuple[int, int]:
    """The address of a NumPy function's loop, and of its data; the last type is the result's."""
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


def call_loop(w: Writer, loop: tuple[int, int], sizes: str, steps: str) -> None:
    """Emit a call of an inner loop on the arrays whose addresses are in `%at`."""
    address, data = loop
    w.do(
        f"call void inttoptr (i64 {address} to ptr)(ptr %at, ptr {sizes}, ptr {steps}, "
        f"ptr inttoptr (i64 {data} to ptr)) nounwind"
    )


@cache
def library_function(*functions: Any) -> int | None:
    """The address of the C function of a double that gives the values of one of NumPy's functions,
    or stores those of two; None if there is none, or NumPy computes them otherwise. Where the value
    is nan, its sign may be another one: see `gives_same_nan`.

    NumPy calls the C library element by element where it has no loop of its own for a processor.
    For some functions it calls an older version, which takes longer for the same values.
    """
    names = tuple([function.__name__ for function in functions])
    if names not in (*BOTH, *_ALONE) or not all(map(_is_of_library, functions)):
        return None
    try:
        return address(*names, 1) if len(names) == 1 else address_of_both(*names)
    except Untranslatable:
        return None


@cache
def gives_same_nan(*functions: Any) -> bool:
    """True if the nan that the C library gives for such functions have the signs of NumPy's."""
    at = library_function(*functions)
    points = [math.inf, -math.inf, math.nan, -math.nan, -1.0]
    assert at is not None
    if len(functions) > 1:
        found = [*zip(*(both_of(ctypes.CFUNCTYPE(None)(at), x) for x in points), strict=True)]
    else:
        called = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(at)
        found = [tuple(map(called, points))]
    with np.errstate(all="ignore"):
        known = [bytes(function(np.array(points))) for function in functions]
    return known == [bytes(np.array(values)) for values in found]


def _is_of_library(function: Any) -> bool:
    """True if a function of NumPy's has the values of `math` at many points. Loops of NumPy's own
    differ from C libraries in more than one of a thousand.
    """
    points = np.concatenate([np.linspace(1e-3, 40, 9000), np.geomspace(1e-9, 500, 1000)])
    known = getattr(math, function.__name__)
    return bytes(function(points)) == bytes(np.array([known(x) for x in points.tolist()]))


class Noted(NDArrayOperatorsMixin):
    """Base of numbers and arrays that record what an op's NumPy function does to them."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        raise NotImplementedError

    def cast(self, type: str) -> Any:
        """The elements as numbers of another type."""
        raise NotImplementedError

    def done(self, ufunc: Any, args: Sequence[Any]) -> Any:
        """The result of an element-wise NumPy function."""
        raise NotImplementedError

    def item(self) -> Any:
        """Itself: a number is an array without dimensions here."""
        return self

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        if np.dtype(dtype) == self.dtype:
            return self
        if np.dtype(dtype) not in TYPE_OF:
            raise Untranslatable(f"an array of {dtype} is made")
        return self.cast(TYPE_OF[np.dtype(dtype)])

    def __bool__(self) -> bool:
        raise Untranslatable("a branch depends on a value")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise Untranslatable("an array is made")

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Untranslatable(f"`{ufunc.__name__}` is called with options or by a method")
        return self.done(ufunc, args)
