"""Functions of Python's `math` that are others than the operations of their names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import alike
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.op import Op, bad, composite, elementwise, known, op, sample
from gradcli.engine.ops.promotion import boolean, floating, integer
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.sizes import broadcast, no_int, number
from gradcli.errors import run_error

FAMILY = 25, "Python's math"

INF = math.inf


def _each(function: Callable[..., Any], kind: Any) -> Callable[..., Data]:
    """The value on arrays of a function of numbers."""

    def on_arrays(*args: Data, **params: Any) -> Data:
        broadcast(*map(shape_of, args))
        each = np.broadcast(*args)
        found = [function(*map(_number, row), **params) for row in each]
        return np.array(found, kind).reshape(each.shape)

    return on_arrays


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def _rounding_op(name: str, to: Callable[[Any], int], what: str) -> Op:
    def rounded(x: Any) -> Any:
        if not math.isfinite(x):
            raise run_error("bad-argument", f"{x} cannot be rounded to an int", raises=no_int(x))
        return ieee.whole(to(x))

    return op(
        f"math_{name}",
        args=("x",),
        doc=f"{what}, as an int: `math.{name}`. `{name}` gives a float for a float.",
        source=f"Python: math.{name}",
        number=rounded,
        array=_each(rounded, "int64"),
        dtype=integer,
        flat=True,
        method=False,
        samples=lambda: (sample(2.5), sample([-2.5, 3.0])),
        bad=lambda: (bad(math.nan, says="cannot be rounded"),),
    )


math_floor: Op = _rounding_op("floor", math.floor, "Largest whole number not above x")
math_ceil: Op = _rounding_op("ceil", math.ceil, "Smallest whole number not below x")
math_trunc: Op = _rounding_op("trunc", math.trunc, "x without its fraction")


def _remainder(x: Any, y: Any) -> float:
    try:
        return math.remainder(x, y)
    except ValueError:
        return math.nan


_remainders = _each(_remainder, "float64")


math_remainder: Op = elementwise(
    "math_remainder",
    args=("x", "y"),
    doc="x - n y with the whole number n nearest to x / y, the even one of two: `math.remainder`. "
    "Its derivatives are 1 and -n.",
    source="Python: math.remainder (IEEE 754)",
    number=_remainder,
    array=lambda x, y: _remainders(x, y).astype(np.true_divide(*alike((x, y))).dtype),
    dtype=floating,
    partials=(
        1.0,
        lambda out, x, y: ops.neg(ops.round(ops.div(ops.sub(x, ops.math_remainder(x, y)), y))),
    ),
    saves=("x", "y"),
    inplace=False,
    samples=lambda: (
        sample(5.0, 3.0),
        sample([7.5, -7.5], [2.2, -2.2]),
        sample([[1.0], [2.0]], [[0.3, 1.7, 4.5]]),
        sample([], 2.0),
        sample(-5.0, 3.0),
        sample(5.0, -3.0),
        sample(2.0, [[0.7]]),
        sample([[7.0, -2.0], [3.0, 0.25]], [4.5, 1.7]),
    ),
    known=lambda: (known(5.0, 3.0, grad=(1.0, -2.0)), known(-5.0, 3.0, grad=(1.0, 2.0))),
)


math_cbrt: Op = by_numpy(
    "math_cbrt",
    math.cbrt,
    "cbrt",
    args=("x",),
    doc="The number whose cube is x, of its sign: `math.cbrt`, `np.cbrt`. Its derivative is "
    "1 / (3 cbrt(x) ** 2), infinite at 0.",
    source="Python: math.cbrt",
    partials=(lambda out, x: ops.mul(1.0 / 3.0, ops.reciprocal(ops.square(out))),),
    saves=("out",),
    inplace=False,
    samples=lambda: (
        sample(1.5),
        sample(-2.0),
        sample([]),
        sample([1.0]),
        sample([27.0, -8.0, 0.125]),
        sample([-0.4, 700.0]),
        sample([[1.0, -2.0], [3.0, 0.5]]),
        sample([[[1e-3]]]),
    ),
    known=lambda: (known([0.0, -0.0, INF], grad=([INF, INF, 0.0],)), known(8.0, grad=(1 / 12,))),
)


def _limit(value: Any, name: str) -> float:
    """A tolerance, which is not negative."""
    limit = float(number(value, name))
    if limit < 0:
        raise run_error("bad-argument", f"`{name}` cannot be negative, got {number(value, name)}")
    return limit


def _close(a: Any, b: Any, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> bool:
    """CPython's math.isclose."""
    rel, least = _limit(rel_tol, "rel_tol"), _limit(abs_tol, "abs_tol")
    x, y = float(a), float(b)
    if x == y:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    distance = abs(y - x)
    return distance <= abs(rel * y) or distance <= abs(rel * x) or distance <= least


math_isclose: Op = op(
    "math_isclose",
    args=("a", "b"),
    params={"rel_tol": 1e-9, "abs_tol": 0.0},
    doc="True if |a - b| <= max(rel_tol max(|a|, |b|), abs_tol): `math.isclose`.",
    source="Python: math.isclose",
    number=_close,
    array=_each(_close, "bool"),
    dtype=boolean,
    method=False,
    samples=lambda: (sample(1.0, 1.0 + 1e-9), sample([1.0, 2.0], [1.1, 2.0], rel_tol=0.2)),
)


log_to_base: Op = composite(
    "builtins_math_log",
    lambda x, base: ops.div(ops.log(x), ops.log(base)),
    args=("x", "base"),
    doc="The logarithm of x to a base, log(x) / log(base): `math.log(x, base)`.",
    source="Python: math.log",
    samples=lambda: (
        sample(8.0, 2.0),
        sample([1.0, 2.0, 4.0], 2.0),
        sample(3.0, [2.0, 10.0]),
        sample([[1.0], [3.0]], [[2.0, 5.0]]),
        sample([], 2.0),
        sample([0.5], [0.25]),
        sample(1.0, 3.0),
        sample([0.1, 7.0], [4.0, 0.3]),
    ),
)
