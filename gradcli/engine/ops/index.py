"""Indexing: `x[i]`, `x[i] = v`, and the named ops that pick and place elements.

An index follows PyTorch: its ints, slices, `...` and None are applied first and give a view, then
its lists, index tensors and masks, which give a copy. Before an index is recorded it is made
static: tensors in it become arrays of their own, so that later changes do not reach the gradient.
"""

from __future__ import annotations

from math import nan
from typing import Any

from gradcli.engine.arrays import Data, dtype_of, np, shape_of
from gradcli.engine.ops.registry import (
    REQUIRED,
    Op,
    bad,
    composite,
    elementwise,
    known,
    op,
    ops,
    sample,
)
from gradcli.engine.ops.sizes import (
    Shape,
    axis,
    broadcast,
    common_dtype,
    describe,
    filled,
    whole,
)
from gradcli.engine.tensor import Like, Tensor, data_of
from gradcli.errors import RunError, run_error

_ADJOINT = "a linear map; the cotangent goes back by its transpose"
_EVERY = slice(None)


# what an index says -----------------------------------------------------------------------------


def static_index(index: Any) -> Any:
    """The index with its tensors and lists as arrays, its numbers as ints.

    Raises:
        RunError: If something in it is no index.
    """
    kind = type(index)
    if kind is int or index is None or index is Ellipsis:
        return index
    if kind is slice:
        return _static_slice(index)
    if kind is tuple:
        return tuple(map(static_index, index))
    if kind is bool:
        return np.asarray(index)
    if isinstance(index, Tensor):
        data = index.data
        if type(data) is int:
            return data
        if type(data) not in (bool, float) and data.shape == () and data.dtype.kind == "i":
            return int(data)
        return _static_array(np.array(data))
    if kind is list:
        return _static_array(_list_array(index))
    if hasattr(index, "dtype"):
        return index  # an array already
    raise run_error(
        "bad-index",
        f"an index must be an int, a slice, a list or an index tensor, got {describe(index)}",
    )


def _static_slice(index: slice) -> slice:
    if type(index.start) in _PLACES and type(index.stop) in _PLACES and index.step is None:
        return index
    start, stop, step = (
        None if part is None else whole(part, name)
        for part, name in ((index.start, "start"), (index.stop, "stop"), (index.step, "step"))
    )
    if step is not None and step < 1:
        raise run_error(
            "bad-index",
            f"the step of a slice must be positive, got {step}",
            help="`flip(x, 0)` reverses a dimension",
        )
    return slice(start, stop, step)


_PLACES = frozenset({int, type(None)})


