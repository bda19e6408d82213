"""The dtype of what an op gives: the rules that most entries name.

A rule takes the arguments of the op, of which it reads shape and dtype alone, and the static
parameters by name. A dtype that is not known is None, of an argument as of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, SCALARS, Data, dtype_of, np, shape_of
from gradcli.engine.values.sizes import common_dtype


def promoted(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments: float64 over float32 over int64 over bool. Of float32 and
    float64 that of the arguments with dimensions, else that of the tensors: numbers come last.
    """
    given = [a for a in args if a is not None]
    names = {dtype_of(a) for a in given}
    if len(names) == 1:
        return names.pop()
    if None in names:
        sized = any(dtype_of(a) == "float64" and shape_of(a) for a in given)
        return "float64" if sized else None
    if not names >= {"float32", "float64"}:
        return next((n for n in ("float64", "float32", "int64") if n in names), "bool")
    least, most = _ranks(a for a in given if dtype_of(a) == "float64")
    least32, most32 = _ranks(a for a in given if dtype_of(a) == "float32")
    return "float64" if least >= most32 else "float32" if least32 > most else None


def _ranks(values: Iterable[Any]) -> tuple[int, int]:
    """The least and the most of what the first of several values can be: 2 is one with dimensions,
    1 a tensor without, 0 a number.
    """
    ranks = [_rank(v) for v in values]
    return max(least for least, _ in ranks), max(most for _, most in ranks)


def _rank(value: Any) -> tuple[int, int]:
    if is_number(value):
        return 0, 0
    shape = shape_of(value)
    least = 2 if shape else 0 if is_number(value) is None else 1
    return least, 1 if shape == () else 2


def in_one_precision(
    rule: Any, args: Sequence[Any], params: Mapping[str, Any], data: Sequence[Data]
) -> Sequence[Data]:
    """Plain data of arguments in the precision that the op works in, by the rule for its dtype:
    float32 beside float64 is made float64, and where the tensors are float32 the floats that are
    Python's numbers are, too, which to plain data alone stand for a tensor's.
    """
    for d in data:
        if type(d) not in SCALARS and d.dtype.char == "f":
            break
    else:
        return data
    if type(rule) is list:
        return data
    if rule(*args, **params) == "float64":
        return [
            d if type(d) in SCALARS or d.dtype.char != "f" else d.astype(np.float64) for d in data
        ]
    if promoted(*args) != "float32":
        return data
    return [
        np.asarray(d, np.float32) if type(d) is float and is_number(a) else d
        for a, d in zip(args, data, strict=True)
    ]


def is_number(value: Any) -> bool | None:
    """Whether a value is one of Python's numbers; None where that is not known."""
    if isinstance(value, Carrier):
        return value.is_number
    return type(value) in NUMBERS


def common(*args: Any, **params: Any) -> str | None:
    """The dtype that holds all arguments, with or without dimensions."""
    return None if any(dtype_of(a) is None for a in args) else common_dtype(*args)


def floating(*args: Any, **params: Any) -> str | None:
    """The same for an op whose results are floats: ints and bools are made float64."""
    name = promoted(*args)
    return "float64" if name in ("int64", "bool") else name


def counted(*args: Any, **params: Any) -> str | None:
    """The same for sums and products, in which a bool counts as an int."""
    name = promoted(*args)
    return "int64" if name == "bool" else name


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


def integer(*args: Any, **params: Any) -> str:
    """Places and counts."""
    return "int64"
