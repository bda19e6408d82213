"""Norms, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from math import inf
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import (
    DIMS,
    check_some,
    dim_samples,
    floats,
    reshaped,
    shaped,
    share,
    spread,
)
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, Data, np, shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import axes, axis, describe, number, reduced
from gradcli.errors import run_error

FAMILY = 120, "Norms and distances"


def _order(p: Any) -> float:
    if p is None or p == "fro":
        return 2.0
    data = p.data if isinstance(p, Tensor) else p
    if type(data) not in NUMBERS:
        raise run_error("bad-argument", f"`p` must be a number, got {describe(p)}")
    return float(data)


def _norm(x: Data, p: Any = 2, dim: Any = None, keepdim: Any = False) -> Data:
    order = _order(p)
    size = np.abs(floats(x))
    keep: dict[str, Any] = {"axis": axes(dim, size.ndim), "keepdims": bool(keepdim)}
    if order == 0:
        return np.sum(size != 0, **keep).astype(size.dtype)
    if abs(order) == inf:
        check_some(size.shape, dim, "norm")
        return np.max(size, **keep) if order > 0 else np.min(size, **keep)
    if size.size == 0 or order == 1:
        return np.sum(size, **keep)
    scale = np.max(size, axis=keep["axis"], keepdims=True)  # powers neither over- nor underflow
    scale = np.where((scale == 0) | ~np.isfinite(scale), size.dtype.type(1), scale)
    out = _root(np.sum(_power(size / scale, order), axis=keep["axis"], keepdims=True), order)
    return reshaped(np.multiply(out, scale), reduced(size.shape, dim, bool(keepdim)))


def _power(x: Any, p: float) -> Any:
    return np.multiply(x, x) if p == 2 else np.power(x, p)


def _root(x: Any, p: float) -> Any:
    return np.sqrt(x) if p == 2 else np.power(x, 1 / p)


def _norm_slope(x: Any, out: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    """Derivative of each norm with respect to its elements, shaped as x; zero at zero."""
    order = _order(p)
    x = shaped(x)
    if order == 0:
        return ops.zeros_of(like=x)
    if order == 1:
        return ops.sign(x)
    if abs(order) == inf:
        return ops.mul(ops.sign(x), share(ops.abs(x), out, dim, keepdim))
    norm = spread(out, x, dim, keepdim)
    ratio = ops.div(x, ops.where(ops.eq(norm, 0.0), 1.0, norm))
    if order != 2:
        small = ops.logical_or(ops.eq(ratio, 0.0), ops.eq(norm, 0.0))
        power = ops.pow(ops.where(small, 1.0, ops.abs(ratio)), order - 1)
        return ops.where(small, 0.0, ops.mul(ops.sign(x), power))
    return ops.where(ops.eq(norm, 0.0), 0.0, ratio)


norm: Op = op(
    "norm",
    ties=True,
    params={"p": 2, **DIMS},
    doc="The p-norm (sum |x|**p) ** (1/p) of the elements, or of those along `dim`; p = inf is the "
    "largest |x|, p = 0 counts what is not zero. No power overflows. At zero the derivatives of "
    "both orders are zero, where PyTorch's second one is nan.",
    number=lambda x, p=2, dim=None, keepdim=False: (
        float(x != 0) if _order(p) == 0 else abs(float(x))
    ),
    array=_norm,
    shape=lambda x, p=2, dim=None, keepdim=False: reduced(x, dim, keepdim),
    dtype=floating,
    vjp=(
        lambda g, out, x, p=2, dim=None, keepdim=False: ops.mul(
            spread(g, shaped(x), dim, keepdim), _norm_slope(x, out, p, dim, keepdim)
        ),
    ),
    jvp=(
        lambda dot, out, x, p=2, dim=None, keepdim=False: ops.sum(
            ops.mul(dot, _norm_slope(x, out, p, dim, keepdim)), dim=dim, keepdim=keepdim
        ),
    ),
    saves=("input", "out"),
    node="LinalgVectorNormBackward0",
    samples=lambda: (
        *(Sample(s.args, {"p": 2, **s.params}) for s in dim_samples()),
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
        known([0.0, 2.0], p=-1, grad=([0.0, 0.0],)),
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


def peak(x: Any, dim: Any) -> Any:
    """Largest element of each sum, made finite so that it can be taken off."""
    top = np.max(x, axis=axes(dim, x.ndim), keepdims=True, initial=-inf)
    return np.where(np.isinf(top), np.where(top > 0, top, x.dtype.type(0)), top)


def _logsumexp(x: Data, dim: Any, keepdim: Any = False) -> Data:
    x = floats(x)
    top = peak(x, dim)
    shifted = np.where(x == top, x.dtype.type(0), x - top)  # inf - inf is 0 here
    return reshaped(
        log_total(shifted, axes(dim, x.ndim)) + top, reduced(x.shape, dim, bool(keepdim))
    )


def log_total(x: Any, along: tuple[int, ...]) -> Any:
    """log(sum(exp(x))) of elements whose maximum is 0, without losing the digits of the smaller
    ones.
    """
    largest = np.equal(x, 0)
    number = np.sum(largest, axis=along, keepdims=True, dtype=x.dtype)
    others = np.where(largest, x.dtype.type(0), np.exp(x))
    rest = np.sum(others, axis=along, keepdims=True)
    return np.log(number) + np.log1p(rest / np.maximum(number, 1))


logsumexp: Op = op(
    "logsumexp",
    guards=("input", "out"),
    params={"dim": None, "keepdim": False},
    doc="log(sum(exp(x))) of the elements, or of those along `dim`, without overflow. Elements "
    "that are infinite share the gradient, and it is zero where all are -inf, where PyTorch gives "
    "nan.",
    source="definition; the derivative is the softmax",
    number=lambda x, dim=None, keepdim=False: float(x),
    array=lambda x, dim=None, keepdim=False: _logsumexp(x, dim, keepdim),
    shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
    dtype=floating,
    vjp=(
        lambda g, out, x, dim=None, keepdim=False: ops.mul(
            spread(g, shaped(x), dim, keepdim), ops.exp_weights(x, dim=dim)
        ),
    ),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False: ops.sum(
            ops.mul(dot, ops.exp_weights(x, dim=dim)), dim=dim, keepdim=keepdim
        ),
    ),
    nan_in_pytorch=lambda x, dim=None, keepdim=False: (
        np.isinf(x) & (x == np.max(x, axis=axes(dim, x.ndim), keepdims=True, initial=-inf))
    ),  # inf - inf
    saves=("input",),
    samples=lambda: (*dim_samples(), sample([1000.0, 999.0], dim=0)),
    known=lambda: (
        known([1000.0, 1000.0], dim=0, grad=([0.5, 0.5],)),
        known([-inf, -inf], dim=0, grad=([0.0, 0.0],)),
        known([inf, 1.0], dim=0, grad=([1.0, 0.0],)),
        known([-inf, 1.0], dim=0, grad=([0.0, 1.0],)),
    ),
    bad=points.no_dimension,
)


def _renorm(x: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    ndim, most = len(shape_of(x)), float(number(maxnorm, "maxnorm"))
    if ndim < 2:
        raise run_error("shape-mismatch", f"`renorm` needs two dimensions or more, got {ndim}")
    order = float(number(p, "p"))
    if order <= 0 or most < 0:
        raise run_error("bad-argument", "`p` of `renorm` is above 0, and `maxnorm` not below")
    at = axis(dim, ndim)
    others = tuple(i for i in range(ndim) if i != at)
    size = norm(x, p=order, dim=others, keepdim=True)
    factor = ops.where(ops.gt(size, most), ops.div(most, ops.add(size, _LEAST)), 1.0)
    return ops.mul(x, factor)


_LEAST = 1e-7
"""What PyTorch adds to a norm before it divides by it."""

_ROWS: dict[str, Any] = {"p": 2, "dim": 0, "maxnorm": 2.5}

renorm: Op = composite(
    "renorm",
    _renorm,
    guards=("input",),
    params={"p": REQUIRED, "dim": REQUIRED, "maxnorm": REQUIRED},
    node="RenormBackward0",
    layout=in_order,
    inplace=True,
    doc="The input with each part along the dimension `dim` made smaller, if its p-norm is above "
    "`maxnorm`, to that norm.",
    source="PyTorch: renorm",
    samples=lambda: (
        sample([[1.0, -2.0], [3.0, 4.5]], **_ROWS),
        sample([[1.0, -2.0], [3.0, 4.5]], **{**_ROWS, "p": 1, "dim": 1}),
        sample([[[1.0, -2.0], [3.0, 4.5]]], **{**_ROWS, "p": 3, "dim": -1}),
        sample([[0.5, 0.25]], **_ROWS),
    ),
    bad=lambda: (
        bad((2,), **_ROWS, says="two dimensions"),
        bad((2, 2), **{**_ROWS, "dim": 2}, says="no dimension 2"),
        bad((2, 2), **{**_ROWS, "p": 0}, says="above 0"),
    ),
)
