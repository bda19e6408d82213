"""Error and gamma functions."""

from __future__ import annotations

import math
from math import pi, sqrt
from typing import Any

from gradcli.engine.numerics import error as error_functions
from gradcli.engine.numerics import gamma as gamma_functions
from gradcli.engine.numerics.piecewise import on_array, on_number
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import in_pieces
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, elementwise, known, sample
from gradcli.engine.ops.promotion import floating
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

FAMILY = 50, "Error and gamma functions"

INF, NAN = float("inf"), float("nan")
TWO_OVER_SQRT_PI = 2.0 / sqrt(pi)
SQRT_TWO, SQRT_HALF = sqrt(2.0), sqrt(0.5)
ONE_OVER_SQRT_TWO_PI = 1.0 / sqrt(2.0 * pi)
MAX_ORDER = 1000
"""The highest order of `polygamma`; its work grows with it, and few values are numbers there."""

# Error functions


def _density(x: Any) -> Any:
    """Standard normal density."""
    return ops.mul(ops.exp_neg_square(x, share=0.5), ONE_OVER_SQRT_TWO_PI)


def _hazard(out: Any, x: Any) -> Any:
    """Density over distribution function: in the lower tail, where both vanish, by the ratio of
    integrals of erfc.
    """
    lower = ops.lt(x, 0)
    below = ops.where(lower, x, 0.0)
    ratio = ops.erfc_ratio(ops.mul(below, -SQRT_HALF), n=1)
    tail = ops.sub(ops.mul(ratio, SQRT_TWO), below)
    upper = ops.where(lower, 0.0, x)
    return ops.where(lower, tail, ops.div(_density(upper), ndtr(upper)))


def _scaled_slope(out: Any, x: Any) -> Any:
    """2 x out - 2 / sqrt(pi): above 0, where the two cancel, as a product."""
    lower = ops.lt(x, 0)
    below = ops.sub(ops.mul(ops.mul(ops.where(lower, x, 0.0), 2.0), out), TWO_OVER_SQRT_PI)
    ratio = ops.erfc_ratio(ops.where(lower, 0.0, x), n=1)
    return ops.where(lower, below, ops.mul(ops.mul(out, -2.0), ratio))


erf: Op = elementwise(
    "erf",
    doc="Error function 2 / sqrt(pi) times the integral of e ** -(t t) from 0 to input. Its "
    "derivative is 2 / sqrt(pi) e ** -(input input).",
    source="DLMF 7.2.1",
    number=math.erf,
    array=on_array(error_functions.erf),
    dtype=floating,
    partials=(lambda out, x: ops.mul(ops.exp_neg_square(x), TWO_OVER_SQRT_PI),),
    saves=("input",),
    samples=points.any_sign,
    known=lambda: (
        known(0.0, grad=(TWO_OVER_SQRT_PI,)),
        known([-INF, 1e10, INF], grad=([0.0, 0.0, 0.0],)),
    ),
)

erfc: Op = elementwise(
    "erfc",
    doc="1 - erf(input), exact in its tail, where erf is 1. Its derivative is -2 / sqrt(pi) "
    "e ** -(input input).",
    source="DLMF 7.2.2",
    number=math.erfc,
    array=on_array(error_functions.erfc),
    dtype=floating,
    partials=(lambda out, x: ops.mul(ops.exp_neg_square(x), -TWO_OVER_SQRT_PI),),
    saves=("input",),
    samples=points.any_sign,
    known=lambda: (
        known(0.0, grad=(-TWO_OVER_SQRT_PI,)),
        known([-INF, 1e10, INF], grad=([0.0, 0.0, 0.0],)),
    ),
)

erfcx: Op = in_pieces(
    "erfcx",
    error_functions.erfcx,
    doc="e ** (input input) erfc(input), which neither overflows nor vanishes for large input. Its "
    "derivative 2 input erfcx(input) - 2 / sqrt(pi) loses all digits for large input, PyTorch's "
    "way; here it is a product.",
    source="DLMF 7.18.2 and 7.18.7: integrals of erfc",
    partials=(_scaled_slope,),
    saves=("input", "out"),
    inplace=False,
    node="SpecialErfcxBackward0",
    samples=points.any_sign,
    known=lambda: (known([-INF, INF], grad=([-INF, 0.0],)),),
)

ndtr: Op = in_pieces(
    "ndtr",
    error_functions.ndtr,
    guards=(),
    doc="Standard normal distribution function, the probability of a value below input, exact in "
    "both tails. Its derivative is the density e ** -(input input / 2) / sqrt(2 pi).",
    source="DLMF 7.2.2: erfc(-input / sqrt(2)) / 2",
    partials=(lambda out, x: _density(x),),
    inplace=False,
    samples=points.any_sign,
    known=lambda: (
        known(0.0, grad=(ONE_OVER_SQRT_TWO_PI,)),
        known([-INF, -1e10, INF], grad=([0.0, 0.0, 0.0],)),
    ),
)

log_ndtr: Op = in_pieces(
    "log_ndtr",
    error_functions.log_ndtr,
    guards=("input", "out"),
    doc="log(ndtr(input)), exact in both tails. Its derivative is the inverse Mills ratio, density "
    "over ndtr, which is about -input in the lower tail.",
    source="chain rule",
    partials=(_hazard,),
    inplace=False,
    node="SpecialLogNdtrBackward0",
    samples=lambda: (*points.any_sign(), sample([-5.0, -1e-3, 1e-3, 5.0])),
    known=lambda: (
        known(0.0, grad=(2.0 * ONE_OVER_SQRT_TWO_PI,)),
        known([-INF, -1e10, 1e10, INF], grad=([INF, 1e10, 0.0, 0.0],)),
    ),
)

