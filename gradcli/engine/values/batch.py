"""Several directions at once: plain data with a leading axis that ops do not see.

A derivative rule calls ops on a cotangent or tangent. Given a `Batch` of them instead, the same
rule serves all: element-wise ops and linear ones that have a rule for it work on the whole, any
other is done for one direction after the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.values.carrier import Carrier, Like, data_of
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.sizes import broadcast


class Batch(Carrier):
    """Values of one shape: `data` has the shape (count, *shape)."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each value."""
        return tuple(self.data.shape[1:])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return dtype_of(self.data)

    @property
    def count(self) -> int:
        """The number of values."""
        return int(self.data.shape[0])

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """The result of the op on each of the values."""
        if op.value.body is not None:
            return op.value.body(*args, **params)
        if op.derivatives.batch is not None:
            out = op.derivatives.batch(*map(_in_front, args), **params)
            if out is not None:
                return Batch(out)
        elif op.elementwise and op.value.array is not None:
            return Batch(_elementwise(self.count, op, args, params))
        return _one_by_one(self.count, op, args, params)


def _in_front(a: Any) -> Any:
    """An argument with an axis in front, of size 1 where it is one for all."""
    if isinstance(a, Batch):
        return a.data
    return (a if hasattr(a, "shape") else np.asarray(a))[None]


def _elementwise(count: int, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    rank = max(len(shape_of(a)) for a in args if a is not None)
    aligned = [_aligned(a, rank) if isinstance(a, Batch) else a for a in args]
    out = op.value.array(*aligned, **params)
    shape = (count, *broadcast(*(shape_of(a) for a in args if a is not None)))
    return np.broadcast_to(out, shape) if shape_of(out) != shape else out


def _aligned(x: Batch, rank: int) -> Any:
    """The values with as many dimensions as the others have."""
    return x.data.reshape((x.count, *(1,) * (rank - x.ndim), *x.shape))


def _one_by_one(count: int, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    outs = [
        op(*(value(a.data[i]) if isinstance(a, Batch) else a for a in args), **params)
        for i in range(count)
    ]
    if isinstance(outs[0], tuple):
        return tuple(
            Batch(np.stack([np.asarray(out[k]) for out in outs])) for k in range(len(outs[0]))
        )
    return Batch(np.stack([np.asarray(out) for out in outs]))


def value(x: Any) -> Any:
    """Plain data of one value of a batch: a float64 without dimensions is a number."""
    return x.item() if x.ndim == 0 and x.dtype == np.float64 else x


def units(like: Like, start: int, stop: int) -> Batch:
    """The unit vectors number `start` to `stop` of the space of values of a shape and dtype."""
    count = int(np.prod(like.shape, dtype=int))
    rows = np.zeros((stop - start, count), like.dtype)
    rows[np.arange(stop - start), np.arange(start, stop)] = 1.0
    return Batch(rows.reshape((stop - start, *like.shape)))


def single(batch: Batch) -> Any:
    """A batch of one as plain data, which any rule takes."""
    if batch.count > 1:
        return batch
    return value(batch.data[0])


def together(found: Any, count: int, like: Like) -> Any:
    """The results of a pass as one array, with the axis of directions first; zeros for None."""
    if found is None:
        return np.zeros((count, *like.shape), like.dtype)
    if isinstance(found, Batch):
        return found.data
    return np.broadcast_to(np.asarray(found), (count, *like.shape))


def numbers(x: Any) -> Any:
    """The plain data of a value, of several directions that of all."""
    x = data_of(x)
    return x.data if isinstance(x, Batch) else x


def has_nan(x: Any) -> bool:
    """True if a cotangent or tangent, or one of several, has an element that is nan."""
    kind = type(x)
    if kind is float:
        return math.isnan(x)
    if x is None:
        return False
    if kind is tuple:
        return any(map(has_nan, x))
    data = np.asarray(numbers(x)) if isinstance(x, Carrier) else x
    flat = data if data.ndim == 1 else data.ravel()
    return math.isnan(flat.dot(flat))
