"""Ops that special functions are made of and programs do not name."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.numerics import bessel as bessel_functions
from gradcli.engine.numerics import error as error_functions
from gradcli.engine.numerics import gamma as gamma_functions
from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.piecewise import pieces
from gradcli.engine.numerics.scipy_functions import incomplete_gamma as incomplete_gamma_of
from gradcli.engine.numerics.scipy_functions import scipy_function, unscaled
from gradcli.engine.numerics.ufunc import formula, real
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import in_pieces
from gradcli.engine.ops.op import Op, elementwise, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.data import Data, np

_ndtri = scipy_function("ndtri")


def _falling(out: Any, x: Any, share: float = 1.0) -> Any:
    """-2 share x e ** -(share x x), by the root of the power, which keeps its digits longer; far
    out, where the power is 0, x is no longer needed.
    """
    near = ops.clamp(x, -error_functions.FAR, error_functions.FAR)
    half = exp_neg_square(near, share=0.5 * share)
    return ops.mul(ops.mul(ops.mul(near, -2.0 * share), half), half)


exp_neg_square: Op = in_pieces(
    "exp_neg_square",
    error_functions.exp_neg_square,
    params={"share": 1.0},
    doc="e ** -(share input input), with no digit lost to the rounding of the square.",
    said=lambda x, share=1.0: f"exp(-{x} ** 2)" if share == 1 else f"exp(-{share:g} * {x} ** 2)",
    partials=(_falling,),
    samples=lambda: (*points.any_sign(), sample([1.0, -2.0, 0.3], share=0.5)),
)


one_minus_square: Op = elementwise(
    "one_minus_square",
    doc="1 - input ** 2 by its factors, which lose nothing near 1. Its derivative is that of the "
    "square: those of the factors cancel near 0.",
    source="product rule",
    said=lambda x: ops.mul(ops.sub(1.0, x), ops.add(x, 1.0)),
    number=lambda x: (1.0 - x) * (x + 1.0),
    array=lambda x: np.multiply(np.subtract(1.0, x), np.add(x, 1.0)),
    dtype=floating,
    partials=(lambda out, x: ops.mul(x, -2.0),),
    saves=("input",),
    samples=points.any_sign,
)


def _turned(top: Any, x: Any, y: Any) -> Any:
    """Top / hypot(x, y), 0 at the origin."""
    r = ops.hypot(x, y)
    return ops.where(ops.eq(r, 0), 0.0, ops.div(top, r))


def _leg_number(x: float, y: float) -> float:
    r = ieee.hypot(x, y)
    return 0.0 if r == 0 else ieee.div(x, r)


@formula
def _leg(x: Data, y: Data) -> Data:
    r = real("hypot")(x, y)
    return np.where(np.equal(r, 0), np.zeros((), np.result_type(r)), np.divide(x, r))


leg: Op = elementwise(
    "leg",
    args=("x", "y"),
    doc="x / hypot(x, y), 0 at the origin. The two parts of its derivative as a quotient cancel "
    "where y is small; here it is a product.",
    source="quotient rule",
    said=lambda x, y: ops.div(x, ops.hypot(x, y)),
    number=_leg_number,
    array=_leg,
    dtype=floating,
    partials=(
        lambda out, x, y: _turned(ops.square(leg(y, x)), x, y),
        lambda out, x, y: _turned(ops.neg(ops.mul(out, leg(y, x))), x, y),
    ),
    saves=("x", "y", "out"),
    node="DivBackward0",
    inplace=False,
    samples=lambda: (
        sample(3.0, -4.0),
        sample([3.0, 0.0, -2.0], [4.0, 2.0, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
    ),
)


@formula
def _sech_square(x: Data) -> Data:
    e = np.exp(np.negative(np.abs(x)))
    root = np.divide(np.multiply(e, 2.0), np.add(np.multiply(e, e), 1.0))
    return np.multiply(root, root)


sech_square: Op = elementwise(
    "sech_square",
    doc="1 / cosh(input) ** 2, which keeps its digits in both tails.",
    source="DLMF 4.28.2",
    said=lambda x: f"cosh({x}) ** -2",
    number=ieee.sech_square,
    array=_sech_square,
    dtype=floating,
    partials=(lambda out, x: ops.mul(ops.mul(out, ops.tanh(x)), -2.0),),
    saves=("input", "out"),
    samples=points.any_sign,
)


@formula
def _sigmoid_slope(x: Data) -> Data:
    e = np.exp(np.multiply(np.abs(x), -0.5))
    root = np.divide(e, np.add(np.multiply(e, e), 1.0))
    return np.multiply(root, root)


sigmoid_slope: Op = elementwise(
    "sigmoid_slope",
    doc="sigmoid(input) sigmoid(-input), whose own derivatives as a product cancel near 0.",
    source="derivative of sigmoid; DLMF 4.28.2",
    said=lambda x: ops.mul(ops.sigmoid(x), ops.sigmoid(ops.neg(x))),
    number=ieee.sigmoid_slope,
    array=_sigmoid_slope,
    dtype=floating,
    partials=(lambda out, x: ops.neg(ops.mul(out, ops.tanh(ops.mul(x, 0.5)))),),
    saves=("input", "out"),
    samples=points.any_sign,
)


def _ratio_slope(out: Any, x: Any, n: int = 1) -> Any:
    following = erfc_ratio(x, n=n + 1)
    gap = ops.sub(ops.mul(out, float(n)), ops.mul(following, float(n + 1)))
    return ops.mul(ops.mul(out, 2.0), gap)


erfc_ratio: Op = in_pieces(
    "erfc_ratio",
    error_functions.erfc_ratio,
    params={"n": 1},
    doc="Ratio of the n-fold integral of erfc from input to infinity to the (n - 1)-fold one.",
    source="DLMF 7.18.2 and 7.18.7",
    partials=(_ratio_slope,),
    saves=("input", "out"),
    samples=lambda: (
        sample(1.5, n=1),
        sample(-2.0, n=1),
        sample([0.3, -1.0, 2.0, 30.0], n=1),
        sample([0.3, -1.0, 2.0, 30.0], n=2),
    ),
)


polygamma_of: Op = in_pieces(
    "polygamma_of",
    gamma_functions.polygamma,
    params={"n": 1},
    doc="The n-th derivative of digamma.",
    source="DLMF 5.15 and 25.11.5; below 0 DLMF 5.5.4",
    said=lambda x, n: f"polygamma({n}, {x})",
    partials=(lambda out, x, n=1: polygamma_of(x, n=n + 1),),
    node="PolygammaBackward0",
    samples=lambda: (*points.off_whole(), sample([1.2, -2.6, 0.4, 30.0], n=3)),
)


bessel_moment: Op = in_pieces(
    "bessel_moment",
    bessel_functions.moment,
    params={"n": 0},
    doc="Mean of w ** n e ** (-|input| w) for w = 1 - cos(t) over the angle t.",
    source="DLMF 10.32.1 and 10.40.1",
    partials=(lambda out, x, n=0: ops.mul(ops.neg(ops.sign(x)), bessel_moment(x, n=n + 1)),),
    samples=lambda: (
        sample(1.5, n=0),
        sample([-2.0, 0.5, 40.0], n=1),
        sample([29.9, -30.1, 3.0], n=2),
    ),
)


def _bessel(x: Any, m: Any, n: int = 2) -> Any:
    value = unscaled(scipy_function("iv", n), scipy_function("ive", n))
    # beside 0 it is less than the smallest number, and SciPy's is nan
    return pieces(x, m, (-1e-162, 1e-162), (value, lambda x, m: 0.0 * x, value))


bessel_i: Op = in_pieces(
    "bessel_i",
    _bessel,
    params={"n": 2},
    doc="Modified Bessel function of the first kind and the order n, from 2 on.",
    source="DLMF 10.29.1",
    partials=(
        lambda out, x, n=2: ops.add(
            ops.mul(ops.i1(x) if n == 2 else bessel_i(x, n=n - 1), 0.5),
            ops.mul(bessel_i(x, n=n + 1), 0.5),
        ),
    ),
    samples=lambda: (
        sample(1.5, n=2),
        sample([-2.0, 0.5, 0.0], n=2),
        sample([-2.0, 0.5, 3.0], n=3),
    ),
)


def _inverse_slope(q: Any, m: Any, scale: float) -> Any:
    """Scale e ** (u u / 2) at the quantile u of the probability q, at most 1 / 2. It takes its
    digits from q, not from u, with which erfcx varies little.
    """
    return pieces(
        q,
        m,
        (0.0, 5e-324),
        (
            lambda q, m: q * math.nan,
            lambda q, m: q + math.inf,
            lambda q, m: (
                scale * error_functions.erfcx(-error_functions.SQRT_HALF * _ndtri(q, m), m) / q
            ),
        ),
    )


def _ndtri_slope(x: Any, m: Any) -> Any:
    scale = math.sqrt(0.5 * math.pi)
    return pieces(
        x,
        m,
        (0.5,),
        (
            lambda x, m: _inverse_slope(x, m, scale),
            lambda x, m: _inverse_slope(1.0 - x, m, scale),
        ),
    )


def _erfinv_slope(x: Any, m: Any) -> Any:
    scale = 0.25 * math.sqrt(math.pi)
    return pieces(
        x,
        m,
        (0.0,),
        (
            lambda x, m: _inverse_slope(0.5 * (1.0 + x), m, scale),
            lambda x, m: _inverse_slope(0.5 * (1.0 - x), m, scale),
        ),
    )


ndtri_slope: Op = in_pieces(
    "ndtri_slope",
    _ndtri_slope,
    doc="Derivative of ndtri; its own is the square of it times ndtri.",
    source="derivative of an inverse",
    partials=(lambda out, x: ops.mul(ops.mul(out, out), ops.ndtri(x)),),
    saves=("input", "out"),
    samples=lambda: (sample(0.3), sample([0.01, 0.5, 0.9])),
)

erfinv_slope: Op = in_pieces(
    "erfinv_slope",
    _erfinv_slope,
    doc="Derivative of erfinv; its own is twice the square of it times erfinv.",
    source="derivative of an inverse",
    partials=(lambda out, x: ops.mul(ops.mul(out, out), ops.mul(ops.erfinv(x), 2.0)),),
    saves=("input", "out"),
    samples=lambda: (sample(0.3), sample([-0.9, 0.0, 0.5])),
)


def _gamma_density(out: Any, x: Any, a: Any, upper: bool) -> Any:
    """Density of the gamma distribution, x ** (a - 1) e ** -x / gamma(a), with its sign."""
    power = ops.sub(ops.xlogy(ops.sub(a, 1.0), x), x)
    density = ops.exp(ops.sub(power, ops.lgamma(a)))
    return ops.neg(density) if upper else density


incomplete_gamma: Op = elementwise(
    "incomplete_gamma",
    args=("x",),
    params={"a": 1.0, "upper": False},
    doc="Regularized incomplete gamma function of the order a, which has the shape of x: the "
    "integral of t ** (a - 1) e ** -t from 0 to x, or from x on, over gamma(a).",
    source="DLMF 8.2.4",
    number=lambda x, **params: float(incomplete_gamma_of(float(x), **params)),
    array=incomplete_gamma_of,
    dtype=floating,
    inplace=False,
    partials=(_gamma_density,),
    saves=("x",),
    samples=lambda: (
        sample(1.5, a=2.0, upper=False),
        sample([0.5, 1.5, 4.0], a=2.5, upper=True),
        sample([0.5, 1.5, 30.0], a=0.5, upper=False),
    ),
)
