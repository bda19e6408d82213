"""Calls of an op with arguments of every dtype: arrays, tensors without dimensions, numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

LETTERS = {"bool": "b", "int64": "i", "float32": "f", "float64": "d"}
NARROW = {"float16": "h", "int32": "w", "int16": "s", "int8": "c", "uint8": "u"}
ARRAYS = [f"array {dtype}" for dtype in LETTERS]
FORMS = [*ARRAYS, *(f"0-d {d}" for d in LETTERS), "number bool", "number int64", "number float64"]
"""The forms that an argument may have."""
EVERY = [f"{kind} {d}" for d in (*LETTERS, *NARROW) for kind in ("array", "0-d")] + FORMS[-3:]
"""Those of all dtypes."""
PAIRS = [
    ("array int8", "array uint8"),
    ("array int16", "array int32"),
    ("array int32", "0-d int64"),
    ("array int32", "number int64"),
    ("array uint8", "number float64"),
    ("number float64", "array int32"),
    ("0-d int16", "array bool"),
    ("array int32", "array float16"),
    ("array float16", "0-d float64"),
    ("0-d float16", "number float64"),
    ("array float16", "array float32"),
    ("array int64", "0-d float16"),
]
"""Some that meet each other, of an operation of several arguments."""
FEW = ["array int64", "array float32", "0-d bool", "0-d float32", "0-d float64", FORMS[-1]]
"""Those of three arguments: enough to meet each other in every order."""


EXPRESSIONS = (
    *("x + x", "x * x", "x - 100", "-x", "abs(x)", "x ** 3", "~x", "x // 7", "x % 7", "x * 3"),
    *("x.sum()", "x.prod()", "x.cumsum(0)", "x.max()", "x.sort()[0]", "x @ x", "x == x", "x < 3"),
    *("x / 7", "x * 0.5", "x.bool()", "x.int()", "x.short()", "x.char()", "x.byte()", "x.long()"),
    *("x.double()", "x.half()", "x.type()", "x.dtype", "x[0]", "x.tolist()", "x.unique()"),
    *("x.clamp(2, 9)", "x + 300", "x & 12", "x | 3", "x.flip(0)", "x.roll(1)", "x.argmax()"),
    *(
        "x % 300",
        "x % -1",
        "x // 300",
        "x // -7",
        "x.fmod(300)",
        "x.fmod(-7)",
        "x < 300",
        "x >= -1",
    ),
    *("x == 70000", "x / 300", "x / -1", "300 - x", "-1 < x", "x.maximum(torch.tensor(70000))"),
    *("x.minimum(torch.tensor(-1))", "x.div(-7, rounding_mode='trunc')", "x * -1", "x ^ 300"),
)
"""Expressions of a tensor whose numbers are at the ends of its dtype."""


def base(op: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """The sample from which an operation's calls are made: the first one with the most arguments
    that may have several dtypes; None if there is none.
    """
    found = None
    for s in op.page.samples():
        args = [np.asarray(a) if isinstance(a, (list, tuple)) else a for a in s.args]
        empty = any(isinstance(a, np.ndarray) and a.size == 0 for a in args)
        if "dtype" in s.params or empty or not varying(op, args):
            continue
        if found is None or len(varying(op, args)) > len(varying(op, found[0])):
            found = args, dict(s.params)
    return found


def varying(op: Any, args: list[Any]) -> list[int]:
    """Indices of the arguments that may have several dtypes, so not of indices and choices."""
    return [
        i
        for i, a in enumerate(args)
        if type(a) is float
        or (a is not None and (op.elementwise or np.asarray(a).dtype.kind == "f"))
    ]


def calls(op: Any) -> Iterator[tuple[tuple[str, ...], list[Any], dict[str, Any]]]:
    """The forms, arguments and parameters of every call, with arrays and numbers as arguments."""
    found = base(op)
    if found is None:
        return
    args, params = found
    places = varying(op, args)
    choices = FORMS if len(places) < 3 else FEW if op.elementwise else ARRAYS[-2:]
    for forms in itertools.product(choices, repeat=len(places)):
        made = list(args)
        for i, form in zip(places, forms, strict=True):
            made[i] = _formed(args[i], form, op.elementwise)
        yield forms, made, params


def narrow_calls(op: Any) -> Iterator[tuple[tuple[str, ...], list[Any], dict[str, Any]]]:
    """The same for narrower dtypes: each alone and some pairs; for `add` all pairs."""
    found = base(op)
    if found is None:
        return
    args, params = found
    places = varying(op, args)
    ways = [(f"{kind} {d}",) * len(places) for d in NARROW for kind in ("array", "0-d")]
    if len(places) == 2:
        ways = [*itertools.product(EVERY, repeat=2)] if op.name == "add" else ways + PAIRS
    for forms in ways:
        made = list(args)
        for i, form in zip(places, forms, strict=True):
            made[i] = _formed(args[i], form, op.elementwise)
        yield forms, made, params


def _formed(value: Any, form: str, free: bool) -> Any:
    kind, dtype = form.split()
    if free or kind != "array":  # 1/3 differs in float32
        value = 1 / 3 if dtype.startswith("float") else 1
        value = np.full(2, value, dtype) if kind == "array" else np.asarray(value, dtype)
        return value.item() if kind == "number" else value
    return np.asarray(value).astype(dtype)
