"""Arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.numerics import exact, ieee
from gradcli.engine.numerics.ufunc import alike, formula, on_numbers, real, single
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.nodes import by_number
from gradcli.engine.ops.op import Op, bad, composite, elementwise, known, sample
from gradcli.engine.ops.promotion import (
    always_double,
    arithmetic,
    counted,
    floating,
    is_number,
    promoted,
)
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, np, plain
from gradcli.engine.values.sizes import number

FAMILY = 10, "Arithmetic"

NAN, INF = float("nan"), float("inf")

# Values on arrays


@formula
def _lerp(x: Data, end: Data, weight: Data) -> Data:
    x = np.asarray(x, np.result_type(x, end, weight, 0.0))
    gap = np.subtract(end, x)
    from_start = np.add(x, np.multiply(weight, gap))
    from_end = np.subtract(end, np.multiply(gap, np.subtract(1, weight)))
    return np.where(np.abs(weight) < 0.5, from_start, from_end)


def _scaled(*terms: Any, scale: Any, name: str) -> str | None:
    """The dtype of a sum of terms, the last of them scaled by a parameter."""
    return arithmetic(*terms) if scale == 1 else promoted(*terms, number(scale, name))


def _addcmul(x: Data, a: Data, b: Data, value: Any = 1) -> Data:
    x, a, b = alike((x, a, b))
    scaled = a if value == 1 else exact.scaled(a, value, "value")
    return exact.plus(x, plain(exact.times(scaled, b)))


def _addcdiv(x: Data, a: Data, b: Data, value: Any = 1) -> Data:
    x, a, b = single(alike((x, a, b)))
    top = a if value == 1 else exact.scaled(a, value, "value")
    return exact.plus(x, plain(exact.quotient(top, b)))


def _sign(x: Data) -> Data:
    return x if x.dtype.kind == "b" else np.sign(x)


# Arithmetic

add: Op = elementwise(
    "add",
    exact=True,
    args=("input", "other"),
    params={"alpha": 1},
    node=by_number(0, "AddBackward0(other, input)", "AddBackward0"),
    doc="Sum input + alpha other.",
    infix=("+", 6),
    number=ieee.add,
    array=exact.add,
    dtype=lambda x, y, alpha=1: _scaled(x, y, scale=alpha, name="alpha"),
    partials=(1.0, lambda out, x, y, alpha=1: float(alpha)),
    samples=lambda: (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]], alpha=2),
        sample([1.0, 2.0], 3.0, alpha=-0.5),
        sample(2.0, [[0.5]]),
        sample([], []),
        sample(7.0, 7.0),
    ),
    known=lambda: (known(INF, 1.0, grad=(1.0, 1.0)), known([0.0], [0.0], grad=([1.0], [1.0]))),
)

sub: Op = elementwise(
    "sub",
    exact=True,
    args=("input", "other"),
    params={"alpha": 1},
    aliases=("subtract",),
    doc="Difference input - alpha other.",
    infix=("-", 6),
    number=ieee.sub,
    array=exact.sub,
    dtype=lambda x, y, alpha=1: counted(x, y, number(alpha, "alpha")),
    partials=(1.0, lambda out, x, y, alpha=1: -float(alpha)),
    node=by_number(0, "RsubBackward1(other)", "SubBackward0"),
    samples=lambda: (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]], alpha=2),
        sample([1.0, 2.0], 3.0, alpha=-0.5),
        sample(2.0, [[0.5]]),
        sample([], []),
        sample(3.0, 3.0),
    ),
    known=lambda: (known(INF, 1.0, grad=(1.0, -1.0)),),
    bad=lambda: (bad([True], [False], says="bool"),),
)

mul: Op = elementwise(
    "mul",
    exact=True,
    args=("input", "other"),
    aliases=("multiply",),
    node=by_number(0, "MulBackward0(other, input)", "MulBackward0"),
    doc="Product of input and other.",
    source="product rule",
    infix=("*", 7),
    number=ieee.mul,
    array=exact.times,
    dtype=arithmetic,
    partials=(lambda out, x, y: y, lambda out, x, y: x),
    saves={"input": ("other",), "other": ("input",)},
    samples=lambda: (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(2.0, [[0.5]]),
        sample([], []),
        sample(0.0, 0.0),
    ),
    known=lambda: (known(0.0, 5.0, grad=(5.0, 0.0)), known(3.0, 3.0, grad=(3.0, 3.0))),
)


def _as_wide(y: Any, x: Any) -> Any:
    """A divisor in the precision of the quotient, in which its reciprocal is to be."""
    wide = (
        type(y) is not float
        and dtype_of(y) in ("float32", "float16")
        and floating(x, y) == "float64"
    )
    return ops.cast(y, dtype="float64") if wide else y


div: Op = elementwise(
    "div",
    exact=True,
    args=("input", "other"),
    params={"rounding_mode": None},
    aliases=("divide", "true_divide"),
    doc="Quotient input / other. rounding_mode 'trunc' or 'floor' rounds it, and then its "
    "derivative is zero.",
    source="quotient rule",
    infix=("/", 7),
    number=ieee.div,
    array=exact.div,
    dtype=lambda x, y, rounding_mode=None: (floating if rounding_mode is None else counted)(x, y),
    partials=(
        lambda out, x, y, rounding_mode=None: (
            reciprocal(_as_wide(y, x)) if rounding_mode is None else 0.0
        ),
        lambda out, x, y, rounding_mode=None: (
            neg(div(div(x, y), y)) if rounding_mode is None else 0.0
        ),
    ),
    saves={"input": ("other",), "other": ("input", "other")},
    node=lambda args, params: f"DivBackward{0 if params.get('rounding_mode') is None else 2}",
    samples=lambda: (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(2.0, [[0.5]]),
        sample([], []),
        sample([5.5, -5.5], 2.0, rounding_mode="floor"),
        sample([5.5, -5.5], 2.0, rounding_mode="trunc"),
    ),
    known=lambda: (
        known(1.0, 0.0, grad=(INF, -INF)),
        known(0.0, 0.0, grad=(INF, NAN)),
    ),
    bad=lambda: (bad(1.0, 2.0, rounding_mode="up", says="rounding_mode"),),
)

neg: Op = elementwise(
    "neg",
    exact=True,
    aliases=("negative",),
    doc="The negative -input.",
    infix=("-", 8),
    number=ieee.neg,
    array=exact.neg,
    dtype=counted,
    partials=(-1.0,),
    samples=points.any_sign,
    bad=lambda: (bad([True, False], says="bool"),),
)

positive: Op = composite(
    "positive",
    lambda x: ieee.positive(x) if type(x) in NUMBERS else x,
    doc="The operand itself, +input.",
    number=ieee.positive,
    array=lambda x: x,
    shape=lambda x: x,
    dtype=arithmetic,
    view=True,
    samples=points.any_sign,
)


def _power_node(base: str, exponent: str) -> Callable[[Any, Any], str]:
    """PyTorch's node of a power whose arguments have these names, with its inputs."""

    def node(args: Any, params: Any) -> str:
        if type(args[1]) in NUMBERS:
            return f"PowBackward0({base})"
        return f"PowBackward2({exponent})" if type(args[0]) in NUMBERS else "PowBackward1"

    return node