def _list_array(items: list[Any]) -> Any:
    def plainly(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return [plainly(i) for i in item]
        return np.asarray(data_of(item))

    if not items:
        return np.zeros(0, np.int64)
    try:
        return np.array([plainly(i) for i in items])
    except ValueError:
        raise run_error("bad-index", "the lists of an index must have one length") from None


def _static_array(array: Any) -> Any:
    if array.dtype.kind not in "ib":
        kind = "floats" if array.dtype.kind == "f" else "something else"
        raise run_error("bad-index", f"an index must hold ints or bools, got {kind}")
    return array


def _parts(index: Any, shape: Shape) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The index in its two parts, checked against the shape: for a view, then for a copy."""
    index = static_index(index)
    entries = index if type(index) is tuple else (index,)
    entries = _complete(entries, shape)
    basic: list[Any] = []
    advanced: list[Any] = []
    at = 0
    for entry in entries:
        if entry is None:
            basic.append(None)
            advanced.append(_EVERY)
        elif type(entry) is int:
            basic.append(_checked(entry, at, shape[at]))
            at += 1
        elif type(entry) is slice:
            basic.append(entry)
            advanced.append(_EVERY)
            at += 1
        else:
            span = _span(entry)
            basic += [_EVERY] * span if span else [None]
            advanced.append(_checked_array(entry, at, shape) if span else entry[None])
            at += span
    if all(type(entry) is slice for entry in advanced):
        return (*basic, Ellipsis), ()
    _check_together([a for a in advanced if type(a) is not slice])
    return (*basic, Ellipsis), tuple(advanced)


def _span(entry: Any) -> int:
    """How many dimensions an entry of an index takes."""
    if entry is None:
        return 0
    if type(entry) is int or type(entry) is slice or entry.dtype.kind != "b":
        return 1
    return int(entry.ndim)


def _complete(entries: tuple[Any, ...], shape: Shape) -> tuple[Any, ...]:
    """The index with its `...` written out."""
    places = [i for i, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise run_error("bad-index", "an index can have one `...` only")
    taken = sum(_span(entry) for entry in entries if entry is not Ellipsis)
    if taken > len(shape):
        if not shape:
            raise run_error(
                "bad-index", "a 0-d tensor cannot be indexed", help="`x.item()` gives its number"
            )
        raise run_error(
            "index-out-of-range",
            f"too many indices: {taken} for a tensor of shape {list(shape)}",
        )
    if not places:
        return entries
    rest = (_EVERY,) * (len(shape) - taken)
    return (*entries[: places[0]], *rest, *entries[places[0] + 1 :])


def _checked(index: int, at: int, size: int) -> int:
    if not -size <= index < size:
        raise _outside(index, at, size)
    return index


def _outside(index: int, at: int, size: int) -> RunError:
    return run_error(
        "index-out-of-range", f"index {index} is out of range for dimension {at} of size {size}"
    )


def _checked_array(entry: Any, at: int, shape: Shape) -> Any:
    if entry.dtype.kind == "b":
        sizes = shape[at : at + entry.ndim]
        if entry.shape != sizes:
            raise run_error(
                "shape-mismatch",
                f"the mask has shape {list(entry.shape)}, and the dimensions that it masks "
                f"{list(sizes)}",
            )
        return entry
    _check_range(entry, at, shape[at])
    return entry


def _check_range(places: Any, at: int, size: int) -> None:
    if places.size:
        low, high = int(places.min()), int(places.max())
        if low < -size or high >= size:
            raise _outside(high if high >= size else low, at, size)


def _check_together(arrays: list[Any]) -> None:
    if len(arrays) > 1:
        shapes = [(int(np.count_nonzero(a)),) if a.dtype.kind == "b" else a.shape for a in arrays]
        broadcast(*shapes)


def _region(x: Data, index: Any) -> tuple[Any, tuple[Any, ...]]:
    """The view that the index's first part shows, and its second part."""
    basic, advanced = _parts(index, x.shape)
    return x[basic], advanced


def _taken_shape(shape: Shape, index: Any) -> Shape:
    view, advanced = _region(filled(shape, False), index)
    return tuple(view[advanced].shape) if advanced else tuple(view.shape)


def _has_repeats(advanced: tuple[Any, ...]) -> bool:
    return any(type(a) is not slice and a.dtype.kind == "i" for a in advanced)


# x[i] and x[i] = v ------------------------------------------------------------------------------


def _getitem(x: Data, index: Any) -> Data:
    x = np.asarray(x)
    if type(index) is int and x.ndim:
        return x[_checked(index, 0, x.shape[0]), ...]
    view, advanced = _region(x, index)
    return view[advanced] if advanced else view


def _getitem_node(args: tuple[Any, ...], params: dict[str, Any]) -> str:
    """The last of the steps in which PyTorch follows an index."""
    index = params["index"]
    shape = shape_of(args[0])
    entries = _complete(index if type(index) is tuple else (index,), shape)
    if any(hasattr(entry, "dtype") for entry in entries):
        return "IndexBackward0"
    name = "AliasBackward0"
    at = 0
    for entry in entries:
        if entry is None:
            name = "UnsqueezeBackward0"
        elif type(entry) is int:
            name = "SelectBackward0"
        elif entry.indices(shape[at]) != (0, shape[at], 1):
            name = "SliceBackward0"
        at += entry is not None
    return name


getitem: Op = op(
    "getitem",
    args=("input",),
    params={"index": REQUIRED},
    doc="x[index] with ints, slices, `...`, None (a view of the same memory), and with lists, "
    "index tensors and bool masks (a copy). An element picked several times gets the sum of the "
    "gradients.",
    source=_ADJOINT,
    array=_getitem,
    shape=lambda x, index: _taken_shape(x, index),
    vjp=(lambda g, out, x, index: unindex(g, index=index, size=x.shape),),
    jvp=(lambda dot, out, x, index: getitem(dot, index=index),),
    node=_getitem_node,
    view=True,
    method=False,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], index=1),
        sample([1.0, 2.0, 3.0], index=-1),
        sample([[1.0, 2.0], [3.0, 4.0]], index=(slice(None), 0)),
        sample([[1.0, 2.0], [3.0, 4.0]], index=(Ellipsis, None, 1)),
        sample([1.0, 2.0, 3.0, 4.0], index=slice(1, None, 2)),
        sample([1.0, 2.0, 3.0], index=[0, 0, 2]),
        sample([1.0, 2.0, 3.0], index=[True, False, True]),
        sample([[1.0, 2.0], [3.0, 4.0]], index=([0, 1], [1, 1])),
        sample([[1.0, 2.0], [3.0, 4.0]], index=(0, [1, 0, 1])),
        sample([[[1.0, 2.0], [3.0, 4.0]]], index=(0, slice(None), [1, 1])),
        sample([[1.0, 2.0], [3.0, 4.0]], index=[[True, False], [True, True]]),
        sample([1.0, 2.0], index=slice(2, None)),
        sample(5.0, index=None),
        sample(5.0, index=Ellipsis),
        sample([1.0], index=[]),
    ),
    known=lambda: (
        known([1.0, 5.0], index=[0, 0], grad=([2.0, 0.0],)),
        known([1.0, 5.0], index=[False, False], grad=([0.0, 0.0],)),
    ),
    bad=lambda: (
        bad((2,), index=5, says="index 5 is out of range for dimension 0 of size 2"),
        bad((2, 3), index=(0, -4), says="index -4 is out of range for dimension 1 of size 3"),
        bad((2,), index=(0, 0), says="too many indices"),
        bad((), index=0, says="0-d tensor cannot be indexed"),
        bad((3,), index=slice(None, None, -1), says="positive"),
        bad((3,), index=[0, 3], says="index 3 is out of range"),
        bad((3,), index=[True, False], says="mask has shape [2]"),
        bad((3,), index=0.5, says="an index must be"),
        bad((3,), index=[0.5], says="ints or bools"),
        bad((3, 3), index=([0, 1], [0, 1, 2]), says="do not broadcast"),
        bad((3,), index=(Ellipsis, Ellipsis), says="one `...`"),
        bad((3,), index=[[0], [1, 2]], says="one length"),
    ),
)


