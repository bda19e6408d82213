"""Special functions whose values SciPy computes: the extra `special`."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from gradcli.engine.numerics.scipy_functions import scipy_function, unscaled
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import in_pieces
from gradcli.engine.ops.op import Op, composite, known, sample
from gradcli.engine.values.carrier import Carrier, data_of
from gradcli.errors import run_error

FAMILY = 60, "Special functions of the extra `special`"

INF, NAN = float("inf"), float("nan")
HALF_SQRT_PI, SQRT_TWO_PI = 0.5 * sqrt(pi), sqrt(2.0 * pi)


_erfinv, _ndtri = scipy_function("erfinv"), scipy_function("ndtri")
_i0e, _i1e = scipy_function("i0e"), scipy_function("i1e")
_i0, _i1 = unscaled(scipy_function("i0"), _i0e), unscaled(scipy_function("i1"), _i1e)


erfinv: Op = in_pieces(
    "erfinv",
    _erfinv,
    doc="The inverse of erf, -1 ... 1 to -inf ... inf. Its derivative is sqrt(pi) / 2 "
    "e ** (erfinv(input) ** 2), taken from 1 - |input| so that it holds in both tails. Needs "
    "SciPy.",
    source="derivative of an inverse; DLMF 7.17",
    partials=(lambda out, x: ops.erfinv_slope(x),),
    samples=points.below_one,
    known=lambda: (
        known(0.0, grad=(HALF_SQRT_PI,)),
        known([-1.0, 1.0, 2.0], grad=([INF, INF, NAN],)),
    ),
)

ndtri: Op = in_pieces(
    "ndtri",
    _ndtri,
    guards=("out",),
    doc="The inverse of ndtr, the quantile of the standard normal distribution, 0 ... 1 to "
    "-inf ... inf. Its derivative is sqrt(2 pi) e ** (ndtri(input) ** 2 / 2), taken from the input "
    "so that it holds in both tails. Needs SciPy.",
    source="derivative of an inverse",
    partials=(lambda out, x: ops.ndtri_slope(x),),
    inplace=False,
    node="SpecialNdtriBackward0",
    samples=lambda: (
        sample(0.3),
        sample(0.5),
        sample(0.9),
        sample([]),
        sample([0.75]),
        sample([0.1, 0.5, 0.99]),
        sample([[0.2, 0.4], [0.6, 0.8]]),
        sample([[[0.01]]]),
    ),
    known=lambda: (
        known(0.5, grad=(SQRT_TWO_PI,)),
        known([0.0, 1.0, 2.0], grad=([INF, INF, NAN],)),
    ),
)

# Modified Bessel functions


i0: Op = in_pieces(
    "i0",
    _i0,
    doc="Modified Bessel function of the first kind, order 0. Its derivative is i1(input). Needs "
    "SciPy.",
    source="DLMF 10.29.3",
    partials=(lambda out, x: i1(x),),
    samples=points.any_sign,
    known=lambda: (known([0.0, -INF, INF], grad=([0.0, -INF, INF],)),),
)

i1: Op = in_pieces(
    "i1",
    _i1,
    guards=("input", "out"),
    doc="Modified Bessel function of the first kind, order 1. Its derivative is half the sum of "
    "those of the orders 0 and 2, 1 / 2 at 0. Needs SciPy.",
    source="DLMF 10.29.1",
    partials=(lambda out, x: ops.add(ops.mul(i0(x), 0.5), ops.mul(ops.bessel_i(x, n=2), 0.5)),),
    inplace=False,
    node="SpecialI1Backward0",
    samples=points.any_sign,
    known=lambda: (known([0.0, -INF, INF], grad=([0.5, INF, INF],)),),
)


def _off_zero() -> Any:
    return (
        sample(1.5),
        sample(-2.0),
        sample(40.0),
        sample([]),
        sample([1.0]),
        sample([1.0, -2.0, 0.3]),
        sample([[1.0, -2.0], [3.0, 0.5]]),
        sample([[[-35.0]]]),
    )


def _i0e_slope(out: Any, x: Any) -> Any:
    """The slope; at 0 it is written as in PyTorch, so that the second one is 1 / 2 there."""
    off_peak = ops.mul(ops.neg(ops.sign(x)), ops.bessel_moment(x, n=1))
    return ops.where(ops.eq(x, 0), i1e(x), off_peak)


i0e: Op = in_pieces(
    "i0e",
    _i0e,
    guards=("input", "out"),
    doc="e ** -|input| i0(input). Its derivative i1e(input) - sign(input) i0e(input) loses its "
    "digits for large input, PyTorch's way; here it is a mean of positive numbers. It is 0 at the "
    "peak at 0. Needs SciPy.",
    source="DLMF 10.32.1",
    partials=(_i0e_slope,),
    inplace=False,
    node="SpecialI0EBackward0",
    samples=_off_zero,
    known=lambda: (known([0.0, -INF, INF], grad=([0.0, 0.0, 0.0],)),),
)

i1e: Op = in_pieces(
    "i1e",
    _i1e,
    guards=("input", "out"),
    doc="e ** -|input| i1(input). Its derivative is 1 / 2 at 0; like that of i0e it keeps its "
    "digits for large input. Needs SciPy.",
    source="DLMF 10.32.3",
    partials=(lambda out, x: ops.sub(ops.bessel_moment(x, n=2), ops.bessel_moment(x, n=1)),),
    inplace=False,
    node="SpecialI1EBackward0",
    samples=_off_zero,
    known=lambda: (known([0.0, -INF, INF], grad=([0.5, 0.0, 0.0],)),),
)

# Incomplete gamma functions


def _of_order(name: str, upper: bool) -> Any:
    """An incomplete gamma function; its derivative by the order has no formula in finite terms."""

    def value(a: Any, x: Any) -> Any:
        if isinstance(a, Carrier) and a.recorded:
            raise run_error(
                "not-differentiable",
                f"`{name}` has no derivative by `input`, its order",
                help="a constant order, such as `input.detach()`, leaves that by `other`",
                raises=NotImplementedError(
                    f"the derivative for '{name}: input' is not implemented."
                ),
            )
        everywhere = ops.logical_not(ops.lt(a, a))
        return ops.incomplete_gamma(ops.where(everywhere, x, a), a=data_of(a), upper=upper)

    return value


def _orders() -> Any:
    return (
        sample([2], 1.5),
        sample([1], [0.3]),
        sample([3], 30.0),
        sample([2], []),
        sample([1, 2, 5], [0.5, 1.5, 4.0]),
        sample([[1], [4]], [0.25, 2.0, 9.0]),
    )


igamma: Op = composite(
    "igamma",
    _of_order("igamma", False),
    args=("input", "other"),
    aliases=("gammainc",),
    inplace=True,
    node="IgammaBackward0",
    doc="Regularized lower incomplete gamma function of the order input: the integral of "
    "t ** (input - 1) e ** -t from 0 to other, over gamma(input). It is differentiated by other "
    "alone: the derivative is other ** (input - 1) e ** -other / gamma(input). Needs SciPy.",
    source="DLMF 8.2.4, 8.8.13",
    samples=_orders,
)

igammac: Op = composite(
    "igammac",
    _of_order("igammac", True),
    args=("input", "other"),
    aliases=("gammaincc",),
    inplace=True,
    node="IgammacBackward0",
    doc="Regularized upper incomplete gamma function of the order input: 1 - igamma(input, other), "
    "exact in its tail. It is differentiated by other alone. Needs SciPy.",
    source="DLMF 8.2.4, 8.8.14",
    samples=_orders,
)