def _twice(x: Any) -> Any:
    """The derivative of a square. For a recorded x it is a power, as in PyTorch, so that the third
    derivative is 0 and not an error.
    """
    return mul(pow_(x, 1.0) if isinstance(x, Carrier) and x.recorded else x, 2.0)


def _power_base(out: Any, x: Any, y: Any) -> Any:
    if type(y) in NUMBERS:
        if y == 2:
            return _twice(x)
        return 0.0 if y == 0 else mul(pow_(x, y - 1), float(y))
    at_zero = ops.eq(y, 0)
    if isinstance(y, Carrier) and y.recorded:  # elsewhere the derivative changes with the exponent
        base_is_zero_or_nan = ops.logical_not(ops.gt(ops.abs(x), 0))
        at_zero = ops.logical_and(at_zero, base_is_zero_or_nan)
    elif isinstance(y, Carrier) and isinstance(x, Carrier) and x.recorded:
        y.avoid(0)  # there it does not change with the base at all
    return ops.where(at_zero, 0.0, mul(y, pow_(x, sub(y, 1))))


def _power_exponent(out: Any, x: Any, y: Any) -> Any:
    at_zero = ops.logical_and(ops.eq(x, 0), ops.ge(y, 0))
    return ops.where(at_zero, 0.0, mul(pow_(x, y), ops.log(x)))


def _power_dtype(x: Any, y: Any) -> str | None:
    """The dtype of a power: bool for bools if one is a tensor; None for Python ints, for which the
    sign of the exponent decides.
    """
    name = arithmetic(x, y)
    return None if name == "int64" and False not in (is_number(x), is_number(y)) else name


