"""Activations of neural networks made of exponentials."""

from __future__ import annotations

import math
from math import inf, isnan, nan
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import floats
from gradcli.engine.ops.op import Op, bad, elementwise, known, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import number
from gradcli.errors import run_error

FAMILY = 272, "Smooth activations"

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_GELU_SLOPE = math.sqrt(2.0 / math.pi)
_GELU_CUBE = 0.044715

# exponential pieces -------------------------------------------------------------------------------


def _below(x: Any) -> Any:
    """X if it is negative, else 0: the exponential of it cannot overflow."""
    return ops.where(ops.gt(x, 0.0), 0.0, x)


def _elu_number(x: Any, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> float:
    return scale * x if x > 0 else scale * alpha * ieee.expm1(x * rate)


def _elu(x: Data, alpha: float = 1.0, scale: float = 1.0, rate: float = 1.0) -> Data:
    x = floats(x)
    down = np.expm1(np.minimum(x, 0) * rate)
    return np.where(x > 0, x * scale, down * (alpha * scale))


def _elu_slope(x: Any, alpha: float, scale: float, rate: float) -> Any:
    down = ops.mul(ops.exp(ops.mul(_below(x), rate)), alpha * scale * rate)
    return ops.where(ops.gt(x, 0.0), scale, down)


elu: Op = elementwise(
    "elu",
    params={"alpha": 1.0},
    doc="x where it is positive, else alpha (exp(x) - 1). The derivative at 0 is alpha.",
    number=lambda x, alpha=1.0: _elu_number(float(x), float(alpha)),
    array=lambda x, alpha=1.0: _elu(x, float(alpha)),
    dtype=floating,
    partials=(lambda out, x, alpha=1.0: _elu_slope(x, float(alpha), 1.0, 1.0),),
    saves=("input",),
    samples=lambda: (*points.off_corners(), sample([-1.0, 2.0], alpha=0.5)),
    known=lambda: (known(0.0, grad=(1.0,)), known([0.0, 1.0], alpha=0.5, grad=([0.5, 1.0],))),
)

selu: Op = elementwise(
    "selu",
    node="EluBackward0",
    doc="scale elu(x, alpha) with the scale 1.0507 and the alpha 1.6733 that keep mean 0 and "
    "variance 1 from layer to layer.",
    source="Klambauer and others, Self-normalizing neural networks, 2017",
    number=lambda x: _elu_number(float(x), SELU_ALPHA, SELU_SCALE),
    array=lambda x: _elu(x, SELU_ALPHA, SELU_SCALE),
    dtype=floating,
    partials=(lambda out, x: _elu_slope(x, SELU_ALPHA, SELU_SCALE, 1.0),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (known(0.0, grad=(SELU_ALPHA * SELU_SCALE,)),),
)


def _inverse(alpha: Any) -> float:
    if not alpha:
        raise run_error("bad-argument", "`alpha` of `celu` cannot be 0")
    return 1.0 / float(alpha)


celu: Op = elementwise(
    "celu",
    params={"alpha": 1.0},
    doc="x where it is positive, else alpha (exp(x / alpha) - 1). The derivative at 0 is 1.",
    number=lambda x, alpha=1.0: _elu_number(float(x), float(alpha), 1.0, _inverse(alpha)),
    array=lambda x, alpha=1.0: _elu(x, float(alpha), 1.0, _inverse(alpha)),
    dtype=floating,
    partials=(lambda out, x, alpha=1.0: _elu_slope(x, float(alpha), 1.0, _inverse(alpha)),),
    saves=("input",),
    samples=lambda: (*points.off_corners(), sample([-1.0, 2.0], alpha=0.5)),
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
    x = floats(x)
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
    params={"beta": 1.0, "threshold": None},
    doc="log(1 + exp(beta x)) / beta without overflow; x itself where beta x is above a "
    "`threshold` that is given (PyTorch's is 20 where none is, which costs all but nine digits of "
    "the derivative). Its derivative is sigmoid(beta x).",
    number=_softplus_number,
    array=_softplus,
    dtype=floating,
    partials=(lambda out, x, beta=1.0, threshold=None: _softplus_slope(x, beta, threshold),),
    saves=("input",),
    inplace=False,
    samples=lambda: (*points.off_corners(), sample([5.0, -1.0], beta=2.0, threshold=20.0)),
    known=lambda: (known(0.0, grad=(0.5,)), known([1000.0, -1000.0], grad=([1.0, 0.0],))),
)


def _logsigmoid_number(x: float) -> float:
    return min(x, 0.0) - math.log1p(ieee.exp(-abs(x))) if not isnan(x) else x


logsigmoid: Op = elementwise(
    "logsigmoid",
    layout=in_order,
    doc="log(sigmoid(x)) without overflow. Its derivative is sigmoid(-x).",
    number=lambda x: _logsigmoid_number(float(x)),
    array=lambda x: np.minimum(floats(x), 0) - np.log1p(np.exp(-np.abs(floats(x)))),
    dtype=floating,
    partials=(lambda out, x: ops.sigmoid(ops.neg(x)),),
    saves=("input",),
    node="LogSigmoidBackward0",
    inplace=False,
    samples=points.off_corners,
    known=lambda: (known([-1000.0, 0.0, 1000.0], grad=([1.0, 0.5, 0.0],)),),
)


# products with a soft step ------------------------------------------------------------------------


_DEEP = -700.0
"""Below this, exponentials are subnormal and lose digits."""
_SQUARE_DEEP = 350.0
"""Above this, those of -2 x."""


def _tail(weight: Any, exponent: Any) -> Any:
    """Weight e ** exponent, where the power alone would lose digits."""
    half = ops.exp(ops.mul(exponent, 0.5))
    return ops.mul(ops.mul(weight, half), half)


def _bounded(x: Any) -> Any:
    """X down to where its exponential is 0."""
    return ops.where(ops.lt(x, -1e4), -1e4, x)


def _mirrored(x: Any, deep: Any) -> Any:
    """The slope at x from `deep`, that at -|x|, of a function x step(x): the two sum to 1."""
    return ops.where(ops.gt(x, 0.0), ops.sub(1.0, deep), deep)


def _silu_number(x: float) -> float:
    if x < _DEEP:
        return _tail(_bounded(x), _bounded(x))  # type: ignore[no-any-return]  # of a number
    return x * ieee.sigmoid(x)


def _silu(x: Data) -> Data:
    low = _bounded(x)
    return np.where(x < _DEEP, _tail(low, low), x * ops.sigmoid(x))


def _silu_slope(x: Any) -> Any:
    size = ops.abs(x)
    near = ops.where(ops.gt(size, 1e4), 0.0, x)  # beyond it the step is flat
    bend = ops.mul(near, ops.sigmoid_slope(x))
    low = _bounded(ops.neg(size))
    far = _mirrored(x, _tail(ops.add(low, 1.0), low))
    return ops.where(ops.gt(size, -_DEEP), far, ops.add(ops.sigmoid(x), bend))


silu: Op = elementwise(
    "silu",
    aliases=("swish",),
    doc="x sigmoid(x).",
    number=lambda x: _silu_number(float(x)),
    array=lambda x: _silu(floats(x)),
    dtype=floating,
    partials=(lambda out, x: _silu_slope(x),),
    saves=("input",),
    samples=points.off_corners,
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
        bend = ops.mul(ops.sigmoid_slope(inner), rise)
        soft = ops.add(step, ops.mul(ops.mul(near, bend), 2.0 * _GELU_SLOPE))
        size = ops.abs(near)
        steep = ops.mul(ops.mul(size, rise), 2.0 * _GELU_SLOPE)
        low = ops.neg(ops.abs(inner))
        far = _mirrored(x, _tail(ops.sub(1.0, steep), low))
        soft = ops.where(ops.lt(low, _DEEP), far, soft)
        return ops.where(ops.gt(ops.abs(x), 1e4), ops.where(ops.gt(x, 0.0), 1.0, 0.0), soft)
    density = ops.mul(ops.exp_neg_square(near, share=0.5), _DENSITY)
    soft = ops.add(ops.ndtr(x), ops.mul(near, density))
    low = _bounded(ops.neg(ops.abs(x)))
    half = ops.exp_neg_square(low, share=0.25)
    below = ops.add(_gelu_ratio(low), ops.mul(low, _DENSITY))
    far = _mirrored(x, ops.mul(ops.mul(below, half), half))
    return ops.where(ops.lt(low, _GELU_DEEP), far, soft)


_GELU_DEEP = -37.0


def _gelu_ratio(x: Any) -> Any:
    """Ndtr(x) e ** (x ** 2 / 2), of x where it is far below 0."""
    return ops.mul(ops.erfcx(ops.mul(_below(x), -math.sqrt(0.5))), 0.5)


def _gelu_deep(x: Any) -> Any:
    """The value of gelu where ndtr is below the normal numbers."""
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
    x = floats(x)
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
        *points.off_corners(),
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
    # tanh(softplus(x)) = a / b, above 0 as 1 - (b - a) / b, whose parts do not cancel
    twice = ops.mul(square, 2.0)
    a = ops.add(ops.mul(m, 2.0), ops.where(up, 1.0, square))
    b = ops.add(a, ops.where(up, twice, 2.0))
    step = ops.add(ops.where(up, 1.0, 0.0), ops.div(ops.where(up, ops.neg(twice), a), b))
    rise = ops.mul(ops.where(up, square, m), ops.mul(ops.add(m, 1.0), 4.0))
    size = ops.abs(x)
    near = ops.where(ops.gt(size, 1e4), 0.0, x)
    low = _bounded(ops.neg(size))
    above = ops.sub(1.0, _tail(ops.add(ops.mul(low, 4.0), 2.0), ops.mul(low, 2.0)))
    far = ops.where(up, above, _tail(ops.add(low, 1.0), low))
    soft = ops.add(step, ops.mul(near, ops.div(rise, ops.square(b))))
    return ops.where(ops.gt(size, _SQUARE_DEEP), far, soft)


def _mish_number(x: float) -> float:
    if x < _DEEP:
        return _tail(_bounded(x), _bounded(x))  # type: ignore[no-any-return]  # of a number
    m = ieee.exp(-abs(x))
    if x > 0:
        return x * (1.0 + 2.0 * m) / (1.0 + 2.0 * m + 2.0 * m * m)
    return x * (m * (m + 2.0) / (m * (m + 2.0) + 2.0))


def _mish(x: Data) -> Data:
    x = floats(x)
    m = np.exp(-np.abs(x))
    a = np.where(x > 0, 1 + 2 * m, m * (m + 2))
    low = _bounded(x)
    step = a / (a + np.where(x > 0, 2 * m * m, x.dtype.type(2)))
    return np.where(x < _DEEP, _tail(low, low), x * step)


mish: Op = elementwise(
    "mish",
    doc="x tanh(softplus(x)).",
    source="Misra, Mish: a self regularized non-monotonic activation function, 2019",
    number=lambda x: _mish_number(float(x)),
    array=_mish,
    dtype=floating,
    partials=(lambda out, x: _mish_slope(x),),
    saves=("input",),
    samples=points.off_corners,
    known=lambda: (known([0.0, 1000.0, -1000.0], grad=([0.6, 1.0, 0.0],)),),
)


softsign: Op = elementwise(
    "softsign",
    doc="x / (1 + |x|).",
    number=lambda x: float(x) / (1.0 + abs(x)) if abs(x) != inf else math.copysign(1.0, x),
    array=lambda x: np.where(
        np.isinf(floats(x)), np.sign(floats(x)), floats(x) / (1 + np.abs(floats(x)))
    ),
    dtype=floating,
    partials=(lambda out, x: ops.square(ops.reciprocal(ops.add(ops.abs(x), 1.0))),),
    saves=("input",),
    inplace=False,
    samples=points.off_corners,
    known=lambda: (known(0.0, grad=(1.0,)), known([inf, 1.0], grad=([0.0, 0.25],))),
)


def _tanhshrink_number(x: float) -> float:
    return _tanhshrink_near(x) if abs(x) < 1.0 else x - math.tanh(x)


def _tanhshrink_near(x: Any) -> Any:
    """X - tanh(x) = (x cosh x - sinh x) / cosh x by the series of both, whose terms of first order
    cancel.
    """
    square = x * x
    top = below = 0.0
    for k in range(11, 0, -1):
        top = square * (2 * k / math.factorial(2 * k + 1) + top)
        below = square * (1.0 / math.factorial(2 * k) + below)
    return x * top / (1.0 + below)


def _tanhshrink(x: Data) -> Data:
    x = floats(x)
    wide = x.astype(np.float64)
    near = np.where(np.abs(wide) < 1.0, wide, 0.0)
    return np.where(np.abs(wide) < 1.0, _tanhshrink_near(near), wide - np.tanh(wide)).astype(
        x.dtype
    )


tanhshrink: Op = elementwise(
    "tanhshrink",
    guards=(),
    doc="x - tanh(x), by a series where the two are close. Its derivative is tanh(x) ** 2.",
    source="DLMF 4.33.1 and 4.33.2",
    number=lambda x: _tanhshrink_number(float(x)),
    array=_tanhshrink,
    dtype=floating,
    partials=(lambda out, x: ops.square(ops.tanh(x)),),
    saves=("input",),
    inplace=False,
    samples=points.off_corners,
    known=lambda: (known(0.0, grad=(0.0,)), known([1000.0, nan], grad=([1.0, nan],))),
)
