"""More, fewer and moved dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, sample
from gradcli.engine.values.data import shape_of
from gradcli.engine.values.sizes import axis, wholes
from gradcli.errors import run_error

FAMILY = 155, "Dimensions"

_VIEW: dict[str, Any] = {"view": True, "source": "PyTorch: views"}


def _unflatten(x: Any, dim: Any, sizes: Any) -> Any:
    shape = shape_of(x)
    if not shape:
        raise run_error("shape-mismatch", "a 0-d tensor has no dimension to take apart")
    at = axis(dim, len(shape))
    parts = wholes(sizes, "sizes")
    known = 1
    for n in parts:
        known *= n if n >= 0 else 1
    if parts.count(-1) == 1 and known and shape[at] % known == 0:
        parts = tuple(shape[at] // known if n < 0 else n for n in parts)
    count = 1
    for n in parts:
        count *= n
    if count != shape[at] or any(n < 0 for n in parts):
        raise run_error(
            "shape-mismatch",
            f"the size {shape[at]} of dimension {at} cannot be taken apart as {list(parts)}",
        )
    return ops.view(x, shape=(*shape[:at], *parts, *shape[at + 1 :]))


unflatten: Op = composite(
    "unflatten",
    _unflatten,
    params={"dim": REQUIRED, "sizes": REQUIRED},
    doc="The input with the dimension `dim` taken apart into dimensions of the given sizes, of "
    "which one may be -1.",
    **_VIEW,
    samples=lambda: (
        sample([1.0, 2.0, 3.0, 4.0], dim=0, sizes=(2, 2)),
        sample([[1.0, 2.0, 3.0, 4.0]], dim=-1, sizes=(2, -1)),
        sample([5.0], dim=0, sizes=(1, 1)),
    ),
    bad=lambda: (
        bad((4,), dim=0, sizes=(3, 2), says="cannot be taken apart"),
        bad((), dim=0, sizes=(1,), says="0-d"),
    ),
)

ravel: Op = composite(
    "ravel",
    lambda x: ops.reshape(ops.contiguous(x), shape=(-1,)),
    shape=lambda x: (prod(x),),
    doc="The elements in their order, as a vector.",
    **_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0], [3.0, 4.0]]),
        sample(5.0),
        sample([1.0]),
    ),
)


def _moved(x: Any, source: Any, destination: Any) -> Any:
    ndim = len(shape_of(x))
    taken = [axis(d, ndim) for d in wholes(source, "source")]
    placed = [axis(d, ndim) for d in wholes(destination, "destination")]
    if len(taken) != len(placed) or len({*taken}) != len(taken) or len({*placed}) != len(placed):
        raise run_error(
            "bad-argument",
            f"`source` {taken} and `destination` {placed} must name as many dimensions, each once",
        )
    rest = iter(d for d in range(ndim) if d not in taken)
    order = [taken[placed.index(d)] if d in placed else next(rest) for d in range(ndim)]
    return ops.permute(x, dims=tuple(order))


movedim: Op = composite(
    "movedim",
    _moved,
    aliases=("moveaxis",),
    params={"source": REQUIRED, "destination": REQUIRED},
    doc="The input with the dimensions `source` moved to the places `destination`; the others keep "
    "their order.",
    **_VIEW,
    samples=lambda: (
        sample([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], source=0, destination=1),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], source=(0, 2), destination=(1, 0)),
        sample([[[1.0, 2.0]], [[3.0, 4.0]]], source=-1, destination=0),
        sample([5.0], source=0, destination=0),
    ),
    bad=lambda: (bad((2, 3), source=(0, 1), destination=0, says="as many dimensions"),),
)


def _at_least(ndim: int) -> Any:
    def grown(*tensors: Any) -> Any:
        found = tuple(_grown(x, ndim) for x in tensors)
        return found[0] if len(found) == 1 else found

    return grown


def _grown(x: Any, ndim: int) -> Any:
    shape = shape_of(x)
    if len(shape) >= ndim:
        return x
    if not shape:
        return ops.reshape(x, shape=(1,) * ndim)
    for rank in range(len(shape), ndim):  # first a row, then a row of columns
        x = ops.unsqueeze(x, dim=0 if rank == 1 else -1)
    return x


def _at_least_op(ndim: int) -> Op:
    return composite(
        f"atleast_{ndim}d",
        _at_least(ndim),
        args=("*tensors",),
        doc=f"The tensor with at least {ndim} dimension{'s' * (ndim > 1)}, new ones of size "
        "1; of several tensors a tuple.",
        **_VIEW,
        samples=lambda: (
            sample(5.0),
            sample([1.0, 2.0]),
            sample([[1.0, 2.0]]),
            sample(5.0, [1.0]),
        ),
    )


atleast_1d: Op = _at_least_op(1)
atleast_2d: Op = _at_least_op(2)
atleast_3d: Op = _at_least_op(3)
