"""Sorting and searching."""

from __future__ import annotations

from math import nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.families.places import places_of
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import integer, of_first
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.memory import as_first
from gradcli.engine.values.sizes import Shape, axis, describe, flag, whole
from gradcli.errors import run_error

FAMILY = 140, "Sorting and searching"

_PICKS = "values are picked elements; the cotangent goes back to their places"


def order_of(x: Any, at: int, descending: Any) -> Any:
    """Places of the elements in their order along a dimension, equal ones in theirs; nan counts as
    the largest.
    """
    if not descending:
        return np.argsort(x, axis=at, kind="stable")
    turned = np.argsort(np.flip(x, at), axis=at, kind="stable")
    return np.flip(x.shape[at] - 1 - turned, at)


def _ordered(x: Data, dim: Any, descending: Any) -> tuple[Any, Any]:
    x = shaped(x)
    at = axis(dim, x.ndim)
    if not x.ndim:
        return np.array(x), np.zeros((), np.int64)
    places = order_of(x, at, descending)
    return np.take_along_axis(x, places, at), places


def back(g: Any, out: Any, x: Any, dim: Any) -> Any:
    """Cotangent of a tensor from that of elements picked at `out[1]` along a dimension."""
    return ops.place(g[0], out[1], dim=dim, size=x.shape) if x.shape else g[0]


def along(dot: Any, out: Any, dim: Any) -> tuple[Any, None]:
    """Tangents of elements picked at `out[1]` along a dimension; places have none."""
    return (ops.pick(dot, out[1], dim=dim) if shape_of(dot) else dot), None


sort: Op = op(
    "sort",
    layout=as_first,
    ties=True,
    params={"dim": -1, "descending": False, "stable": False},
    fields=("values", "indices"),
    doc="The elements in order along the dimension `dim`, and where they were. Equal elements keep "
    "their order, always; nan counts as the largest.",
    source=_PICKS,
    array=lambda x, dim, descending=False, stable=False: _ordered(x, dim, descending),
    shape=lambda x, dim, descending=False, stable=False: _same(x, dim),
    dtype=[of_first, integer],
    vjp=(lambda g, out, x, dim, descending=False, stable=False: back(g, out, x, dim),),
    jvp=(lambda dot, out, x, dim, descending=False, stable=False: along(dot, out, dim),),
    saves=("indices",),
    samples=lambda: (
        sample([3.0, -2.0, 1.0], dim=-1),
        sample([3.0, -2.0, 1.0], dim=0, descending=True),
        sample([[3.0, -2.0], [1.0, 4.5]], dim=0),
        sample([[3.0, -2.0], [1.0, 4.5]], dim=1, descending=True),
        sample([[[3.0, -2.0], [1.0, 4.5]]], dim=1),
        sample([5.0], dim=0),
        sample([], dim=0),
        sample(2.0, dim=-1),
    ),
    known=lambda: (
        known([2.0, 2.0], dim=0, grad=([1.0, 1.0],)),
        known([nan, 1.0], dim=0, grad=([1.0, 1.0],)),
    ),
    bad=points.no_dimension,
)


def _same(x: Shape, dim: Any) -> list[Shape]:
    axis(dim, len(x))
    return [x, x]


argsort: Op = op(
    "argsort",
    params={"dim": -1, "descending": False, "stable": False},
    doc="Where the elements, put in order along the dimension `dim`, were before.",
    source="PyTorch: argsort",
    array=lambda x, dim=-1, descending=False, stable=False: _ordered(x, dim, descending)[1],
    shape=lambda x, dim=-1, descending=False, stable=False: _same(x, dim)[0],
    dtype=integer,
    samples=lambda: (sample([3.0, -2.0, 1.0], dim=-1),),
    bad=points.no_dimension,
)

msort: Op = composite(
    "msort",
    lambda x: sort(x, dim=0)[0],
    doc="The elements in order along the first dimension.",
    source=_PICKS,
    samples=lambda: (
        sample([3.0, -2.0, 1.0]),
        sample([[3.0, -2.0], [1.0, 4.5]]),
        sample([5.0]),
    ),
)


