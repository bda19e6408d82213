"""Windows over the last dimensions, and the convolution that PyTorch records as one node."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.window import counts
from gradcli.engine.ops.op import Op, composite, sample
from gradcli.engine.values.data import dtype_of, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import Shape, wholes
from gradcli.errors import run_error


def several(value: Any, rank: int, name: str, least: int) -> Shape:
    """One number for each dimension, from one or several."""
    found = wholes(value, name)
    found = found * rank if len(found) == 1 else found
    if len(found) != rank or any(n < least for n in found):
        raise run_error(
            "bad-argument",
            f"`{name}` is a number from {least} on, or {rank} of them, got {list(found)}",
        )
    return found


def batched(x: Any, rank: int, name: str) -> Any:
    """The input with a batch dimension."""
    ndim = len(shape_of(x))
    if ndim not in (rank + 1, rank + 2):
        raise run_error(
            "shape-mismatch",
            f"`{name}` needs an input of {rank + 1} dimensions (channels, places) or {rank + 2}, "
            f"got the shape {list(shape_of(x))}",
        )
    return x if ndim == rank + 2 else ops.unsqueeze(x, dim=0)


def unbatched(out: Any, x: Any, rank: int) -> Any:
    """A result without the batch dimension, if the input had none."""
    return out if len(shape_of(x)) == rank + 2 else ops.squeeze(out, dim=0)


def margined(x: Any, margins: list[tuple[int, int]], value: float) -> Any:
    """The input with margins in its last dimensions."""
    if not any(a or b for a, b in margins):
        return x
    flat = [n for margin in reversed(margins) for n in margin]
    return ops.pad(x, pad=flat, mode="constant", value=value)


def places(x: Any, size: Shape, stride: Shape, dilation: Shape, name: str) -> Shape:
    """The number of places of the window in each dimension."""
    shape = shape_of(x)[-len(size) :]
    found = counts(shape, size, stride, dilation)
    if any(n < 1 for n in found):
        raise run_error(
            "shape-mismatch",
            f"the window of `{name}`, {list(size)} at dilation {list(dilation)}, is larger than "
            f"the padded input, {list(shape)}",
        )
    check_memory((*shape_of(x)[: -len(size)], *found, *size))
    return found


def _products(seen: Any, weight: Any, parts: int, many: Shape, size: Shape) -> Any:
    """Inner products of windows (batch, channels, places, window) and weights, group by group."""
    count, channels = shape_of(seen)[:2]
    outputs, rank = shape_of(weight)[0], len(size)
    inner = channels // parts * prod(size)
    grouped = ops.reshape(seen, shape=(count, parts, channels // parts, *many, *size))
    order = (0, 1, *range(3, 3 + rank), 2, *range(3 + rank, 3 + 2 * rank))
    rows = ops.reshape(ops.permute(grouped, dims=order), shape=(count, parts, prod(many), inner))
    columns = ops.transpose(
        ops.reshape(weight, shape=(parts, outputs // parts, inner)), dim0=-2, dim1=-1
    )
    out = ops.transpose(ops.matmul(rows, columns), dim0=-2, dim1=-1)
    return ops.reshape(out, shape=(count, outputs, *many))


def _correlated(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Shape,
    margins: list[tuple[int, int]],
    dilation: Shape,
    groups: int,
) -> Any:
    size = shape_of(weight)[2:]
    x = margined(x, margins, 0.0)
    many = places(x, size, stride, dilation, f"conv{len(size)}d")
    seen = ops.windows(x, size=size, stride=stride, dilation=dilation)
    out = _products(seen, weight, groups, many, size)
    return out if bias is None else ops.add(out, ops.reshape(bias, shape=(-1, *(1,) * len(size))))


convolution: Op = composite(
    "convolution",
    _correlated,
    guards=("input", "weight"),
    args=("input", "weight", "bias=None"),
    params={"stride": (1,), "margins": (), "dilation": (1,), "groups": 1},
    doc="Cross-correlation of an input (batch, channels, places) with a weight (outputs, channels "
    "/ groups, window), plus bias, with margins of zeros.",
    source="PyTorch: nn.functional.conv1d",
    node="ConvolutionBackward0",
    samples=lambda: (
        sample([[[1.0, 2.0, -0.5]]], [[[1.0, -2.0]]], [0.5]),
        sample([[[1.0, 2.0, -0.5]]], [[[1.0, -2.0]]], None, margins=((1, 1),)),
    ),
)


def _spread_out(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Shape,
    margins: tuple[tuple[int, int], ...],
    dilation: Shape,
    groups: int,
) -> Any:
    out = _spread(x, weight, stride, dilation, groups)
    rank = len(stride)
    if any(n + a + b < 1 for n, (a, b) in zip(shape_of(out)[-rank:], margins, strict=True)):
        raise run_error("shape-mismatch", "the `padding` leaves nothing of the output")
    out = margined(out, list(margins), 0.0)
    if bias is None:
        return out
    if dtype_of(bias) != dtype_of(out):
        bias = ops.cast(bias, dtype=dtype_of(out))
    return ops.add(out, ops.reshape(bias, shape=(-1, *(1,) * rank)))


def _spread(x: Any, weight: Any, stride: Shape, dilation: Shape, groups: int) -> Any:
    """The multiples of the kernel, added up at their places."""
    count, channels, *many = shape_of(x)
    each, size = shape_of(weight)[1], shape_of(weight)[2:]
    inner, places = channels // groups, prod(many)
    check_memory((count, groups * each, *many, *size))
    rows = ops.transpose(ops.reshape(x, shape=(count, groups, inner, places)), dim0=-2, dim1=-1)
    kernels = ops.reshape(weight, shape=(groups, inner, each * prod(size)))
    multiples = ops.reshape(ops.matmul(rows, kernels), shape=(count, groups, *many, each, *size))
    rank = len(size)
    order = (0, 1, 2 + rank, *range(2, 2 + rank), *range(3 + rank, 3 + 2 * rank))
    full = tuple(
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(many, stride, dilation, size, strict=True)
    )
    check_memory((count, groups * each, *full))
    return ops.fold(
        ops.reshape(ops.permute(multiples, dims=order), shape=(count, groups * each, *many, *size)),
        size=size,
        stride=stride,
        dilation=dilation,
        full=full,
    )


transposed_convolution: Op = composite(
    "transposed_convolution",
    _spread_out,
    guards=("input", "weight"),
    args=("input", "weight", "bias=None"),
    params={"stride": (1,), "margins": ((0, 0),), "dilation": (1,), "groups": 1},
    doc="The multiples of the weight (channels, outputs / groups, window) by the elements of the "
    "input (batch, channels, places), added up at their places, plus bias, with margins cut off.",
    source="PyTorch: nn.functional.conv_transpose1d",
    node="ConvolutionBackward0",
    samples=lambda: (
        sample([[[1.0, 2.0, -0.5]]], [[[1.0, -2.0]]], [0.5]),
        sample([[[1.0, 2.0, -0.5]]], [[[1.0, -2.0]]], None, margins=((-1, 0),), stride=(2,)),
    ),
)
