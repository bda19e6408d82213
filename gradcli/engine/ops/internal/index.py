"""Ops that the rules of indexing need and programs do not name."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import exact
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.families.places import (
    by_arrays,
    check_range,
    complete,
    fitting,
    has_repeats,
    is_whole,
    parts,
    parts_behind,
    region_of,
    static_index,
    taken,
    taken_each,
    taken_shape,
)
from gradcli.engine.ops.op import REQUIRED, TRANSPOSED, Op, bad, known, linear, op, sample
from gradcli.engine.ops.promotion import of_first
from gradcli.engine.values.carrier import Like
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.memory import as_first
from gradcli.engine.values.sizes import Shape, axis
from gradcli.errors import run_error


def _unindex(g: Data, index: Any, size: Shape) -> Data:
    out = np.zeros_like(shaped(g), order="C", shape=size)
    _add_to(*region_of(out, index), g)
    return out


def _add_to(region: Data, advanced: Any, g: Data) -> None:
    """Add to zeros at places, at some of them maybe several times."""
    if not advanced:
        region[...] = g
    elif has_repeats(advanced):
        exact.add_at(region, advanced, g)
    else:
        region[advanced] = g


def _unindex_directly(g: Shape, index: Any, size: Shape) -> Any:
    basic, advanced = parts(index, size)
    if advanced:
        return None
    zeros = np.zeros

    def unindex(g: Data) -> Data:
        out = zeros(size)
        out[basic] = g
        return out

    return unindex


def _unindex_each(g: Data, index: Any, size: Shape) -> Data | None:
    found = parts_behind(index, size)
    if found is None:
        return None
    basic, advanced = found
    out = np.zeros_like(g, order="C", shape=(g.shape[0], *size))
    _add_to(out[basic], advanced, g)
    return out


unindex: Op = linear(
    "unindex",
    args=("g",),
    params={"index": REQUIRED, "size": REQUIRED},
    doc="Zeros of the shape `size`, to which g is added at the index: the transpose of x[index].",
    array=_unindex,
    of_shapes=_unindex_directly,
    shape=lambda g, index, size: size,
    batch=_unindex_each,
    vjp=(lambda g, out, x, index, size: ops.getitem(g, index=index),),
    holds=lambda index, size: by_arrays(index),
    samples=lambda: (
        sample([1.0, 2.0], index=[0, 0], size=(3,)),
        sample([1.0, 2.0], index=slice(1, None), size=(3,)),
        sample([1.0, 2.0], index=slice(None, None, -2), size=(4,)),
        sample(5.0, index=1, size=(2,)),
        sample([[1.0], [2.0]], index=(slice(None), [1]), size=(2, 2)),
        sample([1.0, 2.0], index=[True, False, True], size=(3,)),
        sample([1.0, 2.0, 3.0], index=[0, 1, 0], size=(2,)),
        sample([], index=[], size=(2,)),
        sample(2.0, index=Ellipsis, size=()),
    ),
)


def _last_writes(shape: Shape, index: Any) -> Data:
    """A bool for each element of x[index]: true if its value stays when `x[index]` is written."""
    count = 1
    for n in shape:
        count *= n
    places = taken(np.arange(count).reshape(shape), index)
    order = np.arange(places.size)
    last = np.zeros(count, np.int64)
    last[places.ravel()] = order
    return (last[places.ravel()] == order).reshape(places.shape)


def _kept(g: Data, index: Any) -> Data:
    c = taken(g, index)
    _, advanced = parts(index, shape_of(g))
    return np.where(_last_writes(shape_of(g), index), c, 0.0) if has_repeats(advanced) else c


def _kept_each(g: Data, index: Any) -> Data | None:
    c = taken_each(g, index)
    shape = g.shape[1:]
    if c is None or not has_repeats(parts(index, shape)[1]):
        return c
    return np.where(_last_writes(shape, index), c, 0.0)


kept: Op = linear(
    "kept",
    args=("g",),
    params={"index": REQUIRED},
    doc="x[index], but zero where a later element of the index names the same place.",
    array=_kept,
    shape=taken_shape,
    batch=_kept_each,
    vjp=(lambda g, out, x, index: set_at(ops.zeros_of(like=x), g, index=index),),
    samples=lambda: (
        sample([1.0, 2.0, 3.0], index=[0, 0, 2]),
        sample([1.0, 2.0, 3.0], index=1),
        sample([1.0, 2.0, 3.0], index=[True, False, True]),
        sample([[1.0, 2.0], [3.0, 4.0]], index=(slice(None), [1, 1])),
        sample([[1.0, 2.0], [3.0, 4.0]], index=([1, 1], [0, 0])),
        sample([1.0], index=[]),
        sample([1.0, 2.0], index=[-1, 1]),
        sample(3.0, index=Ellipsis),
    ),
)


def _undiagonal(g: Data, offset: int, dim1: int, dim2: int, size: Shape) -> Data:
    out = np.zeros_like(shaped(g), order="C", shape=size)
    if np.size(g):  # else the diagonal lies outside, and NumPy takes no very large offset
        view = np.diagonal(out, offset, dim1, dim2)
        view.flags.writeable = True
        view[...] = g
    return out


undiagonal: Op = linear(
    "undiagonal",
    args=("g",),
    params={"offset": 0, "dim1": 0, "dim2": 1, "size": REQUIRED},
    doc="Zeros of the shape `size` with g on a diagonal: the transpose of `diagonal`.",
    array=_undiagonal,
    shape=lambda g, offset, dim1, dim2, size: size,
    vjp=(
        lambda g, out, x, offset, dim1, dim2, size: ops.diagonal(
            g, offset=offset, dim1=dim1, dim2=dim2
        ),
    ),
    node="DiagEmbedBackward0",
    samples=lambda: (
        sample([1.0, 2.0], offset=0, dim1=0, dim2=1, size=(2, 2)),
        sample([1.0, 2.0], offset=1, dim1=0, dim2=1, size=(2, 3)),
        sample([[1.0], [2.0]], offset=-1, dim1=-1, dim2=-2, size=(2, 1, 2)),
        sample([], offset=3, dim1=0, dim2=1, size=(2, 2)),
    ),
)


# writing ----------------------------------------------------------------------------------------


def _set_at(x: Data, value: Data, index: Any) -> Data:
    out = np.copy(x, order="C")
    region, advanced = region_of(out, index)
    shape = region[advanced].shape if advanced else region.shape
    kept = fitting(shape_of(value), shape)
    value = np.broadcast_to(np.reshape(converted(value, dtype_of(out)), kept), shape)
    if not advanced:
        region[...] = value
    elif has_repeats(advanced):
        # one by one in the index's order, not in that of memory: the last write wins
        places = np.arange(out.size).reshape(out.shape)
        out.reshape(-1)[taken(places, index).ravel()] = value.ravel()
    else:
        region[advanced] = value
    return out


def _set_each(x: Data, value: Data, index: Any) -> Data | None:
    shape = x.shape[1:]
    found = parts_behind(index, shape)
    if found is None or (has_repeats(found[1]) and not _last_writes(shape, index).all()):
        return None
    basic, advanced = found
    out = np.array(np.broadcast_to(x, (max(len(x), len(value)), *shape)), order="C")
    region = out[basic]
    part = taken_shape(shape, index)
    kept = fitting(value.shape[1:], part)
    ones = (1,) * (len(part) - len(kept))
    value = np.reshape(converted(value, dtype_of(out)), (len(value), *ones, *kept))
    region[advanced or Ellipsis] = value
    return out


def _set_shape(x: Shape, value: Shape, index: Any) -> Shape:
    fitting(value, taken_shape(x, index))
    return x


def _value_cotangent(g: Any, value: Like, index: Any) -> Any:
    c = ops.kept(g, index=index)
    lead = len(value.shape) - len(shape_of(c))
    return ops.reshape(c, shape=(*(1,) * lead, *shape_of(c))) if lead > 0 else c


def _rest_cotangent(g: Any, x: Like, index: Any) -> Any:
    """The cotangent of the elements that were not written; a constant if all were."""
    whole = _way(index, shape_of(x)) == "all"
    return ops.zeros_of(like=x) if whole else set_at(g, 0.0, index=index)


def _way(index: Any, shape: Shape) -> str:
    """The extent that `x[index] = value` writes: "all" elements, elements picked by "arrays" alone,
    or otherwise a "part".
    """
    index = static_index(index)
    way = "all"
    at = 0
    for entry in complete(index if type(index) is tuple else (index,), shape):
        if type(entry) is slice and is_whole(entry, shape[at]):
            at += 1
        elif hasattr(entry, "dtype") and entry.ndim:
            way = "arrays"
            at += entry.ndim if entry.dtype.kind == "b" else 1
        else:
            return "part"
    return way


def _set_node(args: tuple[Any, ...], params: dict[str, Any]) -> str:
    shape = shape_of(args[0])
    filled = "FillBackward3" if shape and not shape_of(args[1]) else "CopyBackwards"
    ways = {"all": filled, "arrays": "IndexPutBackward0", "part": "CopySlices"}
    return ways[_way(params["index"], shape)]


set_at: Op = op(
    "set_at",
    args=("input", "value"),
    params={"index": REQUIRED},
    doc="Copy of x with `x[index] = value` done. Where the index names a place twice the last "
    "write wins and alone gets the gradient: PyTorch leaves the winner open and gives the "
    "gradient to all.",
    source=TRANSPOSED,
    array=_set_at,
    shape=_set_shape,
    batch=_set_each,
    layout=as_first,
    dtype=of_first,
    vjp=(
        lambda g, out, x, value, index: _rest_cotangent(g, x, index),
        lambda g, out, x, value, index: _value_cotangent(g, value, index),
    ),
    jvp=(
        lambda dot, out, x, value, index: _rest_cotangent(dot, x, index),
        lambda dot, out, x, value, index: set_at(ops.zeros_of(like=x), dot, index=index),
    ),
    holds=by_arrays,
    node=_set_node,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], 5.0, index=1),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0], index=0),
        sample([[1.0, 2.0], [3.0, 4.0]], 5.0, index=(slice(None), 1)),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], index=slice(None, None, -2)),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0], index=(slice(None, None, -1), [0, 1])),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], index=[0, 2]),
        sample([1.0, 2.0, 3.0], 7.0, index=[True, False, True]),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], index=[0, 0]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0], [6.0]], index=Ellipsis),
        sample([1.0, 2.0], [[5.0, 6.0]], index=slice(None)),
        sample([1.0, 2.0], [], index=[]),
        sample(1.0, 2.0, index=Ellipsis),
    ),
    known=lambda: (
        known([1.0, 2.0], [5.0, 6.0], index=[0, 0], grad=([0.0, 1.0], [0.0, 1.0])),
        known([1.0, 2.0], 5.0, index=[0, 0], grad=([0.0, 1.0], 1.0)),
    ),
    bad=lambda: (
        bad((2,), (), index=5, says="index 5 is out of range"),
        bad((2, 2), (3,), index=0, says="does not fit into the place of shape [2]"),
        bad((), (), index=0, says="0-d"),
    ),
)


# along one dimension ------------------------------------------------------------------------------


def _picked_shape(shape: Shape, index: Shape, dim: int) -> Shape:
    if len(index) != len(shape):
        raise run_error(
            "shape-mismatch",
            f"the index must have as many dimensions as the tensor, got {len(index)} and "
            f"{len(shape)}",
        )
    at = axis(dim, len(shape))
    if any(k > n for i, (k, n) in enumerate(zip(index, shape, strict=True)) if i != at):
        raise run_error(
            "shape-mismatch",
            f"the index of shape {list(index)} is larger than the tensor of shape {list(shape)} "
            f"outside of dimension {at}",
        )
    return index


def grid(shape: Shape, index: Any, dim: int) -> tuple[Any, ...]:
    """Index arrays of the elements that lie at `index` in the dimension `dim`."""
    _picked_shape(shape, index.shape, dim)
    if not shape:
        return (Ellipsis,)
    at = axis(dim, len(shape))
    check_range(index, at, shape[at])
    grid = list(np.ogrid[tuple(map(slice, index.shape))])
    grid[at] = index
    return tuple(grid)


def _pick(x: Data, index: Data, dim: int) -> Data:
    x, index = np.asarray(x), np.asarray(index)
    return x[grid(x.shape, index, dim)] if x.ndim else np.array(x)


def _place(g: Data, index: Data, dim: int, size: Shape) -> Data:
    out = np.zeros(size, dtype_of(g))
    exact.add_at(out, grid(out.shape, np.asarray(index), dim), g)
    return out


pick: Op = linear(
    "pick",
    args=("x", "index"),
    params={"dim": 0},
    doc="The elements of x at the places `index` of the dimension `dim`: `gather` with the index "
    "as an argument.",
    array=_pick,
    shape=_picked_shape,
    dtype=of_first,
    vjp=(lambda g, out, x, index, dim: place(g, index, dim=dim, size=x.shape), None),
    saves=("index",),
    node="GatherBackward0",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], dim=1),
        sample([1.0, 2.0, 3.0], [2, 2, 0, 1], dim=0),
        sample(2.0, 0, dim=0),
    ),
)

place: Op = linear(
    "place",
    args=("g", "index"),
    params={"dim": 0, "size": ()},
    doc="Zeros of the shape `size`, to which g is added at the places `index` of the dimension "
    "`dim`.",
    array=_place,
    shape=lambda g, index, dim, size: size,
    dtype=of_first,
    vjp=(lambda g, out, x, index, dim, size: pick(g, index, dim=dim), None),
    saves=("index",),
    node="ScatterAddBackward0",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], dim=1, size=(2, 3)),
        sample([1.0, 2.0, 3.0], [2, 2, 0], dim=0, size=(4,)),
        sample(2.0, 0, dim=0, size=()),
    ),
)
