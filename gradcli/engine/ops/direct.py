"""Element-wise ops on arrays of float64 that have one shape: one call of NumPy.

What `Op` does for values of any kind is done here without a look at what cannot be; a test holds
the two ways together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from gradcli.engine.numerics.ufunc import one_call_of
from gradcli.engine.ops.extent import FEW
from gradcli.engine.values.data import Data, np

Direct: TypeAlias = Callable[..., Data | None]
"""The value on the arguments; None where they are others than these."""


@cache
def one_call(op: Any) -> Callable[..., Any] | None:
    """The one function that the op is on such arrays and floats, if it is one."""
    found = one_call_of(op.value.array)
    return None if found is None or len(op.args) not in (1, 2) else found()


def direct(op: Any) -> Direct:
    """The fast path of an op."""
    function = one_call(op)
    if function is None:
        return _none
    return (_of_one if len(op.args) == 1 else _of_two)(function)


def _none(*args: Data) -> None:
    """No op has a fast path."""


def _of_one(function: Callable[..., Any]) -> Direct:
    array, double = np.ndarray, np.dtype(np.float64)

    def value(x: Data) -> Data | None:
        if type(x) is array and x.dtype is double and x.ndim and x.size <= FEW:
            return function(x)
        return None

    return value


def _of_two(function: Callable[..., Any]) -> Direct:
    array, double = np.ndarray, np.dtype(np.float64)

    def value(x: Data, y: Data) -> Data | None:
        if type(x) is array:
            if x.dtype is not double:
                return None
            kind = type(y)
            if kind is array:
                if y.dtype is not double or x.shape != y.shape:
                    return None
            elif kind is not float:
                return None
            known = x
        elif type(x) is float and type(y) is array and y.dtype is double:
            known = y
        else:
            return None
        return function(x, y) if known.ndim and known.size <= FEW else None

    return value
