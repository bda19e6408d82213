"""Reductions that the engine needs and programs do not name."""

from __future__ import annotations

from math import nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.along import floats
from gradcli.engine.ops.families.cumulative import one_place_on
from gradcli.engine.ops.families.extreme import extreme_op, place_of
from gradcli.engine.ops.families.norm import peak
from gradcli.engine.ops.families.statistics import median_all_op, median_along_op, picked_op
from gradcli.engine.ops.internal.share import share_slope
from gradcli.engine.ops.op import Op, bad, known, op, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.sizes import axes

# the forms of max and min -------------------------------------------------------------------------


max_all: Op = extreme_op("max_all", "Largest", "amax", "MaxBackward1")
min_all: Op = extreme_op("min_all", "Smallest", "amin", "MinBackward1")


def _along_op(name: str, word: str, function: str, node: str) -> Op:
    sign = 1.0 if function == "max" else -1.0
    return picked_op(
        name,
        f"{word} elements along the dimension `dim` and their places there. At a tie the first "
        "is taken and alone gets the gradient.",
        lambda x, at: place_of(x, at, True, function),
        {},
        node=node,
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


# the forms of median ------------------------------------------------------------------------------


median_all: Op = median_all_op("median_all", False)
nanmedian_all: Op = median_all_op("nanmedian_all", True)
median_along: Op = median_along_op("median_along", False)
nanmedian_along: Op = median_along_op("nanmedian_along", True)


# the derivative of logsumexp ----------------------------------------------------------------------


def _weights(x: Data, dim: Any) -> Data:
    x = floats(x)
    top = peak(x, dim)
    e = np.exp(np.where(x == top, x.dtype.type(0), x - top))
    total = np.sum(e, axis=axes(dim, x.ndim), keepdims=True)
    return np.divide(e, np.where(total == 0, x.dtype.type(1), total))


exp_weights: Op = op(
    "exp_weights",
    params={"dim": None},
    doc="exp(x) / sum(exp(x)), in which infinite elements share everything and elements that are "
    "all -inf get 0.",
    source="derivative of logsumexp",
    array=_weights,
    shape=lambda x, dim: x,
    dtype=floating,
    vjp=(lambda g, out, x, dim: share_slope(g, out, dim),),
    jvp=(lambda dot, out, x, dim: share_slope(dot, out, dim),),
    saves=("out",),
    node="SoftmaxBackward0",
    samples=lambda: (
        sample([1.0, -2.0, 3.0], dim=None),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=(0, 1)),
        sample([5.0], dim=0),
    ),
)


# linear recurrences -------------------------------------------------------------------------------


def _recurrence(a: Data, b: Data) -> Data:
    a, b = np.broadcast_arrays(a, b)
    out = np.array(b)
    for i in range(1, b.shape[-1]):
        out[..., i] += a[..., i] * out[..., i - 1]
    return out


def _recurrence_pull(g: Any, a: Any) -> Any:
    """The cotangent of b: the same recurrence from the end, with a one place on."""
    turned = ops.flip(a, dims=(-1,))
    return ops.flip(recurrence(one_place_on(turned, 0.0), ops.flip(g, dims=(-1,))), dims=(-1,))


recurrence: Op = op(
    "recurrence",
    args=("a", "b"),
    doc="s with s[0] = b[0] and s[i] = b[i] + a[i] s[i - 1] along the last dimension.",
    source="definition; its derivatives are linear recurrences themselves",
    array=_recurrence,
    shape=lambda a, b: b,
    vjp=(
        lambda g, out, a, b: ops.mul(_recurrence_pull(g, a), one_place_on(out, 0.0)),
        lambda g, out, a, b: _recurrence_pull(g, a),
    ),
    jvp=(
        lambda dot, out, a, b: recurrence(a, ops.mul(dot, one_place_on(out, 0.0))),
        lambda dot, out, a, b: recurrence(a, dot),
    ),
    saves=("a", "out"),
    samples=lambda: (
        sample([0.5, 2.0, -1.0], [1.0, 2.0, 3.0]),
        sample([0.5, 0.0, -1.0], [1.0, 2.0, 3.0]),
        sample([[0.5, 2.0], [1.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]]),
        sample([2.0], [3.0]),
    ),
)
