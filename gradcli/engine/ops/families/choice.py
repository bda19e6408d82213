"""Choice between values: the larger, the one where a condition holds, the nearest inside bounds."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import alike, single, ufunc, unfit
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.nodes import by_number
from gradcli.engine.ops.op import Op, bad, composite, elementwise, known, op, sample
from gradcli.engine.ops.promotion import promoted
from gradcli.engine.values.data import SCALARS, Data, dtype_of, np, plain, shape_of
from gradcli.engine.values.sizes import number
from gradcli.errors import run_error

FAMILY = 80, "Choice and clamping"

NAN, INF = float("nan"), float("inf")


def _share(x: Any, y: Any, wins: Any) -> Any:
    """Share of x in the gradient of the one that is chosen of the two; `wins` tells where x is."""
    x_nan, y_nan = ops.isnan(x), ops.isnan(y)
    tie = ops.logical_or(ops.eq(x, y), ops.logical_and(x_nan, y_nan))
    return where(tie, 0.5, ops.logical_or(wins, ops.logical_and(x_nan, ops.logical_not(y_nan))))


def _of_two(name: str, number: Any, doc: str, **fields: Any) -> Op:
    """An op that chooses one of its two operands."""
    return elementwise(
        name,
        args=("input", "other"),
        doc=doc,
        number=number,
        array=ufunc(name),
        chooses=True,
        saves=("input", "other"),
        inplace=False,
        samples=points.pairs,
        **fields,
    )


maximum: Op = _of_two(
    "maximum",
    ieee.maximum,
    "Larger of input and other; nan where one is. At a tie each gets half of the gradient; a "
    "nan alone gets all of it, where PyTorch gives it to the other as well.",
    source="midpoint of the subdifferential",
    exact=True,
    partials=(
        lambda out, x, y: _share(x, y, ops.gt(x, y)),
        lambda out, x, y: _share(y, x, ops.gt(y, x)),
    ),
    known=lambda: (
        known(1.0, 1.0, grad=(0.5, 0.5)),
        known([3.0, 3.0], [3.0, 2.0], grad=([0.5, 1.0], [0.5, 0.0])),
        known(NAN, 2.0, grad=(1.0, 0.0)),
        known(2.0, NAN, grad=(0.0, 1.0)),
        known([NAN, 2.0], [2.0, NAN], grad=([1.0, 0.0], [0.0, 1.0])),
    ),
)

minimum: Op = _of_two(
    "minimum",
    ieee.minimum,
    "Smaller of input and other; nan where one is. At a tie each gets half of the gradient; a "
    "nan alone gets all of it.",
    source="midpoint of the subdifferential",
    exact=True,
    partials=(
        lambda out, x, y: _share(x, y, ops.lt(x, y)),
        lambda out, x, y: _share(y, x, ops.lt(y, x)),
    ),
    known=lambda: (
        known(1.0, 1.0, grad=(0.5, 0.5)),
        known(NAN, 2.0, grad=(1.0, 0.0)),
        known(2.0, NAN, grad=(0.0, 1.0)),
    ),
)

fmax: Op = _of_two(
    "fmax",
    ieee.fmax,
    "Larger of input and other, passing over nan. At a tie the first gets the gradient.",
    source="PyTorch",
    partials=(
        lambda out, x, y: ops.logical_or(ops.ge(x, y), ops.isnan(y)),
        lambda out, x, y: ops.logical_not(ops.logical_or(ops.ge(x, y), ops.isnan(y))),
    ),
    known=lambda: (
        known(1.0, 1.0, grad=(1.0, 0.0)),
        known(NAN, 2.0, grad=(0.0, 1.0)),
        known([2.0, 1.0], [NAN, 1.0], grad=([1.0, 1.0], [0.0, 0.0])),
    ),
)

fmin: Op = _of_two(
    "fmin",
    ieee.fmin,
    "Smaller of input and other, passing over nan. At a tie the first gets the gradient.",
    source="PyTorch",
    partials=(
        lambda out, x, y: ops.logical_or(ops.le(x, y), ops.isnan(y)),
        lambda out, x, y: ops.logical_not(ops.logical_or(ops.le(x, y), ops.isnan(y))),
    ),
    known=lambda: (known(1.0, 1.0, grad=(1.0, 0.0)), known(NAN, 2.0, grad=(0.0, 1.0))),
)


def _where(condition: Data, x: Data, y: Data) -> Data:
    _check_condition(dtype_of(condition))
    try:
        return np.where(condition, *alike((x, y)))
    except ValueError as error:
        raise unfit((condition, x, y), error) from None


def _number_where(condition: Any, x: Any, y: Any) -> Any:
    _check_condition(dtype_of(condition))
    return ieee.like(x if condition else y, x, y)


def _where_dtype(condition: Any, x: Any, y: Any) -> str | None:
    dtype = dtype_of(condition)
    if dtype is not None:
        _check_condition(dtype)
    return promoted(x, y)


def _check_condition(dtype: str) -> None:
    if dtype != "bool":
        raise run_error(
            "dtype-mismatch",
            f"the condition of `where` must be bool, got {dtype}",
            help="a comparison makes one, as in `where(x > 0, x, 0)`",
        )


def _zero(x: Any) -> Any:
    """Zeros in the shape of x, which may have no values."""
    return ops.zeros_of(like=x) if shape_of(x) else 0.0


where: Op = op(
    "where",
    exact=True,
    args=("condition", "input", "other"),
    doc="input where condition is true, else other. The side that is not chosen gets a gradient of "
    "exactly zero, and passes exactly zero on, even where its own derivative is inf.",
    source="definition; PyTorch has nan where a zero gradient meets an inf",
    number=_number_where,
    array=_where,
    dtype=_where_dtype,
    vjp=(
        None,
        lambda g, out, c, x, y: where(c, g, 0.0),
        lambda g, out, c, x, y: where(c, 0.0, g),
    ),
    jvp=(
        None,
        lambda dot, out, c, x, y: where(c, dot, _zero(y)),
        lambda dot, out, c, x, y: where(c, _zero(x), dot),
    ),
    saves=("condition",),
    samples=lambda: (
        sample([True, False], [1.0, 2.0], [3.0, 4.0]),
        sample(True, 1.0, 2.0),
        sample(False, 1.0, 2.0),
        sample([True, False], 1.0, [[3.0, 4.0], [5.0, 6.0]]),
        sample([[True], [False]], [1.0, 2.0], 0.5),
        sample([True, False], [1.0, 2.0], 0.5),
        sample(np.zeros(0, bool), [], 1.0),
        sample([True], [2.0], [2.0]),
    ),
    known=lambda: (known([True, False], [1.0, 2.0], 3.0, grad=(None, [1.0, 0.0], 1.0)),),
    bad=lambda: (
        bad([1.0, 0.0], (2,), (2,), says="must be bool"),
        bad(1, 2.0, 3.0, says="must be bool"),
    ),
)


def _clamp(x: Data, low: Data = None, high: Data = None) -> Data:
    if low is None and high is None:
        raise _no_bound()
    x, low, high = alike((x, low, high))
    if low is not None:
        x = plain(_larger(x, low))
    return x if high is None else _smaller(x, high)


def _number_clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None and high is None:
        raise _no_bound()
    if low is not None:
        x = ieee.maximum(x, low)
    return x if high is None else ieee.minimum(x, high)


def _no_bound() -> Exception:
    return run_error("bad-argument", "`clamp` needs `min` or `max`, got neither")


def _inside(out: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    if low is None:
        return ops.le(x, high)
    return ops.ge(x, low) if high is None else ops.logical_and(ops.ge(x, low), ops.le(x, high))


_larger = ufunc("maximum")
_smaller = ufunc("minimum")

clamp: Op = elementwise(
    "clamp",
    exact=True,
    args=("input", "min=None", "max=None"),
    aliases=("clip",),
    doc="input brought into min ... max; either may be left out. The derivative is 1 inside and "
    "at both bounds, 0 outside.",
    source="PyTorch",
    number=_number_clamp,
    array=_clamp,
    chooses=True,
    partials=(
        _inside,
        lambda out, x, low, high=None: (
            ops.lt(x, low) if high is None else ops.logical_and(ops.lt(x, low), ops.lt(low, high))
        ),
        lambda out, x, low, high: (
            ops.gt(x, high) if low is None else ops.logical_or(ops.gt(x, high), ops.gt(low, high))
        ),
    ),
    saves=("input", "min", "max"),
    node=lambda args, params: (
        "ClampBackward1(input)" if all(type(a) in SCALARS for a in args[1:]) else "ClampBackward0"
    ),
    samples=lambda: (
        sample(0.5, 0.0, 1.0),
        sample(-0.5, 0.0, 1.0),
        sample([-1.0, 0.5, 2.0], 0.0, 1.0),
        sample([-1.0, 0.5, 2.0], None, 1.0),
        sample([-1.0, 0.5, 2.0], 0.0, None),
        sample([[-1.0], [0.5]], [0.1, -2.0], [0.4, 3.0]),
        sample([], 0.0, 1.0),
        sample([2.0], [3.0], [1.0]),
    ),
    known=lambda: (
        known(0.0, 0.0, 1.0, grad=(1.0, 0.0, 0.0)),
        known(1.0, 0.0, 1.0, grad=(1.0, 0.0, 0.0)),
        known([-1.0, 0.0, 1.0, 2.0], 0.0, 1.0, grad=([0.0, 1.0, 1.0, 0.0], 1.0, 1.0)),
    ),
    bad=lambda: (bad((2,), (3,), says="broadcast"), bad(1.0, says="`min` or `max`")),
)


def _jax_clip(x: Any, low: Any = None, high: Any = None) -> Any:
    found = x if low is None else maximum(x, low)
    return found if high is None else minimum(found, high)


jax_clip: Op = composite(
    "jax_clip",
    _jax_clip,
    args=("arr", "min=None", "max=None"),
    doc="`clamp` of programs that import JAX and not PyTorch. The derivative at a bound is 1 / 2, "
    "the rest is the bound's.",
    source="JAX: numpy.clip",
    samples=clamp.page.samples,
    known=lambda: (
        known(0.0, 0.0, 1.0, grad=(0.5, 0.5, 0.0)),
        known(2.0, 0.0, 1.0, grad=(0.0, 0.0, 1.0)),
    ),
    bad=lambda: (bad((2,), (3,), says="broadcast"),),
)


def _bounded(bound: str, beyond: str, number: Any, array: Any, *, keeps: str, leaves: str) -> Op:
    """`clamp` with one bound; `keeps` and `leaves` compare an input with it."""
    return elementwise(
        f"clamp_{bound}",
        exact=True,
        args=("input", bound),
        doc=f"input, or {bound} where input is {beyond}. The derivative at {bound} is 1.",
        source="PyTorch",
        number=number,
        array=array,
        chooses=True,
        partials=(lambda out, x, b: ops[keeps](x, b), lambda out, x, b: ops[leaves](x, b)),
        saves=("input", bound),
        node=by_number(
            1, f"Clamp{bound.title()}Backward0(input)", f"Clamp{bound.title()}Backward1"
        ),
        samples=points.pairs,
        known=lambda: (known(0.0, 0.0, grad=(1.0, 0.0)),),
    )


clamp_min: Op = _bounded("min", "below", ieee.maximum, _larger, keeps="ge", leaves="lt")
clamp_max: Op = _bounded("max", "above", ieee.minimum, _smaller, keeps="le", leaves="gt")


def _heaviside(x: Data, values: Data) -> Data:
    try:
        x, values = single(alike((x, values)))
        beside = np.where(np.isnan(x), x, np.greater(x, 0))
        return np.where(np.equal(x, 0), values, beside)
    except ValueError as error:
        raise unfit((x, values), error) from None


heaviside: Op = elementwise(
    "heaviside",
    args=("input", "values"),
    doc="0 where input is below 0, 1 where above, values where it is 0. Its derivative with "
    "respect to input is 0.",
    number=ieee.heaviside,
    array=_heaviside,
    chooses=True,
    partials=(0.0, lambda out, x, values: ops.eq(x, 0)),
    saves=("input",),
    samples=lambda: (*points.pairs(), sample([0, 2], [0.5, 0.25])),
    known=lambda: (known(0.0, 0.5, grad=(0.0, 1.0)),),
)

copysign: Op = by_numpy(
    "copysign",
    math.copysign,
    guards={"input": ("input", "out"), "other": ("out",)},
    args=("input", "other"),
    doc="Size of input with the sign of other, also of a signed zero. Its derivatives are 1 or "
    "-1, as the sign stays or changes (0 where input is 0), and 0.",
    source="PyTorch",
    partials=(lambda out, x, y: ops.mul(ops.sign(x), copysign(1.0, y)), 0.0),
    node=by_number(1, "CopysignBackward1(input)", "CopysignBackward0"),
    samples=points.pairs,
    known=lambda: (
        known(0.0, -1.0, grad=(0.0, 0.0)),
        known(2.0, -0.0, grad=(-1.0, 0.0)),
        known([-2.0, 2.0], -3.0, grad=([1.0, -1.0], 0.0)),
    ),
)


def _nan_to_num(x: Data, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Data:
    high = None if posinf is None else number(posinf, "posinf")
    low = None if neginf is None else number(neginf, "neginf")
    return np.nan_to_num(x, nan=number(nan, "nan"), posinf=high, neginf=low)


nan_to_num: Op = elementwise(
    "nan_to_num",
    params={"nan": 0.0, "posinf": None, "neginf": None},
    doc="input with nan, inf and -inf replaced, by default with 0 and the largest finite numbers. "
    "The derivative there is 0.",
    number=ieee.nan_to_num,
    array=_nan_to_num,
    chooses=True,
    partials=(lambda out, x, **params: ops.isfinite(x),),
    saves=("input",),
    samples=lambda: (
        sample(1.5),
        sample(-2.0),
        sample(0.0),
        sample([]),
        sample([1.0]),
        sample([1.0, -2.0, 0.0], nan=1.0),
        sample([[1.0, -2.0], [3.0, 0.5]], posinf=9.0),
        sample([[[1e-3]]], neginf=-9.0),
    ),
    known=lambda: (known([NAN, INF, -INF, 2.0], grad=([0.0, 0.0, 0.0, 1.0],)),),
)
