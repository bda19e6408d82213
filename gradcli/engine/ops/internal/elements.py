"""Ops on single numbers that are elements of a tensor: they keep the cotangents of scalarized
elements together when code computes a tensor element by element.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, linear, op, sample
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import np
from gradcli.engine.values.sizes import broadcast

nought: Op = op(
    "nought",
    args=("g",),
    doc="Zero, the cotangent of what stands beside an element whose cotangent is g.",
    source="the adjoint of indexing",
    number=lambda g: 0.0,
    array=lambda g: np.zeros(np.shape(g)),
    shape=lambda g: g,
    vjp=(lambda c, out, g: unmoved(c),),
    jvp=(lambda dot, out, g: 0.0,),
    samples=lambda: (sample(2.0),),
)

unmoved: Op = op(
    "unmoved",
    args=("g",),
    doc="Negative zero, which leaves each sum as it is: what the cotangent g of an element that is "
    "not taken from a tensor adds to that of the one which is.",
    source="the adjoint of indexing",
    number=lambda g: -0.0,
    array=lambda g: np.full(np.shape(g), -0.0),
    shape=lambda g: g,
    vjp=(lambda c, out, g: nought(c),),
    jvp=(lambda dot, out, g: 0.0,),
    samples=lambda: (sample(2.0),),
)

among: Op = op(
    "among",
    args=("input", "other"),
    doc="The number input, put into a tensor with other: where that moves, all of the tensor does.",
    source="the tangent of stacking",
    number=lambda x, other: x,
    array=lambda x, other: np.array(np.broadcast_arrays(x, other)[0]),
    shape=broadcast,
    vjp=(lambda g, out, x, other: g, lambda g, out, x, other: None),
    jvp=(lambda dot, out, x, other: dot, lambda dot, out, x, other: 0.0),
    samples=lambda: (sample(2.0, 3.0),),
)

averaged: Op = linear(
    "averaged",
    args=("total",),
    params={"count": 1},
    doc="The sum of so many elements by their count.",
    number=lambda total, count=1: total / count,
    array=lambda total, count=1: total / count,
    shape=lambda total, count=1: total,
    vjp=(lambda g, out, total, count=1: ops.div(g, float(count)),),
    samples=lambda: (sample(2.0, count=4),),
)

beside: Op = op(
    "beside",
    args=("input", "other"),
    doc="The number input, taken from a tensor in which other stands, too: where it gets a "
    "cotangent, that gets zero.",
    source="the adjoint of indexing",
    number=lambda x, other: x,
    array=lambda x, other: np.array(np.broadcast_arrays(x, other)[0]),
    shape=broadcast,
    vjp=(lambda g, out, x, other: g, lambda g, out, x, other: nought(g)),
    jvp=(lambda dot, out, x, other: dot, lambda dot, out, x, other: None),
    samples=lambda: (sample(2.0, 3.0),),
)

_IDENTITY: dict[str, Any] = {
    "number": lambda x: x,
    "array": lambda x: np.array(x),  # noqa: PLW0108 - np is imported where it is used
    "shape": lambda x: x,
    "samples": lambda: (sample(2.0),),
}

shared: Op = linear(
    "shared",
    doc="The number input, of which the elements of a tensor are made: its cotangent is the sum of "
    "theirs, which begins with zero.",
    source="the adjoint of broadcasting",
    **_IDENTITY,
    vjp=(lambda g, out, x: from_zero(g),),
)

spread: Op = linear(
    "spread",
    doc="The number input beside the elements of a tensor: its cotangent is the sum of theirs, "
    "which begins with zero.",
    source="the adjoint of broadcasting",
    **_IDENTITY,
    vjp=(lambda g, out, x: from_zero(g),),
)

passed: Op = linear(
    "passed",
    doc="The number input, taken from a tensor or a part of the sum of one: its cotangents go on "
    "as one number, which is an element of a tensor though it be known.",
    source="the adjoint of a sum",
    **_IDENTITY,
    vjp=(lambda g, out, x: passed(g),),
)

from_zero: Op = linear(
    "from_zero",
    doc="Sum of zero and the number input, which is the sum of the elements of a tensor.",
    number=lambda x: x + 0.0,
    array=lambda x: x + 0.0,
    shape=lambda x: x,
    vjp=(lambda g, out, x: shared(g),),
    samples=lambda: (sample(2.0),),
)


def _undivided(x: Any) -> Any:
    if isinstance(x, Carrier):
        x.undivided()
    return x


scaled: Op = op(
    "scaled",
    args=("g", "input"),
    doc="g times an element of a vector, as a product of a matrix of one element with the vector "
    "gives it: no zero is negative.",
    source="the adjoint of an inner product",
    number=lambda g, x: g * x + 0.0,
    array=lambda g, x: np.add(np.multiply(g, x), 0.0),
    shape=broadcast,
    vjp=(
        lambda c, out, g, x: scaled(_undivided(c), x),
        lambda c, out, g, x: scaled(g, c),
    ),
    jvp=(lambda dot, out, g, x: scaled(dot, x), lambda dot, out, g, x: scaled(g, dot)),
    saves={"g": ("input",), "input": ("g",)},
    samples=lambda: (sample(2.0, 3.0),),
)


def _inner_product(*numbers: float) -> Any:
    count = len(numbers) // 2
    return float(np.matmul(np.array(numbers[:count]), np.array(numbers[count:])))


def _partner(i: int, numbers: tuple[Any, ...]) -> Any:
    return numbers[(i + len(numbers) // 2) % len(numbers)]


inner_product: Op = op(
    "inner_product",
    args=("*numbers",),
    doc="Inner product of two vectors, whose elements are the first and the second half of the "
    "numbers.",
    number=_inner_product,
    array=lambda *numbers: sum(
        np.multiply(x, _partner(i, numbers)) for i, x in enumerate(numbers[: len(numbers) // 2])
    ),
    shape=broadcast,
    vjp=(lambda g, out, i, *numbers: scaled(g, _partner(i, numbers)),),
    jvp=(lambda dot, out, i, *numbers: scaled(_undivided(dot), _partner(i, numbers)),),
    saves=("numbers",),
    samples=lambda: (sample(2.0, 3.0), sample(0.5, -1.0, 2.0, 3.0)),
)
