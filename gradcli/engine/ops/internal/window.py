"""Windows that move over the last dimensions, and their transpose."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import REQUIRED, Op, linear, sample
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.sizes import Shape

_MOVES: dict[str, Any] = {"size": REQUIRED, "stride": REQUIRED, "dilation": REQUIRED}


def counts(sizes: Shape, size: Shape, stride: Shape, dilation: Shape) -> Shape:
    """The number of places of a window in each dimension."""
    return tuple(
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(sizes, size, stride, dilation, strict=True)
    )


def _shape(x: Shape, size: Shape, stride: Shape, dilation: Shape) -> Shape:
    rank = len(size)
    return (*x[:-rank], *counts(x[-rank:], size, stride, dilation), *size)


def _windows(x: Data, size: Shape, stride: Shape, dilation: Shape) -> Data:
    rank = len(size)
    spans = tuple(d * (k - 1) + 1 for k, d in zip(size, dilation, strict=True))
    seen = np.lib.stride_tricks.sliding_window_view(x, spans, tuple(range(-rank, 0)))
    places = tuple(slice(None, None, s) for s in stride)
    within = tuple(slice(None, None, d) for d in dilation)
    shown: tuple[Any, ...] = (Ellipsis, *places, *within)
    return np.copy(seen[shown])


def _folded(g: Data, size: Shape, stride: Shape, dilation: Shape, full: Shape) -> Data:
    rank = len(size)
    out = np.zeros_like(g, order="C", shape=(*g.shape[: -2 * rank], *full))
    many = g.shape[-2 * rank : -rank]
    for offset in np.ndindex(*size):
        where: Any = tuple(
            slice(i * d, i * d + s * (n - 1) + 1, s)
            for i, d, s, n in zip(offset, dilation, stride, many, strict=True)
        )
        out[(Ellipsis, *where)] = out[(Ellipsis, *where)] + g[(Ellipsis, *offset)]
    return out


windows: Op = linear(
    "windows",
    args=("x",),
    params=_MOVES,
    doc="Elements that a window of the given size shows at each of its places in the last "
    "dimensions; the places come first, then the window's own dimensions.",
    array=_windows,
    shape=_shape,
    vjp=(
        lambda g, out, x, size, stride, dilation: fold(
            g, size=size, stride=stride, dilation=dilation, full=x.shape[-len(size) :]
        ),
    ),
    node="UnfoldBackward0",
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], size=(2,), stride=(1,), dilation=(1,)),
        sample([[1.0, 2.0, 3.0, 4.0, 5.0]], size=(2,), stride=(2,), dilation=(2,)),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], size=(2, 2), stride=(1, 1), dilation=(1, 1)),
        sample([1.0, 2.0], size=(2,), stride=(3,), dilation=(1,)),
    ),
)

fold: Op = linear(
    "fold",
    args=("g",),
    params={**_MOVES, "full": REQUIRED},
    doc="The transpose of `windows`: what the windows hold added up at its places.",
    array=_folded,
    shape=lambda g, size, stride, dilation, full: (*g[: -2 * len(size)], *full),
    vjp=(
        lambda g, out, x, size, stride, dilation, full: windows(
            g, size=size, stride=stride, dilation=dilation
        ),
    ),
    node="FoldBackward0",
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]], size=(2,), stride=(1,), dilation=(1,), full=(3,)),
        sample([[1.0, 2.0], [3.0, 4.0]], size=(2,), stride=(2,), dilation=(1,), full=(5,)),
    ),
)
