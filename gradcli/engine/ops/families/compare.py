"""Comparison and choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradcli.engine.numerics import exact, ieee
from gradcli.engine.numerics.ufunc import formula, integral, ufunc
from gradcli.engine.ops.binding import check_params
from gradcli.engine.ops.op import Op, bad, elementwise, host, sample
from gradcli.engine.ops.promotion import arithmetic, boolean
from gradcli.engine.ops.statics import Statics
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import run_error

FAMILY = 70, "Comparison and logic"

NAN, INF = float("nan"), float("inf")


def _test(name: str, number: Callable[..., bool], function: str, doc: str, **fields: Any) -> Op:
    """An element-wise op of two operands whose result is a bool."""
    return elementwise(
        name,
        exact=True,
        args=("input", "other"),
        doc=doc,
        number=number,
        array=ufunc(function),
        dtype=boolean,
        inplace=False,
        samples=lambda: (
            sample(1.0, 2.0),
            sample(2.0, 2.0),
            sample([1.0, NAN], [1.0, NAN]),
            sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
            sample([], 1.0),
        ),
        **fields,
    )


eq: Op = _test(
    "eq",
    lambda x, y: x == y,
    "equal",
    "True where input and other are equal.",
    infix=("==", 3),
)
ne: Op = _test(
    "ne",
    lambda x, y: x != y,
    "not_equal",
    "True where input and other differ.",
    aliases=("not_equal",),
    infix=("!=", 3),
)
lt: Op = _test(
    "lt",
    lambda x, y: x < y,
    "less",
    "True where input is below other.",
    aliases=("less",),
    infix=("<", 3),
)
le: Op = _test(
    "le",
    lambda x, y: x <= y,
    "less_equal",
    "True where input is other or below.",
    aliases=("less_equal",),
    infix=("<=", 3),
)
gt: Op = _test(
    "gt",
    lambda x, y: x > y,
    "greater",
    "True where input is above other.",
    aliases=("greater",),
    infix=(">", 3),
)
ge: Op = _test(
    "ge",
    lambda x, y: x >= y,
    "greater_equal",
    "True where input is other or above.",
    aliases=("greater_equal",),
    infix=(">=", 3),
)

# Tests of one operand


def _kind(name: str, number: Callable[..., bool], array: Any, doc: str, **fields: Any) -> Op:
    """An element-wise test of one operand."""
    return elementwise(
        name,
        doc=doc,
        number=number,
        array=array,
        dtype=boolean,
        inplace=False,
        samples=lambda: (
            sample(1.0),
            sample(NAN),
            sample([1.0, NAN, INF, -INF, 0.0]),
            sample([]),
            sample([[2], [0]]),
        ),
        **fields,
    )


isnan: Op = _kind("isnan", math.isnan, ufunc("isnan"), "True where input is nan.")
isinf: Op = _kind("isinf", math.isinf, ufunc("isinf"), "True where input is inf or -inf.")
isfinite: Op = _kind(
    "isfinite",
    math.isfinite,
    ufunc("isfinite"),
    "True where input is neither inf nor nan.",
)
logical_not: Op = _kind(
    "logical_not", lambda x: not x, ufunc("logical_not"), "True where input is zero."
)

logical_and: Op = _test(
    "logical_and",
    lambda x, y: bool(x) and bool(y),
    "logical_and",
    "True where input and other are both not zero.",
    infix=("&", 5),
)
logical_or: Op = _test(
    "logical_or",
    lambda x, y: bool(x) or bool(y),
    "logical_or",
    "True where one of input and other is not zero.",
    infix=("|", 4),
)
logical_xor: Op = _test(
    "logical_xor",
    lambda x, y: bool(x) != bool(y),
    "logical_xor",
    "True where just one of input and other is not zero.",
)

# Bits


def _bits(sign: str, number: Callable[..., Any], function: str) -> tuple[Any, Any]:
    """Values on numbers and arrays of an operation on bools and ints."""
    array = ufunc(function)

    def on_numbers(*args: Any) -> Any:
        if float in map(type, args):
            raise _not_bits(sign)
        return number(*args)

    def on_arrays(*args: Data) -> Data:
        if not integral(*args):
            raise _not_bits(sign, TypeError if sign == "~" else NotImplementedError)
        return array(*args)

    return on_numbers, on_arrays


def _not_bits(sign: str, raises: type[Exception] = TypeError) -> Exception:
    help = {
        "^": "the power is `x ** y`",
        "&": "`x and y`, or `logical_and(x, y)` element by element",
        "|": "`x or y`, or `logical_or(x, y)` element by element",
        **dict.fromkeys(("<<", ">>"), "`x * 2 ** n` and `x / 2 ** n` are of floats, too"),
        "~": "`not x`, or `logical_not(x)` element by element",
    }
    message = f"`{sign}` is not defined on floats"
    return run_error("dtype-mismatch", message, help=help[sign], raises=raises)


def _bitwise(name: str, sign: str, number: Callable[..., Any], doc: str) -> Op:
    on_numbers, on_arrays = _bits(sign, number, name)
    return elementwise(
        name,
        args=("input", "other"),
        doc=doc,
        number=on_numbers,
        array=on_arrays,
        samples=lambda: (
            sample(5, 3),
            sample(True, False),
            sample([True, False], [True, True]),
            sample([[1], [2]], [3, -4]),
            sample([5, -6], 2),
        ),
        bad=lambda: (
            bad(1.5, 2, says="floats"),
            bad([1.5], [2], says="floats"),
        ),
    )


bitwise_and: Op = _bitwise(
    "bitwise_and",
    "&",
    lambda x, y: x & y,
    "The bits that input and other both have, input & other.",
)
bitwise_or: Op = _bitwise(
    "bitwise_or", "|", lambda x, y: x | y, "The bits that input or other has, input | other."
)
bitwise_xor: Op = _bitwise(
    "bitwise_xor",
    "^",
    lambda x, y: x ^ y,
    "The bits in which input and other differ, input ^ other.",
)


def _shift(name: str, sign: str, number: Callable[..., Any], array: Any, doc: str) -> Op:
    on_numbers, _ = _bits(sign, number, "add")

    def on_arrays(x: Data, n: Data) -> Data:
        if not integral(x, n) or dtype_of(x) == dtype_of(n) == "bool":
            raise _not_bits(sign, NotImplementedError)
        return array(x, n)

    return elementwise(
        name,
        args=("input", "other"),
        doc=doc,
        number=on_numbers,
        array=on_arrays,
        dtype=arithmetic,
        samples=lambda: (
            sample(5, 3),
            sample([5, -6], 2),
            sample([[1], [2]], [3, 0]),
            sample([True, False], 1),
        ),
        bad=lambda: (
            bad(1.5, 2, says="floats"),
            bad([1.5], [2], says="floats"),
            bad(1, -1, says="negative"),
        ),
    )


bitwise_left_shift: Op = _shift(
    "bitwise_left_shift",
    "<<",
    ieee.left_shift,
    exact.left_shift,
    "The bits of input moved `other` places up, input << other: input times 2 ** other.",
)
bitwise_right_shift: Op = _shift(
    "bitwise_right_shift",
    ">>",
    ieee.right_shift,
    exact.right_shift,
    "The bits of input moved `other` places down, input >> other: input / 2 ** other rounded down.",
)

_invert_number, _invert_array = _bits("~", lambda x: not x if type(x) is bool else ~x, "invert")

bitwise_not: Op = elementwise(
    "bitwise_not",
    doc="The opposite of a bool, the bits of an int turned over, ~input.",
    number=_invert_number,
    array=_invert_array,
    samples=lambda: (
        sample(True),
        sample(5),
        sample([True, False]),
        sample([[1, -2]]),
        sample(0),
    ),
    bad=lambda: (bad(1.5, says="floats"), bad([1.5], says="floats")),
)

# Closeness


@formula
def _isclose(
    x: Data, y: Data, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Data:
    return np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan)


isclose: Op = elementwise(
    "isclose",
    args=("input", "other"),
    params={"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
    doc="True where |input - other| <= atol + rtol |other|.",
    source="PyTorch",
    number=ieee.isclose,
    array=_isclose,
    dtype=boolean,
    inplace=False,
    samples=lambda: (
        sample(1.0, 1.0 + 1e-9),
        sample(INF, INF),
        sample([1.0, NAN], [1.1, NAN], rtol=0.2),
        sample([NAN, 2.0], NAN, equal_nan=True),
        sample([INF, -INF, INF, 1.0], [INF, INF, 1.0, INF]),
    ),
)


def _allclose(session: Any, x: Any, y: Any, **params: Any) -> bool:
    check_params(isclose, params)
    x, y = map(data_of, session.operands(allclose, [x, y]))
    return bool(np.all(isclose(x, y, **params)))


def _both(known: Statics, x: Any, y: Any, **params: Any) -> Any:
    shapes = [getattr(known.tensor(v), "shape", None) for v in (x, y)]
    broadcast(*(shape for shape in shapes if shape is not None))
    return known.number("bool")


allclose: Op = host(
    "allclose",
    _allclose,
    args=("input", "other"),
    params={"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
    infer=_both,
    doc="True if all elements of input and other are close, as `isclose` says: one bool.",
    sees=False,
    source="PyTorch",
    method=True,
)


def _equal(session: Any, x: Any, y: Any) -> bool:
    x, y = map(data_of, session.operands(equal, [x, y]))
    return shape_of(x) == shape_of(y) and bool(np.all(np.equal(x, y)))


equal: Op = host(
    "equal",
    _equal,
    args=("input", "other"),
    infer=lambda known, x, y: known.number("bool"),
    doc="True if input and other have one shape and equal elements: one bool.",
    sees=False,
    source="PyTorch",
    method=True,
)
