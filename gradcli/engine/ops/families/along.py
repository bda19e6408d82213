"""Helpers that reductions share: the dimensions along which they work."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Sample, sample
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, np
from gradcli.engine.values.sizes import Shape, axes, reduced
from gradcli.errors import run_error

DIMS: dict[str, Any] = {"dim": None, "keepdim": False}
"""The parameters of a reduction."""


def spread(g: Any, x: Any, dim: Any, keepdim: Any) -> Any:
    """A reduction's cotangent, or its result, copied back over the dimensions that it reduced."""
    if dim is not None and not keepdim:
        g = ops.reshape(g, shape=reduced(x.shape, dim, True))
    return ops.expand(g, size=x.shape)


def count_over(shape: Shape, dim: Any) -> int:
    """The number of elements that each result is made of."""
    count = 1
    for i in axes(dim, len(shape)):
        count *= shape[i]
    return count


def floats(x: Data) -> Any:
    """An array of floats: ints and bools are made float64."""
    x = shaped(x)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def reshaped(x: Any, shape: Shape) -> Data:
    """A new array in another shape; without dimensions a scalar, which is no view of it."""
    return np.reshape(x, shape)[()]


def shaped(x: Any) -> Any:
    """A number as an array, so that it has a shape and a dtype."""
    return np.asarray(x) if type(x) in NUMBERS else x


def check_some(shape: Shape, dim: Any, name: str) -> None:
    """Refuse a reduction of no elements that has no value."""
    if count_over(shape, dim) == 0:
        message = f"`{name}` of no elements, got the shape {list(shape)}"
        raises = IndexError if dim is not None or name.startswith("arg") else RuntimeError
        raise run_error("empty-reduction", message, raises=raises)


def dim_samples() -> tuple[Sample, ...]:
    """Samples for reductions that are smooth away from ties and zeros."""
    return (
        sample([1.0, -2.0, 3.0], **DIMS),
        sample([[1.0, -2.0], [3.0, 4.5]], **DIMS),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=0, keepdim=False),
        sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
        sample([[1.0, -2.0, 0.5], [3.0, 4.5, -1.5]], dim=-1, keepdim=False),
        sample([[[1.0, -2.0], [3.0, 4.5]]], dim=(0, 2), keepdim=False),
        sample([[[1.0, -2.0], [3.0, 4.5]]], dim=(1, 2), keepdim=True),
        sample([5.0], **DIMS),
        sample(-2.0, **DIMS),
        sample([[2.5]], dim=0, keepdim=False),
    )


def share(x: Any, out: Any, dim: Any, keepdim: Any) -> Any:
    """Weight of each element in its extreme: those that attain it share it evenly."""
    x = shaped(x)
    attained = ops.logical_or(ops.eq(x, spread(out, x, dim, keepdim)), ops.isnan(x))
    ones = ops.cast(attained, dtype=dtype_of(x))
    return ops.div(ones, ops.sum(ones, dim=axes(dim, len(x.shape)), keepdim=True))
