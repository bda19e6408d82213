"""Functions of one variable by pieces, written once for numbers and for arrays.

A kernel is `function(x, m, **params)`: x is a Python float or a flat float64 array, and m is the
module that has the functions for it, `ieee` or NumPy. Kernels of numbers thus never import NumPy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from gradcli.engine.numerics import ieee
from gradcli.engine.values.data import Data, np

Kernel: TypeAlias = Callable[..., Any]

BLOCK = 1 << 14  # elements that are worked on together, few enough for the cache


def on_number(kernel: Kernel) -> Callable[..., float]:
    """The kernel on a Python number."""

    def value(x: Any, **params: Any) -> float:
        return kernel(float(x), ieee, **params)  # type: ignore[no-any-return]

    return value


def on_array(kernel: Kernel) -> Callable[..., Data]:
    """The kernel on an array, in double precision; a float32 array gives one again."""

    def value(x: Data, **params: Any) -> Data:
        by_element = getattr(x, "by_element", None)
        if by_element is not None:  # an array that the compiler traces
            return by_element(lambda x: kernel(x, np, **params), (kernel, *params.items()))
        x = np.asarray(x)
        out = np.empty(x.shape, np.float32 if x.dtype.char == "f" else np.float64)
        cells, flat = out.reshape(-1), x.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            block = flat[start : start + BLOCK].astype(np.float64)
            cells[start : start + BLOCK] = kernel(block, np, **params)
        return out

    return value


def pieces(x: Any, m: Any, bounds: Sequence[float], functions: Sequence[Kernel]) -> Any:
    """Value of the function in whose piece x lies: the one after bound i is functions[i + 1].

    A bound belongs to the piece after it; nan is in the last one.
    """
    if m is ieee:
        return functions[bisect_right(bounds, x)](x, m)
    if not isinstance(x, np.ndarray):  # an array that the compiler traces
        out = functions[-1](x, m)
        for bound, function in zip(bounds[::-1], functions[-2::-1], strict=True):
            out = m.where(m.less(x, bound), function(x, m), out)
        return out
    place = np.searchsorted(bounds, x, side="right")
    if (place == place[0]).all():
        return functions[place[0]](x, m)
    out = np.empty_like(x)
    for i, function in enumerate(functions):
        chosen = place == i
        if chosen.any():
            out[chosen] = function(x[chosen], m)
    return out


def polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Value of a polynomial, the coefficient of the highest power first (Horner's scheme)."""
    r = coefficients[0]
    for c in coefficients[1:]:
        r = r * x + c
    return r
