"""Softmax and the linear layer."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.families.norm import log_total
from gradcli.engine.ops.internal.share import share_slope
from gradcli.engine.ops.op import Op, Sample, bad, composite, known, op, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.dtypes import floating_name
from gradcli.engine.values.sizes import axes
from gradcli.errors import run_error

FAMILY = 260, "Neural networks"

# softmax ----------------------------------------------------------------------------------------


def _floats(x: Data, dtype: Any) -> Any:
    x = shaped(x)
    if dtype is not None:
        return x.astype(floating_name(dtype))
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _dtype(x: Any, dim: Any = None, dtype: Any = None) -> str | None:
    return floating_name(dtype) or floating(x)


def _of(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of a softmax with `dtype`: it differentiates by the input in that dtype."""

    def pull(g: Any, out: Any, x: Any, dim: Any = None, dtype: Any = None) -> Any:
        c = rule(g, out, x, dim)
        return c if dtype_of(c) == dtype_of(x) else ops.cast(c, dtype=floating(x))

    return pull


def _along_of(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of a tangent of a softmax with `dtype`."""
    return lambda dot, out, x, dim=None, dtype=None: rule(
        dot if dtype is None else ops.cast(dot, dtype=dtype_of(out)), out, x, dim
    )


def _along(ndim: int, dim: Any) -> Any:
    """The dimension that is meant: without one that which PyTorch takes."""
    if dim is None:
        return 0 if ndim in (0, 1, 3) else 1
    return dim


def _shifted(x: Any, dim: Any) -> Any:
    along = axes(_along(x.ndim, dim), x.ndim)
    return x - np.max(x, axis=along, keepdims=True, initial=-inf), along


def _softmax(x: Data, dim: Any, dtype: Any) -> Data:
    z, along = _shifted(_floats(x, dtype), dim)
    e = np.exp(z)
    return np.divide(e, np.sum(e, axis=along, keepdims=True))


def _log_softmax(x: Data, dim: Any, dtype: Any) -> Data:
    z, along = _shifted(_floats(x, dtype), dim)
    return z - log_total(z, along)


def _softmax_pull(g: Any, out: Any, x: Any, dim: Any = None) -> Any:
    return share_slope(g, out, _along(len(shape_of(x)), dim))


def _samples() -> tuple[Sample, ...]:
    return (
        sample([1.0, -2.0, 0.5], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=-1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=None),
        sample([5.0], dim=0),
        sample(5.0, dim=0),
        sample([[1000.0, 999.0]], dim=1),
        sample([], dim=0),
    )


softmax: Op = op(
    "softmax",
    params={"dim": None, "dtype": None},
    doc="exp(x) / sum(exp(x)) along the dimension `dim`, without overflow. Without it that "
    "is the second dimension, of one or three dimensions the first, as in PyTorch. The input is "
    "brought to `dtype` before.",
    array=lambda x, dim=None, dtype=None: _softmax(x, dim, dtype),
    shape=lambda x, dim=None, dtype=None: _same(x, dim),
    dtype=_dtype,
    vjp=(_of(_softmax_pull),),
    jvp=(_along_of(_softmax_pull),),  # its Jacobian is symmetric
    saves=("out",),
    samples=_samples,
    known=lambda: (
        known([1000.0, 0.0], dim=0, grad=([0.0, 0.0],), cotangent=[1.0, 0.0]),
        known([0.0, 0.0], dim=0, grad=([0.25, -0.25],), cotangent=[1.0, 0.0]),
    ),
    bad=points.no_dimension,
)


def _same(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    axes(_along(len(shape), dim), len(shape))
    return shape


# 1 - exp(out) is the share of all others, which has digits left where exp(out) is near 1


def _log_softmax_pull(g: Any, out: Any, x: Any, dim: Any = None) -> Any:
    dim = _along(len(shape_of(x)), dim)
    others = ops.sub(ops.sum(g, dim=dim, keepdim=True), g)
    return ops.sub(ops.mul(g, ops.neg(ops.expm1(out))), ops.mul(ops.exp(out), others))


def _log_softmax_push(dot: Any, out: Any, x: Any, dim: Any = None) -> Any:
    dim = _along(len(shape_of(x)), dim)
    each = ops.mul(ops.exp(out), dot)
    others = ops.sub(ops.sum(each, dim=dim, keepdim=True), each)
    return ops.sub(ops.mul(dot, ops.neg(ops.expm1(out))), others)


log_softmax: Op = op(
    "log_softmax",
    params={"dim": None, "dtype": None},
    doc="Logarithm of the softmax along the dimension `dim`: x - logsumexp(x), without overflow.",
    array=lambda x, dim=None, dtype=None: _log_softmax(x, dim, dtype),
    shape=lambda x, dim=None, dtype=None: _same(x, dim),
    dtype=_dtype,
    vjp=(_of(_log_softmax_pull),),
    jvp=(_along_of(_log_softmax_push),),
    saves=("out",),
    samples=_samples,
    known=lambda: (
        known([1000.0, 0.0], dim=0, grad=([1.0, -1.0],), cotangent=[0.0, -1.0]),
        known([0.0, 0.0], dim=0, grad=([0.5, -0.5],), cotangent=[1.0, 0.0]),
    ),
    bad=points.no_dimension,
)


softmin: Op = composite(
    "softmin",
    lambda x, dim, dtype: softmax(ops.neg(x), dim=dim, dtype=dtype),
    params={"dim": None, "dtype": None},
    doc="Softmax of -x along the dimension `dim`.",
    samples=lambda: (
        sample([1.0, -2.0, 0.5], dim=0, dtype=None),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1, dtype=None),
        sample([5.0], dim=0, dtype=None),
    ),
    bad=lambda: (bad((2, 3), dim=2, dtype=None, says="no dimension 2"),),
)


# layers ---------------------------------------------------------------------------------------


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    rank = len(shape_of(weight))
    if rank not in (1, 2):
        raise run_error(
            "shape-mismatch", f"`weight` must be a matrix, got the shape {list(shape_of(weight))}"
        )
    columns = ops.t(weight)
    if bias is None or rank == 1 or len(shape_of(x)) == 1:
        out = ops.matmul(x, columns)
        return out if bias is None else ops.add(out, bias)
    rows = x if len(shape_of(x)) == 2 else ops.reshape(x, shape=(-1, *shape_of(x)[-1:]))
    out = ops.addmm(bias, rows, columns)
    return out if rows is x else ops.reshape(out, shape=(*shape_of(x)[:-1], *shape_of(out)[1:]))


linear: Op = composite(
    "linear",
    _linear,
    args=("input", "weight", "bias=None"),
    doc="x @ weight.T + bias: a layer with a weight of the shape (outputs, inputs).",
    source="PyTorch: nn.functional.linear",
    samples=lambda: (
        sample([[1.0, 2.0]], [[0.5, -1.0], [2.0, 1.0], [0.0, 1.0]], [1.0, 2.0, 3.0]),
        sample([1.0, 2.0], [[0.5, -1.0], [2.0, 1.0]], None),
        sample([1.0, 2.0], [0.5, -1.0], 2.0),
    ),
    bad=lambda: (bad((2, 3), (4, 2), says="equal inner sizes, got 3 and 2"),),
)
