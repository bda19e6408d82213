"""Error and gamma functions."""

from __future__ import annotations

import math
from math import pi, sqrt
from typing import Any

from gradcli.engine import error_functions
from gradcli.engine.ops import points
from gradcli.engine.ops.registry import Op, elementwise, known, ops, sample
from gradcli.engine.piecewise import on_array, on_number

INF, NAN = float("inf"), float("nan")
TWO_OVER_SQRT_PI = 2.0 / sqrt(pi)
SQRT_TWO, SQRT_HALF = sqrt(2.0), sqrt(0.5)
ONE_OVER_SQRT_TWO_PI = 1.0 / sqrt(2.0 * pi)

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


erf: Op = elementwise(
    "erf",
    args=("input",),
    doc="Error function 2 / sqrt(pi) times the integral of e ** -(t t) from 0 to input. Its "
    "derivative is 2 / sqrt(pi) e ** -(input input).",
    source="DLMF 7.2.1",
    number=math.erf,
    array=on_array(error_functions.erf),
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
    args=("input",),
    doc="1 - erf(input), exact in its tail, where erf is 1. Its derivative is -2 / sqrt(pi) "
    "e ** -(input input).",
    source="DLMF 7.2.2",
    number=math.erfc,
    array=on_array(error_functions.erfc),
    partials=(lambda out, x: ops.mul(ops.exp_neg_square(x), -TWO_OVER_SQRT_PI),),
    saves=("input",),
    samples=points.any_sign,
    known=lambda: (
        known(0.0, grad=(-TWO_OVER_SQRT_PI,)),
        known([-INF, 1e10, INF], grad=([0.0, 0.0, 0.0],)),
    ),
)

erfcx: Op = elementwise(
    "erfcx",
    args=("input",),
    doc="e ** (input input) erfc(input), which neither overflows nor vanishes for large input. Its "
    "derivative 2 input erfcx(input) - 2 / sqrt(pi) loses all digits for large input, PyTorch's "
    "way; here it is a product.",
    source="DLMF 7.18.2 and 7.18.7: integrals of erfc",
    number=on_number(error_functions.erfcx),
    array=on_array(error_functions.erfcx),
    partials=(lambda out, x: ops.mul(ops.mul(out, -2.0), ops.erfc_ratio(x, n=1)),),
    saves=("input", "out"),
    inplace=False,
    node="SpecialErfcxBackward0",
    samples=points.any_sign,
    known=lambda: (known([-INF, INF], grad=([-INF, 0.0],)),),
)

ndtr: Op = elementwise(
    "ndtr",
    args=("input",),
    doc="Standard normal distribution function, the probability of a value below input, exact in "
    "both tails. Its derivative is the density e ** -(input input / 2) / sqrt(2 pi).",
    source="DLMF 7.2.2: erfc(-input / sqrt(2)) / 2",
    number=on_number(error_functions.ndtr),
    array=on_array(error_functions.ndtr),
    partials=(lambda out, x: _density(x),),
    saves=("input",),
    inplace=False,
    samples=points.any_sign,
    known=lambda: (
        known(0.0, grad=(ONE_OVER_SQRT_TWO_PI,)),
        known([-INF, -1e10, INF], grad=([0.0, 0.0, 0.0],)),
    ),
)

log_ndtr: Op = elementwise(
    "log_ndtr",
    args=("input",),
    doc="log(ndtr(input)), exact in both tails. Its derivative is the inverse Mills ratio, density "
    "over ndtr, which is about -input in the lower tail.",
    source="chain rule",
    number=on_number(error_functions.log_ndtr),
    array=on_array(error_functions.log_ndtr),
    partials=(_hazard,),
    saves=("input",),
    inplace=False,
    node="SpecialLogNdtrBackward0",
    samples=lambda: (*points.any_sign(), sample([-5.0, -1e-3, 1e-3, 5.0])),
    known=lambda: (
        known(0.0, grad=(2.0 * ONE_OVER_SQRT_TWO_PI,)),
        known([-INF, -1e10, 1e10, INF], grad=([INF, 1e10, 0.0, 0.0],)),
    ),
)
