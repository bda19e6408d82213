"""The ways in which the elements of a tensor may lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np


def _ordered(x: Any) -> Any:
    return np.array(x, order="C")


def _transposed(x: Any) -> Any:
    """The last dimension is the slowest in memory."""
    order = (x.ndim - 1, *range(x.ndim - 1))
    return np.array(np.transpose(x, order), order="C").transpose(np.argsort(order))


def _strided(x: Any) -> Any:
    """Every second place of the last dimension."""
    wide = np.repeat(x, 2, axis=-1)
    return np.array(wide, order="C")[..., ::2]


def _expanded(x: Any) -> Any:
    """The first dimension is one place, seen many times."""
    one = np.array(x[:1], order="C")
    made = np.broadcast_to(one, x.shape)
    made.flags.writeable = True
    return made


LAYOUTS = {
    "ordered": _ordered,
    "transposed": _transposed,
    "strided": _strided,
    "expanded": _expanded,
}


def laid(x: Any, layout: str) -> Any:
    """An array of the same shape on memory of its own, laid out so; of its values an expanded one
    keeps the first.
    """
    return LAYOUTS[layout](x) if x.ndim and x.size else _ordered(x)