def _top_shape(x: Shape, k: Any, dim: Any) -> list[Shape]:
    at = axis(dim, len(x))
    count = whole(k, "k")
    size = x[at] if x else 1
    if not 0 <= count <= size:
        message = f"`k` is between 0 and {size}, got {count}"
        raise run_error("index-out-of-range", message, raises=RuntimeError)
    shape = (*x[:at], count, *x[at + 1 :]) if x else ()
    return [shape, shape]


def _top(x: Data, k: Any, dim: Any, largest: Any) -> tuple[Any, Any]:
    x = shaped(x)
    _top_shape(x.shape, k, dim)
    values, places = _ordered(x, dim, largest)
    if not x.ndim:
        return values, places
    first = (*(slice(None),) * axis(dim, x.ndim), slice(0, whole(k, "k")))
    return values[first].copy(), places[first].copy()


topk: Op = op(
    "topk",
    ties=True,
    params={"k": REQUIRED, "dim": -1, "largest": True, "sorted": True},
    fields=("values", "indices"),
    doc="The k largest elements along the dimension `dim`, or the smallest with `largest=False`, "
    "in order, and where they are. Of equal elements the first come first and get the gradient.",
    source=_PICKS,
    array=lambda x, k, dim=-1, largest=True, sorted=True: _top(x, k, dim, largest),
    shape=lambda x, k, dim=-1, largest=True, sorted=True: _top_shape(x, k, dim),
    dtype=[of_first, integer],
    vjp=(lambda g, out, x, k, dim=-1, largest=True, sorted=True: back(g, out, x, dim),),
    jvp=(lambda dot, out, x, k, dim=-1, largest=True, sorted=True: along(dot, out, dim),),
    saves=("indices",),
    samples=lambda: (
        sample([3.0, -2.0, 1.0], k=2),
        sample([3.0, -2.0, 1.0], k=2, largest=False),
        sample([[3.0, -2.0], [1.0, 4.5]], k=1, dim=0),
        sample([[3.0, -2.0, 0.5], [1.0, 4.5, 2.0]], k=2, dim=1),
        sample([3.0, -2.0, 1.0], k=3),
        sample([5.0], k=1, dim=0),
        sample([1.0, 2.0], k=0),
        sample(2.0, k=1),
    ),
    known=lambda: (known([2.0, 2.0], k=1, grad=([1.0, 0.0],)),),
    bad=lambda: (
        bad((2,), k=3, says="between 0 and 2"),
        bad((2,), k=-1, says="between 0 and 2"),
    ),
)


# searching ----------------------------------------------------------------------------------------


def _side(right: Any, side: Any) -> Any:
    if side is not None and not (isinstance(side, str) and side in ("left", "right")):
        raise run_error("bad-argument", f"`side` must be 'left' or 'right', got {describe(side)}")
    if side == "left" and right:
        raise run_error("bad-argument", "`side='left'` and `right=True` exclude each other")
    return side or ("right" if right else "left")


def _found(boundaries: Data, x: Data, side: Any) -> Any:
    rows, values = np.asarray(boundaries), np.asarray(x)
    if not rows.ndim:
        raise run_error("shape-mismatch", "the boundaries must have a dimension, got a number")
    if rows.ndim == 1:
        return np.searchsorted(rows, values, side).astype(np.int64)
    if rows.shape[:-1] != values.shape[:-1]:
        raise run_error(
            "shape-mismatch",
            "the boundaries and the values must agree in all dimensions but the last, got "
            f"{list(rows.shape)} and {list(values.shape)}",
        )
    found = np.zeros(values.shape, np.int64)
    for at in np.ndindex(values.shape[:-1]):
        found[at] = np.searchsorted(rows[at], values[at], side)
    return found


