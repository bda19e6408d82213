"""Dtypes of results: the promotion rules that most entries name.

A rule takes the arguments of the op and reads only their shapes and dtypes; it takes static
parameters by name. The dtype None, of an argument or the result, means unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import (
    NUMBERS,
    SCALARS,
    Data,
    dtype_of,
    is_whole,
    joined,
    np,
    plain,
    shape_of,
)
from gradcli.engine.values.sizes import common_dtype


def promoted(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments. Tensors with dimensions come before those without, and
    these before numbers, unless a later one is of a higher kind: floats over ints over bools.
    """
    given = [a for a in args if a is not None]
    names = {dtype_of(a) for a in given}
    if len(names) == 1:
        return names.pop()
    if None in names:
        sized = any(dtype_of(a) == "float64" and shape_of(a) for a in given)
        return "float64" if sized else None
    if names <= _OF_NUMBERS:
        return joined(names)
    ranks = [range(least, most + 1) for least, most in map(_rank, given)]
    dtypes = [dtype_of(a) for a in given]
    found = {_by_rank(dtypes, chosen) for chosen in product(*ranks)}
    return found.pop() if len(found) == 1 else None


_OF_NUMBERS = frozenset({"float64", "int64", "bool"})


def _by_rank(dtypes: Sequence[str], ranks: Sequence[int]) -> str:
    """The dtype of the highest rank; bools, and ints above floats, join with lower ranks."""
    found = ""
    for rank in (0, 1, 2):
        here = {d for d, r in zip(dtypes, ranks, strict=True) if r == rank}
        if not here:
            continue
        name = joined(here)
        gives_way = name == "bool" or (found.startswith("float") and is_whole(name))
        found = joined({name, found}) if found and gives_way else name
    return found


def _rank(value: Any) -> tuple[int, int]:
    if is_number(value):
        return 0, 0
    shape = shape_of(value)
    least = 2 if shape else 0 if is_number(value) is None else 1
    return least, 1 if shape == () else 2


def usual(rule: Any, args: Sequence[Any], params: Mapping[str, Any], data: Sequence[Data]) -> Any:
    """Plain data of arguments in which NumPy computes what PyTorch does: ints of 64 bits and floats
    of at least 32, all in the precision that the op works in, by the rule for its dtype.
    """
    wide = [a if type(a) in SCALARS else a.astype(_WIDE.get(a.dtype.char, a.dtype)) for a in data]
    return in_one_precision(rule, args, params, wide)


def wrapped(rule: Any, args: Sequence[Any], params: Mapping[str, Any], data: Sequence[Data]) -> Any:
    """Plain data of two operands whose ints wrap around to the dtype that holds both, if that has
    fewer than 64 bits: beside a uint8, PyTorch takes -1 for 255 before it divides or compares.
    """
    name = promoted(*args)
    if name not in _FEWER_BITS or str(rule(*args, **params)).startswith("float"):
        return data
    return [
        d if type(d) is bool or dtype_of(d) == "bool" else np.asarray(d).astype(name) for d in data
    ]


_FEWER_BITS = frozenset({"int32", "int16", "int8", "uint8"})
_WIDE = {"e": "float32", **dict.fromkeys("ihbB", "int64")}


def by_rule(rule: Any, args: Sequence[Any], params: Mapping[str, Any], out: Any) -> Any:
    """Convert results to the dtypes of the rules; ints that do not fit lose bits."""
    if type(out) is not tuple:
        return _cast(out, rule(*args, **params))
    rules = rule * len(out) if len(rule) == 1 else rule
    return tuple(_cast(o, r(*args, **params)) for o, r in zip(out, rules, strict=True))


def _cast(out: Data, dtype: str | None) -> Data:
    return out if dtype in (None, dtype_of(out)) else plain(np.asarray(out).astype(dtype))


def in_one_precision(
    rule: Any, args: Sequence[Any], params: Mapping[str, Any], data: Sequence[Data]
) -> Sequence[Data]:
    """Convert arguments to the precision that the op works in, by the rule for its dtype. Beside
    float64, float32 becomes float64. If the tensors are float32, Python's floats become float32,
    too: as plain data they would count as tensors of float64.
    """
    for d in data:
        if type(d) not in SCALARS and d.dtype.char == "f":
            break
    else:
        return data
    if type(rule) is list:
        return data
    name = rule(*args, **params)
    if name == "float64":
        return [
            d if type(d) in SCALARS or d.dtype.char != "f" else d.astype(np.float64) for d in data
        ]
    if promoted(*args) not in ("float32", "float16"):
        return data
    return [
        np.asarray(d, np.float32) if type(d) is float and is_number(a) else d
        for a, d in zip(args, data, strict=True)
    ]


def is_number(value: Any) -> bool | None:
    """True if a value is one of Python's numbers; None where that is not known."""
    if isinstance(value, Carrier):
        return value.is_number
    return type(value) in NUMBERS


def common(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments, with or without dimensions."""
    return None if any(dtype_of(a) is None for a in args) else common_dtype(*args)


def floating(*args: Any, **params: Any) -> str | None:
    """The dtype of an op whose results are floats: ints and bools become float64."""
    name = promoted(*args)
    return "float64" if is_whole(name) else name


def always_double(*args: Any, **params: Any) -> str:
    """Float64, for arguments of any dtype."""
    return "float64"


def counted(*args: Any, **params: Any) -> str | None:
    """The dtype of arithmetic in which a bool counts as an int."""
    name = promoted(*args)
    return "int64" if name == "bool" else name


def summed(*args: Any, **params: Any) -> str | None:
    """The dtype of sums and products of elements: int64 for ints and bools."""
    name = promoted(*args)
    return "int64" if is_whole(name) else name


def arithmetic(*args: Any, **params: Any) -> str | None:
    """That which holds all arguments; of bools that are all numbers they make an int."""
    name = promoted(*args)
    if name != "bool":
        return name
    numbers = {is_number(a) for a in args if a is not None}
    return "bool" if False in numbers else None if None in numbers else "int64"


def of_first(first: Any, *args: Any, **params: Any) -> str | None:
    """That of the first argument."""
    return dtype_of(first)


def boolean(*args: Any, **params: Any) -> str:
    """Truth."""
    return "bool"


def truth(x: Any, *args: Any, **params: Any) -> str:
    """Truth of elements, which for uint8 is a uint8, too, as in PyTorch."""
    return "uint8" if dtype_of(x) == "uint8" else "bool"


def integer(*args: Any, **params: Any) -> str:
    """Places and counts."""
    return "int64"
