"""Order statistics, moments, and reductions that leave nan out."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import DIMS, check_some, dim_samples, reshaped, shaped
from gradcli.engine.ops.families.ordering import order_of
from gradcli.engine.ops.families.reduce import SPREAD
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, host, known, op, sample
from gradcli.engine.ops.promotion import integer, of_first
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, is_whole, np, shape_of
from gradcli.engine.values.dtypes import floating_name
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.sizes import Shape, axes, axis, flag, number, reduced, whole
from gradcli.errors import run_error

FAMILY = 110, "Statistics"

_PICKS = "values are picked elements; the cotangent goes back to their places"
_ALONG: dict[str, Any] = {"dim": -1, "keepdim": False}

# picked elements ----------------------------------------------------------------------------------


def _picked(x: Data, places: Any, dim: Any, keepdim: Any) -> tuple[Data, Data]:
    x = shaped(x)
    values = np.take_along_axis(x, places, axis(dim, x.ndim)) if x.ndim else np.array(x)
    shape = reduced(x.shape, dim, bool(keepdim))
    return reshaped(values, shape), reshaped(places, shape)


def _wide(y: Any, x: Any, dim: Any) -> Any:
    return ops.reshape(y, shape=reduced(shape_of(x), dim, True))


def picked_op(
    name: str, doc: str, places: Callable[..., Any], params: dict[str, Any], **more: Any
) -> Op:
    """An op that picks one element along a dimension: `places(x, at, **params)` says which, with
    the dimension kept.
    """

    def array(x: Data, dim: Any = -1, keepdim: Any = False, **rest: Any) -> Any:
        x = shaped(x)
        at = axis(dim, x.ndim)
        check_some(x.shape, dim, name.removesuffix("_along"))
        found = places(x, at, **rest) if x.ndim else np.zeros((), np.int64)
        return _picked(x, found, dim, keepdim)

    return op(
        name,
        ties=True,
        params={**params, **_ALONG},
        fields=("values", "indices"),
        doc=doc,
        source=_PICKS,
        array=array,
        shape=lambda x, dim=-1, keepdim=False, **rest: [reduced(x, dim, bool(keepdim))] * 2,
        dtype=[of_first, integer],
        vjp=(
            lambda g, out, x, dim=-1, keepdim=False, **rest: ops.place(
                _wide(g[0], x, dim), _wide(out[1], x, dim), dim=dim, size=x.shape
            ),
        ),
        jvp=(
            lambda dot, out, x, dim=-1, keepdim=False, **rest: (
                ops.reshape(
                    ops.pick(dot, _wide(out[1], x, dim), dim=dim),
                    shape=reduced(x.shape, dim, keepdim),
                ),
                None,
            ),
        ),
        saves=("indices",),
        **more,
    )


def _kth(x: Any, at: int, k: Any) -> Any:
    count = whole(k, "k")
    if not 1 <= count <= x.shape[at]:
        message = f"`k` is between 1 and {x.shape[at]}, got {count}"
        raise run_error("index-out-of-range", message, raises=RuntimeError)
    return np.take(order_of(x, at, False), [count - 1], at)


kthvalue: Op = picked_op(
    "kthvalue",
    "The k-th smallest element along the dimension `dim`, k = 1 being the smallest, and its place.",
    _kth,
    {"k": REQUIRED},
    samples=lambda: (
        sample([3.0, -2.0, 1.0], k=2),
        sample([[3.0, -2.0, 0.5], [1.0, 4.5, 2.0]], k=3),
        sample([[3.0, -2.0], [1.0, 4.5]], k=1, dim=0),
        sample([[3.0, -2.0], [1.0, 4.5]], k=2, dim=1, keepdim=True),
        sample([[[3.0, -2.0], [1.0, 4.5]]], k=2, dim=-2),
        sample([5.0], k=1, dim=0),
        sample([[5.0]], k=1, dim=0),
        sample([-1.0, -2.0], k=1, dim=0, keepdim=True),
    ),
    bad=lambda: (
        bad((3,), k=4, says="between 1 and 3"),
        bad((3,), k=0, says="between 1 and 3"),
        bad((2, 3), k=1, dim=2, says="no dimension 2"),
    ),
)


def _mode(x: Any, at: int) -> Any:
    def of_row(row: Any) -> int:
        values, number = np.unique(row, return_counts=True, equal_nan=True)
        best = values[number.argmax()]  # the smallest of those
        same = (row == best) | (np.isnan(row) & np.isnan(best))
        return int(np.flatnonzero(same)[-1])

    rows = np.moveaxis(x, at, -1)
    places = np.array([of_row(row) for row in rows.reshape(-1, x.shape[at])], np.int64)
    return np.expand_dims(places.reshape(rows.shape[:-1]), at)


def _samples() -> tuple[Sample, ...]:
    return (
        sample([3.0, -2.0, 1.0]),
        sample([[3.0, -2.0, 0.5], [1.0, 4.5, 2.0]]),
        sample([[3.0, -2.0], [1.0, 4.5]], dim=0),
        sample([[3.0, -2.0], [1.0, 4.5]], dim=1, keepdim=True),
        sample([[[3.0, -2.0], [1.0, 4.5]]], dim=-2),
        sample([5.0], dim=0),
        sample([[5.0]], dim=0),
        sample([-1.0, -2.0], dim=0, keepdim=True),
    )


mode: Op = picked_op(
    "mode",
    "The element that occurs most often along the dimension `dim`, the smallest of several, and "
    "the last place where it is.",
    _mode,
    {},
    samples=_samples,
    known=lambda: (known([1.0, 2.0, 2.0], grad=([0.0, 0.0, 1.0],)),),
    bad=lambda: (bad((0,), says="of no elements"),),
)


# medians ------------------------------------------------------------------------------------------


def _middle(x: Any, skip: bool) -> Any:
    """The lower of the middle elements of a vector; nan of no floats."""
    if x.dtype.kind != "f":
        check_some(x.shape, None, "median")
    some = x[~np.isnan(x)] if skip and x.dtype.kind == "f" else x
    if not some.size:
        return x.dtype.type(nan)
    if x.dtype.kind == "f" and np.isnan(some).any():
        return x.dtype.type(nan)
    return np.partition(some, (some.size - 1) // 2)[(some.size - 1) // 2]


def _attained(x: Any, out: Any) -> Any:
    """Weight of each element in a median: those equal to it share it evenly, or those that are nan
    where it is.
    """
    x = shaped(x)
    wide = ops.expand(out, size=x.shape)
    same = ops.logical_or(ops.eq(x, wide), ops.logical_and(ops.isnan(x), ops.isnan(wide)))
    ones = ops.cast(same, dtype=dtype_of(x))
    return ops.div(ones, ops.sum(ones))


def median_all_op(name: str, skip: bool) -> Op:
    """The median of all elements."""
    return op(
        name,
        ties=True,
        doc="The lower of the middle elements. Elements equal to it share the gradient evenly.",
        source="PyTorch: median",
        array=lambda x: _middle(np.ravel(x), skip),
        shape=lambda x: (),
        vjp=(lambda g, out, x: ops.gate(ops.expand(g, size=shape_of(x)), _attained(x, out)),),
        jvp=(lambda dot, out, x: ops.sum(ops.gate(dot, _attained(x, out))),),
        saves=("input", "out"),
        node="MedianBackward0",
        samples=lambda: (
            sample([3.0, -2.0, 1.0]),
            sample([3.0, -2.0, 1.0, 0.5]),
            sample([[3.0, -2.0], [1.0, 4.5]]),
            sample(2.5),
            sample([5.0]),
            sample([[5.0]]),
            sample([-1.0, -2.0]),
            sample([[1.0], [2.0], [3.0]]),
            sample([[[1.0, -1.0]], [[0.5, 7.0]]]),
        ),
        known=lambda: (
            known([1.0, 2.0, 3.0, 4.0], grad=([0.0, 1.0, 0.0, 0.0],)),
            known([2.0, 2.0, 5.0], grad=([0.5, 0.5, 0.0],)),
        ),
        bad=lambda: (bad(np.zeros(0, np.int64), says="of no elements"),),
    )


def _median_place(x: Any, at: int, skip: bool) -> Any:
    order = order_of(x, at, False)
    size = x.shape[at]
    missing = np.isnan(x).sum(at, keepdims=True) if x.dtype.kind == "f" else np.zeros(1, int)
    if skip:
        rank = np.maximum(size - missing - 1, 0) // 2
    else:
        rank = np.where(missing > 0, size - missing, (size - 1) // 2)
    shape = tuple(1 if i == at else n for i, n in enumerate(x.shape))
    return np.take_along_axis(order, np.broadcast_to(rank, shape), at)


def median_along_op(name: str, skip: bool) -> Op:
    """The median along a dimension."""
    return picked_op(
        name,
        "The lower of the middle elements along the dimension `dim`, and the first place where it "
        "is.",
        lambda x, at: _median_place(x, at, skip),
        {},
        node="MedianBackward1",
        samples=_samples,
    )


def _median_op(name: str, extra: str) -> Op:
    def median(session: Any, input: Any, dim: Any = None, keepdim: Any = False) -> Any:
        args = session.operands(ops[name], [input])
        if dim is None:
            return session.do(ops[f"{name}_all"], args, {})
        params = {"dim": whole(dim, "dim"), "keepdim": flag(keepdim, "keepdim")}
        return session.do(ops[f"{name}_along"], args, params)

    def infer(known: Statics, input: Any, dim: Any, keepdim: Any) -> Any:
        x, at, kept = known.tensor(input), known.static(dim), known.static(keepdim)
        if getattr(x, "shape", None) is None or UNSURE in (at, kept):
            return known.unknown(input)
        if dim is None or at is None:
            return ops[f"{name}_all"](x)
        return ops[f"{name}_along"](x, dim=whole(at, "dim"), keepdim=bool(kept))

    return host(
        name,
        median,
        infer=infer,
        by=(f"{name}_all", f"{name}_along"),
        ties=True,
        args=("input",),
        params={"dim": None, "keepdim": False},
        doc=f"The lower of the middle elements{extra}; along a dimension `dim` the fields `values` "
        "and `indices`. Without `dim` elements equal to it share the gradient evenly.",
        source="PyTorch: median",
        method=True,
    )


median: Op = _median_op("median", "")
nanmedian: Op = _median_op("nanmedian", " that are not nan")


# quantiles ----------------------------------------------------------------------------------------

_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _spans(x: Any, skip: bool) -> Any:
    """The number of steps from the first to the last element in each row's order; `skip` leaves nan
    out.
    """
    size = x.shape[-1]
    missing = np.isnan(x).sum(-1, keepdims=True) * skip
    return np.maximum(size - missing - 1, 0).astype(np.float64)


def _between(ordered: Any, q: Any, spans: Any, interpolation: str) -> Any:
    """The quantile q of each row of sorted elements."""
    rank = data_of(q) * spans
    low, high = np.floor(rank), np.ceil(rank)
    match interpolation:
        case "lower":
            return _element(ordered, low)
        case "higher":
            return _element(ordered, high)
        case "nearest":
            return _element(ordered, np.round(rank))
        case "midpoint":
            weight: Any = np.where(low == high, 0.0, 0.5)
        case _:
            weight = ops.sub(ops.mul(q, spans), low)
    if isinstance(weight, Tensor):
        return _sloped(ordered, weight, low, high, spans)
    first = _element(ordered, low)
    if not weight.any():
        return first
    weight = weight.astype(data_of(ordered).dtype)
    return ops.where(weight == 0, first, ops.lerp(first, _element(ordered, high), weight))


def _element(ordered: Any, rank: Any) -> Any:
    return ops.pick(ordered, rank.astype(np.int64), dim=-1)


def _sloped(ordered: Any, weight: Any, low: Any, high: Any, spans: Any) -> Any:
    """The quantile if the weight is differentiated. At an element the slope is the mean of those on
    both sides of it.
    """
    if dtype_of(weight) != dtype_of(ordered):
        weight = ops.cast(weight, dtype=dtype_of(ordered))
    at = low == high
    before, behind = np.maximum(low - at, 0), np.minimum(high + at, spans)
    first, second = _element(ordered, low), _element(ordered, behind)
    steps = np.maximum(behind - before, 1.0).astype(data_of(ordered).dtype)
    slope = ops.div(ops.sub(second, _element(ordered, before)), steps)
    beside = ops.add(first, ops.weigh(weight, slope))
    return ops.where(at, beside, ops.lerp(first, second, weight))


def _check_interpolation(interpolation: Any) -> None:
    if interpolation not in _INTERPOLATIONS:
        raise run_error(
            "bad-argument",
            f"`interpolation` must be one of {', '.join(_INTERPOLATIONS)}, got {interpolation!r}",
        )


def _quantile_shape(
    shape: Shape, fractions: Shape, dim: Any, keepdim: Any, interpolation: Any
) -> Shape:
    _check_interpolation(interpolation)
    if len(fractions) > 1:
        raise _no_fraction()
    kept = reduced(shape, dim, bool(keepdim))
    check_some(shape, dim, "quantile")
    return (*fractions, *kept)


def _no_fraction() -> Exception:
    return run_error("bad-argument", "`q` must be a number between 0 and 1, or several")


def _of_floats(x: Any, *others: Any, **params: Any) -> Any:
    if is_whole(dtype_of(x)):
        raise run_error(
            "dtype-mismatch",
            f"`quantile` needs floats, got {dtype_of(x)}",
            help="write `.double()` behind the tensor",
        )
    return dtype_of(x)


def _quantile(x: Any, q: Any, dim: Any, keepdim: Any, interpolation: Any, skip: bool) -> Any:
    shape, size = shape_of(x), shape_of(q)
    _quantile_shape(shape, size, dim, keepdim, interpolation)
    _of_floats(x)
    fractions = np.asarray(data_of(q))
    if not np.all((fractions >= 0) & (fractions <= 1)):
        raise _no_fraction()
    kept = reduced(shape, dim, bool(keepdim))
    if dim is None or not shape:
        x, at = ops.reshape(x, shape=(-1,)), 0
    else:
        at = axis(dim, len(shape))
    moved = ops.transpose(x, dim0=at, dim1=-1)
    data = np.asarray(data_of(moved))
    spans = _spans(data, skip)
    lost = np.isnan(data).any(-1, keepdims=True) & (not skip)
    ordered = ops.sort(moved, dim=-1)[0]
    found = []
    for each in [ops.getitem(q, index=i) for i in range(size[0])] if size else [q]:
        value = _between(ordered, each, spans, interpolation)
        if lost.any():  # nan stands last
            value = ops.where(lost, _element(ordered, spans), value)
        found.append(ops.reshape(ops.transpose(value, dim0=at, dim1=-1), shape=kept))
    return ops.stack(*found, dim=0) if size else found[0]


def _quantile_op(name: str, skip: bool) -> Op:
    return composite(
        name,
        lambda x, q, dim, keepdim, interpolation: _quantile(
            x, q, dim, keepdim, interpolation, skip
        ),
        args=("input", "q"),
        params={"dim": None, "keepdim": False, "interpolation": "linear"},
        shape=_quantile_shape,
        dtype=_of_floats,
        doc="The q-th quantile of the elements, or of those along the dimension `dim`, q between 0 "
        "and 1 or several; between two elements by `interpolation`: linear, lower, higher, "
        "midpoint or nearest. The derivative by q of the linear one is the slope between them; at "
        "an element, the mean of the slopes beside it, where PyTorch has 0. "
        + ("nan is left out." if skip else "It is nan where an element is."),
        source="Hyndman and Fan 1996, definition 7",
        samples=lambda: (
            _quantile_sample([3.0, -2.0, 1.0, 7.0], 0.3),
            _quantile_sample([[3.0, -2.0, 1.0], [0.5, 2.0, 9.0]], 0.4, dim=1),
            _quantile_sample([[3.0, -2.0, 1.0], [0.5, 2.0, 9.0]], 0.25, dim=0, keepdim=True),
            _quantile_sample([3.0, -2.0, 1.0, 7.0], [0.1, 0.9]),
            _quantile_sample([3.0, -2.0, 1.0, 7.0], 0.3, interpolation="midpoint"),
            _quantile_sample([3.0, -2.0, 1.0, 7.0], 0.3, interpolation="nearest"),
            _quantile_sample([3.0, -2.0, 1.0, 7.0], 0.3, interpolation="higher"),
            _quantile_sample([5.0], 0.3),
        ),
        known=lambda: (
            known(
                [1.0, 2.0, 3.0, 4.0],
                0.5,
                dim=None,
                keepdim=False,
                interpolation="linear",
                grad=([0.0, 0.5, 0.5, 0.0], 3.0),
            ),
        ),
        bad=lambda: (
            bad((2,), 1.5, dim=None, keepdim=False, interpolation="linear", says="between 0 and"),
            bad((2,), 0.5, dim=None, keepdim=False, interpolation="cubic", says="one of linear"),
            bad((0,), 0.5, dim=None, keepdim=False, interpolation="linear", says="no elements"),
        ),
    )


def _quantile_sample(x: Any, q: Any, **params: Any) -> Any:
    return sample(x, q, **{"dim": None, "keepdim": False, "interpolation": "linear", **params})


quantile: Op = _quantile_op("quantile", False)
nanquantile: Op = _quantile_op("nanquantile", True)


# without nan --------------------------------------------------------------------------------------


def _without(x: Any) -> Any:
    return x if is_whole(dtype_of(x)) else ops.where(ops.isnan(x), 0.0, x)


def _nan_samples() -> Any:
    return (*dim_samples(), sample([[1.0, -2.0], [3.0, 4.5]], dim=None, keepdim=True))


nansum: Op = composite(
    "nansum",
    lambda x, dim, keepdim, dtype: ops.sum(_without(x), dim=dim, keepdim=keepdim, dtype=dtype),
    guards=("input",),
    params={**DIMS, "dtype": None},
    node="NansumBackward0",
    doc="Sum of the elements that are not nan, or of those along the dimensions `dim`.",
    samples=_nan_samples,
    known=lambda: (known([1.0, nan, 3.0], **DIMS, grad=([1.0, 0.0, 1.0],)),),
    bad=lambda: (bad((2, 3), dim=2, keepdim=False, says="no dimension 2"),),
)


def _nanmean(x: Any, dim: Any, keepdim: Any) -> Any:
    present = ops.logical_not(ops.isnan(x))
    number = ops.sum(present, dim=dim, keepdim=keepdim)
    return ops.div(nansum(x, dim=dim, keepdim=keepdim), number)


nanmean: Op = composite(
    "nanmean",
    _nanmean,
    guards=("input",),
    params=DIMS,
    doc="Mean of the elements that are not nan, or of those along the dimensions `dim`; nan if "
    "there are none.",
    samples=_nan_samples,
    known=lambda: (known([1.0, nan, 3.0], **DIMS, grad=([0.5, 0.0, 0.5],)),),
    bad=lambda: (bad((2, 3), dim=2, keepdim=False, says="no dimension 2"),),
)

count_nonzero: Op = op(
    "count_nonzero",
    params={"dim": None},
    doc="How many elements, or of those along the dimensions `dim`, are not zero.",
    number=lambda x, dim=None: int(x != 0),
    array=lambda x, dim=None: np.count_nonzero(x, axis=axes(dim, np.ndim(x))),
    shape=lambda x, dim=None: reduced(x, dim, False),
    dtype=integer,
    samples=lambda: (sample([1.0, 0.0]),),
    bad=points.no_dimension,
)


# several at once ----------------------------------------------------------------------------------


def _ends(x: Any, dim: Any, keepdim: Any) -> Any:
    least = ops.amin(x, dim=dim, keepdim=bool(keepdim))
    most = ops.amax(x, dim=dim, keepdim=bool(keepdim))
    return Fields("aminmax", ("min", "max"), (least, most))


aminmax: Op = composite(
    "aminmax",
    _ends,
    params=DIMS,
    fields=("min", "max"),
    node="AminmaxBackward0",
    doc="The smallest and the largest element, or those along the dimension `dim`, as the fields "
    "`min` and `max`. Elements that tie share the gradient evenly.",
    source="PyTorch: aminmax",
    samples=dim_samples,
    bad=lambda: (bad((0,), dim=None, keepdim=False, says="of no elements"),),
)


def _moments(name: str) -> Callable[..., Any]:
    def both(x: Any, dim: Any, unbiased: Any, keepdim: Any, correction: Any) -> Any:
        how = {"dim": dim, "unbiased": unbiased, "keepdim": keepdim, "correction": correction}
        along = None if isinstance(dim, bool) else dim
        return ops[name](x, **how), ops.mean(x, dim=along, keepdim=bool(keepdim))

    return both


def _moments_op(name: str, what: str) -> Op:
    return composite(
        f"{name}_mean",
        _moments(name),
        params=SPREAD,
        node=f"{name.title()}MeanBackward0",
        doc=f"The {what} and the mean of the elements, or of those along `dim`, as `{name}` and "
        "`mean` give them.",
        samples=lambda: (
            sample([1.0, -2.0, 3.0], **SPREAD),
            sample([[1.0, -2.0], [3.0, 4.5]], **{**SPREAD, "dim": 0}),
            sample([[1.0, -2.0], [3.0, 4.5]], **{**SPREAD, "dim": 1, "keepdim": True}),
            sample([[1.0, -2.0], [3.0, 4.5]], **{**SPREAD, "correction": 0}),
        ),
        bad=lambda: (bad((2, 3), **{**SPREAD, "dim": 2}, says="no dimension 2"),),
    )


std_mean: Op = _moments_op("std", "standard deviation")
var_mean: Op = _moments_op("var", "variance")


# norms and distances ------------------------------------------------------------------------------


def _vector_norm(x: Any, ord: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    if dtype is not None:
        x = ops.cast(x, dtype=floating_name(dtype))
    return ops.norm(x, p=number(ord, "ord"), dim=dim, keepdim=bool(keepdim))


vector_norm: Op = composite(
    "vector_norm",
    _vector_norm,
    aliases=("linalg_vector_norm",),
    args=("x",),
    params={"ord": 2, "dim": None, "keepdim": False, "dtype": None},
    doc="The norm (sum |x|**ord) ** (1/ord) of the elements, or of those along `dim`: `norm` with "
    "PyTorch's name for it in linalg.",
    samples=lambda: (
        sample([1.0, -2.0, 3.0], ord=2, dim=None, keepdim=False, dtype=None),
        sample([[1.0, -2.0], [3.0, 4.5]], ord=3, dim=1, keepdim=True, dtype=None),
        sample([[1.0, -2.0], [3.0, 4.5]], ord=1, dim=(0, 1), keepdim=False, dtype=None),
    ),
    bad=lambda: (bad((2, 3), ord=2, dim=2, keepdim=False, dtype=None, says="no dimension 2"),),
)

dist: Op = composite(
    "dist",
    lambda x, other, p: ops.norm(ops.sub(x, other), p=p),
    guards=("input", "other", "out"),
    args=("input", "other"),
    params={"p": 2},
    node="DistBackward0",
    doc="The p-norm of input - other, which broadcast.",
    samples=lambda: (
        sample([1.0, -2.0, 3.0], [0.5, 1.0, -1.0], p=2),
        sample([[1.0, -2.0], [3.0, 4.5]], [0.5, 1.0], p=1),
        sample([1.0, -2.0, 3.0], [0.5, 1.0, -1.0], p=3),
        sample(2.0, -1.0, p=2),
    ),
    known=lambda: (known([1.0, 2.0], [1.0, 2.0], p=2, grad=([0.0, 0.0], [0.0, 0.0])),),
    bad=lambda: (bad((2,), (3,), p=2, says="broadcast"),),
)
