"""Activations of neural networks that are linear in pieces, and gates."""

from __future__ import annotations

import math
from math import inf, isnan, nan
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import floats
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, elementwise, known, sample
from gradcli.engine.ops.promotion import counted, floating
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.conversion import whole
from gradcli.engine.values.data import Data, dtype_of, is_floating, np, shape_of
from gradcli.engine.values.sizes import axis, number
from gradcli.errors import run_error

FAMILY = 270, "Activations"

# linear pieces ------------------------------------------------------------------------------------


def _level(slope: Any, x: Any) -> Any:
    """A slope that does not change with x. If x is recorded, the slope counts as a function of x
    all the same, as in PyTorch: its derivative is then 0, not an error.
    """
    return ops.level(slope, x) if isinstance(x, Carrier) and x.recorded else slope


relu: Op = elementwise(
    "relu",
    exact=True,
    guards=("out",),
    doc="max(x, 0). The derivative at 0 is 0.",
    number=lambda x: type(x)(0) if x <= 0 else x,
    array=lambda x: np.maximum(x, np.zeros((), dtype_of(x))),
    chooses=True,
    partials=(lambda out, x: _level(ops.where(ops.le(x, 0.0), 0.0, 1.0), x),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (
        known(0.0, grad=(0.0,)),
        known([0.0, 2.0, -inf, nan], grad=([0.0, 1.0, 0.0, 1.0],)),
    ),
)


def _within(x: Any, low: float, high: float) -> Any:
    return ops.where(ops.logical_and(ops.gt(x, low), ops.lt(x, high)), 1.0, 0.0)


def _not_clipped(x: Any, low: float, high: float) -> Any:
    """1 between the bounds and, as in PyTorch, at nan."""
    return ops.where(ops.logical_or(ops.le(x, low), ops.ge(x, high)), 0.0, 1.0)


def _clip_number(x: Any, low: float, high: float) -> Any:
    if isnan(x):
        return x
    return type(x)(low) if x < low else type(x)(high) if x > high else x


relu6: Op = elementwise(
    "relu6",
    node="HardtanhBackward0",
    doc="min(max(x, 0), 6). The derivatives at 0 and at 6 are 0.",
    number=lambda x: _clip_number(+x, 0, 6),
    array=lambda x: np.clip(x, 0, 6),
    dtype=counted,
    chooses=True,
    partials=(lambda out, x: _level(_not_clipped(x, 0.0, 6.0), x),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (known([0.0, 6.0, 3.0, nan], grad=([0.0, 0.0, 1.0, 1.0],)),),
)


def _ends(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds as numbers of x: of ints cut off."""
    return (low, high) if is_floating(x) else (whole(low), whole(high))


hardtanh: Op = elementwise(
    "hardtanh",
    params={"min_val": -1.0, "max_val": 1.0},
    doc="The input brought into min_val ... max_val. The derivatives at both are 0.",
    number=lambda x, min_val=-1.0, max_val=1.0: _clip_number(+x, *_ends(x, min_val, max_val)),
    array=lambda x, min_val=-1.0, max_val=1.0: np.clip(x, *_ends(x, min_val, max_val)),
    dtype=counted,
    chooses=True,
    partials=(
        lambda out, x, min_val=-1.0, max_val=1.0: _level(_not_clipped(x, min_val, max_val), x),
    ),
    saves=("input",),
    samples=lambda: (*points.off_corners(), sample([1.5, -0.5], min_val=-0.75, max_val=2.0)),
    known=lambda: (known([1.0, -1.0, 0.5, nan], grad=([0.0, 0.0, 1.0, 1.0],)),),
)


def _leaky(x: Any, negative_slope: Any) -> Any:
    return ops.where(ops.gt(x, 0.0), 1.0, float(negative_slope))


leaky_relu: Op = elementwise(
    "leaky_relu",
    params={"negative_slope": 0.01},
    doc="x where x is positive, else x * negative_slope. The derivative at 0 is the slope.",
    number=lambda x, negative_slope=0.01: float(x) if x > 0 else float(x * negative_slope),
    array=lambda x, negative_slope=0.01: np.where(
        np.greater(x, 0), x, np.multiply(x, float(negative_slope))
    ),
    dtype=floating,
    partials=(lambda out, x, negative_slope=0.01: _level(_leaky(x, negative_slope), x),),
    saves=("input",),
    samples=lambda: (*points.off_corners(), sample(-2.0, negative_slope=0.5)),
    known=lambda: (
        known(0.0, grad=(0.01,)),
        known([0.0, 2.0], negative_slope=0.25, grad=([0.25, 1.0],)),
    ),
)


def _prelu(x: Any, weight: Any) -> Any:
    count = math.prod(shape_of(weight))
    if count != 1:
        shape = shape_of(x)
        channels = shape[1] if len(shape) > 1 else 1
        if len(shape_of(weight)) > 1 or count != channels:
            raise run_error(
                "shape-mismatch",
                f"`weight` has one element or one for each of the {channels} channels, got the "
                f"shape {list(shape_of(weight))}",
            )
        weight = ops.reshape(weight, shape=(count, *(1,) * (len(shape) - 2)))
    elif shape_of(weight):
        weight = ops.reshape(weight, shape=())
    return ops.where(ops.gt(x, 0.0), x, ops.mul(weight, x))


prelu: Op = composite(
    "prelu",
    _prelu,
    guards=("input", "weight"),
    args=("input", "weight"),
    node="PreluKernelBackward0",
    doc="x where x is positive, else weight * x, with one weight or one for each channel (the "
    "second dimension).",
    source="PyTorch: nn.functional.prelu",
    samples=lambda: (
        sample([1.0, -2.0], 0.25),
        sample([[1.0, -2.0, -3.0]], [0.25, 0.5, 2.0]),
        sample([[[1.0, -2.0], [-3.0, 4.0]]], [0.25, 0.5]),
        sample([-1.0], [0.1]),
    ),
    known=lambda: (known(0.0, 0.25, grad=(0.25, 0.0)),),
    bad=lambda: (bad((2, 3), (2,), says="each of the 3 channels"),),
)

hardsigmoid: Op = elementwise(
    "hardsigmoid",
    doc="(x + 3) / 6 brought into 0 ... 1. The derivatives at -3 and 3 are 0.",
    number=lambda x: _clip_number(float(x) + 3.0, 0.0, 6.0) / 6.0,
    array=lambda x: np.clip(floats(x) + 3.0, 0.0, 6.0) / 6.0,
    dtype=floating,
    chooses=True,
    partials=(lambda out, x: ops.mul(_within(x, -3.0, 3.0), 1.0 / 6.0),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (known([-3.0, 3.0, 0.0], grad=([0.0, 0.0, 1.0 / 6.0],)),),
)


def _hardswish_slope(x: Any) -> Any:
    middle = ops.add(ops.div(x, 3.0), 0.5)
    return ops.where(ops.le(x, -3.0), 0.0, ops.where(ops.ge(x, 3.0), 1.0, middle))


hardswish: Op = elementwise(
    "hardswish",
    doc="x times hardsigmoid(x). The derivatives at -3 and 3 are 0 and 1.",
    number=lambda x: (
        float(x) * _clip_number(float(x) + 3.0, 0.0, 6.0) / 6.0
        if x > -3
        else (x if isnan(x) else -0.0)
    ),
    array=lambda x: np.where(
        np.less_equal(x, -3),
        np.zeros((), floats(x).dtype),
        floats(x) * np.clip(floats(x) + 3.0, 0.0, 6.0) / 6.0,
    ),
    dtype=floating,
    chooses=True,
    partials=(lambda out, x: _hardswish_slope(x),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (known([-3.0, 3.0, 0.0], grad=([0.0, 1.0, 0.5],)),),
)

hardshrink: Op = elementwise(
    "hardshrink",
    params={"lambd": 0.5},
    doc="x where its size is above lambd, else 0.",
    number=lambda x, lambd=0.5: x if not -lambd <= x <= lambd else type(x)(0),
    array=lambda x, lambd=0.5: np.where(
        np.less_equal(np.abs(x), lambd), np.zeros((), dtype_of(x)), x
    ),
    chooses=True,
    partials=(lambda out, x, lambd=0.5: _level(ops.where(ops.le(ops.abs(x), lambd), 0.0, 1.0), x),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*points.off_corners(), sample([0.7, -0.3], lambd=0.1)),
    known=lambda: (known([0.5, -0.5, 0.75], grad=([0.0, 0.0, 1.0],)),),
)


def _softshrink(x: Data, lambd: float = 0.5) -> Data:
    x = floats(x)
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0.0))


softshrink: Op = elementwise(
    "softshrink",
    params={"lambd": 0.5},
    doc="x moved towards 0 by lambd, 0 within -lambd ... lambd.",
    number=lambda x, lambd=0.5: (
        float(x) - lambd if x > lambd else float(x) + lambd if x < -lambd else float(x) * 0.0
    ),
    array=_softshrink,
    dtype=floating,
    chooses=True,
    partials=(lambda out, x, lambd=0.5: _level(ops.where(ops.le(ops.abs(x), lambd), 0.0, 1.0), x),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*points.off_corners(), sample([0.7, -0.3], lambd=0.1)),
    known=lambda: (known([0.5, -0.5, 0.75], grad=([0.0, 0.0, 1.0],)),),
)


def _bounds(threshold: Any, value: Any) -> tuple[Any, Any]:
    return number(threshold, "threshold"), number(value, "value")


def _threshold_number(x: Any, threshold: Any, value: Any) -> Any:
    limit, low = _bounds(threshold, value)
    return type(x)(low) if x <= limit else x


def _threshold(x: Data, threshold: Any, value: Any) -> Data:
    limit, low = _bounds(threshold, value)
    return np.where(np.less_equal(x, limit), np.asarray(low, dtype_of(x)), x)


threshold: Op = elementwise(
    "threshold",
    params={"threshold": REQUIRED, "value": REQUIRED},
    doc="x where it is above the threshold, else `value`.",
    number=_threshold_number,
    array=_threshold,
    chooses=True,
    partials=(
        lambda out, x, threshold, value: _level(ops.where(ops.le(x, threshold), 0.0, 1.0), x),
    ),
    saves=("input",),
    samples=lambda: tuple(
        Sample(s.args, {"threshold": 0.1, "value": 20.0}) for s in points.off_corners()
    ),
    known=lambda: (known([1.0, 2.0], threshold=1.0, value=5.0, grad=([0.0, 1.0],)),),
)


# gates --------------------------------------------------------------------------------------------


def _gated(x: Any, dim: Any) -> Any:
    shape = shape_of(x)
    if not shape:
        raise run_error("shape-mismatch", "`glu` needs a dimension to halve, got a 0-d tensor")
    at = axis(dim, len(shape))
    if shape[at] % 2:
        raise run_error(
            "shape-mismatch", f"`glu` halves dimension {at}, whose size {shape[at]} is odd"
        )
    half = shape[at] // 2
    left = ops.narrow(x, dim=at, start=0, length=half)
    right = ops.narrow(x, dim=at, start=half, length=half)
    return ops.mul(left, ops.sigmoid(right))


glu: Op = composite(
    "glu",
    _gated,
    params={"dim": -1},
    node="GluBackward0",
    doc="a sigmoid(b), where a and b are the halves of the input along the dimension `dim`.",
    source="Dauphin and others, Language modeling with gated convolutional networks, 2017",
    samples=lambda: (
        sample([1.0, -2.0], dim=-1),
        sample([[1.0, -2.0], [0.5, 3.0]], dim=0),
        sample([[1.0, -2.0, 0.3, 0.7]], dim=1),
    ),
    bad=lambda: (bad((3,), dim=-1, says="is odd"), bad((), dim=-1, says="0-d")),
)
