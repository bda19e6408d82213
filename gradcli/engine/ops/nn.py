"""Functions of neural networks."""

from __future__ import annotations

import math
from math import inf, isnan
from typing import Any

from gradcli.engine import ieee
from gradcli.engine.arrays import Data, np, shape_of
from gradcli.engine.ops.registry import Op, bad, composite, elementwise, known, op, ops, sample
from gradcli.engine.ops.sizes import axes
from gradcli.errors import run_error

# activations ------------------------------------------------------------------------------------


def _step(x: Any) -> Any:
    """1 where x is positive, else 0."""
    return ops.where(ops.gt(x, 0.0), 1.0, 0.0)


relu: Op = elementwise(
    "relu",
    args=("input",),
    doc="max(x, 0). The derivative at 0 is 0.",
    source="definition",
    number=lambda x: type(x)(0) if x <= 0 else x,
    array=lambda x: np.maximum(x, np.zeros((), np.asarray(x).dtype)),
    partials=(lambda out, x: _step(x),),
    saves=("input",),
    samples=lambda: (
        sample(0.3),
        sample(-0.3),
        sample(1e-3),
        sample([1.0, -2.0]),
        sample([[0.5, -1.5], [-2.0, 9.0]]),
        sample([3.0]),
        sample([]),
        sample([[[-1.0], [300.0]]]),
    ),
    known=lambda: (known(0.0, grad=(0.0,)), known([0.0, 2.0, -inf], grad=([0.0, 1.0, 0.0],))),
)


def _leaky(x: Any, negative_slope: Any) -> Any:
    return ops.where(ops.gt(x, 0.0), 1.0, float(negative_slope))


leaky_relu: Op = elementwise(
    "leaky_relu",
    args=("input",),
    params={"negative_slope": 0.01},
    doc="x where x is positive, else x * negative_slope. The derivative at 0 is the slope.",
    source="definition",
    number=lambda x, negative_slope=0.01: float(x) if x > 0 else float(x * negative_slope),
    array=lambda x, negative_slope=0.01: np.where(
        np.greater(x, 0), x, np.multiply(x, float(negative_slope))
    ),
    partials=(lambda out, x, negative_slope=0.01: _leaky(x, negative_slope),),
    saves=("input",),
    samples=lambda: (
        sample(0.3),
        sample(-0.3),
        sample(-2.0, negative_slope=0.5),
        sample([1.0, -2.0]),
        sample([[0.5, -1.5], [-2.0, 9.0]], negative_slope=0.2),
        sample([3.0]),
        sample([]),
        sample([[[-1.0], [300.0]]]),
    ),
    known=lambda: (
        known(0.0, grad=(0.01,)),
        known([0.0, 2.0], negative_slope=0.25, grad=([0.25, 1.0],)),
    ),
)


def _softplus_number(x: float, beta: float = 1.0, threshold: float = 20.0) -> float:
    z = x * beta
    if z > threshold or isnan(z):
        return float(x)
    return math.log1p(ieee.exp(z)) / beta if z < 0 else (z + math.log1p(ieee.exp(-z))) / beta


def _softplus(x: Data, beta: Any = 1.0, threshold: Any = 20.0) -> Data:
    z = np.multiply(x, float(beta))
    soft = np.divide(np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z))), float(beta))
    return np.where(z > threshold, x, soft)


def _softplus_slope(x: Any, beta: Any, threshold: Any) -> Any:
    z = ops.mul(x, float(beta))
    return ops.where(ops.gt(z, float(threshold)), 1.0, ops.sigmoid(z))


softplus: Op = elementwise(
    "softplus",
    args=("input",),
    params={"beta": 1.0, "threshold": 20.0},
    doc="log(1 + exp(beta x)) / beta without overflow; x itself where beta x is above the "
    "threshold. Its derivative is sigmoid(beta x).",
    source="definition",
    number=_softplus_number,
    array=_softplus,
    partials=(lambda out, x, beta=1.0, threshold=20.0: _softplus_slope(x, beta, threshold),),
    saves=("input",),
    samples=lambda: (
        sample(0.3),
        sample(-3.0),
        sample(5.0, beta=2.0, threshold=20.0),
        sample([1.0, -2.0]),
        sample([[0.5, -1.5], [-2.0, 25.0]]),
        sample([3.0], beta=0.5),
        sample([]),
        sample([[[-1.0], [30.0]]]),
    ),
    known=lambda: (known(0.0, grad=(0.5,)), known([1000.0, -1000.0], grad=([1.0, 0.0],))),
)


# softmax ----------------------------------------------------------------------------------------


def _floats(x: Data) -> Any:
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _shifted(x: Any, dim: Any) -> Any:
    along = axes(dim, x.ndim)
    return x - np.max(x, axis=along, keepdims=True, initial=-inf), along


def _softmax(x: Data, dim: Any) -> Data:
    z, along = _shifted(_floats(x), dim)
    e = np.exp(z)
    return np.divide(e, np.sum(e, axis=along, keepdims=True))


def _log_softmax(x: Data, dim: Any) -> Data:
    z, along = _shifted(_floats(x), dim)
    return z - np.log(np.sum(np.exp(z), axis=along, keepdims=True))


