"""Indexing: `x[i]`, and the named ops that pick and fill elements."""

from __future__ import annotations

from math import nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.families.places import (
    EVERY,
    by_arrays,
    complete,
    fitting,
    is_whole,
    places_of,
    static_index,
    taken,
    taken_directly,
    taken_each,
    taken_shape,
)
from gradcli.engine.ops.nodes import by_number
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, elementwise, known, linear, sample
from gradcli.engine.ops.promotion import of_first
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.memory import as_first, as_made, in_order
from gradcli.engine.values.sizes import Shape, axis, broadcast, whole
from gradcli.errors import run_error

FAMILY = 190, "Picking elements"


def _getitem_node(args: tuple[Any, ...], params: dict[str, Any]) -> str:
    """The last of the steps in which PyTorch follows an index."""
    index = static_index(params["index"])
    if type(index) is slice:
        return "SliceBackward0"
    shape = shape_of(args[0])
    entries = complete(index if type(index) is tuple else (index,), shape)
    if any(hasattr(entry, "dtype") for entry in entries):
        return "IndexBackward0"
    name = "AliasBackward0"
    at = 0
    for entry in entries:
        if entry is None:
            name = "UnsqueezeBackward0"
            continue
        if type(entry) is int:
            name = "SelectBackward0"
        elif not is_whole(entry, shape[at]):
            name = "SliceBackward0"
        at += 1
    return name


getitem: Op = linear(
    "getitem",
    params={"index": REQUIRED},
    doc="x[index] with ints, slices, `...`, None (a view of the same memory), and with lists, "
    "index tensors and bool masks (a copy). An element picked several times gets the sum of the "
    "gradients.",
    array=taken,
    of_shapes=taken_directly,
    shape=taken_shape,
    batch=taken_each,
    vjp=(lambda g, out, x, index: ops.unindex(g, index=index, size=x.shape),),
    holds=by_arrays,
    node=_getitem_node,
    view=True,
    layout=as_made,
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
        sample([1.0, 2.0, 3.0, 4.0], index=slice(None, None, -1)),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], index=(slice(None, None, -1), slice(4, 0, -2))),
        sample([[1.0, 2.0], [3.0, 4.0]], index=(slice(None, None, -1), [1, 1, 0])),
        sample([1.0, 2.0], index=slice(0, 2, -1)),
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
        bad((3,), index=slice(None, None, 0), says="step of a slice cannot be 0"),
        bad((3,), index=[0, 3], says="index 3 is out of range"),
        bad((3,), index=[True, False], says="mask has shape [2]"),
        bad((3,), index=0.5, says="an index must be"),
        bad((3,), index=[0.5], says="ints or bools"),
        bad((3, 3), index=([0, 1], [0, 1, 2]), says="do not broadcast"),
        bad((3,), index=(Ellipsis, Ellipsis), says="one `...`"),
        bad((3,), index=[[0], [1, 2]], says="one length"),
    ),
)


# along one dimension ------------------------------------------------------------------------------


def _gather(x: Any, dim: Any, index: Any) -> Any:
    places, at, rank = places_of(index), whole(dim, "dim"), len(shape_of(x))
    if not places.size and places.ndim != rank:
        axis(at, rank)
        return ops.reshape(getitem(ops.reshape(x, shape=(-1,)), index=[]), shape=places.shape)
    if rank <= 1 and places.ndim <= 1 and rank != places.ndim:  # a 0-d tensor is as one of 1
        picked = ops.pick(ops.reshape(x, shape=(-1,)), places.reshape(-1), dim=at)
        return ops.reshape(picked, shape=places.shape)
    return ops.pick(x, places, dim=at)


gather: Op = composite(
    "gather",
    _gather,
    guards=("input",),
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
    places = places_of(index)
    if places.ndim > 1:
        raise run_error("bad-index", f"`index` must be flat, got the shape {list(places.shape)}")
    ndim = len(shape_of(x))
    if not ndim:
        axis(dim, 0)
        if places.size != 1 or places.item():
            raise run_error("bad-index", "of a 0-d tensor `index` can only be the one place 0")
        return ops.clone(x)
    return getitem(x, index=(*(EVERY,) * axis(dim, ndim), places.reshape(-1)))


index_select: Op = composite(
    "index_select",
    _index_select,
    layout=in_order,
    params={"dim": REQUIRED, "index": REQUIRED},
    node="IndexSelectBackward0(input)",
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
        bad((), dim=0, index=[0, 0], says="the one place 0"),
    ),
)


# by masks, and everywhere -------------------------------------------------------------------------


def _mask(mask: Data) -> Any:
    mask = shaped(mask)
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
    return np.where(mask, shaped(converted(value, dtype_of(x))), x)


masked_fill: Op = elementwise(
    "masked_fill",
    args=("input", "mask", "value"),
    doc="The input with `value` where the mask is true.",
    array=_masked_fill,
    layout=in_order,
    chooses=True,
    dtype=of_first,
    partials=(
        lambda out, x, mask, value: ops.cast(ops.logical_not(mask), dtype="float64"),
        None,
        lambda out, x, mask, value: ops.cast(mask, dtype="float64"),
    ),
    saves=("mask",),
    node=by_number(2, "MaskedFillBackward0(input)", "MaskedFillBackward1"),
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


def _masked_select(x: Any, mask: Any) -> Any:
    size = broadcast(shape_of(x), shape_of(mask))
    chosen = np.broadcast_to(_mask(data_of(mask)), size)
    return getitem(ops.expand(x, size=size), index=np.array(chosen))


masked_select: Op = composite(
    "masked_select",
    _masked_select,
    shape=lambda x, mask: (broadcast(x, mask), None)[1],  # the mask's numbers tell
    dtype=lambda x, mask: of_first(x),
    guards=("input", "mask"),
    args=("input", "mask"),
    node="MaskedSelectBackward0(input)",
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


def _expandable(value: Shape, size: Shape) -> Shape:
    if len(fitting(value, size)) < len(value):
        raise run_error(
            "shape-mismatch",
            f"a value of shape {list(value)} does not fit into the shape {list(size)}",
        )
    return size


def _filled(x: Data, value: Data) -> Data:
    size = _expandable(shape_of(value), shape_of(x))
    return np.full(size, converted(value, dtype_of(x)), dtype_of(x))


fill: Op = elementwise(
    "fill",
    args=("input", "value"),
    doc="The input with every element replaced by `value`.",
    array=_filled,
    shape=lambda x, value: _expandable(value, x),
    layout=as_first,
    dtype=of_first,
    partials=(0.0, 1.0),
    node=by_number(1, "FillBackward0(input)", "FillBackward1"),
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
    bad=lambda: (bad((2,), (3,), says="does not fit"), bad((2,), (1, 2), says="does not fit")),
)
