"""Reductions: sums, products, extremes, norms, spread."""

from __future__ import annotations

from math import inf, nan
from typing import Any

from gradcli.engine import ieee
from gradcli.engine.arrays import INT64_MAX, INT64_MIN, NUMBERS, Data, dtype_of, np, shape_of
from gradcli.engine.dtypes import dtype_name
from gradcli.engine.ops.registry import Op, Sample, bad, composite, host, known, op, ops, sample
from gradcli.engine.ops.sizes import Shape, axes, axis, describe, reduced, whole
from gradcli.engine.tensor import Tensor
from gradcli.errors import run_error

_DIMS: dict[str, Any] = {"dim": None, "keepdim": False}


# shared by the entries --------------------------------------------------------------------------


def _spread(g: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    """A reduction's cotangent, or its result, copied back over the dimensions that it reduced."""
    if dim is not None and not keepdim:
        g = ops.reshape(g, shape=reduced(x.shape, dim, True))
    return ops.expand(g, size=x.shape)


def _over(shape: Shape, dim: Any) -> int:
    """How many elements each result is made of."""
    count = 1
    for i in axes(dim, len(shape)):
        count *= shape[i]
    return count


def _numbered(name: str) -> Any:
    """PyTorch numbers the nodes of a reduction: 0 of everything, 1 along dimensions."""
    return lambda args, params: f"{name}Backward{0 if params['dim'] is None else 1}"


def _floats(x: Data) -> Any:
    """An array of floats: ints and bools are made float64."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _check_some(shape: Shape, dim: Any, name: str) -> None:
    if _over(shape, dim) == 0:
        raise run_error("empty-reduction", f"`{name}` of no elements, got the shape {list(shape)}")


def _dim_samples() -> tuple[Sample, ...]:
    """Samples for reductions that are smooth away from ties and zeros."""
    return (
        sample([1.0, -2.0, 3.0], **_DIMS),
        sample([[1.0, -2.0], [3.0, 4.5]], **_DIMS),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0, keepdim=False),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
        sample([[1.0, -2.0, 0.5], [3.0, 4.5, -1.5]], dim=-1, keepdim=False),
        sample([[[1.0, -2.0], [3.0, 4.5]]], dim=(0, 2), keepdim=False),
        sample([[[1.0, -2.0], [3.0, 4.5]]], dim=(1, 2), keepdim=True),
        sample([5.0], **_DIMS),
        sample(-2.0, **_DIMS),
        sample([[2.5]], dim=0, keepdim=False),
    )


# sum, mean, prod --------------------------------------------------------------------------------


def _exact(x: Any, keep: dict[str, Any], reduction: str) -> Data:
    """A sum or product of ints, refused where it leaves 64 bits."""
    function = getattr(np, reduction)
    size = function(np.abs(x.astype(np.float64)), **keep)
    if x.size == 0 or np.max(size) < 2.0**62:
        return function(x, dtype=np.int64, **keep)
    out = np.asarray(function(x.astype(object), **keep))
    if out.size and not (INT64_MIN <= out.min() and out.max() <= INT64_MAX):
        raise ieee.overflow()
    return out.astype(np.int64)


def _reduce(x: Data, dim: Any, keepdim: Any, dtype: Any, reduction: str) -> Data:
    x = np.asarray(x)
    keep = {"axis": axes(dim, x.ndim), "keepdims": bool(keepdim)}
    name = dtype_name(dtype)
    if name is not None:
        x = x.astype(name)
    if x.dtype.kind in "ib":
        out = _exact(x, keep, reduction)
        return out if name != "bool" else np.asarray(out, bool)
    return getattr(np, reduction)(x, **keep)


def _one(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """A number as its own sum or product."""
    axes(dim, 0)
    name = dtype_name(dtype)
    if name is None:
        return int(x) if type(x) is bool else x
    return {"int64": int, "bool": bool}.get(name, float)(x)


sum_: Op = op(
    "sum",
    args=("input",),
    params={**_DIMS, "dtype": None},
    doc="Sum of the elements, or of those along the dimensions `dim`. Ints and bools give an int.",
    source="definition",
    number=_one,
    array=lambda x, dim=None, keepdim=False, dtype=None: _reduce(x, dim, keepdim, dtype, "sum"),
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    vjp=(lambda g, out, x, dim=None, keepdim=False, dtype=None: _spread(g, x, dim, keepdim),),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False, dtype=None: sum_(
            dot, dim=dim, keepdim=keepdim
        ),
    ),
    node=_numbered("Sum"),
    samples=lambda: (*_dim_samples(), sample([], dim=None), sample([[], []], dim=1)),
    known=lambda: (known([0.0, 1.0], grad=([1.0, 1.0],)),),
    bad=lambda: (
        bad((2, 3), dim=2, says="no dimension 2"),
        bad((2, 3), dim=(0, 0), says="twice"),
        bad((2, 3), dim=0.5, says="integer"),
        bad((2,), dtype="float16", says="one of float64"),
    ),
)


def _mean(x: Data, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Data:
    x = _floats(x).astype(dtype_name(dtype) or _floats(x).dtype, copy=False)
    total = np.sum(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))
    return np.divide(total, total.dtype.type(_over(x.shape, dim)))


mean: Op = op(
    "mean",
    args=("input",),
    params={**_DIMS, "dtype": None},
    doc="Arithmetic mean of the elements, or of those along the dimensions `dim`; nan of none.",
    source="definition",
    number=lambda x, dim=None, keepdim=False, dtype=None: float(_one(x, dim)),
    array=_mean,
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    vjp=(
        lambda g, out, x, dim=None, keepdim=False, dtype=None: _spread(
            ops.div(g, float(_over(x.shape, dim))), x, dim, keepdim
        ),
    ),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False, dtype=None: mean(
            dot, dim=dim, keepdim=keepdim
        ),
    ),
    node=_numbered("Mean"),
    samples=_dim_samples,
    known=lambda: (known([1.0, 2.0], grad=([0.5, 0.5],)), known([], grad=([],))),
    bad=lambda: (
        bad((2, 3), dim=2, says="no dimension 2"),
        bad((2, 3), dim=(0, 0), says="twice"),
    ),
)


def _others(x: Any) -> Any:
    """For each element along the last dimension the product of all the others.

    Made of products of pairs, so that it is exact with zeros among the elements, at every order.
    """
    *lead, n = x.shape
    if n == 1:
        return ops.add(ops.zeros_of(like=x), 1.0)
    h = n // 2
    first, second, rest = (
        ops.getitem(x, index=(Ellipsis, part))
        for part in (slice(0, h), slice(h, 2 * h), slice(2 * h, n))
    )
    around = _others(ops.cat(ops.mul(first, second), rest, dim=-1))
    pairs = ops.getitem(around, index=(Ellipsis, slice(0, h)))
    last = ops.getitem(around, index=(Ellipsis, slice(h, None)))
    return ops.cat(ops.mul(pairs, second), ops.mul(pairs, first), last, dim=-1)


def _prod_slope(x: Any, dim: Any) -> Any:
    """Derivative of each product with respect to its elements, shaped as x."""
    count = _over(x.shape, dim)
    if count == 0:
        return ops.zeros_of(like=x)
    gone = axes(dim, len(x.shape))
    order = (*(i for i in range(len(x.shape)) if i not in gone), *gone)
    moved = ops.permute(x, dims=order)
    flat = ops.reshape(moved, shape=(*reduced(x.shape, dim, False), count))
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return ops.permute(
        ops.reshape(_others(flat), shape=tuple(x.shape[i] for i in order)), dims=back
    )


def _prod_jvp(dot: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    return sum_(ops.mul(dot, _prod_slope(_shaped(x), dim)), dim=dim, keepdim=keepdim)


def _shaped(x: Any) -> Any:
    """A number as an array, so that it has a shape and a dtype."""
    return np.asarray(x) if type(x) in NUMBERS else x


prod: Op = op(
    "prod",
    args=("input",),
    params={**_DIMS, "dtype": None},
    doc="Product of the elements, or of those along the dimension `dim`. With zeros among them the "
    "derivatives are exact at every order.",
    source="definition; the derivative is the product of the other elements",
    number=_one,
    array=lambda x, dim=None, keepdim=False, dtype=None: _reduce(x, dim, keepdim, dtype, "prod"),
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    vjp=(
        lambda g, out, x, dim=None, keepdim=False, dtype=None: ops.mul(
            _spread(g, _shaped(x), dim, keepdim), _prod_slope(_shaped(x), dim)
        ),
    ),
    jvp=(lambda dot, out, x, dim=None, keepdim=False, dtype=None: _prod_jvp(dot, x, dim, keepdim),),
    saves=("input",),
    node=_numbered("Prod"),
    samples=lambda: (
        *_dim_samples(),
        sample([0.0, 2.0, 3.0], dim=None),
        sample([[0.0, 2.0], [0.0, 3.0]], dim=0),
        sample([], dim=None),
        sample([1.5, 2.0, -0.5, 0.0, 3.0, 1.0, 2.5], dim=0),
    ),
    known=lambda: (
        known([0.0, 2.0, 3.0], grad=([6.0, 0.0, 0.0],)),
        known([0.0, 0.0, 3.0], grad=([0.0, 0.0, 0.0],)),
    ),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


# extremes ---------------------------------------------------------------------------------------


def _extreme(x: Data, dim: Any, keepdim: Any, name: str) -> Data:
    x = np.asarray(x)
    _check_some(x.shape, dim, name)
    function = np.max if name in ("amax", "max") else np.min
    return function(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))


def _share(x: Any, out: Any, dim: Any, keepdim: Any) -> Any:
    """Weight of each element in its extreme: those that attain it share it evenly."""
    x = _shaped(x)
    attained = ops.logical_or(ops.eq(x, _spread(out, x, dim, keepdim)), ops.isnan(x))
    ones = ops.cast(attained, dtype=dtype_of(x))
    return ops.div(ones, sum_(ones, dim=axes(dim, len(x.shape)), keepdim=True))


def _extreme_vjp(g: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return ops.mul(_spread(g, _shaped(x), dim, keepdim), _share(x, out, dim, keepdim))


def _extreme_jvp(dot: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    return sum_(ops.mul(dot, _share(x, out, dim, keepdim)), dim=dim, keepdim=keepdim)


def _extreme_op(name: str, word: str, function: str, node: str, method: bool) -> Op:
    sign = 1.0 if function == "amax" else -1.0
    return op(
        name,
        args=("input",),
        params=_DIMS,
        doc=f"{word} of the elements, or of those along the dimensions `dim`. Elements that tie "
        "share the gradient evenly.",
        source="midpoint of the Clarke subdifferential",
        number=lambda x, dim=None, keepdim=False: x,
        array=lambda x, dim=None, keepdim=False: _extreme(x, dim, keepdim, function),
        shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
        vjp=(_extreme_vjp,),
        jvp=(_extreme_jvp,),
        saves=("input", "out"),
        node=node,
        method=method,
        samples=_dim_samples,
        known=lambda: (
            known([sign, 3 * sign, 3 * sign], grad=([0.0, 0.5, 0.5],)),
            known([1.0, nan, 3.0], grad=([0.0, 1.0, 0.0],)),
            known([[sign, sign], [0.0, sign]], dim=1, grad=([[0.5, 0.5], [0.0, 1.0]],)),
        ),
        bad=lambda: (
            bad((0,), says="of no elements"),
            bad((2, 3), dim=2, says="no dimension 2"),
        ),
    )


amax: Op = _extreme_op("amax", "Largest", "amax", "AmaxBackward0", True)
amin: Op = _extreme_op("amin", "Smallest", "amin", "AminBackward0", True)
max_all: Op = _extreme_op("max_all", "Largest", "amax", "MaxBackward1", False)
min_all: Op = _extreme_op("min_all", "Smallest", "amin", "MinBackward1", False)


def _place_of(x: Data, dim: Any, keepdim: Any, name: str) -> Data:
    x = np.asarray(x)
    _check_some(x.shape, dim, name)
    function = np.argmax if name in ("argmax", "max") else np.argmin
    at = None if dim is None or not x.ndim else axis(dim, x.ndim)
    return function(x, axis=at, keepdims=bool(keepdim))


def _extreme_along(x: Data, dim: Any, keepdim: Any, name: str) -> tuple[Data, Data]:
    x = np.asarray(x)
    at = axis(dim, x.ndim)
    indices = np.asarray(_place_of(x, at, True, name))
    values = np.take_along_axis(x, indices, at) if x.ndim else np.array(x)
    shape = reduced(x.shape, dim, bool(keepdim))
    return values.reshape(shape), indices.reshape(shape)


def _kept(y: Any, x: Any, dim: Any) -> Any:
    return ops.reshape(y, shape=reduced(x.shape, dim, True))


def _along_op(name: str, word: str, function: str, node: str) -> Op:
    sign = 1.0 if function == "max" else -1.0
    return op(
        name,
        args=("input",),
        params={"dim": 0, "keepdim": False},
        fields=("values", "indices"),
        doc=f"{word} elements along the dimension `dim` and their places there. At a tie the first "
        "is taken and alone gets the gradient.",
        source=f"PyTorch: {function}",
        array=lambda x, dim, keepdim: _extreme_along(x, dim, keepdim, function),
        shape=lambda x, dim, keepdim: (reduced(x, dim, keepdim),) * 2,
        vjp=(
            lambda g, out, x, dim, keepdim: ops.place(
                _kept(g[0], x, dim), _kept(out[1], x, dim), dim=dim, size=x.shape
            ),
        ),
        jvp=(
            lambda dot, out, x, dim, keepdim: (
                ops.reshape(
                    ops.pick(dot, _kept(out[1], x, dim), dim=dim),
                    shape=reduced(x.shape, dim, keepdim),
                ),
                None,
            ),
        ),
        saves=("out",),
        node=node,
        method=False,
        samples=lambda: (
            sample([1.0, -2.0, 3.0], dim=0, keepdim=False),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=0, keepdim=False),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
            sample([[1.0, -2.0, 0.5], [3.0, 4.5, -1.5]], dim=-1, keepdim=False),
            sample([[[1.0, -2.0], [3.0, 4.5]]], dim=1, keepdim=False),
            sample([5.0], dim=0, keepdim=True),
            sample([[2.5]], dim=0, keepdim=False),
            sample([[-1.0, -2.0]], dim=0, keepdim=False),
        ),
        known=lambda: (
            known([sign, 3 * sign, 3 * sign], dim=0, keepdim=False, grad=([0.0, 1.0, 0.0],)),
            known([1.0, nan, 3.0], dim=0, keepdim=False, grad=([0.0, 1.0, 0.0],)),
        ),
        bad=lambda: (
            bad((0,), dim=0, keepdim=False, says="of no elements"),
            bad((2, 3), dim=2, keepdim=False, says="no dimension 2"),
        ),
    )


max_along: Op = _along_op("max_along", "Largest", "max", "MaxBackward0")
min_along: Op = _along_op("min_along", "Smallest", "min", "MinBackward0")


def _choose(session: Any, values: tuple[Any, ...], dim: Any, keepdim: Any, name: str) -> Any:
    """`max` or `min`: of all elements, along a dimension, or of several values."""
    given = [session.tensor(v) for v in values]
    for v in given:
        if type(v) not in NUMBERS and not isinstance(v, Tensor):
            raise run_error("wrong-type", f"`{name}` needs numbers or tensors, got {describe(v)}")
    if not given:
        raise run_error("wrong-arity", f"`{name}` needs a tensor or numbers")
    if type(given[0]) is Tensor and len(given) > 1 and type(given[1]) is int:
        _, dim, *rest = given
        keepdim = rest[0] if rest else keepdim
        given = given[:1]
    if len(given) == 1:
        if dim is None:
            return session.do(ops[f"{name}_all"], given, dict(_DIMS))
        params = {"dim": whole(dim, "dim"), "keepdim": session.truth(keepdim)}
        return session.do(ops[f"{name}_along"], given, params)
    best = given[0]
    for other in given[1:]:
        best = session.do(ops[f"{name}imum"], [best, other], {})
    return best


def _choice(name: str, word: str) -> Op:
    return host(
        name,
        lambda session, *values, dim=None, keepdim=False: _choose(
            session, values, dim, keepdim, name
        ),
        args=("*values",),
        params=_DIMS,
        doc=f"{word} element of a tensor; `{name}(x, dim)` gives the fields `values` and `indices` "
        f"along a dimension; `{name}(a, b, ...)` the {word.lower()} of several numbers, or of "
        "tensors element by element.",
        source=f"PyTorch: {name}",
        method=True,
    )


max_: Op = _choice("max", "Largest")
min_: Op = _choice("min", "Smallest")


def _argument_op(name: str, word: str) -> Op:
    return op(
        name,
        args=("input",),
        params=_DIMS,
        doc=f"Place of the {word} element, the first of several: in the flat tensor, or along the "
        "dimension `dim`.",
        source=f"PyTorch: {name}",
        array=lambda x, dim=None, keepdim=False: _place_of(x, dim, keepdim, name),
        shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
        bad=lambda: (
            bad((0,), says="of no elements"),
            bad((2, 3), dim=2, says="no dimension 2"),
        ),
    )


argmax: Op = _argument_op("argmax", "largest")
argmin: Op = _argument_op("argmin", "smallest")


# norms ------------------------------------------------------------------------------------------


def _order(p: Any) -> float:
    if p is None or p == "fro":
        return 2.0
    data = p.data if isinstance(p, Tensor) else p
    if type(data) not in NUMBERS:
        raise run_error("bad-argument", f"`p` must be a number, got {describe(p)}")
    return float(data)


def _norm(x: Data, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Data:
    order = _order(p)
    size = np.abs(_floats(x))
    keep = {"axis": axes(dim, size.ndim), "keepdims": bool(keepdim)}
    if order == 0:
        return np.sum(size != 0, **keep).astype(size.dtype)
    if abs(order) == inf:
        _check_some(size.shape, dim, "norm")
        return np.max(size, **keep) if order > 0 else np.min(size, **keep)
    if size.size == 0 or order == 1:
        return np.sum(size, **keep)
    scale = np.max(size, axis=keep["axis"], keepdims=True)  # powers neither over- nor underflow
    scale = np.where((scale == 0) | ~np.isfinite(scale), size.dtype.type(1), scale)
    out = _root(np.sum(_power(size / scale, order), axis=keep["axis"], keepdims=True), order)
    return np.multiply(out, scale).reshape(reduced(size.shape, dim, bool(keepdim)))


def _power(x: Any, p: float) -> Any:
    return np.multiply(x, x) if p == 2 else np.power(x, p)


def _root(x: Any, p: float) -> Any:
    return np.sqrt(x) if p == 2 else np.power(x, 1 / p)


def _norm_slope(x: Any, out: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    """Derivative of each norm with respect to its elements, shaped as x; zero at zero."""
    order = _order(p)
    x = _shaped(x)
    if order == 0:
        return ops.zeros_of(like=x)
    if order == 1:
        return ops.sign(x)
    if abs(order) == inf:
        return ops.mul(ops.sign(x), _share(ops.abs(x), out, dim, keepdim))
    norm = _spread(out, x, dim, keepdim)
    ratio = ops.div(x, ops.where(ops.eq(norm, 0.0), 1.0, norm))
    if order != 2:
        small = ops.eq(ratio, 0.0)
        power = ops.pow(ops.where(small, 1.0, ops.abs(ratio)), order - 1)
        return ops.where(small, 0.0, ops.mul(ops.sign(x), power))
    return ops.where(ops.eq(norm, 0.0), 0.0, ratio)


def _norm_jvp(dot: Any, out: Any, x: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    return sum_(ops.mul(dot, _norm_slope(x, out, p, dim, keepdim)), dim=dim, keepdim=keepdim)


norm: Op = op(
    "norm",
    args=("input",),
    params={"p": 2, **_DIMS},
    doc="The p-norm (sum |x|**p) ** (1/p) of the elements, or of those along `dim`; p = inf is the "
    "largest |x|, p = 0 counts what is not zero. No power overflows. At zero the derivatives of "
    "both orders are zero, where PyTorch's second one is nan.",
    source="definition",
    number=lambda x, p=2, dim=None, keepdim=False: (
        float(x != 0) if _order(p) == 0 else abs(float(x))
    ),
    array=_norm,
    shape=lambda x, p=2, dim=None, keepdim=False: reduced(x, dim, keepdim),
    vjp=(
        lambda g, out, x, p=2, dim=None, keepdim=False: ops.mul(
            _spread(g, _shaped(x), dim, keepdim), _norm_slope(x, out, p, dim, keepdim)
        ),
    ),
    jvp=(
        lambda dot, out, x, p=2, dim=None, keepdim=False: _norm_jvp(dot, out, x, p, dim, keepdim),
    ),
    saves=("input", "out"),
    node="LinalgVectorNormBackward0",
    samples=lambda: (
        *(Sample(s.args, {"p": 2, **s.params}) for s in _dim_samples()),
        sample([1.0, -2.0, 3.0], p=1),
        sample([1.0, -2.0, 3.0], p=3),
        sample([1.0, -2.0, 3.0], p=0.5),
        sample([1.0, -2.0, 3.0], p=inf),
        sample([[1.0, -2.0], [3.0, 4.5]], p=-inf, dim=1),
        sample([[1.0, -2.0], [3.0, 4.5]], p=1.5, dim=0, keepdim=True),
        sample([1.0, -2.0, 3.0], p=0),
    ),
    known=lambda: (
        known([0.0, 0.0], grad=([0.0, 0.0],)),
        known([0.0, -3.0], p=1, grad=([0.0, -1.0],)),
        known([2.0, -2.0], p=inf, grad=([0.5, -0.5],)),
        known([0.0, 0.0], p=3, grad=([0.0, 0.0],)),
        known([0.0, 2.0], p=0.5, grad=([0.0, 1.0],)),
        known([0.0, -4e200], grad=([0.0, -1.0],)),
        known([3e-200, 0.0], grad=([1.0, 0.0],)),
    ),
    bad=lambda: (
        bad((2, 3), dim=2, says="no dimension 2"),
        bad((0,), p=inf, says="of no elements"),
        bad((2,), p="nuc", says="`p` must be a number"),
    ),
)


# log of a sum of exponentials -------------------------------------------------------------------


def _peak(x: Any, dim: Any) -> Any:
    """Largest element of each sum, made finite so that it can be taken off."""
    top = np.max(x, axis=axes(dim, x.ndim), keepdims=True, initial=-inf)
    return np.where(np.isinf(top), np.where(top > 0, top, x.dtype.type(0)), top)


def _logsumexp(x: Data, dim: Any, keepdim: Any = False) -> Data:
    x = _floats(x)
    top = _peak(x, dim)
    shifted = np.where(x == top, x.dtype.type(0), x - top)  # inf - inf is 0 here
    total = np.sum(np.exp(shifted), axis=axes(dim, x.ndim), keepdims=True)
    return (np.log(total) + top).reshape(reduced(x.shape, dim, bool(keepdim)))


def _weights(x: Data, dim: Any) -> Data:
    x = _floats(x)
    top = _peak(x, dim)
    e = np.exp(np.where(x == top, x.dtype.type(0), x - top))
    total = np.sum(e, axis=axes(dim, x.ndim), keepdims=True)
    return np.divide(e, np.where(total == 0, x.dtype.type(1), total))


def _weights_pull(g: Any, out: Any, x: Any, dim: Any) -> Any:
    return ops.mul(out, ops.sub(g, sum_(ops.mul(g, out), dim=dim, keepdim=True)))


exp_weights: Op = op(
    "exp_weights",
    args=("input",),
    params={"dim": None},
    doc="exp(x) / sum(exp(x)), in which infinite elements share everything and elements that are "
    "all -inf get 0.",
    source="derivative of logsumexp",
    array=_weights,
    shape=lambda x, dim: x,
    vjp=(_weights_pull,),
    jvp=(_weights_pull,),
    saves=("out",),
    node="SoftmaxBackward0",
    method=False,
    samples=lambda: (
        sample([1.0, -2.0, 3.0], dim=None),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=(0, 1)),
        sample([5.0], dim=0),
    ),
)

logsumexp: Op = op(
    "logsumexp",
    args=("input",),
    params={"dim": None, "keepdim": False},
    doc="log(sum(exp(x))) of the elements, or of those along `dim`, without overflow. Elements "
    "that are infinite share the gradient, and it is zero where all are -inf, where PyTorch gives "
    "nan.",
    source="definition; the derivative is the softmax",
    number=lambda x, dim=None, keepdim=False: float(x),
    array=lambda x, dim=None, keepdim=False: _logsumexp(x, dim, keepdim),
    shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
    vjp=(
        lambda g, out, x, dim=None, keepdim=False: ops.mul(
            _spread(g, _shaped(x), dim, keepdim), exp_weights(x, dim=dim)
        ),
    ),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False: sum_(
            ops.mul(dot, exp_weights(x, dim=dim)), dim=dim, keepdim=keepdim
        ),
    ),
    saves=("input",),
    samples=lambda: (*_dim_samples(), sample([1000.0, 999.0], dim=0)),
    known=lambda: (
        known([1000.0, 1000.0], dim=0, grad=([0.5, 0.5],)),
        known([-inf, -inf], dim=0, grad=([0.0, 0.0],)),
        known([inf, 1.0], dim=0, grad=([1.0, 0.0],)),
        known([-inf, 1.0], dim=0, grad=([0.0, 1.0],)),
    ),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


# spread -----------------------------------------------------------------------------------------


def _correction(correction: Any, unbiased: Any) -> float:
    if unbiased is not None:
        return 1.0 if unbiased else 0.0
    return 1.0 if correction is None else float(correction)


def _var(
    x: Any, dim: Any = None, unbiased: Any = None, keepdim: Any = False, correction: Any = None
) -> Any:
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    count = _over(shape_of(x), dim)
    rest = max(count - _correction(correction, unbiased), 0.0)
    away = ops.sub(x, mean(x, dim=axes(dim, len(shape_of(x))), keepdim=True))
    return ops.div(sum_(ops.square(away), dim=dim, keepdim=keepdim), rest)


_SPREAD: dict[str, Any] = {"dim": None, "unbiased": None, "keepdim": False, "correction": None}

var: Op = composite(
    "var",
    _var,
    args=("input",),
    params=_SPREAD,
    doc="Variance of the elements, or of those along `dim`: the squared distances from the mean, "
    "divided by n - correction (1 by default; 0 with `unbiased=False`).",
    source="definition",
    samples=lambda: (
        sample([1.0, -2.0, 3.0]),
        sample([1.0, -2.0, 3.0], unbiased=False),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=(0, 1), correction=0),
    ),
    known=lambda: (known([2.0, 2.0], grad=([0.0, 0.0],)),),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


def _std(
    x: Any, dim: Any = None, unbiased: Any = None, keepdim: Any = False, correction: Any = None
) -> Any:
    v = _var(x, dim, unbiased, keepdim, correction)
    none = ops.eq(v, 0.0)
    return ops.where(none, 0.0, ops.sqrt(ops.where(none, 1.0, v)))


std: Op = composite(
    "std",
    _std,
    args=("input",),
    params=_SPREAD,
    doc="Standard deviation of the elements, or of those along `dim`: the square root of `var`; "
    "its gradient is 0 where the elements are equal.",
    source="definition",
    samples=lambda: (
        sample([1.0, -2.0, 3.0]),
        sample([1.0, -2.0, 3.0], unbiased=False),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=(0, 1), correction=0),
    ),
    known=lambda: (known([2.0, 2.0], grad=([0.0, 0.0],)),),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


# truth ------------------------------------------------------------------------------------------


def _truth(x: Data, dim: Any, keepdim: Any, name: str) -> Data:
    x = np.asarray(x)
    function = np.all if name == "all" else np.any
    return function(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))


all_: Op = op(
    "all",
    args=("input",),
    params=_DIMS,
    doc="Whether all elements, or all along `dim`, are true or not zero; true of none.",
    number=lambda x, dim=None, keepdim=False: bool(x),
    array=lambda x, dim=None, keepdim=False: _truth(x, dim, keepdim, "all"),
    shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)

any_: Op = op(
    "any",
    args=("input",),
    params=_DIMS,
    doc="Whether some element, or some along `dim`, is true or not zero; false of none.",
    number=lambda x, dim=None, keepdim=False: bool(x),
    array=lambda x, dim=None, keepdim=False: _truth(x, dim, keepdim, "any"),
    shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)
