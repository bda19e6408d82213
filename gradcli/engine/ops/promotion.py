"""The dtype of what an op gives: the rules that most entries name.

A rule takes the arguments of the op, of which it reads shape and dtype alone, and the static
parameters by name. A dtype that is not known is None, of an argument as of the result.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.values.data import NUMBERS, dtype_of, shape_of
from gradcli.engine.values.sizes import common_dtype


def promoted(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments: float64 over float32 over int64 over bool. A number
    leaves float32 what it is, and so does a float64 without dimensions beside one that has some;
    of the two without dimensions it is not known which, for they may be numbers.
    """
    given = [a for a in args if a is not None]
    names = {dtype_of(a) for a in given}
    if any(dtype_of(a) == "float64" and shape_of(a) for a in given):
        return "float64"
    if None in names:
        return None
    if "float32" in names:
        sized = any(dtype_of(a) == "float32" and shape_of(a) for a in given)
        sure = sized or all(type(a) in NUMBERS for a in given if dtype_of(a) == "float64")
        return "float32" if sure else None
    return next((n for n in ("float64", "int64") if n in names), "bool")


def common(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments, with or without dimensions."""
    return None if any(dtype_of(a) is None for a in args) else common_dtype(*args)


def floating(*args: Any, **params: Any) -> str | None:
    """The same for an op whose results are floats: ints and bools are made float64."""
    name = promoted(*args)
    return "float64" if name in ("int64", "bool") else name


def real_numbers(*args: Any, **params: Any) -> str | None:
    """The same for arithmetic in which a bool counts as the float 0 or 1."""
    bools = any(a is not None and dtype_of(a) == "bool" for a in args)
    return floating(*args) if bools else promoted(*args)


def counted(*args: Any, **params: Any) -> str | None:
    """The same for sums and products, in which a bool counts as an int."""
    name = promoted(*args)
    return "int64" if name == "bool" else name


def arithmetic(*args: Any, **params: Any) -> str | None:
    """That which holds all arguments, with bools that are numbers counted as ints."""
    name = promoted(*args)
    return "int64" if name == "bool" and not any(map(shape_of, args)) else name


def of_first(first: Any, *args: Any, **params: Any) -> str | None:
    """That of the first argument."""
    return dtype_of(first)


def boolean(*args: Any, **params: Any) -> str:
    """Truth."""
    return "bool"


def integer(*args: Any, **params: Any) -> str:
    """Places and counts."""
    return "int64"