def _unindex(g: Data, index: Any, size: Shape) -> Data:
    out = np.zeros(size, dtype_of(g))
    region, advanced = _region(out, index)
    if not advanced:
        region[...] = g
    elif _has_repeats(advanced):
        np.add.at(region, advanced, g)
    else:
        region[advanced] = g
    return out


unindex: Op = op(
    "unindex",
    args=("g",),
    params={"index": REQUIRED, "size": REQUIRED},
    doc="Zeros of the shape `size`, to which g is added at the index: the transpose of x[index].",
    source=_ADJOINT,
    array=_unindex,
    shape=lambda g, index, size: size,
    vjp=(lambda g, out, x, index, size: getitem(g, index=index),),
    jvp=(lambda dot, out, x, index, size: unindex(dot, index=index, size=size),),
    method=False,
    samples=lambda: (
        sample([1.0, 2.0], index=[0, 0], size=(3,)),
        sample([1.0, 2.0], index=slice(1, None), size=(3,)),
        sample(5.0, index=1, size=(2,)),
        sample([[1.0], [2.0]], index=(slice(None), [1]), size=(2, 2)),
        sample([1.0, 2.0], index=[True, False, True], size=(3,)),
        sample([1.0, 2.0, 3.0], index=[0, 1, 0], size=(2,)),
        sample([], index=[], size=(2,)),
        sample(2.0, index=Ellipsis, size=()),
    ),
)