def _searched(
    s: Data,
    x: Data,
    out_int32: Any = False,
    right: Any = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    _no_int32(out_int32)
    if sorter is not None:
        order = places_of(sorter, "sorter")
        if order.shape != np.shape(s):
            raise run_error(
                "bad-argument", "`sorter` must have a place for each element, as `argsort`"
            )
        if order.size and (order.min() < 0 or order.max() >= order.shape[-1]):
            raise run_error("index-out-of-range", "`sorter` has a place outside the sequence")
        s = np.take_along_axis(np.asarray(s), order, -1)
    return _found(s, x, _side(right, side))


def _no_int32(out_int32: Any) -> None:
    if flag(out_int32, "out_int32"):
        raise run_error("bad-argument", "`out_int32=True` is refused: ints have 64 bits")


def _bucket(x: Data, boundaries: Data, out_int32: Any = False, right: Any = False) -> Any:
    _no_int32(out_int32)
    return _found(_vector(boundaries), x, _side(right, None))


searchsorted: Op = op(
    "searchsorted",
    args=("sorted_sequence", "input"),
    params={"out_int32": False, "right": False, "side": None, "sorter": None},
    doc="Where in an ordered sequence each value would have to stand: before the elements equal to "
    "it, behind them with `right=True`. Of several sequences each is searched for its own values; "
    "`sorter` has the order of one that is not sorted. `out_int32=True` is refused: ints have 64 "
    "bits.",
    source="PyTorch: searchsorted",
    array=_searched,
    shape=lambda s, x, **how: x,
    dtype=integer,
    samples=lambda: (sample([1.0, 2.0, 3.0], [2.0, 5.0]),),
    bad=lambda: (
        bad((2,), (2,), side="middle", says="'left' or 'right'"),
        bad((2, 2), (3, 2), says="all dimensions but the last"),
        bad((), (2,), says="must have a dimension"),
    ),
)

bucketize: Op = op(
    "bucketize",
    args=("input", "boundaries"),
    params={"out_int32": False, "right": False},
    doc="Which of the intervals between ordered boundaries each element lies in: they contain "
    "their upper boundary, with `right=True` their lower one. `out_int32=True` is refused.",
    source="PyTorch: bucketize",
    array=_bucket,
    shape=lambda x, boundaries, **how: x,
    dtype=integer,
    samples=lambda: (sample([2.0, 5.0], [1.0, 2.0, 3.0]),),
    bad=lambda: (bad((2,), (2, 2), says="a vector"),),
)


def _vector(boundaries: Data) -> Data:
    if len(shape_of(boundaries)) != 1:
        raise run_error(
            "shape-mismatch", f"`boundaries` must be a vector, got {list(shape_of(boundaries))}"
        )
    return boundaries


def _unique(x: Data, inverse: Any, counts: Any, dim: Any) -> Any:
    x = np.asarray(x)
    at = None if dim is None else axis(dim, x.ndim)
    if at is not None and not x.ndim:
        raise run_error("shape-mismatch", "a 0-d tensor has no dimension to find the parts of")
    values, where, number = np.unique(
        x, return_inverse=True, return_counts=True, axis=at, equal_nan=False
    )
    where = np.reshape(where, x.shape if at is None else (x.shape[at],))
    found = [values]
    if inverse:
        found.append(where.astype(np.int64))
    if counts:
        found.append(number.astype(np.int64))
    return tuple(found) if len(found) > 1 else values


unique: Op = op(
    "unique",
    params={"sorted": True, "return_inverse": False, "return_counts": False, "dim": None},
    doc="The different elements in order, or the different parts along `dim`; on request also "
    "which of them each element is, and how often each occurs. It has no derivative.",
    source="PyTorch: unique",
    array=lambda x, sorted=True, return_inverse=False, return_counts=False, dim=None: _unique(
        x, return_inverse, return_counts, dim
    ),
    samples=lambda: (sample([2.0, 1.0, 2.0]),),
    bad=points.no_dimension,
)
