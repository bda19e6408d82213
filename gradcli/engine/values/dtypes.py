"""The dtypes as values of the language: `dtype=float32`, `x.dtype`."""

from __future__ import annotations

from typing import Any

from gradcli.errors import run_error


class DType:
    """A dtype that a program can name. Prints as PyTorch's."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"torch.{self.name}"


DTYPES = {name: DType(name) for name in ("float64", "float32", "int64", "bool")}
"""Each dtype there is, one object for it."""

FLOAT64, FLOAT32, INT64 = DTYPES["float64"], DTYPES["float32"], DTYPES["int64"]

_NAMES = {
    "float64": "float64",
    "double": "float64",
    "float": "float64",
    "float32": "float32",
    "int64": "int64",
    "long": "int64",
    "int": "int64",
    "bool": "bool",
    "FloatTensor": "float64",
    "DoubleTensor": "float64",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


def dtype_name(dtype: Any) -> str | None:
    """Name of the dtype that was asked for, None for none: a `DType`, or the built-in function
    `float`, `int` or `bool`, which stand for float64, int64 and bool.
    """
    if dtype is None:
        return None
    name = _NAMES.get(builtin_name(dtype))
    if name is None:
        raise run_error("bad-argument", "`dtype` must be one of float64, float32, int64 and bool")
    return name


def floating_name(dtype: Any) -> str | None:
    """Name of the dtype of floats that was asked for, None for none."""
    name = dtype_name(dtype)
    if name is not None and not name.startswith("float"):
        raise run_error("dtype-mismatch", f"`dtype` must be float64 or float32, got {name}")
    return name


def builtin_name(value: Any) -> str:
    """Name of a dtype, a dtype's name, or a built-in function; "" of anything else."""
    if isinstance(value, str):
        return value
    name = value.name if isinstance(value, DType) else getattr(value, "__name__", "")
    return name if isinstance(name, str) else ""
