"""Ops for tests of result dtypes, and a letter for each result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support.checks.oracles import table
from support.programs.dtype_calls import LETTERS, NARROW

from gradcli.engine.ops.catalog import ops
from gradcli.engine.static.value import constant, tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of
from gradcli.errors import GradError

OPS = [
    op
    for name, op in table().items()
    if op.host.call is None
    and (op.value.array or op.value.body)
    and ".internal." not in ops.families[name]
]
ARRAYS_FIRST = "PyTorch makes arrays of both first, so that a tensor without dimensions counts"
INPUTS = "PyTorch gives the input's dtype, whatever the others hold"
_ALL = {**LETTERS, **NARROW}


def known(a: Any) -> Any:
    """The type that `check` infers for an argument."""
    return tensor(a.shape, dtype_of(a)) if isinstance(a, np.ndarray) else constant(a)


def letters(question: Callable[[], Any]) -> str:
    """A letter for the dtype of each result of a call, "-" if it is refused."""
    try:
        out = question()
    except GradError:
        return "-"
    parts = out if isinstance(out, tuple) else (out,)
    return "".join(_ALL.get(dtype_of(data_of(part)), "?") for part in parts)