def _fitting(value: Shape, region: Shape) -> Shape:
    """Shape of the value with leading ones dropped, checked to fit into the region."""
    lead = len(value) - len(region)
    kept = value[lead:] if lead > 0 and all(n == 1 for n in value[:lead]) else value
    if len(kept) > len(region) or any(
        n not in (1, m) for n, m in zip(reversed(kept), reversed(region), strict=False)
    ):
        raise run_error(
            "shape-mismatch",
            f"a value of shape {list(value)} does not fit into the place of shape {list(region)}",
        )
    return kept


def _expandable(value: Shape, size: Shape) -> Shape:
    _fitting(value, size)
    return size


def _index_put(x: Data, value: Data, index: Any) -> Data:
    out = np.array(x)
    region, advanced = _region(out, index)
    shape = region[advanced].shape if advanced else region.shape
    kept = _fitting(shape_of(value), shape)
    value = np.broadcast_to(np.reshape(value, kept), shape)
    if not advanced:
        region[...] = value
    elif _has_repeats(advanced):
        # one at a time in the index's order, whatever the layout in memory: the last one stays
        places = np.arange(out.size).reshape(out.shape)
        out.reshape(-1)[_getitem(places, index).ravel()] = value.ravel()
    else:
        region[advanced] = value
    return out


def _index_put_shape(x: Shape, value: Shape, index: Any) -> Shape:
    _fitting(value, _taken_shape(x, index))
    return x


def _value_cotangent(g: Any, value: Like, index: Any) -> Any:
    c = kept(g, index=index)
    lead = len(value.shape) - len(shape_of(c))
    return ops.reshape(c, shape=(*(1,) * lead, *shape_of(c))) if lead > 0 else c


index_put: Op = op(
    "index_put",
    args=("input", "value"),
    params={"index": REQUIRED},
    doc="Copy of x with `x[index] = value` done. Where the index names a place twice the last "
    "write wins and alone gets the gradient: PyTorch leaves the winner open and gives the "
    "gradient to all.",
    source=_ADJOINT,
    array=_index_put,
    shape=_index_put_shape,
    vjp=(
        lambda g, out, x, value, index: index_put(g, 0.0, index=index),
        lambda g, out, x, value, index: _value_cotangent(g, value, index),
    ),
    jvp=(
        lambda dot, out, x, value, index: index_put(dot, 0.0, index=index),
        lambda dot, out, x, value, index: index_put(ops.zeros_of(like=x), dot, index=index),
    ),
    node="CopySlices",
    method=False,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], 5.0, index=1),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0], index=0),
        sample([[1.0, 2.0], [3.0, 4.0]], 5.0, index=(slice(None), 1)),
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


def _last_writes(shape: Shape, index: Any) -> Data:
    """For each element of x[index] whether its value stays when `x[index]` is written."""
    count = 1
    for n in shape:
        count *= n
    places = _getitem(np.arange(count).reshape(shape), index)
    order = np.arange(places.size)
    last = np.zeros(count, np.int64)
    last[places.ravel()] = order
    return (last[places.ravel()] == order).reshape(places.shape)


def _kept(g: Data, index: Any) -> Data:
    c = _getitem(g, index)
    _, advanced = _parts(index, shape_of(g))
    return np.where(_last_writes(shape_of(g), index), c, 0.0) if _has_repeats(advanced) else c


