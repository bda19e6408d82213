"""NumPy's element-wise functions with PyTorch's dtypes and our errors.

Functions made here are the `array` values of element-wise ops. Each looks up NumPy when it is
called, so that importing a family is cheap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gradcli.engine.values.data import NUMBERS, SCALARS, Data, np, shape_of
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import RunError

Function: TypeAlias = Callable[..., Data]


def ufunc(name: str) -> Function:
    """NumPy's function of that name, on operands of one kind."""

    def call(*args: Data) -> Data:
        try:
            return getattr(np, name)(*alike(args))
        except ValueError as error:
            raise unfit(args, error) from None

    return one_call(lambda: getattr(np, name))(call)


def real(name: str) -> Function:
    """NumPy's function of that name for ops whose results are floats: bools count as the numbers 0
    and 1.
    """

    def call(*args: Data) -> Data:
        try:
            return getattr(np, name)(*map(counted, alike(args)))
        except ValueError as error:
            raise unfit(args, error) from None

    return one_call(lambda: getattr(np, name))(call)


def one_call(found: Callable[[], Function]) -> Callable[[Function], Function]:
    """Says of a value that it is, of arrays of float64 and floats, one call of the function that is
    found: of NumPy, which may not be there yet.
    """

    def said(function: Function) -> Function:
        function.one_call = found  # type: ignore[attr-defined]  # for `one_call_of`
        return function

    return said


def one_call_of(function: Function | None) -> Callable[[], Function] | None:
    """A function that finds the single NumPy function that computes a value on float64 arrays, if
    any.
    """
    return getattr(function, "one_call", None)


def formula(function: Function) -> Function:
    """A value made of several NumPy functions: bools count as the numbers 0 and 1, and beside
    float32 numbers are of it, so that what is made of numbers alone stays so.
    """

    def call(*args: Data, **params: Any) -> Data:
        try:
            return function(*map(counted, single(alike(args))), **params)
        except ValueError as error:
            raise unfit(args, error) from None

    return one_call(lambda: function)(call)


def on_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """The value of such a formula on Python's numbers."""
    return lambda *args: function(*map(counted, args))


def alike(args: tuple[Data, ...]) -> tuple[Data, ...]:
    """Operands that NumPy promotes as PyTorch does. Beside float32, int64 becomes float32. Float64
    without dimensions gives way to float32 with some; float32 without, to a float.
    """
    for a in args:
        if type(a) not in SCALARS and a.dtype.char == "f":
            return _narrow(args)
    return args


def _narrow(args: tuple[Data, ...]) -> tuple[Data, ...]:
    sized = any(type(a) not in SCALARS and a.dtype.char == "f" and a.ndim for a in args)
    if not sized and any(type(a) is float for a in args):
        return tuple(float(a) if getattr(a, "dtype", None) == np.float32 else a for a in args)
    return tuple(a if type(a) in SCALARS else _beside_float32(a, sized) for a in args)


def _beside_float32(a: Data, sized: bool) -> Data:
    if a.dtype.kind in "ib":
        return a.astype(np.float32)
    return a.item() if sized and not a.ndim and a.dtype.char == "d" else a


def single(args: tuple[Data, ...]) -> tuple[Data, ...]:
    """Operands with numbers as float32 where all arrays are of it."""
    if {a.dtype.char for a in args if type(a) not in SCALARS} != {"f"}:
        return args
    return tuple(np.float32(a) if type(a) in NUMBERS else a for a in args)


def counted(a: Data) -> Data:
    """An operand with bools as floats."""
    if type(a) in NUMBERS:
        return float(a) if type(a) is bool else a
    return a.astype(np.float64) if a.dtype.kind == "b" else a


def unfit(args: tuple[Data, ...], error: ValueError) -> Exception:
    """The error to raise for operands that NumPy refused."""
    try:
        broadcast(*(shape_of(a) for a in args if a is not None))
    except RunError as refused:
        return refused
    return error


def integral(*args: Data) -> bool:
    """True if all operands are ints or bools."""
    return all(type(a) is not float if type(a) in NUMBERS else a.dtype.kind in "ib" for a in args)
