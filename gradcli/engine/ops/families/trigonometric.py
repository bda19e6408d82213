"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import counted
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.op import Op, elementwise, known, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np

FAMILY = 40, "Trigonometric"

NAN, INF = float("nan"), float("inf")

sin: Op = by_numpy(
    "sin",
    ieee.sin,
    doc="Sine of input in radians.",
    source="DLMF 4.20.1",
    partials=(lambda out, x: cos(x),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)), known(INF, grad=(NAN,))),
)

cos: Op = by_numpy(
    "cos",
    ieee.cos,
    doc="Cosine of input in radians.",
    source="DLMF 4.20.2",
    partials=(lambda out, x: ops.neg(sin(x)),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(0.0,)), known(INF, grad=(NAN,))),
)

tan: Op = by_numpy(
    "tan",
    ieee.tan,
    doc="Tangent of input in radians. Its derivative is 1 + tan(input) ** 2.",
    source="DLMF 4.20.3 and 4.21.13",
    partials=(lambda out, x: ops.add(ops.mul(out, out), 1.0),),
    saves=("out",),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)),),
)


def _root(x: Any) -> Any:
    """1 / sqrt(1 - x ** 2)."""
    return ops.rsqrt(ops.one_minus_square(x))


asin: Op = by_numpy(
    "asin",
    ieee.asin,
    "arcsin",
    aliases=("arcsin",),
    doc="Inverse sine; nan outside of -1 ... 1. Its derivative 1 / sqrt(1 - input ** 2) is inf at "
    "-1 and 1.",
    source="DLMF 4.24.7",
    partials=(lambda out, x: _root(x),),
    samples=points.below_one,
    known=lambda: (
        known(1.0, grad=(INF,)),
        known(-1.0, grad=(INF,)),
        known(2.0, grad=(NAN,)),
        known(0.0, grad=(1.0,)),
    ),
)

acos: Op = by_numpy(
    "acos",
    ieee.acos,
    "arccos",
    aliases=("arccos",),
    doc="Inverse cosine; nan outside of -1 ... 1. Its derivative is -1 / sqrt(1 - input ** 2).",
    source="DLMF 4.24.8",
    partials=(lambda out, x: ops.neg(_root(x)),),
    samples=points.below_one,
    known=lambda: (known(1.0, grad=(-INF,)), known(-1.0, grad=(-INF,)), known(2.0, grad=(NAN,))),
)


atan: Op = by_numpy(
    "atan",
    math.atan,
    "arctan",
    aliases=("arctan",),
    doc="Inverse tangent. Its derivative is 1 / (1 + input ** 2).",
    source="DLMF 4.24.9",
    partials=(lambda out, x: ops.square(ops.reciprocal(ops.hypot(x, 1.0))),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)), known([-INF, INF], grad=([0.0, 0.0],))),
)


def _over_square(x: Any, y: Any) -> Any:
    """X / (x ** 2 + y ** 2), 0 at the origin."""
    h = ops.hypot(x, y)
    return ops.where(ops.eq(h, 0), 0.0, ops.div(ops.leg(x, y), h))


atan2: Op = by_numpy(
    "atan2",
    math.atan2,
    "arctan2",
    args=("input", "other"),
    aliases=("arctan2",),
    doc="Angle of the point (other, input) in radians, -pi ... pi. Its derivatives are "
    "other / r ** 2 and -input / r ** 2 with r = hypot(input, other), and 0 at the origin, where "
    "PyTorch's modes disagree.",
    source="DLMF 4.23.1",
    partials=(
        lambda out, y, x: _over_square(x, y),
        lambda out, y, x: ops.neg(_over_square(y, x)),
    ),
    samples=lambda: (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, -2.0], 3.0),
        sample(2.0, [[0.0]]),
        sample([], []),
        sample(-1.0, 1.0),
    ),
    known=lambda: (
        known(0.0, 0.0, grad=(0.0, 0.0)),
        known(0.0, -1.0, grad=(-1.0, 0.0)),
        known([0.0, 0.0], [0.0, -1.0], grad=([0.0, -1.0], [0.0, 0.0])),
    ),
)

# Hyperbolic functions

sinh: Op = by_numpy(
    "sinh",
    ieee.sinh,
    doc="Hyperbolic sine.",
    source="DLMF 4.34.1",
    partials=(lambda out, x: cosh(x),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)),),
)

cosh: Op = by_numpy(
    "cosh",
    ieee.cosh,
    doc="Hyperbolic cosine.",
    source="DLMF 4.34.2",
    partials=(lambda out, x: sinh(x),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(0.0,)),),
)


