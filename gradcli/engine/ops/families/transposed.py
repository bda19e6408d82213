"""Transposed convolutions: each element of the input adds its multiple of the kernel."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.convolution import batched, several, unbatched
from gradcli.engine.ops.op import Op, bad, composite, sample
from gradcli.engine.values.data import shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, whole
from gradcli.errors import run_error

FAMILY = 301, "Transposed convolution"


def _transposed(rank: int, name: str) -> Any:
    def transposed(
        x: Any,
        weight: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        groups: Any,
        dilation: Any,
    ) -> Any:
        batch = batched(x, rank, name)
        parts = whole(groups, "groups")
        _check_weight(
            shape_of(batch), shape_of(weight), None if bias is None else shape_of(bias), parts, name
        )
        step, spread = several(stride, rank, "stride", 1), several(dilation, rank, "dilation", 1)
        less, more = (
            several(padding, rank, "padding", 0),
            several(output_padding, rank, "output_padding", 0),
        )
        if any(m >= max(s, d) for m, s, d in zip(more, step, spread, strict=True)):
            raise run_error(
                "bad-argument", "`output_padding` must be smaller than the stride or the dilation"
            )
        out = ops.transposed_convolution(
            batch,
            weight,
            bias,
            stride=step,
            margins=tuple((-p, m - p) for p, m in zip(less, more, strict=True)),
            dilation=spread,
            groups=parts,
        )
        return unbatched(out, x, rank)

    return transposed


def _check_weight(x: Shape, weight: Shape, bias: Shape | None, groups: int, name: str) -> None:
    if len(weight) != len(x):
        raise run_error(
            "shape-mismatch",
            f"the weight of `{name}` has {len(x)} dimensions, got the shape {list(weight)}",
        )
    if groups < 1 or x[1] % groups or weight[0] != x[1]:
        raise run_error(
            "shape-mismatch",
            f"a weight of shape {list(weight)} in {groups} groups takes {weight[0]} channels, "
            f"got {x[1]}",
        )
    if bias is not None and bias != (weight[1] * groups,):
        raise run_error(
            "shape-mismatch",
            f"`bias` has one element for each of the {weight[1] * groups} outputs, got "
            f"{list(bias)}",
        )


_PARAMS: dict[str, Any] = {
    "stride": 1,
    "padding": 0,
    "output_padding": 0,
    "groups": 1,
    "dilation": 1,
}


def _plane(rank: int, n: int, start: float = 0.0) -> Any:
    line = [start + 0.5 * i - 0.3 * i * i for i in range(n)]
    return line if rank == 1 else [line, [v * 0.7 - 1.0 for v in line]]


def _samples(rank: int) -> Any:
    kernel: Any = [1.0, -2.0] if rank == 1 else [[1.0, -2.0], [0.5, 3.0]]
    other: Any = [0.25, 1.5] if rank == 1 else [[0.25, 1.5], [-1.0, 2.0]]
    x = [[_plane(rank, 3)]]
    return (
        sample(x, [[kernel]], None, **_PARAMS),
        sample(x, [[kernel, other]], [0.5, -1.0], **{**_PARAMS, "stride": 2}),
        sample(x, [[kernel]], None, **{**_PARAMS, "padding": 1}),
        sample(x, [[kernel]], None, **{**_PARAMS, "stride": 2, "output_padding": 1}),
        sample(x, [[kernel]], [0.5], **{**_PARAMS, "dilation": 2}),
        sample(
            [[_plane(rank, 2), _plane(rank, 2, 1.0)]],
            [[kernel], [other]],
            None,
            **{**_PARAMS, "groups": 2},
        ),
        sample(x[0], [[kernel]], None, **_PARAMS),
    )


def _refusals(rank: int) -> Any:
    weight, x = (1, 2, *(2,) * rank), (1, 1, *(3,) * rank)
    return (
        bad(x, (2, 2, *(2,) * rank), None, **_PARAMS, says="takes 2 channels, got 1"),
        bad(x, weight, (3,), **_PARAMS, says="each of the 2 outputs"),
        bad((3,), weight, None, **_PARAMS, says=f"needs an input of {rank + 1} dimensions"),
        bad(x, (2,), None, **_PARAMS, says=f"has {rank + 2} dimensions"),
        bad(x, weight, None, **{**_PARAMS, "output_padding": 1}, says="must be smaller"),
        bad(x, weight, None, **{**_PARAMS, "padding": 2}, says="leaves nothing"),
    )


def _op(rank: int, sizes: str) -> Op:
    name = f"conv_transpose{rank}d"
    return composite(
        name,
        _transposed(rank, name),
        layout=in_order,
        args=("input", "weight", "bias=None"),
        params=_PARAMS,
        doc=f"The transpose of `conv{rank}d`: each element of an input (batch, channels, {sizes}) "
        f"adds its multiple of a weight (channels, outputs / groups, {sizes}), `stride` apart; "
        "`padding` cuts the borders, `output_padding` adds to the last ones.",
        source=f"PyTorch: nn.functional.{name}",
        samples=lambda: _samples(rank),
        bad=lambda: _refusals(rank),
    )


conv_transpose1d: Op = _op(1, "places")
conv_transpose2d: Op = _op(2, "rows, columns")