pow_: Op = elementwise(
    "pow",
    exact=lambda x, exponent: type(exponent) in NUMBERS and exponent == 2,
    args=("input", "exponent"),
    doc="Power input ** exponent. A whole power of a negative input is that of its size, with a "
    "sign: x and -x have the same digits. Its derivatives are exponent input ** (exponent - 1) and "
    "input ** exponent log(input); both are 0 where both are 0, the second wherever the base is 0 "
    "and the exponent is not negative.",
    source="DLMF 4.2.26; at a base of 0 the value of the power does not depend on the exponent",
    infix=("**", 9),
    number=ieee.power,
    array=exact.power,
    dtype=_power_dtype,
    partials=(_power_base, _power_exponent),
    finite_in_pytorch=lambda x, y: y == 0,
    saves=("input", "exponent"),
    node=_power_node("input", "exponent"),
    samples=points.powers,
    known=lambda: (
        known(0.0, 0.0, grad=(0.0, 0.0)),
        known(0.0, 1.0, grad=(1.0, 0.0)),
        known(0.0, 2.0, grad=(0.0, 0.0)),
        known(0.0, 0.5, grad=(INF, 0.0)),
        known(0.0, -1.0, grad=(-INF, -INF)),
        known(-2.0, 2.0, grad=(-4.0, NAN)),
        known(-2.0, 3.0, grad=(12.0, NAN)),
        known(-2.0, 0.5, grad=(NAN, NAN)),
    ),
    bad=lambda: (bad([2, 3], -1, says="negative"), bad([2, 10], 63, says="64 bits")),
)


def _jax_power_base(out: Any, x: Any, y: Any) -> Any:
    if dtype_of(y).startswith("float"):
        return mul(y, jax_pow(x, sub(y, 1)))
    return _power_base(out, x, y)


def _jax_power_exponent(out: Any, x: Any, y: Any) -> Any:
    return mul(ops.log(ops.where(ops.eq(x, 0), 1.0, x)), jax_pow(x, y))


jax_pow: Op = elementwise(
    "jax_pow",
    args=("x1", "x2"),
    doc="The power of programs that import JAX and not PyTorch: `x ** y`, `jnp.power`, `lax.pow`. "
    "Its derivatives x2 x1 ** (x2 - 1) and x1 ** x2 log(x1) are those of `pow`, but at a base "
    "of 0: the first is nan for the exponent 0.0 and 0 for an int 0; the second is nan for "
    "exponents below 0.",
    source="JAX: lax.pow",
    number=ieee.power,
    array=exact.power,
    dtype=_power_dtype,
    partials=(_jax_power_base, _jax_power_exponent),
    saves=("x1", "x2"),
    node=_power_node("x1", "x2"),
    inplace=False,
    samples=points.powers,
    known=lambda: (
        known(0.0, 0.0, grad=(NAN, 0.0)),
        known(0.0, 1.0, grad=(1.0, 0.0)),
        known(0.0, 2.0, grad=(0.0, 0.0)),
        known(0.0, 0.5, grad=(INF, 0.0)),
        known(0.0, -1.0, grad=(-INF, NAN)),
        known(-2.0, 3.0, grad=(12.0, NAN)),
    ),
    bad=lambda: (bad([2, 3], -1, says="negative"),),
)

square: Op = elementwise(
    "square",
    exact=True,
    doc="Square of input.",
    source="product rule",
    number=ieee.square,
    array=lambda x: exact.times(x, x.astype(np.int64) if x.dtype.kind == "b" else x),
    dtype=counted,
    partials=(lambda out, x: _twice(x),),
    saves=("input",),
    node="PowBackward0",
    samples=points.any_sign,
    known=lambda: (known(0.0, grad=(0.0,)),),
)

sqrt: Op = by_numpy(
    "sqrt",
    ieee.sqrt,
    exact=True,
    doc="Square root of input; nan below 0. Its derivative 1 / (2 sqrt(input)) is inf at 0.",
    partials=(lambda out, x: div(0.5, out),),
    saves=("out",),
    samples=points.positive,
    known=lambda: (known(0.0, grad=(INF,)), known(-1.0, grad=(NAN,))),
)

rsqrt: Op = elementwise(
    "rsqrt",
    doc="1 / sqrt(input); inf at 0, nan below. Its derivative is -1/2 input ** (-3/2).",
    number=ieee.rsqrt,
    array=lambda x: np.reciprocal(real("sqrt")(x)),
    dtype=floating,
    partials=(lambda out, x: mul(mul(out, out), mul(out, -0.5)),),
    saves=("out",),
    samples=points.positive,
    known=lambda: (known(0.0, grad=(-INF,)), known(-1.0, grad=(NAN,))),
)

