"""Several directions at once: plain data with a leading axis that ops do not see.

A derivative rule calls ops on a cotangent or tangent. Given a `Batch` of them instead, the same
rule serves all: element-wise ops and the linear ones of `_LINEAR` work on the whole, any other is
done for one direction after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.sizes import axes, axis, broadcast, unsqueezed


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
        """How many values there are."""
        return int(self.data.shape[0])

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What the op makes of each of the values."""
        if op.body is not None:
            return op.body(*args, **params)
        rule = _LINEAR.get(op.name)
        if rule is not None:
            out = rule(self.count, op, args, params)
            if out is not None:
                return Batch(out)
        elif op.elementwise and op.array is not None:
            return Batch(_elementwise(self.count, op, args, params))
        return _one_by_one(self.count, op, args, params)


def _elementwise(count: int, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    rank = max(len(shape_of(a)) for a in args if a is not None)
    aligned = [_aligned(a, rank) if isinstance(a, Batch) else a for a in args]
    out = np.asarray(op.array(*aligned, **params))
    shape = broadcast(*(shape_of(a) for a in args if a is not None))
    return np.broadcast_to(out, (count, *shape)) if out.shape != (count, *shape) else out


def _aligned(x: Batch, rank: int) -> Any:
    """The values with as many dimensions as the others have."""
    return x.data.reshape((x.count, *(1,) * (rank - x.ndim), *x.shape))


def _one_by_one(count: int, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    outs = [
        op(*(_value(a.data[i]) if isinstance(a, Batch) else a for a in args), **params)
        for i in range(count)
    ]
    if isinstance(outs[0], tuple):
        return tuple(
            Batch(np.stack([np.asarray(out[k]) for out in outs])) for k in range(len(outs[0]))
        )
    return Batch(np.stack([np.asarray(out) for out in outs]))


def _value(x: Any) -> Any:
    """Plain data of one value: a float64 without dimensions is a number."""
    return x.item() if x.ndim == 0 and x.dtype == np.float64 else x


# linear ops on a whole batch: each takes (count, op, args, params) and gives data, or None where
# it has no way of its own -------------------------------------------------------------------------


def _reshaped(count: int, op: Any, args: Any, params: Any) -> Any:
    return args[0].data.reshape((count, *op.shape(args[0].shape, **params)))


def _sum(count: int, op: Any, args: Any, params: Any) -> Any:
    x = args[0]
    dims = tuple(i + 1 for i in axes(params.get("dim"), x.ndim))
    return np.sum(x.data, axis=dims, keepdims=bool(params.get("keepdim", False)))


def _expand(count: int, op: Any, args: Any, params: Any) -> Any:
    size = op.shape(args[0].shape, **params)
    return np.broadcast_to(_aligned(args[0], len(size)), (count, *size))


def _sum_to(count: int, op: Any, args: Any, params: Any) -> Any:
    x, size = args[0], params["size"]
    lead = x.ndim - len(size)
    gone = [i + 1 for i in range(lead)]
    gone += [i + lead + 1 for i, n in enumerate(size) if n == 1 and x.shape[i + lead] != 1]
    return x.data.sum(axis=tuple(gone), keepdims=True).reshape((count, *size))


def _permute(count: int, op: Any, args: Any, params: Any) -> Any:
    x = args[0]
    return np.transpose(x.data, (0, *(axis(d, x.ndim) + 1 for d in params["dims"])))


def _transpose(count: int, op: Any, args: Any, params: Any) -> Any:
    x = args[0]
    if x.ndim < 2:
        return x.data
    if op.name == "t":
        return np.swapaxes(x.data, 1, 2)
    first, second = (axis(params[d], x.ndim) + 1 for d in ("dim0", "dim1"))
    return np.swapaxes(x.data, first, second)


def _basic(index: Any) -> tuple[Any, ...] | None:
    """An index of ints and slices alone as a tuple; None for any other."""
    parts = index if type(index) is tuple else (index,)
    known = all(type(p) in (int, slice, type(None), type(Ellipsis)) for p in parts)
    return (slice(None), *parts) if known else None


def _getitem(count: int, op: Any, args: Any, params: Any) -> Any:
    index = _basic(params["index"])
    return None if index is None else args[0].data[index]


def _unindex(count: int, op: Any, args: Any, params: Any) -> Any:
    index = _basic(params["index"])
    if index is None:
        return None
    out = np.zeros((count, *params["size"]), args[0].data.dtype)
    out[index] = args[0].data
    return out


def _cast(count: int, op: Any, args: Any, params: Any) -> Any:
    return args[0].data.astype(params["dtype"])


def _clone(count: int, op: Any, args: Any, params: Any) -> Any:
    return args[0].data


def _cat(count: int, op: Any, args: Any, params: Any) -> Any:
    parts = [_whole(a, count) for a in args]
    return np.concatenate(parts, axis(params.get("dim", 0), args[0].ndim) + 1)


def _stack(count: int, op: Any, args: Any, params: Any) -> Any:
    rank = len(unsqueezed(shape_of(args[0]), params.get("dim", 0)))
    return np.stack([_whole(a, count) for a in args], axis(params.get("dim", 0), rank) + 1)


def _whole(a: Any, count: int) -> Any:
    """The data of a batch; of a plain value a copy for each direction."""
    if isinstance(a, Batch):
        return a.data
    return np.broadcast_to(a, (count, *shape_of(a)))


def _matmul(count: int, op: Any, args: Any, params: Any) -> Any:
    a, b = args
    left, right = len(shape_of(a)), len(shape_of(b))
    if isinstance(a, Batch) and not isinstance(b, Batch) and right <= 2 and left <= 2:
        lines = math.prod(a.data.shape[:-1])
        tall = a.data.reshape(lines, a.shape[-1])  # one product for all
        return np.matmul(tall, b).reshape((*a.data.shape[:-1], *shape_of(b)[1:]))
    if right == 1 and left == 2 and not isinstance(a, Batch):
        return np.matmul(b.data, np.swapaxes(a, 0, 1))
    x, y = _matrices(a, left, -2, max(left, right, 2)), _matrices(b, right, -1, max(left, right, 2))
    out = np.matmul(x, y)
    if left == 1:
        out = out[..., 0, :]
    if right == 1:
        out = out[..., 0]
    return out


def _matrices(a: Any, rank: int, unit: int, ranks: int) -> Any:
    """Matrices of a value: a vector as a row (unit -2) or column, a batch's axis in front."""
    data = a.data if isinstance(a, Batch) else np.asarray(a)
    if rank == 1:
        data, rank = np.expand_dims(data, unit), 2
    if isinstance(a, Batch):
        data = data.reshape((a.count, *(1,) * (ranks - rank), *data.shape[1:]))
    return data


_LINEAR: dict[str, Callable[[int, Any, Any, Any], Any]] = {
    **dict.fromkeys(("reshape", "view", "flatten", "squeeze", "unsqueeze"), _reshaped),
    **dict.fromkeys(("transpose", "t"), _transpose),
    "sum": _sum,
    "expand": _expand,
    "sum_to": _sum_to,
    "permute": _permute,
    "getitem": _getitem,
    "unindex": _unindex,
    "cast": _cast,
    "clone": _clone,
    "cat": _cat,
    "stack": _stack,
    "matmul": _matmul,
}


def units(shape: tuple[int, ...], start: int, stop: int) -> Batch:
    """The unit vectors number `start` to `stop` of the space of values of a shape."""
    count = int(np.prod(shape, dtype=int))
    rows = np.zeros((stop - start, count))
    rows[np.arange(stop - start), np.arange(start, stop)] = 1.0
    return Batch(rows.reshape((stop - start, *shape)))
