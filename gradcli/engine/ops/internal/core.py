"""Ops that rules and the engine need and programs do not name."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.numerics.ufunc import alike, formula
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import shaped
from gradcli.engine.ops.op import Op, composite, elementwise, linear, op, sample
from gradcli.engine.ops.promotion import counted, floating
from gradcli.engine.values import memory
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.sizes import Shape
from gradcli.errors import run_error

Chain = tuple[tuple[Op, dict[str, Any], int | None], ...]


def _has_nan(x: Data) -> bool:
    flat = x if x.ndim == 1 else x.ravel()
    return math.isnan(flat.dot(flat))


def _weigh(g: Data, p: Data) -> Data:
    r = np.multiply(*alike((g, p)))
    return np.where(np.equal(g, 0), np.zeros((), r.dtype), r)


copied: Op = op(
    "copied",
    doc="Copy of the gradient that `backward` leaves in the `grad` of a leaf.",
    source="identity",
    number=lambda x: x,
    array=lambda x: np.array(x, order="K"),
    shape=lambda x: x,
    batch=lambda x: x,
    vjp=(lambda g, out, x: g,),
    jvp=(lambda dot, out, x: dot,),
    node="CopyBackwards",
    samples=lambda: (sample(2.0), sample([1.0, -2.0]), sample([])),
)

detached: Op = op(
    "detached",
    doc="The value of input alone, which no derivative goes through.",
    number=lambda x: x,
    array=lambda x: np.array(x, order="K"),
    shape=lambda x: x,
    samples=lambda: (sample(2.0), sample([1.0, -2.0]), sample([])),
)

weigh: Op = op(
    "weigh",
    exact=True,
    args=("g", "p"),
    doc="Product g p in which a g of exactly zero gives exactly zero, whatever p is.",
    source="a cotangent that is zero must not turn into nan at a guarded singularity",
    infix=("*", 7),
    number=lambda g, p: 0.0 if g == 0 else float(g * p),
    array=_weigh,
    dtype=floating,
    vjp=(lambda c, out, g, p: weigh(c, p), lambda c, out, g, p: gate(c, g)),
    jvp=(lambda dot, out, g, p: weigh(dot, p), lambda dot, out, g, p: gate(dot, g)),
    saves=("g", "p"),
    node="MulBackward0",
    samples=lambda: (sample([1.0, -2.0], [[0.5], [3.0]]), sample(2.0, 3.0)),
)


level: Op = elementwise(
    "level",
    exact=True,
    args=("slope", "x"),
    doc="The slope, of which x knows that it does not change with it.",
    source="a derivative that is constant is 0 at the next order, not an error",
    number=lambda slope, x: slope,
    array=lambda slope, x: np.array(slope),
    partials=(1.0, 0.0),
    node="ThresholdBackwardBackward0",
    inplace=False,
    samples=lambda: (sample([0.0, 1.0], [-3.0, 2.0]), sample(1.0, 2.0)),
)


def _gate(x: Data, y: Data) -> Data:
    r = np.multiply(*alike((x, y)))
    if not isinstance(r, np.ndarray) or _has_nan(r):  # or r is not known to be free of nan
        r = np.where(np.equal(x, 0) | np.equal(y, 0), np.zeros((), r.dtype), r)
    return r + 0.0  # of a zero it is the positive one, as of numbers


gate: Op = op(
    "gate",
    exact=True,
    args=("x", "y"),
    doc="Product x y that is exactly zero where either is: how `weigh` changes with p.",
    source="a cotangent that is zero must not turn into nan at a guarded singularity",
    infix=("*", 7),
    number=lambda x, y: 0.0 if x == 0 or y == 0 else float(x * y) + 0.0,
    array=_gate,
    dtype=floating,
    vjp=(lambda c, out, x, y: gate(c, y), lambda c, out, x, y: gate(c, x)),
    jvp=(lambda dot, out, x, y: gate(dot, y), lambda dot, out, x, y: gate(dot, x)),
    saves=("x", "y"),
    node="MulBackward0",
    samples=lambda: (sample([1.0, -2.0], [[0.5], [3.0]]), sample(2.0, 3.0)),
)


def _sum_to(x: Data, size: tuple[int, ...]) -> Data:
    x = shaped(x)
    lead = x.ndim - len(size)
    kept = tuple(i + lead for i, n in enumerate(size) if n == 1 and x.shape[i + lead] != 1)
    x = x.sum(axis=(*range(lead), *kept), keepdims=True)
    return x.reshape(size)


def _sum_directly_to(x: Shape, size: Shape) -> Any:
    if not x:
        return None
    lead = len(x) - len(size)
    kept = tuple(i + lead for i, n in enumerate(size) if n == 1 and x[i + lead] != 1)
    add: Any = np.add.reduce
    dims, size = (*range(lead), *kept), tuple(size)
    return lambda x: add(x, dims, None, None, True).reshape(size)


def _sum_each_to(x: Data, size: tuple[int, ...]) -> Data:
    shape = x.shape[1:]
    lead = len(shape) - len(size)
    gone = [i for i, n in enumerate(shape) if i < lead or (size[i - lead] == 1 and n != 1)]
    found = x.sum(axis=tuple(i + 1 for i in gone)) if gone else x
    return found.reshape((len(x), *size))


sum_to: Op = linear(
    "sum_to",
    args=("x",),
    params={"size": ()},
    doc="Sum of x over what broadcasting from `size` to its shape had copied.",
    source="transpose of broadcasting",
    said=lambda x, size: x if shape_of(x) == size else None,
    array=_sum_to,
    of_shapes=_sum_directly_to,
    shape=lambda x, size: size,
    dtype=counted,
    batch=_sum_each_to,
    vjp=(lambda g, out, x, size: ops.expand(g, size=x.shape),),
    node="SumBackward1",
    samples=lambda: (sample([[1.0, 2.0], [3.0, 4.0]], size=(2,)),),
)


def _view(x: Any, chain: Chain) -> Any:
    for view, params, index in chain:
        x = view(x, **params) if index is None else view(x, **params)[index]
    return x


def _view_update(base: Data, part: Data, chain: Chain) -> Data:
    out = np.array(base, order="C")
    region = _view(out, chain)
    if memory.shares(region, out):
        region[...] = part
    else:  # the base lay in another order, in which the part was a view
        places = _view(np.arange(out.size).reshape(out.shape), chain)
        out.reshape(-1)[places] = part
    return out


def _view_update_each(base: Data, part: Data, chain: Chain) -> Data | None:
    count = max(len(base), len(part))
    out = region = np.array(np.broadcast_to(base, (count, *base.shape[1:])), order="C")
    for view, params, index in chain:
        found = (
            None
            if index is not None or view.derivatives.batch is None
            else view.derivatives.batch(region, **params)
        )
        if found is None or not memory.shares(found, out):
            return None
        region = found
    region[...] = part
    return out


view_update: Op = op(
    "view_update",
    args=("base", "part"),
    params={"chain": ()},
    doc="Copy of base in which the part that the chain of views shows is replaced.",
    source="functional form of an update through a view",
    array=_view_update,
    shape=lambda base, part, chain: base,
    batch=_view_update_each,
    vjp=(
        lambda g, out, base, part, chain: view_update(g, ops.zeros_of(like=part), chain=chain),
        lambda g, out, base, part, chain: _view(g, chain),
    ),
    jvp=(
        lambda dot, out, base, part, chain: view_update(dot, ops.zeros_of(like=part), chain=chain),
        lambda dot, out, base, part, chain: view_update(ops.zeros_of(like=base), dot, chain=chain),
    ),
    node="CopySlices",
)


zeros_of: Op = op(
    "zeros_of",
    args=(),
    params={"like": None},
    doc="Zeros of the shape and dtype of `like`.",
    said=lambda like: "0",
    array=lambda like: np.zeros(shape_of(like), dtype_of(like)),
    shape=lambda like: like.shape,
    dtype=lambda like: like.dtype,
)

cast: Op = linear(
    "cast",
    args=("x",),
    params={"dtype": "float64"},
    doc="x with another dtype.",
    said=lambda x, dtype: x,
    array=converted,
    layout=memory.as_first,
    shape=lambda x, dtype: x,
    dtype=lambda x, dtype: dtype,
    batch=lambda x, dtype: x.astype(dtype),
    vjp=(lambda g, out, x, dtype: g,),
    node="ToCopyBackward0",
    samples=lambda: (sample([1.0, 2.0], dtype="float64"),),
)


ordered: Op = op(
    "ordered",
    doc="A copy of the input whose elements lie in order in memory.",
    source="identity",
    array=lambda x: np.array(x, order="C"),
    shape=lambda x: x,
    batch=lambda x: x,
    vjp=(lambda g, out, x: g,),
    jvp=(lambda dot, out, x: dot,),
    node="CloneBackward0",
    samples=lambda: (sample([1.0, 2.0]), sample([[1.0, 2.0], [3.0, 4.0]])),
)

# the terms of binary cross entropy ----------------------------------------------------------------

_LEAST = -100.0  # the least logarithm, as in PyTorch
_FLAT = 1e-12


@formula
def _bernoulli_loss(p: Data, t: Data) -> Data:
    p = np.asarray(p)
    if not ((p >= 0) & (p <= 1) | np.isnan(p)).all():
        raise run_error(
            "bad-argument",
            "`binary_cross_entropy` needs probabilities, between 0 and 1",
            help="`binary_cross_entropy_with_logits` takes any numbers",
        )
    yes, no = np.maximum(np.log(p), _LEAST), np.maximum(np.log1p(np.negative(p)), _LEAST)
    return np.negative(np.multiply(t, yes) + np.multiply(np.subtract(1, t), no))


def _bernoulli_slope(p: Any, t: Any) -> Any:
    scale = ops.clamp_min(ops.mul(p, ops.sub(1.0, p)), _FLAT)
    return ops.div(ops.sub(p, t), scale)


def _bernoulli_logs(p: Any) -> Any:
    """The partial of the loss by the target."""
    yes = ops.clamp_min(ops.log(p), _LEAST)
    return ops.sub(ops.clamp_min(ops.log1p(ops.neg(p)), _LEAST), yes)


bernoulli_loss: Op = elementwise(
    "bernoulli_loss",
    args=("p", "t"),
    doc="-t log(p) - (1 - t) log(1 - p) with logarithms of at least -100.",
    source="PyTorch: nn.functional.binary_cross_entropy",
    array=_bernoulli_loss,
    dtype=floating,
    partials=(
        lambda out, p, t: _bernoulli_slope(p, t),
        lambda out, p, t: _bernoulli_logs(p),
    ),
    saves=("p", "t"),
    node="BinaryCrossEntropyBackward0",
    samples=lambda: (
        sample([0.3, 0.8], [1.0, 0.25]),
        sample([[0.3], [0.8]], [1.0, 0.0]),
        sample(0.5, 1.0),
    ),
)

unsafe_view: Op = composite(
    "unsafe_view",
    lambda x, shape: ops.reshape(x, shape=shape),
    args=("x",),
    params={"shape": ()},
    doc="The elements in another shape, which the program sees as a value of its own.",
    node="UnsafeViewBackward0",
    samples=lambda: (sample([[1.0, 2.0], [3.0, 4.0]], shape=(4, 1)), sample(2.0, shape=(1, 1))),
)
