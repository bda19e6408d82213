"""Picking and writing elements at places that tensors of ints or masks name."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import EVERY, check_range, places_of, static_index
from gradcli.engine.ops.internal.index import grid
from gradcli.engine.ops.nodes import by_number
from gradcli.engine.ops.op import REQUIRED, TRANSPOSED, Op, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import integer, of_first
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, axis, broadcast, describe, number, whole
from gradcli.errors import run_error

FAMILY = 200, "Writing elements at places"


# at an element's own place in the other dimensions ------------------------------------------------


def _source(src: Any, value: Any, places: Any) -> Any:
    """The values to write, one for each place."""
    if (src is None) == (value is None):
        raise run_error("wrong-arity", "give `src` or `value`")
    src = value if src is None else src
    shape = shape_of(src)
    if not shape:
        return src
    if len(shape) != places.ndim or any(n < k for n, k in zip(shape, places.shape, strict=True)):
        raise run_error(
            "shape-mismatch",
            f"`src` of shape {list(shape)} does not cover the index of shape {list(places.shape)}",
        )
    return ops.getitem(src, index=tuple(slice(0, k) for k in places.shape))


def _scatter(x: Any, src: Any, value: Any, dim: Any, index: Any, reduce: Any) -> Any:
    places = places_of(index)
    given = _source(src, value, places)
    where = grid(shape_of(x), places, whole(dim, "dim"))
    if reduce is not None and not isinstance(reduce, str):
        raise run_error(
            "bad-argument", f"`reduce` must be 'add' or 'multiply', got {describe(reduce)}"
        )
    if reduce is None:
        return ops.set_at(x, given, index=where)
    if reduce == "add":
        return _added(x, given, places, dim)
    if reduce != "multiply":
        raise run_error("bad-argument", f"`reduce` must be 'add' or 'multiply', got {reduce!r}")
    flat = np.arange(int(np.prod(shape_of(x)))).reshape(shape_of(x))[where]
    if np.unique(flat).size != flat.size:
        raise run_error("bad-index", "`reduce='multiply'` needs places that differ")
    return ops.set_at(x, ops.mul(ops.getitem(x, index=where), given), index=where)


def _added(x: Any, given: Any, places: Any, dim: Any) -> Any:
    grid(shape_of(x), places, whole(dim, "dim"))
    if shape_of(given) != places.shape:
        given = ops.expand(given, size=places.shape)
    return ops.add(x, ops.place(given, places, dim=whole(dim, "dim"), size=shape_of(x)))


scatter: Op = composite(
    "scatter",
    _scatter,
    layout=in_order,
    args=("input", "src=None", "value=None"),
    params={"dim": REQUIRED, "index": REQUIRED, "reduce": None},
    order=("input", "dim", "index", "src", "value", "reduce"),
    node=by_number(2, "ScatterBackward1(input)", "ScatterBackward0(input, src)"),
    doc="The input with the elements of `src`, or one value, written at the places `index` of the "
    "dimension `dim` and at their own place in the others. Of several for one place the last stays "
    "and alone gets the gradient; with `reduce` they are added or multiplied to what is there.",
    source="PyTorch: scatter",
    inplace=True,
    samples=lambda: (
        sample(
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            [[7.0, 8.0]],
            None,
            dim=0,
            index=[[1, 0]],
            reduce=None,
        ),
        sample([[1.0, 2.0, 3.0]], [[7.0, 8.0, 9.0]], None, dim=1, index=[[2, 0]], reduce=None),
        sample([1.0, 2.0, 3.0], None, 5.0, dim=0, index=[0, 2], reduce=None),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], None, dim=0, index=[1, 1], reduce=None),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], None, dim=0, index=[1, 1], reduce="add"),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], None, dim=0, index=[1, 0], reduce="multiply"),
        sample([1.0], [], None, dim=0, index=[], reduce=None),
    ),
    bad=lambda: (
        bad((3,), (1,), None, dim=0, index=[0, 1], reduce=None, says="does not cover"),
        bad((3,), (2,), None, dim=0, index=[0, 3], reduce=None, says="index 3 is out of range"),
        bad((3,), (2,), None, dim=0, index=[0, 1], reduce="max", says="'add' or 'multiply'"),
        bad((3,), None, None, dim=0, index=[0, 1], reduce=None, says="give `src` or `value`"),
        bad((3,), (2,), None, dim=0, index=[1, 1], reduce="multiply", says="differ"),
    ),
)


def _scatter_add(x: Any, src: Any, dim: Any, index: Any) -> Any:
    places = places_of(index)
    return _added(x, _source(src, None, places), places, dim)


scatter_add: Op = composite(
    "scatter_add",
    _scatter_add,
    layout=in_order,
    args=("input", "src"),
    params={"dim": REQUIRED, "index": REQUIRED},
    order=("input", "dim", "index", "src"),
    node="ScatterAddBackward0(input, src)",
    doc="The input with the elements of `src` added at the places `index` of the dimension `dim` "
    "and at their own place in the others.",
    source="PyTorch: scatter_add",
    inplace=True,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0]], dim=0, index=[[1, 0]]),
        sample([1.0, 2.0, 3.0], [5.0, 6.0, 7.0], dim=0, index=[1, 1, 0]),
        sample([1.0], [], dim=0, index=[]),
    ),
    known=lambda: (
        known([0.0, 0.0], [5.0, 6.0], dim=0, index=[0, 0], grad=([1.0, 1.0], [1.0, 1.0])),
    ),
    bad=lambda: (bad((3,), (2,), dim=0, index=[0, 3], says="index 3 is out of range"),),
)


def _take(x: Any, index: Any) -> Any:
    places = places_of(index)
    flat = ops.reshape(x, shape=(-1,))
    check_range(places, 0, shape_of(flat)[0])
    return ops.getitem(flat, index=places)


take: Op = composite(
    "take",
    _take,
    guards=("input",),
    params={"index": REQUIRED},
    node="TakeBackward0(input)",
    doc="The elements at the places `index` of the flattened input, in the shape of the index.",
    source="PyTorch: take",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], index=[0, 3, 3]),
        sample([[1.0, 2.0], [3.0, 4.0]], index=[[0, -1], [2, 1]]),
        sample([5.0], index=0),
        sample([5.0], index=[]),
    ),
    known=lambda: (known([5.0, 7.0], index=[0, 0], grad=([2.0, 0.0],)),),
    bad=lambda: (bad((2, 2), index=[4], says="index 4 is out of range"),),
)


def _take_along(x: Any, indices: Any, dim: Any) -> Any:
    places = places_of(indices, "indices")
    if dim is None:
        return _take(x, places.reshape(-1))
    shape = shape_of(x)
    if not shape:
        raise run_error("shape-mismatch", "`take_along_dim` needs a dimension, got a 0-d tensor")
    at = axis(dim, len(shape))
    if places.ndim != len(shape):
        raise run_error(
            "shape-mismatch",
            f"the indices must have as many dimensions as the tensor, got {places.ndim} and "
            f"{len(shape)}",
        )
    common = broadcast(_sized(shape, at, 1), _sized(places.shape, at, 1))
    wide = ops.expand(x, size=_sized(common, at, shape[at]))
    return ops.pick(wide, np.broadcast_to(places, _sized(common, at, places.shape[at])), dim=at)


def _sized(shape: Shape, at: int, n: int) -> Shape:
    return (*shape[:at], n, *shape[at + 1 :])


take_along_dim: Op = composite(
    "take_along_dim",
    _take_along,
    guards=("input",),
    params={"indices": REQUIRED, "dim": None},
    doc="The elements at the places `indices` along the dimension `dim`, the other dimensions "
    "broadcast; without `dim` of the flattened input.",
    source="PyTorch: take_along_dim",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], indices=[[0, 0], [1, 0]], dim=1),
        sample([[1.0, 2.0], [3.0, 4.0]], indices=[[1, 0]], dim=0),
        sample([[1.0, 2.0], [3.0, 4.0]], indices=[[1]], dim=1),
        sample([[1.0, 2.0], [3.0, 4.0]], indices=[3, 0], dim=None),
        sample([[1.0, 2.0]], indices=[[1, 0], [0, 0]], dim=1),
    ),
    bad=lambda: (
        bad((2, 2), indices=[0], dim=1, says="as many dimensions"),
        bad((2, 2), indices=[[2], [0]], dim=1, says="index 2 is out of range"),
        bad((), indices=0, dim=0, says="needs a dimension, got a 0-d tensor"),
    ),
)


# whole parts along a dimension --------------------------------------------------------------------


def _parts_at(x: Any, dim: Any, index: Any) -> tuple[Any, ...]:
    """The index of the parts at places of a dimension."""
    places = places_of(index)
    if places.ndim > 1:
        raise run_error("bad-index", f"`index` must be flat, got the shape {list(places.shape)}")
    at = axis(dim, len(shape_of(x)))
    return (*(EVERY,) * at, places.reshape(-1))


def _fitting(x: Any, source: Any, where: tuple[Any, ...]) -> Any:
    """The source in the shape of the parts that it is written to."""
    shape = shape_of(x)
    at = len(where) - 1
    wanted = (*shape[:at], where[-1].size, *shape[at + 1 :]) if shape else ()
    given = shape_of(source)
    if given != wanted and not (wanted in ((), (1,)) and given in ((), (1,))):
        raise run_error(
            "shape-mismatch",
            f"`source` must have the shape {list(wanted)} of the parts, got {list(given)}",
        )
    return ops.reshape(source, shape=wanted) if given != wanted else source


def _index_add(x: Any, source: Any, dim: Any, index: Any, alpha: Any) -> Any:
    where = _parts_at(x, dim, index)
    given = _fitting(x, source, where)
    alpha = number(alpha, "alpha")
    if not shape_of(x):
        return ops.add(x, ops.mul(given, alpha) if alpha != 1 else given)
    check_range(where[-1], len(where) - 1, shape_of(x)[len(where) - 1])
    added = ops.unindex(given, index=where, size=shape_of(x))
    return ops.add(x, ops.mul(added, alpha) if alpha != 1 else added)


index_add: Op = composite(
    "index_add",
    _index_add,
    layout=in_order,
    guards={"source": ("source",)},
    args=("input", "source"),
    params={"dim": REQUIRED, "index": REQUIRED, "alpha": 1},
    order=("input", "dim", "index", "source", "alpha"),
    node="IndexAddBackward0(input, source)",
    doc="The input with alpha times the parts of `source` added to those at the places `index` of "
    "the dimension `dim`.",
    source="PyTorch: index_add",
    inplace=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], dim=0, index=[1], alpha=1),
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], dim=1, index=[0, 0], alpha=2),
        sample([1.0, 2.0], [5.0, 6.0, 7.0], dim=0, index=[1, 0, 1], alpha=-1),
        sample([1.0], [], dim=0, index=[], alpha=1),
    ),
    known=lambda: (
        known([0.0, 0.0], [5.0, 6.0], dim=0, index=[0, 0], alpha=1, grad=([1.0, 1.0], [1.0, 1.0])),
    ),
    bad=lambda: (
        bad((2, 2), (1, 3), dim=0, index=[1], alpha=1, says="the shape [1, 2]"),
        bad((2, 2), (1, 2), dim=0, index=[2], alpha=1, says="index 2 is out of range"),
        bad((2, 2), (1, 2), dim=0, index=[[1]], alpha=1, says="flat"),
    ),
)


def _index_copy(x: Any, source: Any, dim: Any, index: Any) -> Any:
    where = _parts_at(x, dim, index)
    given = _fitting(x, source, where)
    return ops.set_at(x, given, index=where if shape_of(x) else Ellipsis)


index_copy: Op = composite(
    "index_copy",
    _index_copy,
    layout=in_order,
    guards={"source": ("source",)},
    args=("input", "source"),
    params={"dim": REQUIRED, "index": REQUIRED},
    order=("input", "dim", "index", "source"),
    node="IndexCopyBackward0(input, source)",
    doc="The input with the parts of `source` written to the places `index` of the dimension "
    "`dim`. Of several for one place the last stays and alone gets the gradient.",
    source="PyTorch: index_copy",
    inplace=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]], dim=0, index=[1]),
        sample([[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], dim=1, index=[1, 0]),
        sample([1.0, 2.0], [5.0, 6.0], dim=0, index=[1, 1]),
    ),
    bad=lambda: (
        bad((2, 2), (1, 3), dim=0, index=[1], says="the shape [1, 2]"),
        bad((2,), (1,), dim=0, index=[2], says="index 2 is out of range"),
    ),
)


def _index_fill(x: Any, value: Any, dim: Any, index: Any) -> Any:
    if shape_of(value):
        raise run_error(
            "shape-mismatch", f"`value` must be a number, got the shape {list(shape_of(value))}"
        )
    where = _parts_at(x, dim, index)
    if not shape_of(x):
        return ops.set_at(x, value, index=Ellipsis) if where[-1].size else ops.clone(x)
    return ops.set_at(x, value, index=where)


index_fill: Op = composite(
    "index_fill",
    _index_fill,
    args=("input", "value"),
    params={"dim": REQUIRED, "index": REQUIRED},
    order=("input", "dim", "index", "value"),
    node=by_number(1, "IndexFillBackward0(input)", "IndexFillBackward1"),
    doc="The input with one value written to the parts at the places `index` of the dimension "
    "`dim`.",
    source="PyTorch: index_fill",
    inplace=True,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], 5.0, dim=0, index=[1]),
        sample([[1.0, 2.0], [3.0, 4.0]], -1.0, dim=1, index=[1, 1]),
        sample([1.0], 2.0, dim=0, index=[]),
        sample(1.0, 2.0, dim=0, index=[]),
        sample(1.0, 2.0, dim=0, index=[0]),
    ),
    bad=lambda: (
        bad((2,), (1,), dim=0, index=[0], says="must be a number"),
        bad((2,), (), dim=0, index=[2], says="index 2 is out of range"),
    ),
)


# by masks and by index tuples ---------------------------------------------------------------------


def _masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    chosen = np.asarray(data_of(mask))
    if chosen.dtype.kind != "b":
        raise run_error("dtype-mismatch", f"a mask must be bool, got {chosen.dtype.name}")
    size = broadcast(shape_of(x), chosen.shape)
    chosen = np.broadcast_to(chosen, size)
    count = int(chosen.sum())
    flat = ops.reshape(source, shape=(-1,))
    if shape_of(flat)[0] < count:
        raise run_error(
            "shape-mismatch", f"`source` has {shape_of(flat)[0]} elements for {count} places"
        )
    wide = ops.expand(x, size=size) if shape_of(x) != size else x
    return ops.set_at(wide, ops.getitem(flat, index=slice(0, count)), index=np.array(chosen))


masked_scatter: Op = composite(
    "masked_scatter",
    _masked_scatter,
    shape=lambda x, mask, source: broadcast(x, mask),
    dtype=of_first,
    layout=in_order,
    guards={"input": ("mask",), "source": ("mask",)},
    args=("input", "mask", "source"),
    node="MaskedScatterBackward0(input, source)",
    doc="The input with the elements of `source`, in their order, written where the mask is true.",
    source="PyTorch: masked_scatter",
    inplace=True,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], [True, False, True], [5.0, 6.0]),
        sample([[1.0, 2.0], [3.0, 4.0]], [True, False], [5.0, 6.0, 7.0]),
        sample([1.0, 2.0], [False, False], [5.0]),
        sample(1.0, True, [5.0]),
    ),
    bad=lambda: (
        bad((2,), (2,), (2,), says="must be bool"),
        bad((2,), [True, True], (1,), says="1 elements for 2 places"),
    ),
)


def _index_put(x: Any, values: Any, indices: Any, accumulate: Any) -> Any:
    if not isinstance(indices, (tuple, list)):
        raise run_error("bad-index", "`indices` must be a tuple of tensors of ints or masks")
    where = tuple(static_index(list(i) if isinstance(i, tuple) else i) for i in indices)
    if not accumulate:
        return ops.set_at(x, values, index=where)
    part = ops.getitem(ops.zeros_of(like=x), index=where)
    wide = ops.expand(values, size=shape_of(part))
    return ops.add(x, ops.unindex(wide, index=where, size=shape_of(x)))


index_put: Op = composite(
    "index_put",
    _index_put,
    args=("input", "values"),
    params={"indices": REQUIRED, "accumulate": False},
    order=("input", "indices", "values", "accumulate"),
    node="IndexPutBackward0(input, values)",
    doc="The input with values written at `input[indices]`, or added there with `accumulate`. Of "
    "several for one place the last stays and alone gets the gradient; PyTorch leaves the winner "
    "open and gives the gradient to all.",
    source=TRANSPOSED,
    inplace=True,
    samples=lambda: (
        sample([1.0, 2.0, 3.0], [5.0, 6.0], indices=([0, 2],), accumulate=False),
        sample([1.0, 2.0, 3.0], [5.0, 6.0], indices=([0, 0],), accumulate=True),
        sample([[1.0, 2.0], [3.0, 4.0]], 5.0, indices=([0, 1], [1, 1]), accumulate=False),
        sample([[1.0, 2.0], [3.0, 4.0]], [5.0], indices=([0, 0], [1, 1]), accumulate=True),
        sample([1.0, 2.0], 5.0, indices=([True, False],), accumulate=False),
    ),
    known=lambda: (
        known(
            [1.0, 2.0],
            [5.0, 6.0],
            indices=([0, 0],),
            accumulate=False,
            grad=([0.0, 1.0], [0.0, 1.0]),
        ),
        known(
            [1.0, 2.0],
            [5.0, 6.0],
            indices=([0, 0],),
            accumulate=True,
            grad=([1.0, 1.0], [1.0, 1.0]),
        ),
    ),
    bad=lambda: (
        bad((2,), (), indices=0, accumulate=False, says="a tuple of tensors"),
        bad((2,), (), indices=([2],), accumulate=False, says="index 2 is out of range"),
        bad((2,), (3,), indices=([0, 1],), accumulate=False, says="does not fit"),
    ),
)


# places of nonzero elements -----------------------------------------------------------------------


def _nonzero(x: Data, as_tuple: Any) -> Any:
    x = np.asarray(x)
    if as_tuple:
        return tuple(np.nonzero(np.atleast_1d(x)))
    return np.argwhere(x).astype(np.int64)


nonzero: Op = op(
    "nonzero",
    params={"as_tuple": False},
    doc="The places of the elements that are not zero, a row each; with `as_tuple` a tensor for "
    "each dimension, which together are an index.",
    source="PyTorch: nonzero",
    array=lambda x, as_tuple=False: _nonzero(x, as_tuple),
    dtype=integer,
    samples=lambda: (sample([1.0, 0.0]),),
)

argwhere: Op = composite(
    "argwhere",
    nonzero,
    doc="The places of the elements that are not zero, a row each.",
    source="PyTorch: argwhere",
)
