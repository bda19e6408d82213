"""Exponentials and logarithms."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import formula, real
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.nodes import of_pair
from gradcli.engine.ops.op import Op, elementwise, known, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.sizes import number

FAMILY = 30, "Exponential"

NAN, INF = float("nan"), float("inf")


def _one_over(x: Any) -> Any:
    """1 / x where the logarithm of x is a number, else nan, as are all of its derivatives."""
    return ops.where(ops.lt(x, 0), ops.sqrt(x), ops.reciprocal(x))


# Values on arrays


@formula
def _sigmoid(x: Data) -> Data:
    e = np.exp(np.negative(np.abs(x)))
    return np.divide(np.where(np.greater_equal(x, 0), np.ones_like(e), e), np.add(e, 1))


@formula
def _times_log(x: Data, y: Data, log: Data) -> Data:
    zero = np.logical_and(np.equal(x, 0), np.equal(y, y))
    return np.where(zero, np.zeros((), np.result_type(log)), np.multiply(x, log))


def _wide(x: Data, y: Data) -> Data:
    """Y in the digits that both have together."""
    return np.asarray(y, np.result_type(x, y, 0.0))


@formula
def _xlogy(x: Data, y: Data) -> Data:
    return _times_log(x, y, real("log")(_wide(x, y)))


@formula
def _xlog1py(x: Data, y: Data) -> Data:
    return _times_log(x, y, real("log1p")(_wide(x, y)))


def _entr(x: Data) -> Data:
    negative = np.less(x, 0)
    r = _times_log(x, x, real("log")(np.where(negative, np.ones((), x.dtype), x)))
    return np.where(negative, np.full((), -INF, r.dtype), np.negative(r) + 0.0)


@formula
def _logit(x: Data, eps: float | None = None) -> Data:
    if eps is not None:
        eps = number(eps, "eps")
        x = np.clip(x, eps, 1.0 - eps)
    return np.subtract(real("log")(x), real("log1p")(np.negative(x)))


# Exponentials

exp: Op = by_numpy(
    "exp",
    ieee.exp,
    doc="e ** input.",
    source="DLMF 4.20 and 4.2.19: the exponential is its own derivative",
    partials=(lambda out, x: out,),
    saves=("out",),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)), known([-INF, 1000.0], grad=([0.0, INF],))),
)

exp2: Op = by_numpy(
    "exp2",
    ieee.exp2,
    doc="2 ** input. Its derivative is 2 ** input log(2).",
    partials=(lambda out, x: ops.mul(out, ieee.LN2),),
    saves=("out",),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(ieee.LN2,)),),
)

expm1: Op = by_numpy(
    "expm1",
    ieee.expm1,
    guards=("out",),
    doc="e ** input - 1, exact for small input. Its derivative is taken from the input, as "
    "expm1(input) + 1, PyTorch's way, loses all digits below -37.",
    partials=(lambda out, x: exp(x),),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(1.0,)),),
)

# Logarithms

log: Op = by_numpy(
    "log",
    ieee.log,
    doc="Natural logarithm of input; nan below 0. Its derivative 1 / input is inf at 0, and nan "
    "where the value is, where PyTorch has 1 / input.",
    source="DLMF 4.2.18",
    partials=(lambda out, x: _one_over(x),),
    finite_in_pytorch=lambda x: x < 0,
    samples=points.positive,
    known=lambda: (
        known(0.0, grad=(INF,)),
        known(-1.0, grad=(NAN,)),
        known([0.0, -1.0, 2.0], grad=([INF, NAN, 0.5],)),
    ),
)

log2: Op = by_numpy(
    "log2",
    ieee.log2,
    doc="Logarithm of input to the base 2. Its derivative is 1 / (input log(2)).",
    partials=(lambda out, x: ops.div(_one_over(x), ieee.LN2),),
    finite_in_pytorch=lambda x: x < 0,
    samples=points.positive,
    known=lambda: (known(0.0, grad=(INF,)), known(-1.0, grad=(NAN,))),
)

log10: Op = by_numpy(
    "log10",
    ieee.log10,
    doc="Logarithm of input to the base 10. Its derivative is 1 / (input log(10)).",
    partials=(lambda out, x: ops.div(_one_over(x), ieee.LN10),),
    finite_in_pytorch=lambda x: x < 0,
    samples=points.positive,
    known=lambda: (known(0.0, grad=(INF,)), known(-1.0, grad=(NAN,))),
)

log1p: Op = by_numpy(
    "log1p",
    ieee.log1p,
    doc="log(1 + input), exact for small input. Its derivative is 1 / (1 + input).",
    partials=(lambda out, x: _one_over(ops.add(x, 1.0)),),
    finite_in_pytorch=lambda x: x < -1,
    samples=lambda: (*points.positive(), sample(0.0), sample([-0.5, 1e-9])),
    known=lambda: (known(-1.0, grad=(INF,)), known(-2.0, grad=(NAN,)), known(0.0, grad=(1.0,))),
)


def _softer(x: Any, y: Any, scale: float) -> Any:
    """Share of x in e ** (scale x) + e ** (scale y); 0 where both are 0."""
    some = ops.gt(ops.maximum(x, y), -INF)
    gap = ops.sub(x, y)
    return ops.where(some, sigmoid(gap if scale == 1.0 else ops.mul(gap, scale)), 0.0)


logaddexp: Op = by_numpy(
    "logaddexp",
    ieee.logaddexp,
    args=("input", "other"),
    doc="log(e ** input + e ** other), without overflow. Its derivatives are "
    "sigmoid(input - other) and sigmoid(other - input), 0 where both are -inf.",
    source="chain rule",
    partials=(lambda out, x, y: _softer(x, y, 1.0), lambda out, x, y: _softer(y, x, 1.0)),
    inplace=False,
    samples=points.pairs,
    known=lambda: (
        known(1000.0, 1000.0, grad=(0.5, 0.5)),
        known(-INF, -INF, grad=(0.0, 0.0)),
        known(INF, 1.0, grad=(1.0, 0.0)),
    ),
)

logaddexp2: Op = by_numpy(
    "logaddexp2",
    ieee.logaddexp2,
    args=("input", "other"),
    doc="Logarithm to the base 2 of 2 ** input + 2 ** other, without overflow.",
    source="chain rule",
    partials=(
        lambda out, x, y: _softer(x, y, ieee.LN2),
        lambda out, x, y: _softer(y, x, ieee.LN2),
    ),
    inplace=False,
    samples=points.pairs,
    known=lambda: (known(1000.0, 1000.0, grad=(0.5, 0.5)), known(-INF, -INF, grad=(0.0, 0.0))),
)

xlogy: Op = elementwise(
    "xlogy",
    args=("input", "other"),
    doc="input log(other), 0 where input is 0. Its derivatives are log(other), or 0 where input "
    "is 0 and other not above 0, and input / other.",
    source="product rule",
    number=ieee.xlogy,
    array=_xlogy,
    dtype=floating,
    partials=(
        lambda out, x, y: ops.where(ops.logical_and(ops.eq(x, 0), ops.le(y, 0)), 0.0, log(y)),
        lambda out, x, y: ops.div(x, y),
    ),
    finite_in_pytorch=lambda x, y: ~np.isnan(y),  # its cotangent of x is xlogy(g, y)
    saves=("input", "other"),
    node=of_pair("XlogyBackward"),
    samples=points.weights,
    known=lambda: (known(0.0, 0.0, grad=(0.0, NAN)), known(0.0, 2.0, grad=(ieee.LN2, 0.0))),
)

xlog1py: Op = elementwise(
    "xlog1py",
    args=("input", "other"),
    node=of_pair("SpecialXlog1PyBackward"),
    doc="input log(1 + other), 0 where input is 0. Its derivatives are log1p(other), or 0 where "
    "input is 0 and other not above -1, and input / (1 + other).",
    source="product rule",
    number=ieee.xlog1py,
    array=_xlog1py,
    dtype=floating,
    partials=(
        lambda out, x, y: ops.where(ops.logical_and(ops.eq(x, 0), ops.le(y, -1)), 0.0, log1p(y)),
        lambda out, x, y: ops.div(x, ops.add(y, 1.0)),
    ),
    finite_in_pytorch=lambda x, y: ~np.isnan(y),  # as above
    saves=("input", "other"),
    inplace=False,
    samples=points.weights,
    known=lambda: (known(0.0, -1.0, grad=(0.0, NAN)),),
)

entr: Op = elementwise(
    "entr",
    node="SpecialEntrBackward0",
    doc="Entropy -input log(input); 0 at 0, -inf below. Its derivative is -log(input) - 1.",
    source="product rule",
    number=ieee.entr,
    array=_entr,
    dtype=floating,
    partials=(lambda out, x: ops.sub(ops.neg(log(x)), 1.0),),
    saves=("input",),
    inplace=False,
    samples=points.positive,
    known=lambda: (known(0.0, grad=(INF,)), known(1.0, grad=(-1.0,))),
)

sigmoid: Op = elementwise(
    "sigmoid",
    guards=("out",),
    aliases=("expit",),
    doc="1 / (1 + e ** -input). Its derivative sigmoid(input) sigmoid(-input) is exact also where "
    "1 - sigmoid(input), PyTorch's way, has lost all digits.",
    source="chain rule",
    number=ieee.sigmoid,
    array=_sigmoid,
    dtype=floating,
    partials=(lambda out, x: ops.sigmoid_slope(x),),
    saves=("input",),
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(0.25,)), known([-1000.0, 1000.0], grad=([0.0, 0.0],))),
)


def _logit_slope(out: Any, x: Any, eps: float | None = None) -> Any:
    slope = ops.add(ops.reciprocal(x), ops.reciprocal(ops.sub(1.0, x)))
    if eps is None:
        undefined = ops.logical_or(ops.lt(x, 0.0), ops.gt(x, 1.0))
        return ops.where(undefined, ops.mul(slope, NAN), slope)
    outside = ops.logical_or(ops.lt(x, eps), ops.gt(x, 1.0 - eps))
    return ops.where(outside, 0.0, slope)


logit: Op = elementwise(
    "logit",
    params={"eps": None},
    doc="log(input / (1 - input)); with eps, the input is first brought into eps ... 1 - eps. "
    "Its derivative is 1 / (input (1 - input)), and 0 where eps changes the input.",
    source="quotient rule",
    number=ieee.logit,
    array=_logit,
    dtype=floating,
    partials=(_logit_slope,),
    saves=("input",),
    samples=lambda: (
        sample(0.5),
        sample(0.2),
        sample([]),
        sample([0.9]),
        sample([0.1, 0.5, 0.7]),
        sample([[0.25, 0.75], [0.01, 0.99]]),
        sample([0.05, 0.5, 0.95], eps=0.1),
        sample([[[0.3]]]),
    ),
    known=lambda: (
        known(0.0, grad=(INF,)),
        known(1.0, grad=(INF,)),
        known([2.0, INF, -INF], grad=([NAN, NAN, NAN],)),
        known(0.0, eps=0.1, grad=(0.0,)),
    ),
)