kept: Op = op(
    "kept",
    args=("g",),
    params={"index": REQUIRED},
    doc="x[index], but zero where a later element of the index names the same place.",
    source=_ADJOINT,
    array=_kept,
    shape=lambda g, index: _taken_shape(g, index),
    vjp=(lambda g, out, x, index: index_put(ops.zeros_of(like=x), g, index=index),),
    jvp=(lambda dot, out, x, index: kept(dot, index=index),),
    method=False,
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


# along one dimension ----------------------------------------------------------------------------


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


def _grid(shape: Shape, index: Any, dim: int) -> tuple[Any, ...]:
    """Index arrays of the elements that lie at `index` in the dimension `dim`."""
    _picked_shape(shape, index.shape, dim)
    if not shape:
        return (Ellipsis,)
    at = axis(dim, len(shape))
    _check_range(index, at, shape[at])
    grid = list(np.ogrid[tuple(map(slice, index.shape))])
    grid[at] = index
    return tuple(grid)


def _pick(x: Data, index: Data, dim: int) -> Data:
    x, index = np.asarray(x), np.asarray(index)
    return x[_grid(x.shape, index, dim)] if x.ndim else np.array(x)


def _place(g: Data, index: Data, dim: int, size: Shape) -> Data:
    out = np.zeros(size, dtype_of(g))
    np.add.at(out, _grid(out.shape, np.asarray(index), dim), g)
    return out


pick: Op = op(
    "pick",
    args=("x", "index"),
    params={"dim": 0},
    doc="The elements of x at the places `index` of the dimension `dim`: `gather` with the index "
    "as an argument.",
    source=_ADJOINT,
    array=_pick,
    shape=_picked_shape,
    vjp=(lambda g, out, x, index, dim: place(g, index, dim=dim, size=x.shape), None),
    jvp=(lambda dot, out, x, index, dim: pick(dot, index, dim=dim), None),
    saves=("index",),
    node="GatherBackward0",
    method=False,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], dim=1),
        sample([1.0, 2.0, 3.0], [2, 2, 0, 1], dim=0),
        sample(2.0, 0, dim=0),
    ),
)

place: Op = op(
    "place",
    args=("g", "index"),
    params={"dim": 0, "size": ()},
    doc="Zeros of the shape `size`, to which g is added at the places `index` of the dimension "
    "`dim`.",
    source=_ADJOINT,
    array=_place,
    shape=lambda g, index, dim, size: size,
    vjp=(lambda g, out, x, index, dim, size: pick(g, index, dim=dim), None),
    jvp=(lambda dot, out, x, index, dim, size: place(dot, index, dim=dim, size=size), None),
    saves=("index",),
    node="ScatterAddBackward0",
    method=False,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[0, 0], [1, 0]], dim=1, size=(2, 3)),
        sample([1.0, 2.0, 3.0], [2, 2, 0], dim=0, size=(4,)),
        sample(2.0, 0, dim=0, size=()),
    ),
)


def _places(index: Any) -> Any:
    """The index argument of a named op as an array of ints."""
    found = static_index(list(index) if isinstance(index, tuple) else index)
    if type(found) is int:
        return np.asarray(found)
    if not hasattr(found, "dtype") or found.dtype.kind != "i":
        raise run_error("bad-index", "`index` must be a tensor or list of ints")
    return found


gather: Op = composite(
    "gather",
    lambda x, dim, index: pick(x, _places(index), dim=whole(dim, "dim")),
    args=("input",),
    params={"dim": REQUIRED, "index": REQUIRED},
    doc="The elements of the input at the places `index` of the dimension `dim`, and at the "
    "element's own place in the others.",
    source="PyTorch: gather",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], dim=1, index=[[0, 0], [1, 0]]),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=0, index=[[0, 1]]),
        sample([1.0, 2.0, 3.0], dim=0, index=[2, 2, 0, 1]),
    ),
    known=lambda: (known([1.0, 2.0], dim=0, index=[0, 0], grad=([2.0, 0.0],)),),
    bad=lambda: (
        bad((2, 2), dim=1, index=[[0, 2]], says="index 2 is out of range"),
        bad((2, 2), dim=1, index=[0], says="as many dimensions"),
        bad((2, 2), dim=1, index=[[0], [0], [0]], says="larger than the tensor"),
    ),
)


def _index_select(x: Any, dim: Any, index: Any) -> Any:
    places = _places(index)
    if places.ndim > 1:
        raise run_error("bad-index", f"`index` must be flat, got the shape {list(places.shape)}")
    ndim = len(shape_of(x))
    return getitem(x, index=(*(_EVERY,) * axis(dim, ndim), places.reshape(-1)))


index_select: Op = composite(
    "index_select",
    _index_select,
    args=("input",),
    params={"dim": REQUIRED, "index": REQUIRED},
    doc="The parts of the input at the places `index`, a flat tensor of ints, of the dimension "
    "`dim`.",
    source="PyTorch: index_select",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], dim=1, index=[1, 1, 0]),
        sample([[1.0, 2.0], [3.0, 4.0]], dim=0, index=[1]),
        sample([1.0, 2.0, 3.0], dim=-1, index=[2, 0]),
    ),
    known=lambda: (known([1.0, 2.0], dim=0, index=[0, 0], grad=([2.0, 0.0],)),),
    bad=lambda: (
        bad((2, 2), dim=1, index=[2], says="index 2 is out of range"),
        bad((2, 2), dim=1, index=[[0]], says="flat"),
        bad((2, 2), dim=2, index=[0], says="no dimension 2"),
    ),
)


