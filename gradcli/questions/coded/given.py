"""Values that are given for tensors, by their elements or whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.typed import dtype_and_shape, is_array
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, np

ENDS = {"int": 2.0**63, "bool": 2.0}
"""Where the floats end that can be an int or a bool."""


def typed(
    inputs: Sequence[tuple[str, str, tuple[int, ...]]], values: Mapping[str, Any]
) -> list[Any] | None:
    """The values of inputs (name, type and shape) as a program has them: a number for each element,
    or one array; None if one cannot be so.
    """
    found: list[Any] = []
    for name, type_, shape in inputs:
        if is_array(type_):
            dtype, _ = dtype_and_shape(type_)
            found.append(whole(values.get(name), dtype, shape))
            continue
        several = elements(values.get(name), shape)
        if several is None or not NUMBERS.issuperset(map(type, several)):
            return None
        found += [_typed(x, type_) for x in several]
    return None if any(x is None for x in found) else found


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


def _typed(value: Any, type_: str) -> Any:
    """A number as one of a type, None if it is none."""
    if type_ == "float":
        return value if type(value) is float else _float(value)
    if not float(value).is_integer() or not -ENDS[type_] <= value < ENDS[type_]:
        return None
    if type_ == "int":
        return int(value)
    return bool(value) if value in (0, 1) else None


def _float(value: int) -> float | None:
    """An int as a float, None if it is of more than 64 bits."""
    return float(value) if -ENDS["int"] <= value < ENDS["int"] else None
