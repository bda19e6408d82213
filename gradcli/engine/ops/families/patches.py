"""Patches of images as columns, and back."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.convolution import batched, margined, places, several, unbatched
from gradcli.engine.ops.internal.window import counts
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, sample
from gradcli.engine.values.data import dtype_of, is_whole, shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape
from gradcli.errors import run_error

FAMILY = 302, "Patches of images"


def _ways(kernel_size: Any, stride: Any, padding: Any, dilation: Any) -> list[Shape]:
    return [
        several(kernel_size, 2, "kernel_size", 1),
        several(stride, 2, "stride", 1),
        several(padding, 2, "padding", 0),
        several(dilation, 2, "dilation", 1),
    ]


def _as_columns(x: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    batch = batched(x, 2, "unfold")
    size, step, margin, spread = _ways(kernel_size, stride, padding, dilation)
    padded = margined(batch, [(n, n) for n in margin], 0.0)
    many = places(padded, size, step, spread, "unfold")
    seen = ops.windows(padded, size=size, stride=step, dilation=spread)
    count, channels = shape_of(batch)[:2]
    moved = ops.permute(seen, dims=(0, 1, 4, 5, 2, 3))
    columns = ops.reshape(moved, shape=(count, channels * prod(size), prod(many)))
    return unbatched(columns, x, 2)


_PATCHES: dict[str, Any] = {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1}

functional_unfold: Op = composite(
    "functional_unfold",
    _as_columns,
    layout=in_order,
    params=_PATCHES,
    node="Im2ColBackward0",
    doc="`nn.functional.unfold`: the patches that a window sees of an image (batch, channels, "
    "rows, columns), each a column of (batch, channels times window, patches).",
    source="PyTorch: nn.functional.unfold",
    samples=lambda: (
        sample([[[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]]], **{**_PATCHES, "kernel_size": 2}),
        sample(
            [[[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [-2.0, 3.0]]],
            kernel_size=(2, 1),
            dilation=1,
            padding=(1, 0),
            stride=2,
        ),
    ),
    bad=lambda: (
        bad((3,), **{**_PATCHES, "kernel_size": 2}, says="needs an input of 3 dimensions"),
        bad((1, 1, 2, 2), **{**_PATCHES, "kernel_size": 3}, says="is larger than"),
    ),
)


def _from_columns(
    x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    shape, dtype = shape_of(x), dtype_of(x)
    if is_whole(dtype) and dtype != "bool":
        raise run_error(
            "dtype-mismatch",
            f"`fold` is of floats or bools, got {dtype}",
            help="write `x.float()`",
            raises=NotImplementedError,
        )
    full = several(output_size, 2, "output_size", 1)
    size, step, margin, spread = _ways(kernel_size, stride, padding, dilation)
    around = tuple(n + 2 * m for n, m in zip(full, margin, strict=True))
    many = counts(around, size, step, spread)
    fits = len(shape) in (2, 3) and shape[-1] == prod(many) and not shape[-2] % prod(size)
    if not fits:
        raise run_error(
            "shape-mismatch",
            f"`fold` to {list(full)} needs {prod(many)} columns of a multiple of {prod(size)} "
            f"elements, got the shape {list(shape)}",
        )
    count, channels = shape[0] if len(shape) == 3 else 1, shape[-2] // prod(size)
    rows = ops.permute(
        ops.reshape(x, shape=(count, channels, *size, *many)), dims=(0, 1, 4, 5, 2, 3)
    )
    found = ops.fold(rows, size=size, stride=step, dilation=spread, full=around)
    found = margined(found, [(-n, -n) for n in margin], 0.0)
    return found if len(shape) == 3 else ops.squeeze(found, dim=0)


_IMAGE: dict[str, Any] = {"output_size": REQUIRED, **_PATCHES}

functional_fold: Op = composite(
    "functional_fold",
    _from_columns,
    layout=in_order,
    params=_IMAGE,
    node="Col2ImBackward0",
    doc="`nn.functional.fold`: an image of `output_size` from patches as `unfold` gives them, each "
    "element the sum of all that were there. It is of floats or bools.",
    source="PyTorch: nn.functional.fold",
    samples=lambda: (
        sample(
            [[[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5], [2.0, 2.5]]],
            **{**_IMAGE, "output_size": (2, 3), "kernel_size": 2},
        ),
        sample(
            [[1.0, 2.0], [3.0, 4.0]], **{**_IMAGE, "output_size": (2, 2), "kernel_size": (1, 2)}
        ),
        sample(
            [[1.0, 2.0, 3.0, 4.0]],
            output_size=2,
            kernel_size=1,
            dilation=1,
            padding=1,
            stride=3,
        ),
    ),
    bad=lambda: (
        bad((1, 3, 2), **{**_IMAGE, "output_size": 2, "kernel_size": 2}, says="a multiple of 4"),
        bad(
            [[1, 2], [3, 4]],
            **{**_IMAGE, "output_size": (2, 2), "kernel_size": (1, 2)},
            says="floats or bools",
        ),
    ),
)
