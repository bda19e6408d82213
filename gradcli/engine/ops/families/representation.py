"""The parts of floats, and the common divisors and multiples of ints."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import formula, integral, ufunc
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.floats import by_numpy
from gradcli.engine.ops.op import Op, bad, elementwise, known, sample
from gradcli.engine.ops.promotion import boolean, floating
from gradcli.engine.values.data import Data, dtype_of, np
from gradcli.errors import run_error

FAMILY = 25, "Parts of floats, common divisors"

signbit: Op = elementwise(
    "signbit",
    exact=True,
    doc="True where input is negative or a negative zero.",
    number=lambda x: math.copysign(1.0, x) < 0.0,
    array=lambda x: np.signbit(x) if x.dtype.kind == "f" else np.less(x, 0),
    dtype=boolean,
    inplace=False,
    samples=lambda: (sample(-1.5), sample([0.0, -0.0, -2.0]), sample([[1, -2]]), sample([])),
)

nextafter: Op = by_numpy(
    "nextafter",
    math.nextafter,
    args=("input", "other"),
    saves={"input": ("input", "other")},
    doc="The next float after input towards other. Its derivative by input is 1, 0 where the two "
    "are equal; that by other is 0.",
    source="PyTorch: nextafter",
    partials=(lambda out, x, y: ops.ne(x, y), 0.0),
    samples=points.pairs,
    known=lambda: (known(2.0, 2.0, grad=(0.0, 0.0)), known(2.0, 3.0, grad=(1.0, 0.0))),
)


@formula
def _scaled(x: Data, exponent: Data) -> Data:
    return np.multiply(x, np.power(2.0, exponent))


ldexp: Op = elementwise(
    "ldexp",
    args=("input", "other"),
    doc="input times 2 to the power of other.",
    number=lambda x, y: float(x) * ieee.power(2.0, y),
    array=_scaled,
    dtype=floating,
    partials=(
        lambda out, x, y: ops.exp2(y),
        lambda out, x, y: ops.mul(out, ieee.LN2),
    ),
    saves={"input": ("other",), "other": ("out",)},
    samples=lambda: (
        sample(1.5, 3.0),
        sample([1.0, -2.0], [0.5, -1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.5, 2.0]]),
        sample([1.0, -2.0], [3, 1]),
        sample([1.0, -2.0], 0.5),
        sample(2.0, [[0.5]]),
        sample([[1.0, -2.0], [3.0, 0.0]], [[1.0, 2.0], [-1.0, 0.5]]),
        sample([], []),
    ),
)


def _of_ints(name: str, number: Callable[..., Any], doc: str) -> Op:
    array = ufunc(name)

    def on_numbers(x: Any, y: Any) -> Any:
        if type(x) is float or type(y) is float:
            raise _not_whole(name)
        return ieee.whole(number(x, y))

    def on_arrays(x: Data, y: Data) -> Data:
        if not integral(x, y) or dtype_of(x) == dtype_of(y) == "bool":
            raise _not_whole(name)
        return array(*(np.asarray(a, np.int64) if dtype_of(a) == "bool" else a for a in (x, y)))

    return elementwise(
        name,
        args=("input", "other"),
        doc=doc,
        number=on_numbers,
        array=on_arrays,
        samples=lambda: (
            sample(12, 18),
            sample(-4, 6),
            sample([12, 0, 7], [18, 5, 3]),
            sample([[4], [6]], [9, 10, 15]),
        ),
        bad=lambda: (bad(1.5, 2.0, says="of ints"), bad([1.5], [2.0], says="of ints")),
    )


def _not_whole(name: str) -> Exception:
    message = f"`{name}` is defined of ints alone"
    return run_error("dtype-mismatch", message, raises=NotImplementedError)


gcd: Op = _of_ints("gcd", math.gcd, "The greatest common divisor of two ints, not negative.")
lcm: Op = _of_ints("lcm", math.lcm, "The least common multiple of two ints, not negative.")