# Gamma functions

lgamma: Op = in_pieces(
    "lgamma",
    gamma_functions.lgamma,
    aliases=("gammaln",),
    doc="Logarithm of |gamma(input)|; inf at 0, -1, -2, ... Its derivative is digamma(input). All "
    "digits are right beside its zeros at 1 and 2; beside those below 0 the error is that of one "
    "rounding of input.",
    source="DLMF 5.2.1, 5.11.1; below 0 DLMF 5.5.3",
    partials=(lambda out, x: digamma(x),),
    samples=points.off_whole,
    known=lambda: (
        known(0.0, grad=(-INF,)),
        known([0.0, -1.0, INF], grad=([-INF, NAN, INF],)),
    ),
)

digamma: Op = in_pieces(
    "digamma",
    gamma_functions.digamma,
    aliases=("psi",),
    doc="Derivative of lgamma: gamma'(input) / gamma(input); -inf at 0, nan at -1, -2, ... Its "
    "derivative is polygamma(1, input). All digits are right beside its zero above 0; beside those "
    "below 0 the error is that of one rounding of input.",
    source="DLMF 5.2.2, 5.11.2; below 0 DLMF 5.5.4",
    partials=(lambda out, x: ops.polygamma_of(x, n=1),),
    finite_in_pytorch=lambda x: x < 0,
    samples=points.off_whole,
    known=lambda: (
        known(0.0, grad=(INF,)),
        known([0.0, -1.0, INF], grad=([INF, INF, 0.0],)),
    ),
)


def _polygamma(x: Any, n: Any) -> Any:
    order = whole(n, "n")
    if not 0 <= order <= MAX_ORDER:
        raise run_error("bad-argument", f"`n` is between 0 and {MAX_ORDER}, got {order}")
    return digamma(x) if order == 0 else ops.polygamma_of(x, n=order)


polygamma: Op = composite(
    "polygamma",
    _polygamma,
    params={"n": REQUIRED},
    order=("n", "input"),
    node="PolygammaBackward0(input)",
    doc="The n-th derivative of digamma, called as polygamma(n, input) or input.polygamma(n); inf "
    "(n odd) and -inf (n even) at 0, -1, -2, ... Its derivative is polygamma(n + 1, input). From "
    "n = 171 on, where n! overflows, digits are lost to the size of its logarithm.",
    source="DLMF 5.15",
    samples=lambda: (
        sample([1.5, -2.3], n=0),
        sample(1.5, n=1),
        sample([1.5, -2.3, 0.4], n=1),
        sample([], n=2),
        sample([[0.7, -0.6], [3.0, 30.0]], n=2),
        sample([2.5], n=3),
        sample([1.5, 2.5], n=2),
        sample(-1.3, n=5),
    ),
    known=lambda: (
        known(0.0, n=0, grad=(INF,)),
        known([0.0, -1.0, INF], n=1, grad=([-INF, -INF, -0.0],)),
    ),
    bad=lambda: (
        bad((2,), n=-1, says="`n` is between 0 and"),
        bad((2,), n=1.5, says="`n` must be an integer"),
    ),
)


_mvlgamma_number = on_number(gamma_functions.mvlgamma)
_mvlgamma_array = on_array(gamma_functions.mvlgamma)


def _dimension(p: Any) -> int:
    dimension = whole(p, "p")
    if dimension < 1:
        raise run_error("bad-argument", f"`p` is at least 1, got {dimension}")
    check_memory((dimension,))  # one term for each dimension
    return dimension


def _mvdigamma(out: Any, x: Any, p: Any) -> Any:
    total = digamma(x)
    for j in range(1, p):
        total = ops.add(total, digamma(ops.sub(x, 0.5 * j)))
    return total


mvlgamma: Op = elementwise(
    "mvlgamma",
    layout=in_order,
    params={"p": REQUIRED},
    aliases=("multigammaln",),
    doc="Logarithm of the multivariate gamma function of dimension p: p (p - 1) / 4 log(pi) plus "
    "the sum of lgamma(input - j / 2) for j from 0 to p - 1. Its derivative is the sum of "
    "digamma(input - j / 2).",
    source="DLMF 35.3.4",
    number=lambda x, p=1: _mvlgamma_number(x, p=_dimension(p)),
    array=lambda x, p=1: _mvlgamma_array(x, p=_dimension(p)),
    dtype=floating,
    partials=(_mvdigamma,),
    saves=("input",),
    samples=lambda: (
        sample(1.5, p=1),
        sample(2.3, p=2),
        sample(3.0, p=3),
        sample([], p=2),
        sample([1.7], p=2),
        sample([2.5, 3.0, 30.0], p=4),
        sample([[2.6, 3.2], [1.1, 0.8]], p=2),
        sample([[[4.0]]], p=5),
    ),
    known=lambda: (known([0.0, INF], p=1, grad=([-INF, INF],)),),
    bad=lambda: (
        bad((2,), p=0, says="`p` is at least 1"),
        bad((2,), p=1.5, says="`p` must be an integer"),
    ),
)