reciprocal: Op = elementwise(
    "reciprocal",
    exact=True,
    doc="1 / input. Its derivative -1 / input ** 2 is -inf at 0.",
    number=ieee.reciprocal,
    array=lambda x: exact.quotient(1, x),
    dtype=floating,
    partials=(lambda out, x: neg(mul(out, out)),),
    saves=("out",),
    samples=lambda: (*points.positive(), sample(-0.5), sample([-3.0, 2.0])),
    known=lambda: (known(0.0, grad=(-INF,)), known(-0.0, grad=(-INF,))),
)

abs_: Op = elementwise(
    "abs",
    exact=True,
    aliases=("absolute",),
    doc="Absolute value of input. Its derivative at 0 is 0.",
    source="midpoint of the subdifferential at 0",
    number=ieee.absolute,
    array=exact.absolute,
    dtype=arithmetic,
    partials=(lambda out, x: sign(x),),
    saves=("input",),
    samples=points.off_whole,
    known=lambda: (
        known(0.0, grad=(0.0,)),
        known([-0.0, 0.0, NAN], grad=([0.0, 0.0, NAN],)),
        known([-INF, INF], grad=([-1.0, 1.0],)),
    ),
)

sign: Op = elementwise(
    "sign",
    exact=True,
    doc="1, -1 or 0, as input is above, below or 0. Its derivative is 0 everywhere.",
    number=ieee.sign,
    array=_sign,
    dtype=arithmetic,
    partials=(0.0,),
    samples=points.off_whole,
    known=lambda: (known(0.0, grad=(0.0,)), known([-3.0, 0.0, 2.0], grad=([0.0, 0.0, 0.0],))),
)

floor_divide: Op = elementwise(
    "floor_divide",
    args=("input", "other"),
    doc="Quotient input / other rounded down, input // other. Its derivatives are 0; PyTorch has "
    "none for it.",
    number=ieee.floor_divide,
    array=exact.floor_divide,
    dtype=counted,
    partials=(0.0, 0.0),
    samples=points.quotients,
    known=lambda: (known(6.0, 3.0, grad=(0.0, 0.0)), known(-5.0, 3.0, grad=(0.0, 0.0))),
    bad=lambda: (bad(5, 0, says="by zero"), bad([5, 6], [1, 0], says="by zero")),
)

remainder: Op = elementwise(
    "remainder",
    args=("input", "other"),
    doc="Remainder input - other floor(input / other), which has the sign of other, "
    "input % other. Its derivatives are 1 and -floor(input / other).",
    number=ieee.remainder,
    array=exact.remainder,
    dtype=counted,
    partials=(1.0, lambda out, x, y: neg(floor_divide(x, y))),
    saves={"other": ("input", "other")},
    node=by_number(1, "RemainderBackward0(input)", "RemainderBackward1"),
    samples=points.quotients,
    known=lambda: (
        known(-5.0, 3.0, grad=(1.0, 2.0)),
        known(6.0, 3.0, grad=(1.0, -2.0)),
        known(5.0, -3.0, grad=(1.0, 2.0)),
    ),
    bad=lambda: (bad(5, 0, says="by zero"), bad([5, 6], [1, 0], says="by zero")),
)

fmod: Op = elementwise(
    "fmod",
    args=("input", "other"),
    doc="Remainder input - other trunc(input / other), which has the sign of input. Its "
    "derivatives are 1 and -trunc(input / other).",
    number=ieee.fmod,
    array=exact.fmod,
    dtype=counted,
    partials=(1.0, lambda out, x, y: neg(div(x, y, rounding_mode="trunc"))),
    saves={"other": ("input", "other")},
    node=by_number(1, "FmodBackward0(input)", "FmodBackward1"),
    samples=points.quotients,
    known=lambda: (
        known(5.0, 3.0, grad=(1.0, -1.0)),
        known(-5.0, 3.0, grad=(1.0, 1.0)),
        known(6.0, 3.0, grad=(1.0, -2.0)),
    ),
    bad=lambda: (bad(5, 0, says="by zero"), bad([5, 6], [1, 0], says="by zero")),
)

