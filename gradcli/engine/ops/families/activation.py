"""Activations of neural networks."""

from __future__ import annotations

import math
from math import inf, isnan, nan
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, Sample, bad, composite, elementwise, known, sample
from gradcli.engine.ops.promotion import counted, floating
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, Data, is_floating, np, shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import axis, number
from gradcli.errors import run_error

FAMILY = 270, "Activations"

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_GELU_SLOPE = math.sqrt(2.0 / math.pi)
_GELU_CUBE = 0.044715


def _points() -> tuple[Sample, ...]:
    """Points of every kind, away from corners."""
    return (
        sample(0.3),
        sample(-0.3),
        sample(1e-3),
        sample([1.25, -2.0]),
        sample([[0.25, -1.5], [-2.2, 9.0]]),
        sample([3.5]),
        sample([]),
        sample([[[-1.2], [30.0]]]),
    )


def _floating(x: Data) -> Any:
    x = np.asarray(x) if type(x) in NUMBERS else x
    return x if x.dtype.kind == "f" else x.astype(np.float64)


# linear pieces ------------------------------------------------------------------------------------


def _level(slope: Any, x: Any) -> Any:
    """A slope that does not change with x. Of what is recorded it depends on x all the same, as in
    PyTorch: its derivative is 0 there, not an error.
    """
    return ops.level(slope, x) if isinstance(x, Carrier) and x.recorded else slope


def _step(x: Any) -> Any:
    """1 where x is positive, else 0."""
    return ops.where(ops.gt(x, 0.0), 1.0, 0.0)


relu: Op = elementwise(
    "relu",
    exact=True,
    guards=("out",),
    args=("input",),
    doc="max(x, 0). The derivative at 0 is 0.",
    source="definition",
    number=lambda x: type(x)(0) if x <= 0 else x,
    array=lambda x: np.maximum(x, np.zeros((), np.asarray(x).dtype)),
    chooses=True,
    partials=(lambda out, x: _level(_step(x), x),),
    saves=("input",),
    samples=_points,
    known=lambda: (known(0.0, grad=(0.0,)), known([0.0, 2.0, -inf], grad=([0.0, 1.0, 0.0],))),
)


def _within(x: Any, low: float, high: float) -> Any:
    return ops.where(ops.logical_and(ops.gt(x, low), ops.lt(x, high)), 1.0, 0.0)


def _clip_number(x: Any, low: float, high: float) -> Any:
    if isnan(x):
        return x
    return type(x)(low) if x < low else type(x)(high) if x > high else x


relu6: Op = elementwise(
    "relu6",
    args=("input",),
    node="HardtanhBackward0",
    doc="min(max(x, 0), 6). The derivatives at 0 and at 6 are 0.",
    source="definition",
    number=lambda x: _clip_number(+x, 0, 6),
    array=lambda x: np.clip(x, 0, 6),
    dtype=counted,
    chooses=True,
    partials=(lambda out, x: _level(_within(x, 0.0, 6.0), x),),
    saves=("input",),
    samples=_points,
    known=lambda: (known([0.0, 6.0, 3.0], grad=([0.0, 0.0, 1.0],)),),
)


