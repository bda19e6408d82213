"""Views of a tensor's memory: windows along a dimension, and any steps."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, linear, sample
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Data, np, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import Shape, axis, sizes, whole
from gradcli.errors import run_error

FAMILY = 158, "Windows and strides"


def _window(shape: Shape, dimension: Any, size: Any, step: Any) -> tuple[int, int, int]:
    """The dimension, the size of a window and the distance of two."""
    at, width = axis(dimension, len(shape) or 1, "dimension"), whole(size, "size")
    by = whole(step, "step")
    long = shape[at] if shape else 1
    if not 0 <= width <= long:
        raise run_error("shape-mismatch", f"a window of {width} does not fit into {long} elements")
    if by < 1:
        raise run_error("bad-argument", f"`step` must be 1 or more, got {by}")
    return at, width, min(by, long + 1)  # any farther step gives one window


def _unfolded_shape(shape: Shape, dimension: Any, size: Any, step: Any) -> Shape:
    at, width, by = _window(shape, dimension, size, step)
    if not shape:
        return (width,)
    found = (*shape[:at], (shape[at] - width) // by + 1, *shape[at + 1 :], width)
    check_memory(found)
    return found


def _unfolded(x: Data, dimension: Any, size: Any, step: Any) -> Data:
    at, width, by = _window(shape_of(x), dimension, size, step)
    data = np.asarray(x)
    if not data.ndim:
        return data.reshape(1)[:width]
    shape = _unfolded_shape(data.shape, dimension, size, step)
    steps = list(data.strides)
    steps[at] *= by
    strides = (*steps, data.strides[at])
    return np.lib.stride_tricks.as_strided(data, shape, strides, writeable=data.flags.writeable)


def _refolded(g: Any, shape: Shape, dimension: Any, size: Any, step: Any) -> Any:
    """The transpose: what the windows hold added up at its places."""
    at, width, by = _window(shape, dimension, size, step)
    if not shape:
        return ops.reshape(ops.sum(g), shape=())
    last = len(shape)
    rows = ops.movedim(g, source=at, destination=last - 1)
    found = ops.fold(rows, size=(width,), stride=(by,), dilation=(1,), full=(shape[at],))
    return ops.movedim(found, source=last - 1, destination=at)


_ALONG: dict[str, Any] = {"dimension": REQUIRED, "size": REQUIRED, "step": REQUIRED}

unfold: Op = linear(
    "unfold",
    params=_ALONG,
    doc="Windows of `size` elements along a dimension, `step` apart, as a view: a window's own "
    "elements are the last dimension.",
    source="PyTorch: Tensor.unfold",
    array=_unfolded,
    shape=_unfolded_shape,
    vjp=(lambda g, out, x, dimension, size, step: _refolded(g, x.shape, dimension, size, step),),
    view=True,
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], dimension=0, size=2, step=1),
        sample([1.0, 2.0, 3.0, 4.0, 5.0], dimension=0, size=2, step=2),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dimension=1, size=2, step=1),
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dimension=-2, size=2, step=1),
        sample([1.0, 2.0], dimension=0, size=2, step=5),
        sample([[[1.0, -2.0], [3.0, 0.5]]], dimension=1, size=1, step=1),
        sample([[1.0, 2.0, 3.0, 4.0]], dimension=-1, size=3, step=1),
        sample([1.0, 2.0, 3.0], dimension=0, size=0, step=1),
    ),
    bad=lambda: (
        bad((2,), dimension=0, size=3, step=1, says="does not fit"),
        bad((2,), dimension=1, size=1, step=1, says="no dimension 1"),
        bad((2,), dimension=0, size=1, step=0, says="1 or more"),
    ),
)


def _as_strided(x: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    shape, steps = sizes(size), sizes(stride, "stride")
    first = 0 if storage_offset is None else whole(storage_offset, "storage_offset")
    if len(shape) != len(steps):
        raise run_error("bad-argument", "`size` and `stride` must have one length")
    if first < 0:
        raise run_error("bad-argument", f"`storage_offset` cannot be negative, got {first}")
    check_memory(shape)
    x = _in_memory(x, storage_offset)
    last = first + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    elements = int(np.prod(shape_of(x), dtype=np.int64))
    if 0 not in shape and last >= elements:
        raise run_error(
            "shape-mismatch",
            f"steps {list(steps)} to the size {list(shape)} reach element {last} of {elements}",
        )
    return ops.steps(x, size=shape, stride=steps, first=first)


def _in_memory(x: Any, storage_offset: Any) -> Any:
    """The tensor with its dimensions in the order of its memory. One that leaves places of its
    memory out is refused: steps would show what is not its own.
    """
    data = x.data if isinstance(x, Tensor) else x
    if not isinstance(data, np.ndarray):
        return x
    order = sorted(range(data.ndim), key=lambda i: -data.strides[i])
    is_whole = data.base is None or data.base.size == data.size
    if not data.transpose(order).flags.c_contiguous or not (is_whole or storage_offset is None):
        raise run_error(
            "unsupported",
            "`as_strided` is of a tensor that has its memory for itself, without gaps",
            help="write `x.clone().as_strided(...)`",
        )
    return x if order == [*range(data.ndim)] else ops.permute(x, dims=tuple(order))


_STEPS: dict[str, Any] = {"size": REQUIRED, "stride": REQUIRED, "storage_offset": None}

as_strided: Op = composite(
    "as_strided",
    _as_strided,
    view=True,
    params=_STEPS,
    doc="A view of a tensor's memory, which it has for itself: `size` elements, `stride` "
    "elements apart in each dimension, from element `storage_offset` (0) on.",
    source="PyTorch: as_strided",
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], **{**_STEPS, "size": (2, 2), "stride": (1, 2)}),
        sample([1.0, 2.0, 3.0], **{**_STEPS, "size": (2, 2), "stride": (1, 1)}),
        sample([[1.0, 2.0], [3.0, 4.0]], size=(3,), stride=(1,), storage_offset=1),
        sample([1.0, 2.0], **{**_STEPS, "size": (3,), "stride": (0,)}),
    ),
    bad=lambda: (
        bad((2,), **{**_STEPS, "size": (3,), "stride": (1,)}, says="reach element 2 of 2"),
        bad((2,), **{**_STEPS, "size": (2,), "stride": (1, 1)}, says="one length"),
    ),
)
