"""Memory layouts of a tensor's elements."""

from __future__ import annotations

from typing import Any

import numpy as np


def _ordered(x: Any) -> Any:
    return np.array(x, order="C")


def _transposed(x: Any) -> Any:
    """A layout in which the last dimension is the slowest."""
    order = (x.ndim - 1, *range(x.ndim - 1))
    return np.array(np.transpose(x, order), order="C").transpose(np.argsort(order))


def _strided(x: Any) -> Any:
    """A layout with gaps between the elements of the last dimension."""
    wide = np.repeat(x, 2, axis=-1)
    return np.array(wide, order="C")[..., ::2]


def _expanded(x: Any) -> Any:
    """A layout with stride 0 in the first dimension."""
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
    """An array of the same shape in another layout, in its own memory; an expanded one repeats the
    first values.
    """
    return LAYOUTS[layout](x) if x.ndim and x.size else _ordered(x)