float_power: Op = elementwise(
    "float_power",
    aliases=("math_pow",),
    args=("input", "exponent"),
    doc="Power input ** exponent calculated in float64.",
    source="as pow",
    number=ieee.float_power,
    array=exact.float_power,
    dtype=always_double,
    partials=(_power_base, _power_exponent),
    saves=("input", "exponent"),
    node=_power_node("input", "exponent"),
    samples=points.powers,
    known=pow_.page.known,
)


hypot: Op = by_numpy(
    "hypot",
    ieee.hypot,
    guards={"input": ("input", "out"), "other": ("other", "out")},
    args=("input", "other"),
    doc="sqrt(input ** 2 + other ** 2), without overflow on the way. Its derivatives at (0, 0) "
    "are 0, the middle of the subdifferential, where PyTorch has nan.",
    source="chain rule",
    partials=(lambda out, x, y: ops.leg(x, y), lambda out, x, y: ops.leg(y, x)),
    nan_in_pytorch=lambda x, y: (x == 0) & (y == 0),
    samples=lambda: (
        sample(3.0, -4.0),
        sample(3.0, 0.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.5]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(2.0, [[0.5]]),
        sample([], []),
    ),
    known=lambda: (
        known(0.0, 0.0, grad=(0.0, 0.0)),
        known([0.0, 3.0], [0.0, 4.0], grad=([0.0, 3.0 / 5.0], [0.0, 4.0 / 5.0])),
    ),
)

lerp: Op = elementwise(
    "lerp",
    guards={"input": ("weight",), "end": ("weight",), "weight": ("input", "end", "weight")},
    args=("input", "end", "weight"),
    doc="Point between input and end: input + weight (end - input).",
    number=on_numbers(ieee.lerp),
    array=_lerp,
    dtype=floating,
    partials=(
        lambda out, x, end, weight: sub(1.0, weight),
        lambda out, x, end, weight: weight,
        lambda out, x, end, weight: sub(end, x),
    ),
    saves={"input": ("weight",), "end": ("weight",), "weight": ("input", "end")},
    node=by_number(2, "LerpBackward0(input, end)", "LerpBackward1"),
    samples=lambda: (
        sample(1.0, 3.0, 0.25),
        sample(1.0, 3.0, 0.75),
        sample([1.0, 2.0], [0.5, -3.0], 0.3),
        sample([1.0, 2.0], [0.5, -3.0], [0.3, 1.5]),
        sample([[1.0], [2.0]], [0.5, 1.0, 4.0], [[0.1], [0.9]]),
        sample(1.0, [[2.0]], 0.0),
        sample([2.0], [2.0], [1.0]),
        sample([], [], 0.5),
    ),
    known=lambda: (known(1.0, 3.0, 0.5, grad=(0.5, 0.5, 2.0)),),
)

addcmul: Op = elementwise(
    "addcmul",
    args=("input", "tensor1", "tensor2"),
    params={"value": 1},
    doc="input + value tensor1 tensor2.",
    source="product rule",
    number=lambda x, a, b, value=1: ieee.add(x, ieee.mul(ieee.mul(a, number(value, "value")), b)),
    array=_addcmul,
    dtype=lambda x, a, b, value=1: _scaled(x, a, b, scale=value, name="value"),
    partials=(
        1.0,
        lambda out, x, a, b, value=1: mul(b, value),
        lambda out, x, a, b, value=1: mul(a, value),
    ),
    saves={"tensor1": ("tensor2",), "tensor2": ("tensor1",)},
    samples=points.scaled_triples,
    known=lambda: (known(1.0, 0.0, 5.0, grad=(1.0, 5.0, 0.0)),),
)

addcdiv: Op = elementwise(
    "addcdiv",
    guards={"input": ("tensor2",), "tensor1": ("tensor2",), "tensor2": ("tensor1", "tensor2")},
    args=("input", "tensor1", "tensor2"),
    params={"value": 1},
    doc="input + value tensor1 / tensor2.",
    source="quotient rule",
    number=lambda x, a, b, value=1: ieee.add(x, ieee.div(ieee.mul(a, number(value, "value")), b)),
    array=_addcdiv,
    dtype=lambda x, a, b, value=1: floating(x, a, b, number(value, "value")),
    partials=(
        1.0,
        lambda out, x, a, b, value=1: div(float(value), b),
        lambda out, x, a, b, value=1: neg(div(div(mul(a, value), b), b)),
    ),
    saves=("tensor1", "tensor2"),
    samples=points.scaled_triples,
    known=lambda: (known(1.0, 2.0, 0.0, grad=(1.0, INF, -INF)),),
)