def _softmax_pull(g: Any, out: Any, x: Any, dim: Any = None) -> Any:
    return ops.mul(out, ops.sub(g, ops.sum(ops.mul(g, out), dim=dim, keepdim=True)))


softmax: Op = op(
    "softmax",
    args=("input",),
    params={"dim": None},
    doc="exp(x) / sum(exp(x)) along the dimension `dim` (all elements without it), without "
    "overflow.",
    source="definition",
    array=lambda x, dim=None: _softmax(x, dim),
    shape=lambda x, dim=None: _same(x, dim),
    vjp=(_softmax_pull,),
    jvp=(_softmax_pull,),  # its Jacobian is symmetric
    saves=("out",),
    samples=lambda: (
        sample([1.0, -2.0, 0.5], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=-1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=None),
        sample([5.0], dim=0),
        sample(5.0, dim=0),
        sample([[1000.0, 999.0]], dim=1),
        sample([], dim=0),
    ),
    known=lambda: (
        known([1000.0, 0.0], dim=0, grad=([0.0, 0.0],), cotangent=[1.0, 0.0]),
        known([0.0, 0.0], dim=0, grad=([0.25, -0.25],), cotangent=[1.0, 0.0]),
    ),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


def _same(shape: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    axes(dim, len(shape))
    return shape


def _log_softmax_pull(g: Any, out: Any, x: Any, dim: Any = None) -> Any:
    return ops.sub(g, ops.mul(ops.exp(out), ops.sum(g, dim=dim, keepdim=True)))


def _log_softmax_push(dot: Any, out: Any, x: Any, dim: Any = None) -> Any:
    return ops.sub(dot, ops.sum(ops.mul(ops.exp(out), dot), dim=dim, keepdim=True))


log_softmax: Op = op(
    "log_softmax",
    args=("input",),
    params={"dim": None},
    doc="Logarithm of the softmax along the dimension `dim`: x - logsumexp(x), without overflow.",
    source="definition",
    array=lambda x, dim=None: _log_softmax(x, dim),
    shape=lambda x, dim=None: _same(x, dim),
    vjp=(_log_softmax_pull,),
    jvp=(_log_softmax_push,),
    saves=("out",),
    samples=lambda: (
        sample([1.0, -2.0, 0.5], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=-1),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=None),
        sample([5.0], dim=0),
        sample(5.0, dim=0),
        sample([[1000.0, 999.0]], dim=1),
        sample([], dim=0),
    ),
    known=lambda: (
        known([1000.0, 0.0], dim=0, grad=([1.0, -1.0],), cotangent=[0.0, -1.0]),
        known([0.0, 0.0], dim=0, grad=([0.5, -0.5],), cotangent=[1.0, 0.0]),
    ),
    bad=lambda: (bad((2, 3), dim=2, says="no dimension 2"),),
)


# layers and losses ------------------------------------------------------------------------------


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    rank = len(shape_of(weight))
    if rank not in (1, 2):
        raise run_error(
            "shape-mismatch", f"`weight` must be a matrix, got the shape {list(shape_of(weight))}"
        )
    out = ops.matmul(x, ops.transpose(weight, dim0=-2, dim1=-1) if rank == 2 else weight)
    return out if bias is None else ops.add(out, bias)


linear: Op = composite(
    "linear",
    _linear,
    args=("input", "weight", "bias=None"),
    doc="x @ weight.T + bias: a layer with a weight of the shape (outputs, inputs).",
    source="PyTorch: nn.functional.linear",
    method=False,
    samples=lambda: (
        sample([[1.0, 2.0]], [[0.5, -1.0], [2.0, 1.0], [0.0, 1.0]], [1.0, 2.0, 3.0]),
        sample([1.0, 2.0], [[0.5, -1.0], [2.0, 1.0]], None),
        sample([1.0, 2.0], [0.5, -1.0], 2.0),
    ),
    bad=lambda: (bad((2, 3), (4, 2), says="equal inner sizes, got 3 and 2"),),
)


def _reduced(loss: Any, reduction: Any) -> Any:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise run_error(
            "bad-argument", f"`reduction` must be 'mean', 'sum' or 'none', got {reduction!r}"
        )
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss)


mse_loss: Op = composite(
    "mse_loss",
    lambda x, target, reduction="mean": _reduced(ops.square(ops.sub(x, target)), reduction),
    args=("input", "target"),
    params={"reduction": "mean"},
    doc="Mean of the squared differences of input and target; `reduction` may be 'mean', 'sum' or "
    "'none'.",
    source="definition",
    method=False,
    samples=lambda: (
        sample([1.0, -2.0], [0.5, 3.0]),
        sample([[1.0, -2.0], [3.0, 4.5]], [[0.5, 1.0], [2.0, 2.0]], reduction="sum"),
        sample([[1.0, -2.0], [3.0, 4.5]], [[0.5, 1.0], [2.0, 2.0]], reduction="none"),
        sample(2.0, -1.0),
    ),
    known=lambda: (known([1.0, 2.0], [1.0, 2.0], grad=([0.0, 0.0], [0.0, 0.0])),),
    bad=lambda: (
        bad((2,), (3,), says="broadcast"),
        bad((2,), (2,), reduction="max", says="must be 'mean'"),
    ),
)
