"""Running sums, products and extremes, differences and integrals of samples."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from gradcli.engine.numerics import exact
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import floats, shaped
from gradcli.engine.ops.families.places import EVERY
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import floating, integer, of_first, summed
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.dtypes import dtype_name
from gradcli.engine.values.sizes import Shape, axis, number, whole
from gradcli.errors import run_error

FAMILY = 130, "Cumulative"

_PARAMS: dict[str, Any] = {"dim": REQUIRED, "dtype": None}


def _kept(x: Shape, dim: Any, dtype: Any = None) -> Shape:
    axis(dim, len(x))
    return x


def _samples() -> Any:
    return (
        sample([1.0, -2.0, 3.0], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1),
        sample([[1.0, -2.0, 0.5], [3.0, 4.5, -1.5]], dim=-1),
        sample([[[1.0, -2.0], [3.0, 4.5]]], dim=1),
        sample([5.0], dim=0),
        sample([], dim=0),
        sample(-2.0, dim=0),
    )


# sums ---------------------------------------------------------------------------------------------


def _accumulated(x: Data, dim: Any, dtype: Any, name: str) -> Data:
    x = shaped(x)
    x = converted(x, _dtype(x, dim, dtype) or dtype_of(x))
    at = axis(dim, x.ndim)
    if not x.ndim:
        return np.array(x)
    return exact.folded(name, x, axis=at) if x.dtype.kind == "i" else getattr(np, name)(x, at)


def _dtype(x: Any, dim: Any, dtype: Any = None) -> str | None:
    name = dtype_name(dtype)
    if name == "bool":
        raise run_error("dtype-mismatch", "a running sum or product cannot have the dtype bool")
    return name or summed(x)


def _backwards(x: Any, dim: Any) -> Any:
    """Sums from each element on to the last."""
    if not shape_of(x):
        return x
    at = axis(dim, len(shape_of(x)))
    return ops.flip(cumsum(ops.flip(x, dims=(at,)), dim=at), dims=(at,))


cumsum: Op = op(
    "cumsum",
    params=_PARAMS,
    doc="Running sum along the dimension `dim`: each element is the sum of those up to it.",
    source="a linear map; the cotangent goes back by its transpose, the running sum from the end",
    array=lambda x, dim, dtype=None: _accumulated(x, dim, dtype, "cumsum"),
    shape=_kept,
    dtype=_dtype,
    vjp=(lambda g, out, x, dim, dtype=None: _backwards(g, dim),),
    jvp=(lambda dot, out, x, dim, dtype=None: cumsum(dot, dim=dim),),
    inplace=True,
    samples=_samples,
    known=lambda: (known([1.0, 2.0, 3.0], dim=0, grad=([3.0, 2.0, 1.0],)),),
    bad=points.no_dimension,
)


# products -----------------------------------------------------------------------------------------


def one_place_on(x: Any, first: float) -> Any:
    """The elements one place on along the last dimension, `first` coming in at the start."""
    start = np.full((*x.shape[:-1], 1), first, dtype_of(x))
    return ops.cat(start, ops.getitem(x, index=(Ellipsis, slice(0, -1))), dim=-1)


def _backwards_recurrence(a: Any, b: Any) -> Any:
    """S with s[i] = b[i] + a[i + 1] s[i + 1] along the last dimension."""
    return _flipped(ops.recurrence(one_place_on(_flipped(a), 0.0), _flipped(b)))


def _flipped(x: Any) -> Any:
    return ops.flip(x, dims=(-1,))


def _along_last(x: Any, dim: Any) -> Any:
    return ops.transpose(x, dim0=dim, dim1=-1)


def _cumprod_pull(g: Any, out: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    x = shaped(x)
    if not x.shape or 0 in x.shape:
        return g
    x = _along_last(x, dim)
    behind = _backwards_recurrence(x, _along_last(g, dim))
    return _along_last(ops.mul(one_place_on(cumprod(x, dim=-1), 1.0), behind), dim)


def _cumprod_push(dot: Any, out: Any, x: Any, dim: Any, dtype: Any = None) -> Any:
    x = shaped(x)
    if not x.shape or 0 in x.shape:
        return dot
    x = _along_last(x, dim)
    fresh = ops.mul(_along_last(dot, dim), one_place_on(cumprod(x, dim=-1), 1.0))
    return _along_last(ops.recurrence(x, fresh), dim)


cumprod: Op = op(
    "cumprod",
    guards=("input", "out"),
    params=_PARAMS,
    doc="Running product along the dimension `dim`. Its derivatives are exact with zeros among the "
    "elements, at every order.",
    source="definition; p[k] = x[k] p[k - 1] differentiated, a linear recurrence",
    array=lambda x, dim, dtype=None: _accumulated(x, dim, dtype, "cumprod"),
    shape=_kept,
    dtype=_dtype,
    vjp=(_cumprod_pull,),
    jvp=(_cumprod_push,),
    saves=("input",),
    inplace=True,
    samples=lambda: (
        *_samples(),
        sample([2.0, 0.0, 3.0, 0.5], dim=0),
        sample([[0.0, 2.0], [0.0, 3.0]], dim=0),
    ),
    known=lambda: (
        known([2.0, 0.0, 3.0], dim=0, grad=([1.0, 8.0, 0.0],)),
        known([0.0, 0.0, 3.0], dim=0, grad=([1.0, 0.0, 0.0],)),
    ),
    bad=points.no_dimension,
)


# extremes -----------------------------------------------------------------------------------------


def _running(x: Data, dim: Any, name: str) -> tuple[Data, Data]:
    x = shaped(x)
    at = axis(dim, x.ndim)
    if not x.ndim:
        return np.array(x), np.zeros((), np.int64)
    moved = np.moveaxis(x, at, -1)
    function = np.maximum if name == "cummax" else np.minimum
    best = function.accumulate(moved, axis=-1) if moved.size else moved
    # the last of the elements that attain it, as in PyTorch; a nan stays
    here = (moved == best) | (np.isnan(moved) if x.dtype.kind == "f" else False)
    places = np.where(here, np.arange(moved.shape[-1]), 0)
    last = np.maximum.accumulate(places, axis=-1) if moved.size else places
    return np.moveaxis(best, -1, at), np.moveaxis(last.astype(np.int64), -1, at)


def _running_op(name: str, word: str) -> Op:
    return op(
        name,
        ties=True,
        params={"dim": REQUIRED},
        fields=("values", "indices"),
        guards=("input", "indices"),
        doc=f"{word} element so far along the dimension `dim`, and its place. At a tie the last "
        "one is taken and gets the gradient.",
        source=f"PyTorch: {name}",
        array=lambda x, dim: _running(x, dim, name),
        shape=lambda x, dim: [_kept(x, dim)] * 2,
        dtype=[of_first, integer],
        vjp=(
            lambda g, out, x, dim: (
                ops.place(g[0], out[1], dim=dim, size=x.shape) if x.shape else g[0]
            ),
        ),
        jvp=(
            lambda dot, out, x, dim: (
                ops.pick(dot, out[1], dim=dim) if shape_of(dot) else dot,
                None,
            ),
        ),
        saves=("indices",),
        samples=_samples,
        known=lambda: (
            known(
                [2.0, 2.0, 1.0] if name == "cummax" else [-2.0, -2.0, -1.0],
                dim=0,
                grad=([1.0, 2.0, 0.0],),
            ),
            known([1.0, nan, 3.0], dim=0, grad=([1.0, 2.0, 0.0],)),
        ),
        bad=points.no_dimension,
    )


cummax: Op = _running_op("cummax", "Largest")
cummin: Op = _running_op("cummin", "Smallest")


# logarithms of sums -------------------------------------------------------------------------------


def _log_sums(x: Data, dim: Any) -> Data:
    x = floats(x)
    at = axis(dim, x.ndim)
    return np.logaddexp.accumulate(x, axis=at) if x.ndim and x.size else np.array(x)


def _weights(x: Any, out: Any) -> tuple[Any, Any]:
    """The shares of the sum before an element, and of the element, in the sum up to it. They are
    computed from the inputs: a large result has a large rounding error.
    """
    before = one_place_on(out, -inf)
    return _share(before, x), _share(x, before)


def _share(part: Any, other: Any) -> Any:
    both = ops.logical_and(ops.isinf(part), ops.eq(part, other))
    gap = ops.where(both, 0.0, ops.sub(part, other))
    return ops.where(ops.gt(part, -inf), ops.sigmoid(gap), 0.0)


def _log_sums_pull(g: Any, out: Any, x: Any, dim: Any) -> Any:
    x, out = shaped(x), shaped(out)
    if not x.shape or 0 in x.shape:
        return g
    old, new = _weights(_along_last(x, dim), _along_last(out, dim))
    return _along_last(ops.mul(new, _backwards_recurrence(old, _along_last(g, dim))), dim)


def _log_sums_push(dot: Any, out: Any, x: Any, dim: Any) -> Any:
    x, out = shaped(x), shaped(out)
    if not x.shape or 0 in x.shape:
        return dot
    old, new = _weights(_along_last(x, dim), _along_last(out, dim))
    return _along_last(ops.recurrence(old, ops.mul(new, _along_last(dot, dim))), dim)


logcumsumexp: Op = op(
    "logcumsumexp",
    params={"dim": REQUIRED},
    doc="Logarithm of the running sum of e ** input along the dimension `dim`, without overflow. "
    "Where all elements so far are -inf the derivative is 0.",
    source="definition; the derivative of logsumexp is softmax",
    array=_log_sums,
    shape=_kept,
    dtype=floating,
    vjp=(_log_sums_pull,),
    jvp=(_log_sums_push,),
    saves=("input", "out"),
    samples=_samples,
    known=lambda: (
        known([1000.0, 1000.0], dim=0, grad=([1.5, 0.5],)),
        known([-inf, -inf], dim=0, grad=([0.0, 0.0],)),
        known([-inf, 1.0], dim=0, grad=([0.0, 1.0],)),
        known([0.0, 0.0], dim=0, grad=([1.5, 0.5],)),
    ),
    bad=points.no_dimension,
)


# differences and integrals ------------------------------------------------------------------------


def _part(x: Any, at: int, part: slice) -> Any:
    return ops.getitem(x, index=(*(EVERY,) * at, part))


def _differences(x: Any, prepend: Any, append: Any, n: Any, dim: Any) -> Any:
    if not shape_of(x):
        raise run_error("shape-mismatch", "`diff` needs at least one dimension, got a 0-d tensor")
    times = whole(n, "n")
    if times < 0:
        raise run_error("bad-argument", f"`n` cannot be negative, got {times}")
    at = axis(dim, len(shape_of(x)))
    if times == 0:
        return ops.clone(x)
    parts = [p for p in (prepend, x, append) if p is not None]
    if len(parts) > 1:
        x = ops.cat(*parts, dim=at)
    gap = ops.logical_xor if dtype_of(x) == "bool" else ops.sub
    for _ in range(min(times, shape_of(x)[at])):
        x = gap(_part(x, at, slice(1, None)), _part(x, at, slice(0, -1)))
    return x


diff: Op = composite(
    "diff",
    _differences,
    args=("input", "prepend=None", "append=None"),
    params={"n": 1, "dim": -1},
    order=("input", "n", "dim", "prepend", "append"),
    doc="Differences of neighbours along the dimension `dim`, n times over; `prepend` and `append` "
    "are put to the ends before (if n is not 0).",
    source="PyTorch: diff",
    samples=lambda: (
        sample([1.0, 4.0, 9.0], None, None, n=1, dim=-1),
        sample([1.0, 4.0, 9.0], None, None, n=2, dim=0),
        sample([[1.0, 4.0, 9.0], [2.0, 0.5, 1.0]], None, None, n=1, dim=1),
        sample([[1.0, 4.0, 9.0], [2.0, 0.5, 1.0]], None, None, n=1, dim=0),
        sample([1.0, 4.0], [0.5], [3.0, 2.0], n=1, dim=-1),
        sample([5.0], None, None, n=1, dim=-1),
        sample([1.0, 4.0], [0.5], [3.0, 2.0], n=0, dim=-1),
    ),
    bad=lambda: (
        bad((), None, None, n=1, dim=-1, says="0-d"),
        bad((2,), None, None, n=-1, dim=-1, says="negative"),
    ),
)


def _panels(y: Any, x: Any, dx: Any, dim: Any) -> tuple[Any, int]:
    """The area over each pair of neighbours, and the dimension."""
    if not shape_of(y):
        raise run_error("shape-mismatch", "an integral of samples needs a dimension, got a number")
    if x is not None and dx is not None:
        raise run_error("bad-argument", "`x` and `dx` exclude each other")
    at = axis(dim, len(shape_of(y)))
    ends = ops.add(_part(y, at, slice(1, None)), _part(y, at, slice(0, -1)))
    if x is None:
        width = 1.0 if dx is None else float(number(dx, "dx"))
        return ops.add(0.0, ends, alpha=0.5 * width), at  # a product would save the number
    size = shape_of(y)[at]
    if len(shape_of(x)) == 1:
        if shape_of(x)[0] != size:
            raise run_error(
                "shape-mismatch", f"{shape_of(x)[0]} places are given for {size} samples"
            )
        x = ops.reshape(x, shape=(-1, *(1,) * (len(shape_of(y)) - 1 - at)))
        gaps = ops.sub(_part(x, 0, slice(1, None)), _part(x, 0, slice(0, -1)))
    else:
        along = axis(dim, len(shape_of(x)))
        gaps = ops.sub(_part(x, along, slice(1, None)), _part(x, along, slice(0, -1)))
    return ops.mul(ops.mul(ends, gaps), 0.5), at


def _trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    areas, at = _panels(y, x, dx, dim)
    if not shape_of(y)[at]:  # a constant
        areas = Tensor(areas.data) if isinstance(areas, Tensor) else data_of(areas)
    return ops.sum(areas, dim=at - len(shape_of(y)))


def _cumulative_trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    areas, at = _panels(y, x, dx, dim)
    return cumsum(areas, dim=at)


def _integrals() -> Any:
    return (
        sample([1.0, 4.0, 9.0], None, dx=None, dim=-1),
        sample([1.0, 4.0, 9.0], None, dx=0.5, dim=-1),
        sample([1.0, 4.0, 9.0], [0.0, 1.0, 3.0], dx=None, dim=-1),
        sample([[1.0, 4.0, 9.0], [2.0, 0.5, 1.0]], None, dx=None, dim=0),
        sample([[1.0, 4.0, 9.0], [2.0, 0.5, 1.0]], [0.0, 2.0], dx=None, dim=0),
        sample([[1.0, 4.0], [2.0, 0.5]], [[0.0, 2.0], [1.0, 4.0]], dx=None, dim=1),
        sample([5.0], None, dx=None, dim=-1),
    )


trapezoid: Op = composite(
    "trapezoid",
    _trapezoid,
    aliases=("trapz",),
    args=("y", "x=None"),
    params={"dx": None, "dim": -1},
    doc="Integral of samples y along the dimension `dim` by the trapezoidal rule, at the places x "
    "or at the distance `dx` (1).",
    source="DLMF 3.5.1",
    samples=_integrals,
    bad=lambda: (
        bad((3,), (2,), dx=None, dim=-1, says="2 places are given for 3 samples"),
        bad((3,), (3,), dx=1.0, dim=-1, says="exclude each other"),
    ),
)

cumulative_trapezoid: Op = composite(
    "cumulative_trapezoid",
    _cumulative_trapezoid,
    args=("y", "x=None"),
    params={"dx": None, "dim": -1},
    doc="Running integral of samples y along the dimension `dim` by the trapezoidal rule, at the "
    "places x or at the distance `dx` (1); one element less than y.",
    source="DLMF 3.5.1",
    samples=_integrals,
    bad=lambda: (bad((3,), (2,), dx=None, dim=-1, says="2 places"),),
)
