"""Any steps through a tensor's memory, and their transpose."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, linear, sample
from gradcli.engine.values.data import Data, dtype_of, np
from gradcli.engine.values.sizes import Shape

_WAY: dict[str, Any] = {"size": REQUIRED, "stride": REQUIRED, "first": REQUIRED}


def _stepped(x: Data, size: Shape, stride: Shape, first: int) -> Data:
    flat = x.reshape(-1)  # no copy: a view's memory has no gaps and is in order
    start, step = flat[first:], flat.strides[0]
    return np.lib.stride_tricks.as_strided(
        start, size, tuple(n * step for n in stride), writeable=x.flags.writeable
    )


def _gathered(g: Data, size: Shape, stride: Shape, first: int, count: int) -> Data:
    places = np.full(size, first, np.int64)
    for at, (n, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * len(size)
        shape[at] = n
        places += (np.arange(n) * step).reshape(shape)
    out = np.zeros(count, dtype_of(g))
    np.add.at(out, places, g)
    return out


steps: Op = linear(
    "steps",
    args=("x",),
    params=_WAY,
    doc="The elements of a tensor, row by row, from place `first` on, `stride` apart in each "
    "dimension.",
    array=_stepped,
    shape=lambda x, size, stride, first: size,
    vjp=(
        lambda g, out, x, size, stride, first: ops.reshape(
            unstepped(g, size=size, stride=stride, first=first, count=prod(x.shape)),
            shape=x.shape,
        ),
    ),
    view=True,
    node="AsStridedBackward0",
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], size=(2, 2), stride=(1, 2), first=0),
        sample([1.0, 2.0, 3.0], size=(2, 2), stride=(1, 0), first=1),
        sample([[1.0, 2.0], [3.0, 4.0]], size=(2,), stride=(3,), first=0),
    ),
)

unstepped: Op = linear(
    "unstepped",
    args=("g",),
    params={**_WAY, "count": REQUIRED},
    doc="The transpose of `steps`: what it shows added up at its places.",
    array=_gathered,
    shape=lambda g, size, stride, first, count: (count,),
    vjp=(
        lambda g, out, x, size, stride, first, count: steps(
            g, size=size, stride=stride, first=first
        ),
    ),
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], size=(2, 2), stride=(1, 1), first=0, count=4),
    ),
)