def _ends(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds as numbers of x: of ints cut off."""
    return (low, high) if is_floating(x) else (int(low), int(high))


hardtanh: Op = elementwise(
    "hardtanh",
    args=("input",),
    params={"min_val": -1.0, "max_val": 1.0},
    doc="The input brought into min_val ... max_val. The derivatives at both are 0.",
    source="definition",
    number=lambda x, min_val=-1.0, max_val=1.0: _clip_number(+x, *_ends(x, min_val, max_val)),
    array=lambda x, min_val=-1.0, max_val=1.0: np.clip(x, *_ends(x, min_val, max_val)),
    dtype=counted,
    chooses=True,
    partials=(lambda out, x, min_val=-1.0, max_val=1.0: _level(_within(x, min_val, max_val), x),),
    saves=("input",),
    samples=lambda: (*_points(), sample([1.5, -0.5], min_val=-0.75, max_val=2.0)),
    known=lambda: (known([1.0, -1.0, 0.5], grad=([0.0, 0.0, 1.0],)),),
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
    dtype=floating,
    partials=(lambda out, x, negative_slope=0.01: _level(_leaky(x, negative_slope), x),),
    saves=("input",),
    samples=lambda: (*_points(), sample(-2.0, negative_slope=0.5)),
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
    args=("input",),
    doc="(x + 3) / 6 brought into 0 ... 1. The derivatives at -3 and 3 are 0.",
    source="definition",
    number=lambda x: _clip_number(float(x) + 3.0, 0.0, 6.0) / 6.0,
    array=lambda x: np.clip(_floating(x) + 3.0, 0.0, 6.0) / 6.0,
    dtype=floating,
    chooses=True,
    partials=(lambda out, x: ops.mul(_within(x, -3.0, 3.0), 1.0 / 6.0),),
    saves=("input",),
    samples=_points,
    known=lambda: (known([-3.0, 3.0, 0.0], grad=([0.0, 0.0, 1.0 / 6.0],)),),
)


def _hardswish_slope(x: Any) -> Any:
    middle = ops.add(ops.div(x, 3.0), 0.5)
    return ops.where(ops.le(x, -3.0), 0.0, ops.where(ops.ge(x, 3.0), 1.0, middle))


hardswish: Op = elementwise(
    "hardswish",
    args=("input",),
    doc="x times hardsigmoid(x). The derivatives at -3 and 3 are 0 and 1.",
    source="definition",
    number=lambda x: (
        float(x) * _clip_number(float(x) + 3.0, 0.0, 6.0) / 6.0
        if x > -3
        else (x if isnan(x) else -0.0)
    ),
    array=lambda x: np.where(
        np.less_equal(x, -3),
        np.zeros((), _floating(x).dtype),
        _floating(x) * np.clip(_floating(x) + 3.0, 0.0, 6.0) / 6.0,
    ),
    dtype=floating,
    chooses=True,
    partials=(lambda out, x: _hardswish_slope(x),),
    saves=("input",),
    samples=_points,
    known=lambda: (known([-3.0, 3.0, 0.0], grad=([0.0, 1.0, 0.5],)),),
)

hardshrink: Op = elementwise(
    "hardshrink",
    args=("input",),
    params={"lambd": 0.5},
    doc="x where its size is above lambd, else 0.",
    source="definition",
    number=lambda x, lambd=0.5: x if not -lambd <= x <= lambd else type(x)(0),
    array=lambda x, lambd=0.5: np.where(
        np.less_equal(np.abs(x), lambd), np.zeros((), np.asarray(x).dtype), x
    ),
    chooses=True,
    partials=(lambda out, x, lambd=0.5: _level(ops.where(ops.le(ops.abs(x), lambd), 0.0, 1.0), x),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*_points(), sample([0.7, -0.3], lambd=0.1)),
    known=lambda: (known([0.5, -0.5, 0.75], grad=([0.0, 0.0, 1.0],)),),
)


def _softshrink_number(x: float, lambd: float = 0.5) -> float:
    return float(x) - lambd if x > lambd else float(x) + lambd if x < -lambd else float(x) * 0.0


def _softshrink(x: Data, lambd: float = 0.5) -> Data:
    x = _floating(x)
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0.0))


softshrink: Op = elementwise(
    "softshrink",
    args=("input",),
    params={"lambd": 0.5},
    doc="x moved towards 0 by lambd, 0 within -lambd ... lambd.",
    source="definition",
    number=_softshrink_number,
    array=_softshrink,
    dtype=floating,
    chooses=True,
    partials=(lambda out, x, lambd=0.5: _level(ops.where(ops.le(ops.abs(x), lambd), 0.0, 1.0), x),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*_points(), sample([0.7, -0.3], lambd=0.1)),
    known=lambda: (known([0.5, -0.5, 0.75], grad=([0.0, 0.0, 1.0],)),),
)


def _bounds(threshold: Any, value: Any) -> tuple[Any, Any]:
    return number(threshold, "threshold"), number(value, "value")


def _threshold_number(x: Any, threshold: Any, value: Any) -> Any:
    limit, low = _bounds(threshold, value)
    return type(x)(low) if x <= limit else x


def _threshold(x: Data, threshold: Any, value: Any) -> Data:
    limit, low = _bounds(threshold, value)
    return np.where(np.less_equal(x, limit), np.asarray(low, np.asarray(x).dtype), x)


threshold: Op = elementwise(
    "threshold",
    args=("input",),
    params={"threshold": REQUIRED, "value": REQUIRED},
    doc="x where it is above the threshold, else `value`.",
    source="definition",
    number=_threshold_number,
    array=_threshold,
    chooses=True,
    partials=(
        lambda out, x, threshold, value: _level(ops.where(ops.le(x, threshold), 0.0, 1.0), x),
    ),
    saves=("input",),
    samples=lambda: tuple(Sample(s.args, {"threshold": 0.1, "value": 20.0}) for s in _points()),
    known=lambda: (known([1.0, 2.0], threshold=1.0, value=5.0, grad=([0.0, 1.0],)),),
)


# exponential pieces -------------------------------------------------------------------------------


def _below(x: Any) -> Any:
    """X where it is not positive, else 0: what an exponential can take without overflow."""
    return ops.where(ops.gt(x, 0.0), 0.0, x)


def _elu_number(x: Any, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> float:
    return scale * x if x > 0 else scale * alpha * ieee.expm1(x * rate)


def _elu(x: Data, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> Data:
    x = _floating(x)
    down = np.expm1(np.minimum(x, 0) * rate)
    return np.where(x > 0, x * scale, down * (alpha * scale))


def _elu_slope(x: Any, alpha: float, scale: float, rate: float) -> Any:
    down = ops.mul(ops.exp(ops.mul(_below(x), rate)), alpha * scale * rate)
    return ops.where(ops.gt(x, 0.0), scale, down)


elu: Op = elementwise(
    "elu",
    args=("input",),
    params={"alpha": 1.0},
    doc="x where it is positive, else alpha (exp(x) - 1). The derivative at 0 is alpha.",
    source="definition",
    number=lambda x, alpha=1.0: _elu_number(float(x), float(alpha)),
    array=lambda x, alpha=1.0: _elu(x, float(alpha)),
    dtype=floating,
    partials=(lambda out, x, alpha=1.0: _elu_slope(x, float(alpha), 1.0, 1.0),),
    saves=("input",),
    samples=lambda: (*_points(), sample([-1.0, 2.0], alpha=0.5)),
    known=lambda: (known(0.0, grad=(1.0,)), known([0.0, 1.0], alpha=0.5, grad=([0.5, 1.0],))),
)

selu: Op = elementwise(
    "selu",
    args=("input",),
    node="EluBackward0",
    doc="scale elu(x, alpha) with the scale 1.0507 and the alpha 1.6733 that keep mean 0 and "
    "variance 1 from layer to layer.",
    source="Klambauer and others, Self-normalizing neural networks, 2017",
    number=lambda x: _elu_number(float(x), SELU_ALPHA, SELU_SCALE),
    array=lambda x: _elu(x, SELU_ALPHA, SELU_SCALE),
    dtype=floating,
    partials=(lambda out, x: _elu_slope(x, SELU_ALPHA, SELU_SCALE, 1.0),),
    saves=("input",),
    samples=_points,
    known=lambda: (known(0.0, grad=(SELU_ALPHA * SELU_SCALE,)),),
)


def _inverse(alpha: Any) -> float:
    if not alpha:
        raise run_error("bad-argument", "`alpha` of `celu` cannot be 0")
    return 1.0 / float(alpha)


celu: Op = elementwise(
    "celu",
    args=("input",),
    params={"alpha": 1.0},
    doc="x where it is positive, else alpha (exp(x / alpha) - 1). The derivative at 0 is 1.",
    source="definition",
    number=lambda x, alpha=1.0: _elu_number(float(x), float(alpha), 1.0, _inverse(alpha)),
    array=lambda x, alpha=1.0: _elu(x, float(alpha), 1.0, _inverse(alpha)),
    dtype=floating,
    partials=(lambda out, x, alpha=1.0: _elu_slope(x, float(alpha), 1.0, _inverse(alpha)),),
    saves=("input",),
    samples=lambda: (*_points(), sample([-1.0, 2.0], alpha=0.5)),
    known=lambda: (known(0.0, grad=(1.0,)), known([0.0, 1.0], alpha=0.5, grad=([1.0, 1.0],))),
    bad=lambda: (bad([1.0], alpha=0.0, says="`alpha` of `celu` cannot be 0"),),
)


def _softplus_number(x: float, beta: float = 1.0, threshold: float | None = None) -> float:
    z = x * beta
    if isnan(z) or (threshold is not None and z > number(threshold, "threshold")):
        return float(x)
    far: float = ieee.div(math.log1p(ieee.exp(-abs(z))), float(beta))
    return far if z < 0 else float(x) + far


def _softplus(x: Data, beta: Any = 1.0, threshold: Any = None) -> Data:
    x = _floating(x)
    z = np.multiply(x, float(beta))
    above = np.where(z > 0, x, x.dtype.type(0))
    soft = np.add(above, np.divide(np.log1p(np.exp(-np.abs(z))), float(beta)))
    return soft if threshold is None else np.where(z > number(threshold, "threshold"), x, soft)


def _softplus_slope(x: Any, beta: Any, threshold: Any) -> Any:
    z = ops.mul(x, float(beta))
    if threshold is None:
        return ops.sigmoid(z)
    return ops.where(ops.gt(z, float(threshold)), 1.0, ops.sigmoid(z))


softplus: Op = elementwise(
    "softplus",
    args=("input",),
    params={"beta": 1.0, "threshold": None},
    doc="log(1 + exp(beta x)) / beta without overflow; x itself where beta x is above a "
    "`threshold` that is given (PyTorch's is 20 where none is, which costs all but nine digits of "
    "the derivative). Its derivative is sigmoid(beta x).",
    source="definition",
    number=_softplus_number,
    array=_softplus,
    dtype=floating,
    partials=(lambda out, x, beta=1.0, threshold=None: _softplus_slope(x, beta, threshold),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*_points(), sample([5.0, -1.0], beta=2.0, threshold=20.0)),
    known=lambda: (known(0.0, grad=(0.5,)), known([1000.0, -1000.0], grad=([1.0, 0.0],))),
)


def _logsigmoid_number(x: float) -> float:
    return min(x, 0.0) - math.log1p(ieee.exp(-abs(x))) if not isnan(x) else x


logsigmoid: Op = elementwise(
    "logsigmoid",
    layout=in_order,
    args=("input",),
    doc="log(sigmoid(x)) without overflow. Its derivative is sigmoid(-x).",
    source="definition",
    number=lambda x: _logsigmoid_number(float(x)),
    array=lambda x: np.minimum(_floating(x), 0) - np.log1p(np.exp(-np.abs(_floating(x)))),
    dtype=floating,
    partials=(lambda out, x: ops.sigmoid(ops.neg(x)),),
    saves=("input",),
    node="LogSigmoidBackward0",
    inplace=False,
    samples=_points,
    known=lambda: (known([-1000.0, 0.0, 1000.0], grad=([1.0, 0.5, 0.0],)),),
)


# products with a soft step ------------------------------------------------------------------------


_DEEP = -700.0
"""Below it exponentials leave the normal numbers, of which alone all digits are kept."""


def _tail(weight: Any, exponent: Any) -> Any:
    """Weight e ** exponent, where the power alone would lose digits."""
    half = ops.exp(ops.mul(exponent, 0.5))
    return ops.mul(ops.mul(weight, half), half)


def _bounded(x: Any) -> Any:
    """X down to where its exponential is 0."""
    return ops.where(ops.lt(x, -1e4), -1e4, x)


def _tail_slope(x: Any, slope: Any) -> Any:
    """A slope that below is that of x e ** x."""
    low = _bounded(x)
    return ops.where(ops.lt(x, _DEEP), _tail(ops.add(low, 1.0), low), slope)


def _silu_number(x: float) -> float:
    if x < _DEEP:
        return _tail(_bounded(x), _bounded(x))  # type: ignore[no-any-return]  # of a number
    return x * ieee.sigmoid(x)


def _silu(x: Data) -> Data:
    low = _bounded(x)
    return np.where(x < _DEEP, _tail(low, low), x * ops.sigmoid(x))


def _silu_slope(x: Any) -> Any:
    near = ops.where(ops.gt(ops.abs(x), 1e4), 0.0, x)  # beyond it the step is flat
    bend = ops.mul(near, ops.mul(ops.sigmoid(x), ops.sigmoid(ops.neg(x))))
    return _tail_slope(x, ops.add(ops.sigmoid(x), bend))


silu: Op = elementwise(
    "silu",
    aliases=("swish",),
    args=("input",),
    doc="x sigmoid(x).",
    source="definition",
    number=lambda x: _silu_number(float(x)),
    array=lambda x: _silu(_floating(x)),
    dtype=floating,
    partials=(lambda out, x: _silu_slope(x),),
    saves=("input",),
    samples=_points,
    known=lambda: (known([0.0, 1000.0, -1000.0], grad=([0.5, 1.0, 0.0],)),),
)


def _gelu_inner(x: Any) -> Any:
    """Twice the argument of the tanh."""
    return ops.mul(ops.mul(x, ops.add(ops.mul(ops.square(x), _GELU_CUBE), 1.0)), 2.0 * _GELU_SLOPE)


def _gelu_slope(x: Any, approximate: Any) -> Any:
    near = ops.where(ops.gt(ops.abs(x), 1e4), 0.0, x)
    if approximate == "tanh":
        inner = _gelu_inner(near)
        step = ops.sigmoid(inner)
        rise = ops.add(ops.mul(ops.square(near), 3.0 * _GELU_CUBE), 1.0)
        bend = ops.mul(ops.mul(step, ops.sigmoid(ops.neg(inner))), rise)
        soft = ops.add(step, ops.mul(ops.mul(near, bend), 2.0 * _GELU_SLOPE))
        deep = _tail(ops.add(ops.mul(ops.mul(near, rise), 2.0 * _GELU_SLOPE), 1.0), inner)
        soft = ops.where(ops.lt(inner, _DEEP), deep, soft)
        return ops.where(ops.gt(ops.abs(x), 1e4), _step(x), soft)
    density = ops.mul(ops.exp_neg_square(near, share=0.5), _DENSITY)
    soft = ops.add(ops.ndtr(x), ops.mul(near, density))
    low = _bounded(x)
    half = ops.exp_neg_square(low, share=0.25)
    below = ops.add(_gelu_ratio(low), ops.mul(low, _DENSITY))
    return ops.where(ops.lt(x, _GELU_DEEP), ops.mul(ops.mul(below, half), half), soft)


_GELU_DEEP = -37.0


def _gelu_ratio(x: Any) -> Any:
    """Ndtr(x) e ** (x ** 2 / 2), of x where it is far below 0."""
    return ops.mul(ops.erfcx(ops.mul(_below(x), -math.sqrt(0.5))), 0.5)


def _gelu_deep(x: Any) -> Any:
    """The value where ndtr leaves the normal numbers."""
    x = _bounded(x)
    half = ops.exp_neg_square(x, share=0.25)
    return ops.mul(ops.mul(ops.mul(x, _gelu_ratio(x)), half), half)


def _gelu_number(x: float, approximate: str) -> float:
    _check_approximation(approximate)
    if x == -inf:
        return -0.0
    if approximate == "none":
        return float(_gelu_deep(x)) if x < _GELU_DEEP else x * float(ops.ndtr(x))
    inner = 2.0 * _GELU_SLOPE * x * (1.0 + _GELU_CUBE * x * x)
    return float(_tail(x, inner)) if inner < _DEEP else x * ieee.sigmoid(inner)


def _gelu(x: Data, approximate: str) -> Data:
    _check_approximation(approximate)
    x = _floating(x)
    if approximate == "none":
        return np.where(x < _GELU_DEEP, _gelu_deep(x), x * ops.ndtr(x))
    inner = 2.0 * _GELU_SLOPE * x * (1 + _GELU_CUBE * x * x)
    low = _bounded(x)
    return np.where(inner < _DEEP, _tail(low, inner), x * ops.sigmoid(inner))


def _check_approximation(approximate: Any) -> None:
    if approximate not in ("none", "tanh"):
        raise run_error(
            "bad-argument", f"`approximate` must be 'none' or 'tanh', got {approximate!r}"
        )


gelu: Op = elementwise(
    "gelu",
    args=("input",),
    params={"approximate": "none"},
    doc="x times the standard normal distribution function of x, exact in the lower tail, where "
    "PyTorch loses its digits; with approximate='tanh' of the tanh formula for it.",
    source="Hendrycks and Gimpel, Gaussian error linear units, 2016",
    number=lambda x, approximate="none": _gelu_number(float(x), approximate),
    array=lambda x, approximate="none": _gelu(x, approximate),
    dtype=floating,
    partials=(lambda out, x, approximate="none": _gelu_slope(x, approximate),),
    saves=("input",),
    inplace=False,
    samples=lambda: (
        *_points(),
        sample([0.5, -2.0], approximate="tanh"),
        sample(1.5, approximate="tanh"),
    ),
    known=lambda: (
        known(0.0, grad=(0.5,)),
        known([0.0, 1000.0, -1000.0], approximate="tanh", grad=([0.5, 1.0, 0.0],)),
    ),
    bad=lambda: (bad((2,), approximate="erf", says="'none' or 'tanh'"),),
)


def _decay(x: Any) -> Any:
    """exp(-|x|), smooth at 0 on either side."""
    return ops.exp(ops.where(ops.gt(x, 0.0), ops.neg(x), x))


def _mish_slope(x: Any) -> Any:
    m = _decay(x)
    up = ops.gt(x, 0.0)
    square = ops.square(m)
    # tanh(softplus(x)) = a / b
    a = ops.where(up, ops.add(ops.mul(m, 2.0), 1.0), ops.add(square, ops.mul(m, 2.0)))
    b = ops.add(a, ops.where(up, ops.mul(square, 2.0), 2.0))
    rise = ops.mul(ops.where(up, square, m), ops.mul(ops.add(m, 1.0), 4.0))
    near = ops.where(ops.gt(ops.abs(x), 1e4), 0.0, x)
    return _tail_slope(x, ops.add(ops.div(a, b), ops.mul(near, ops.div(rise, ops.square(b)))))


def _mish_number(x: float) -> float:
    if x < _DEEP:
        return _tail(_bounded(x), _bounded(x))  # type: ignore[no-any-return]  # of a number
    m = ieee.exp(-abs(x))
    if x > 0:
        return x * (1.0 + 2.0 * m) / (1.0 + 2.0 * m + 2.0 * m * m)
    return x * (m * (m + 2.0) / (m * (m + 2.0) + 2.0))


def _mish(x: Data) -> Data:
    x = _floating(x)
    m = np.exp(-np.abs(x))
    a = np.where(x > 0, 1 + 2 * m, m * (m + 2))
    low = _bounded(x)
    step = a / (a + np.where(x > 0, 2 * m * m, x.dtype.type(2)))
    return np.where(x < _DEEP, _tail(low, low), x * step)


mish: Op = elementwise(
    "mish",
    args=("input",),
    doc="x tanh(softplus(x)).",
    source="Misra, Mish: a self regularized non-monotonic activation function, 2019",
    number=lambda x: _mish_number(float(x)),
    array=_mish,
    dtype=floating,
    partials=(lambda out, x: _mish_slope(x),),
    saves=("input",),
    samples=_points,
    known=lambda: (known([0.0, 1000.0, -1000.0], grad=([0.6, 1.0, 0.0],)),),
)


def _softsign_slope(x: Any) -> Any:
    return ops.square(ops.reciprocal(ops.add(ops.abs(x), 1.0)))


softsign: Op = elementwise(
    "softsign",
    args=("input",),
    doc="x / (1 + |x|).",
    source="definition",
    number=lambda x: float(x) / (1.0 + abs(x)) if abs(x) != inf else math.copysign(1.0, x),
    array=lambda x: np.where(
        np.isinf(_floating(x)), np.sign(_floating(x)), _floating(x) / (1 + np.abs(_floating(x)))
    ),
    dtype=floating,
    partials=(lambda out, x: _softsign_slope(x),),
    saves=("input",),
    inplace=False,
    samples=_points,
    known=lambda: (known(0.0, grad=(1.0,)), known([inf, 1.0], grad=([0.0, 0.25],))),
)


def _tanhshrink_number(x: float) -> float:
    return _tanhshrink_near(x) if abs(x) < 1.0 else x - math.tanh(x)


def _tanhshrink_near(x: Any) -> Any:
    """X - tanh(x) = (x cosh x - sinh x) / cosh x by the series of both, of which the terms of first
    order cancel.
    """
    square = x * x
    top = below = 0.0
    for k in range(11, 0, -1):
        top = square * (2 * k / math.factorial(2 * k + 1) + top)
        below = square * (1.0 / math.factorial(2 * k) + below)
    return x * top / (1.0 + below)


def _tanhshrink(x: Data) -> Data:
    x = _floating(x)
    wide = x.astype(np.float64)
    near = np.where(np.abs(wide) < 1.0, wide, 0.0)
    return np.where(np.abs(wide) < 1.0, _tanhshrink_near(near), wide - np.tanh(wide)).astype(
        x.dtype
    )


tanhshrink: Op = elementwise(
    "tanhshrink",
    guards=(),
    args=("input",),
    doc="x - tanh(x), by a series where the two are close. Its derivative is tanh(x) ** 2.",
    source="DLMF 4.33.1 and 4.33.2",
    number=lambda x: _tanhshrink_number(float(x)),
    array=_tanhshrink,
    dtype=floating,
    partials=(lambda out, x: ops.square(ops.tanh(x)),),
    saves=("input",),
    inplace=False,
    samples=_points,
    known=lambda: (known(0.0, grad=(0.0,)), known([1000.0, nan], grad=([1.0, nan],))),
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
    args=("input",),
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
