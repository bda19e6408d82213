"""Windows over the last dimensions, and the convolution that PyTorch records as one node."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.window import counts
from gradcli.engine.ops.op import Op, composite, sample
from gradcli.engine.values.data import shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import Shape
from gradcli.errors import run_error


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