# by masks ---------------------------------------------------------------------------------------


def _mask(mask: Data) -> Any:
    mask = np.asarray(mask)
    if mask.dtype.kind != "b":
        raise run_error("dtype-mismatch", f"a mask must be bool, got {mask.dtype.name}")
    return mask


def _masked_fill(x: Data, mask: Data, value: Data) -> Data:
    mask = _mask(mask)
    if shape_of(value) != ():
        raise run_error(
            "shape-mismatch",
            f"the value must be a number or a 0-d tensor, got the shape {list(value.shape)}",
        )
    broadcast(shape_of(x), mask.shape)
    dtype = common_dtype(x, value) if dtype_of(x) != "float32" else "float32"
    return np.where(mask, np.asarray(value, dtype), np.asarray(x, dtype))


masked_fill: Op = elementwise(
    "masked_fill",
    args=("input", "mask", "value"),
    doc="The input with `value` where the mask is true.",
    source="definition",
    array=_masked_fill,
    partials=(
        lambda out, x, mask, value: ops.cast(ops.logical_not(mask), dtype="float64"),
        None,
        lambda out, x, mask, value: ops.cast(mask, dtype="float64"),
    ),
    saves=("mask",),
    samples=lambda: (
        sample([1.0, 2.0, 3.0], [True, False, True], 5.0),
        sample([[1.0, 2.0], [3.0, 4.0]], [[True, False], [False, False]], -1.0),
        sample([[1.0, 2.0], [3.0, 4.0]], [True, False], 0.5),
        sample([1.0, 2.0], [[True, False], [False, True], [True, True]], 0.5),
        sample(1.0, True, 2.0),
        sample(1.0, False, 2.0),
        sample([4.0], True, 2.0),
        sample([], True, 2.0),
    ),
    known=lambda: (known([nan, 2.0], [True, False], 0.0, grad=([0.0, 1.0], None, 1.0)),),
    bad=lambda: (bad((2,), (2,), (), says="must be bool"),),
)


fill: Op = elementwise(
    "fill",
    args=("input", "value"),
    doc="The input with every element replaced by `value`.",
    source="definition",
    array=lambda x, value: np.broadcast_to(
        np.asarray(value, dtype_of(x)), _expandable(shape_of(value), shape_of(x))
    ).copy(),
    shape=lambda x, value: _expandable(value, x),
    partials=(0.0, 1.0),
    samples=lambda: (
        sample([1.0, 2.0], 5.0),
        sample([[1.0, 2.0], [3.0, 4.0]], -0.5),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]),
        sample([[1.0], [2.0]], [[5.0], [6.0]]),
        sample(1.0, 2.0),
        sample([1.0], 2.0),
        sample([1.0], [2.0]),
        sample([], 2.0),
    ),
    bad=lambda: (bad((2,), (3,), says="does not fit"),),
)


def _masked_select(x: Any, mask: Any) -> Any:
    size = broadcast(shape_of(x), shape_of(mask))
    chosen = np.broadcast_to(_mask(data_of(mask)), size)
    return getitem(ops.expand(x, size=size), index=np.array(chosen))


masked_select: Op = composite(
    "masked_select",
    _masked_select,
    args=("input", "mask"),
    doc="The elements of the input at which the mask is true, as a flat tensor.",
    source="PyTorch: masked_select",
    samples=lambda: (
        sample([1.0, 2.0, 3.0], [True, False, True]),
        sample([[1.0, 2.0], [3.0, 4.0]], [True, False]),
        sample([1.0, 2.0], [[True, False], [False, True], [True, True]]),
        sample([1.0, 2.0], [False, False]),
    ),
    bad=lambda: (bad((2,), (2,), says="must be bool"),),
)