tanh: Op = by_numpy(
    "tanh",
    math.tanh,
    guards=("out",),
    doc="Hyperbolic tangent. Its derivative 1 / cosh(input) ** 2 is exact also where "
    "1 - tanh(input) ** 2, PyTorch's way, has lost all digits.",
    source="DLMF 4.34.3",
    partials=(lambda out, x: ops.sech_square(x),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)), known([-1000.0, 1000.0], grad=([0.0, 0.0],))),
)

asinh: Op = by_numpy(
    "asinh",
    math.asinh,
    "arcsinh",
    aliases=("arcsinh",),
    doc="Inverse hyperbolic sine. Its derivative is 1 / sqrt(input ** 2 + 1).",
    source="DLMF 4.38.9",
    partials=(lambda out, x: ops.reciprocal(ops.hypot(x, 1.0)),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)),),
)

acosh: Op = by_numpy(
    "acosh",
    ieee.acosh,
    "arccosh",
    aliases=("arccosh",),
    doc="Inverse hyperbolic cosine; nan below 1. Its derivative 1 / sqrt(input ** 2 - 1) is inf "
    "at 1.",
    source="DLMF 4.38.10",
    partials=(lambda out, x: ops.mul(ops.rsqrt(ops.sub(x, 1.0)), ops.rsqrt(ops.add(x, 1.0))),),
    finite_in_pytorch=lambda x: x < -1,
    samples=lambda: (
        sample(1.5),
        sample(20.0),
        sample([]),
        sample([1.01]),
        sample([1.1, 2.0, 30.0]),
        sample([[1.5, 2.5], [3.0, 1.25]]),
        sample([[[4.0]]]),
        sample([100.0, 1000.0]),
    ),
    known=lambda: (known(1.0, grad=(INF,)), known(0.5, grad=(NAN,)), known(-2.0, grad=(NAN,))),
)

atanh: Op = by_numpy(
    "atanh",
    ieee.atanh,
    "arctanh",
    aliases=("arctanh",),
    doc="Inverse hyperbolic tangent; nan outside of -1 ... 1. Its derivative "
    "1 / (1 - input ** 2) is inf at -1 and 1.",
    source="DLMF 4.38.11",
    partials=(lambda out, x: ops.square(_root(x)),),
    finite_in_pytorch=lambda x: abs(x) > 1,
    samples=points.below_one,
    known=lambda: (known(1.0, grad=(INF,)), known(-1.0, grad=(INF,)), known(2.0, grad=(NAN,))),
)

# The cardinal sine


def _sinc(x: Data) -> Data:
    x = counted(x)
    sine = np.sin(np.multiply(np.fmod(x, 2.0), np.pi))  # the remainder is exact, pi x is not
    return np.where(np.equal(x, 0), np.ones_like(sine), np.divide(sine, np.multiply(x, np.pi)))


_TERMS = tuple(
    (-1.0) ** k * 2 * k * math.pi ** (2 * k) / math.factorial(2 * k + 1) for k in range(1, 16)
)


def _sinc_slope(out: Any, x: Any) -> Any:
    """(cos(pi x) - sinc(x)) / x; near 0, where that cancels, by the power series."""
    series: Any = 0.0
    square = ops.mul(x, x)
    for term in reversed(_TERMS):
        series = ops.add(ops.mul(series, square), term)
    turned = cos(ops.mul(ops.fmod(x, 2.0), math.pi))
    far = ops.div(ops.sub(turned, sinc(x)), x)
    return ops.where(ops.lt(ops.abs(x), 0.5), ops.mul(series, x), far)


sinc: Op = elementwise(
    "sinc",
    doc="sin(pi input) / (pi input), 1 at 0. Its derivatives near 0 come from the power series, "
    "so that the second at 0 is -pi ** 2 / 3, where PyTorch has nan.",
    source="quotient rule; DLMF 4.19.1",
    number=ieee.sinc,
    array=_sinc,
    dtype=floating,
    partials=(_sinc_slope,),
    saves=("input",),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(0.0,)), known([0.0], grad=([0.0],))),
)

# Degrees

deg2rad: Op = by_numpy(
    "deg2rad",
    math.radians,
    doc="Degrees as radians, input pi / 180.",
    partials=(math.pi / 180,),
    saves=(),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(math.pi / 180,)),),
)

rad2deg: Op = by_numpy(
    "rad2deg",
    math.degrees,
    doc="Radians as degrees, input 180 / pi.",
    partials=(180 / math.pi,),
    saves=(),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(180 / math.pi,)),),
)
