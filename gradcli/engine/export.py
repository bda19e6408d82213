"""The program's values as the plain data that results hold."""

from __future__ import annotations

from typing import Any

from gradcli.engine.arrays import NUMBERS
from gradcli.engine.tensor import Tensor


def is_data(value: Any) -> bool:
    """Whether a value is data, not a function or the like."""
    if isinstance(value, (list, tuple)):
        return all(map(is_data, value))
    return value is None or type(value) in NUMBERS or isinstance(value, (Tensor, str, range))


def plain_value(value: Any) -> Any:
    """Numbers, text and arrays as they are; tensors as their data, lists item by item.

    A list of numbers only, as a result or a value, stays a list: it reads the same in JSON.
    """
    if isinstance(value, Tensor):
        data = value.data
        return (
            data if type(data) in NUMBERS or data.ndim or data.dtype == "float32" else data.item()
        )
    if isinstance(value, range):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    return value
