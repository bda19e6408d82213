"""Values that are given for tensors, by their elements or whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, np


def elements(value: Any, shape: Sequence[int]) -> list[Any] | None:
    """The elements of a list, array or tensor of that shape, in their order; None of another."""
    data = value.data if isinstance(value, Tensor) else value
    if type(data) in NUMBERS:
        return None if shape else [data]
    if isinstance(data, np.ndarray):
        is_plain = data.dtype in (np.float64, np.int64, np.bool_) and data.flags.c_contiguous
        return data.reshape(-1).tolist() if data.shape == tuple(shape) and is_plain else None
    if not shape or type(data) not in (list, tuple) or len(data) != shape[0]:
        return None
    found: list[Any] = []
    for item in data:
        inner = elements(item, shape[1:])
        if inner is None:
            return None
        found += inner
    return found


def whole(value: Any, dtype: str, shape: Sequence[int]) -> Any:
    """A list, array or tensor of that shape as a contiguous array of a dtype; None if it has
    another shape.
    """
    data = value.data if isinstance(value, Tensor) else value
    if not isinstance(data, np.ndarray):
        found = elements(data, shape)
        if found is None or not NUMBERS.issuperset(map(type, found)):
            return None
        try:
            data = np.array(found).reshape(shape)
        except OverflowError:
            return None
    is_plain = data.dtype in (np.float64, np.int64, np.bool_) and data.flags.c_contiguous
    if data.shape != tuple(shape) or not is_plain:
        return None
    if data.dtype == dtype:
        return data
    return data.astype(np.float64) if dtype == "float64" else None
