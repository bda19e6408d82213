"""The dtypes as values of the language: `dtype=float32`, `x.dtype`."""

from __future__ import annotations

from typing import Any

from gradcli.engine.values.limits import QUESTION
from gradcli.errors import run_error


class DType:
    """A dtype that a program can name. Prints as PyTorch's."""

    __slots__ = ("name",)
    said = "a dtype"

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"torch.{self.name}"


_ALL = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
DTYPES = {name: DType(name) for name in _ALL}
"""Each dtype there is, one object for it."""

FLOAT64, FLOAT32, INT64 = DTYPES["float64"], DTYPES["float32"], DTYPES["int64"]

_NAMES = {
    **{name: name for name in DTYPES},
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int64",
    "short": "int16",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


_OF_DEFAULT = frozenset({"float", "FloatTensor", "Tensor"})
"""Names of the default dtype, whichever that is."""


def dtype_name(dtype: Any) -> str | None:
    """Name of a requested dtype, None for none. It is given as a `DType`, or as a built-in
    function: `float` is the default dtype, `int` int64 and `bool` bool.
    """
    if dtype is None:
        return None
    asked = builtin_name(dtype)
    if asked in _OF_DEFAULT:
        return QUESTION.default_dtype
    name = _NAMES.get(asked)
    if name is None:
        *others, last = DTYPES
        message = f"`dtype` must be one of {', '.join(others)} and {last}"
        raise run_error("bad-argument", message, raises=TypeError)
    return name


def is_default(dtype: Any) -> bool:
    """True if no dtype was asked for, or the one that floats have by default."""
    return dtype is None or builtin_name(dtype) in _OF_DEFAULT


def floating_name(dtype: Any) -> str | None:
    """Name of the dtype of floats that was asked for, None for none."""
    name = dtype_name(dtype)
    if name is not None and not name.startswith("float"):
        raise run_error("dtype-mismatch", f"`dtype` must be one of floats, got {name}")
    return name


def is_same(left: Any, right: Any) -> bool:
    """True if two values are the same dtype. A built-in function may name one of them."""
    if type(left) is not DType:
        left, right = right, left
    if type(left) is not DType or not (type(right) is DType or callable(right)):
        return False
    named = builtin_name(right)
    return left.name == (dtype_name(named) if named in ("bool", *_OF_DEFAULT) else named)


def builtin_name(value: Any) -> str:
    """Name of a dtype, a dtype's name, or a built-in function, NumPy's without `numpy_`; "" of
    anything else.
    """
    if isinstance(value, str):
        return value.removeprefix("numpy_")
    name = value.name if isinstance(value, DType) else getattr(value, "__name__", "")
    return name.removeprefix("numpy_") if isinstance(name, str) else ""
