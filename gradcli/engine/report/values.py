"""Turn the program's values into the plain data that results hold."""

from __future__ import annotations

from typing import Any

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, USUAL, holds_finite
from gradcli.engine.values.limits import check_items, check_memory
from gradcli.engine.values.memory import shows_more
from gradcli.results import Binding


def is_data(value: Any) -> bool:
    """True for data, False for functions and other objects."""
    if isinstance(value, (list, tuple, set)):
        return all(map(is_data, value))
    if isinstance(value, dict):
        return all(map(is_data, value.values()))
    return value is None or type(value) in NUMBERS or isinstance(value, (Tensor, str, range))


def is_finite(value: Any) -> bool:
    """True if no number in a value is nan or infinite; text and functions have none."""
    if type(value) is float:  # most are
        return value - value == 0
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    data = data_of(value)
    if type(data) is float:
        return data - data == 0
    _check_shown(data)
    return holds_finite(data)


def _check_shown(data: Any) -> None:
    """Refuse a broadcast view that would exceed the memory limit if it were copied."""
    if hasattr(data, "strides") and shows_more(data):
        check_memory(data.shape)


def plain_value(value: Any) -> Any:
    """Numbers, text and arrays as they are, tensors as their data, collections item by item.

    A list of numbers stays a list: it reads the same in JSON. Keys of a dictionary become text.
    """
    if isinstance(value, Tensor):
        data = value.data
        if type(data) in NUMBERS:
            return data
        _check_shown(data)
        return data if data.ndim or data.dtype.char not in USUAL else data.item()
    if isinstance(value, range):
        check_items(len(value))
        return list(value)
    if isinstance(value, (list, tuple, set)):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(_key(key)): plain_value(item) for key, item in value.items()}
    return value


def _key(key: Any) -> Any:
    """A dictionary's key as plain Python data."""
    return tuple(map(_key, key)) if type(key) is tuple else data_of(key)


def binding(name: str, value: Any) -> Binding:
    """A top-level name with its value, its gradient and the op that made it."""
    if not isinstance(value, Tensor):
        return Binding(name, plain_value(value), None, "", False)
    stale = value.is_stale
    made_by = None if stale else value.grad_fn
    return Binding(
        name,
        plain_value(value),
        None if value.grad is None else plain_value(value.grad),
        "" if made_by is None else made_by.name(),
        not stale and value.is_leaf and value.requires_grad,
    )


def is_numeric(value: Any) -> bool:
    """True if a value is a number, a tensor, or a non-empty list of such at any depth."""
    if type(value) is list:
        return bool(value) and all(map(is_numeric, value))
    return isinstance(value, Tensor) or type(value) in NUMBERS
