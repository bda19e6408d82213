"""Convolutions and pooling: windows that move over the last dimensions."""

from __future__ import annotations

from math import inf, prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.convolution import (
    batched,
    margined,
    places,
    several,
    unbatched,
)
from gradcli.engine.ops.op import REQUIRED, Op, bad, composite, known, sample
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.memory import in_order
from gradcli.engine.values.sizes import Shape, number, whole
from gradcli.errors import run_error

FAMILY = 300, "Convolution and pooling"


# convolutions -------------------------------------------------------------------------------------


def _padding(padding: Any, size: Shape, stride: Shape, dilation: Shape) -> list[tuple[int, int]]:
    rank = len(size)
    if padding == "valid":
        return [(0, 0)] * rank
    if padding == "same":
        if any(s != 1 for s in stride):
            raise run_error("bad-argument", "`padding='same'` needs a stride of 1")
        totals = [d * (k - 1) for k, d in zip(size, dilation, strict=True)]
        return [(t // 2, t - t // 2) for t in totals]
    if isinstance(padding, str):
        raise run_error(
            "bad-argument", f"`padding` must be numbers, 'valid' or 'same', got {padding!r}"
        )
    return [(n, n) for n in several(padding, rank, "padding", 0)]


def _convolved(rank: int, name: str) -> Any:
    def convolved(
        x: Any,
        weight: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: Any,
    ) -> Any:
        batch = batched(x, rank, name)
        kernel, parts = shape_of(weight), whole(groups, "groups")
        _check_weight(
            shape_of(batch), kernel, shape_of(bias) if bias is not None else None, parts, rank, name
        )
        step, spread = several(stride, rank, "stride", 1), several(dilation, rank, "dilation", 1)
        margins = _padding(padding, kernel[2:], step, spread)
        if any(before != after for before, after in margins):
            batch, margins = margined(batch, margins, 0.0), []
        out = ops.convolution(
            batch, weight, bias, stride=step, margins=margins, dilation=spread, groups=parts
        )
        return out if len(shape_of(x)) == rank + 2 else ops.squeeze(out, dim=0)

    return convolved


def _check_weight(
    x: Shape, weight: Shape, bias: Shape | None, groups: int, rank: int, name: str
) -> None:
    if len(weight) != rank + 2:
        raise run_error(
            "shape-mismatch",
            f"the weight of `{name}` has {rank + 2} dimensions, got the shape {list(weight)}",
        )
    if groups < 1 or x[1] % groups or weight[0] % groups or weight[1] * groups != x[1]:
        raise run_error(
            "shape-mismatch",
            f"a weight of shape {list(weight)} in {groups} groups takes {weight[1] * groups} "
            f"channels, got {x[1]}",
        )
    if bias is not None and bias != weight[:1]:
        raise run_error(
            "shape-mismatch",
            f"`bias` has one element for each of the {weight[0]} outputs, got {list(bias)}",
        )


_CONVOLUTION: dict[str, Any] = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def _refusals(rank: int) -> Any:
    weight, x = (2, 1, *(2,) * rank), (1, 1, *(3,) * rank)
    return (
        bad(x, (2, 2, *(2,) * rank), None, **_CONVOLUTION, says="takes 2 channels, got 1"),
        bad(x, weight, (3,), **_CONVOLUTION, says="each of the 2 outputs"),
        bad(x, (2, 1, *(5,) * rank), None, **_CONVOLUTION, says="is larger than"),
        bad((3,), weight, None, **_CONVOLUTION, says=f"needs an input of {rank + 1} dimensions"),
        bad(x, weight, None, **{**_CONVOLUTION, "stride": 0}, says="from 1 on"),
        bad(x, weight, None, **{**_CONVOLUTION, "padding": "full"}, says="'valid' or 'same'"),
    )


def _line(n: int, start: float = 0.5) -> list[float]:
    return [start + 0.7 * k - 0.2 * k * k for k in range(n)]


conv1d: Op = composite(
    "conv1d",
    _convolved(1, "conv1d"),
    layout=in_order,
    args=("input", "weight", "bias=None"),
    params=_CONVOLUTION,
    doc="Cross-correlation of an input (batch, channels, length) with a weight (outputs, channels "
    "/ groups, window), plus bias. `padding` puts zeros to both ends; 'same' keeps the length.",
    source="PyTorch: nn.functional.conv1d",
    samples=lambda: (
        sample([[_line(4)]], [[[1.0, -2.0]]], None, **_CONVOLUTION),
        sample([[_line(5), _line(5, 1.0)]], [[[1.0, 2.0], [0.5, -1.0]]], [0.25], **_CONVOLUTION),
        sample(
            [[_line(6)]],
            [[[1.0, -2.0]], [[0.5, 3.0]]],
            None,
            **{**_CONVOLUTION, "stride": 2, "padding": 1},
        ),
        sample([_line(5)], [[[1.0, -2.0]]], None, **{**_CONVOLUTION, "dilation": 2}),
        sample(
            [[_line(4), _line(4, 1.0)]],
            [[[1.0, -2.0]], [[0.5, 3.0]]],
            None,
            **{**_CONVOLUTION, "groups": 2},
        ),
        sample([[_line(4)]], [[[1.0, -2.0, 0.5]]], None, **{**_CONVOLUTION, "padding": "same"}),
        sample([[[2.0]]], [[[3.0]]], None, **_CONVOLUTION),
        sample([[_line(3)], [_line(3, 2.0)]], [[[1.0, -2.0]]], [1.0], **_CONVOLUTION),
    ),
    bad=lambda: _refusals(1),
)

conv2d: Op = composite(
    "conv2d",
    _convolved(2, "conv2d"),
    layout=in_order,
    args=("input", "weight", "bias=None"),
    params=_CONVOLUTION,
    doc="Cross-correlation of an input (batch, channels, rows, columns) with a weight (outputs, "
    "channels / groups, rows, columns), plus bias. `padding` puts zeros around; 'same' keeps the "
    "size.",
    source="PyTorch: nn.functional.conv2d",
    samples=lambda: (
        sample([[[_line(3), _line(3, 1.0)]]], [[[[1.0, -2.0], [0.5, 3.0]]]], None, **_CONVOLUTION),
        sample(
            [[_line(3), _line(3, 1.0), _line(3, 2.0)]],
            [[[[1.0, -2.0]]], [[[0.5, 1.0]]]],
            [0.25, 1.0],
            **_CONVOLUTION,
        ),
        sample(
            [[[_line(4), _line(4, 1.0), _line(4, 2.0)]]],
            [[[[1.0, -2.0], [0.5, 3.0]]]],
            None,
            **{**_CONVOLUTION, "stride": (1, 2), "padding": (1, 0)},
        ),
        sample(
            [[[_line(3), _line(3, 1.0)], [_line(3, 2.0), _line(3)]]],
            [[[[1.0, -2.0]]], [[[0.5, 3.0]]]],
            None,
            **{**_CONVOLUTION, "groups": 2},
        ),
        sample(
            [[[_line(3), _line(3, 1.0), _line(3, 2.0)]]],
            [[[[1.0, -2.0], [0.5, 3.0]]]],
            None,
            **{**_CONVOLUTION, "dilation": 2},
        ),
        sample(
            [[[_line(2), _line(2, 1.0)]]],
            [[[[1.0, -2.0], [0.5, 3.0]]]],
            None,
            **{**_CONVOLUTION, "padding": "same"},
        ),
        sample([[[[2.0]]]], [[[[3.0]]]], None, **_CONVOLUTION),
        sample([[[[2.0]]], [[[1.0]]]], [[[[3.0]]]], [0.5], **_CONVOLUTION),
    ),
    bad=lambda: _refusals(2),
)


# pooling ------------------------------------------------------------------------------------------


class _Pool:
    """The parameters of a pooling as they are meant for an input."""

    def __init__(
        self,
        x: Any,
        rank: int,
        name: str,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: Any,
    ) -> None:
        self.size = several(kernel_size, rank, "kernel_size", 1)
        self.stride = (
            self.size
            if stride is None or (type(stride) is tuple and not stride)
            else several(stride, rank, "stride", 1)
        )
        self.padding = several(padding, rank, "padding", 0)
        self.dilation = several(dilation, rank, "dilation", 1)
        if any(2 * p > k for p, k in zip(self.padding, self.size, strict=True)):
            raise run_error(
                "bad-argument",
                f"`padding` {list(self.padding)} is more than half of the window, "
                f"{list(self.size)}",
            )
        sizes = shape_of(x)[-rank:]
        rows = zip(sizes, self.size, self.stride, self.padding, self.dilation, strict=True)
        self.margins = [(p, p + self._extra(n, k, s, p, d, ceil_mode)) for n, k, s, p, d in rows]
        self.name = name

    @staticmethod
    def _extra(n: int, k: int, s: int, p: int, d: int, ceil_mode: Any) -> int:
        """The number of elements behind the padding that the last window needs if it stands out."""
        if not ceil_mode:
            return 0
        room = n + 2 * p - d * (k - 1) - 1
        last = -(-room // s)
        if last * s >= n + p:  # a window begins in the input or before it
            last -= 1
        return max(last * s - room, 0)

    def of_rows(self) -> dict[str, Any]:
        """The windows of a line, as windows of a plane of one row."""
        return {
            "kernel_size": (1, *self.size),
            "stride": (1, *self.stride),
            "padding": (0, *self.padding),
        }

    def windows(self, x: Any, value: float) -> Any:
        """The elements of each window, in one last dimension."""
        padded = margined(x, self.margins, value)
        many = places(padded, self.size, self.stride, self.dilation, self.name)
        seen = ops.windows(padded, size=self.size, stride=self.stride, dilation=self.dilation)
        return ops.reshape(seen, shape=(*shape_of(x)[: -len(self.size)], *many, prod(self.size)))


def _max_pooled(rank: int, name: str) -> Any:
    def pooled(
        x: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        ceil_mode: Any,
        return_indices: Any,
    ) -> Any:
        batch = batched(x, rank, name)
        pool = _Pool(batch, rank, name, kernel_size, stride, padding, dilation, ceil_mode)
        if rank == 1:  # PyTorch's is that of two dimensions
            found = max_pool2d(
                ops.unsqueeze(x, dim=-2),
                **pool.of_rows(),
                dilation=(1, *pool.dilation),
                ceil_mode=ceil_mode,
                return_indices=return_indices,
            )
            if not return_indices:
                return ops.squeeze(found, dim=-2)
            return tuple(ops.squeeze(out, dim=-2) for out in found)
        seen = pool.windows(batch, -inf)
        values, chosen = ops.max_along(seen, dim=-1, keepdim=False)
        if not return_indices:
            return unbatched(values, x, rank)
        sizes = shape_of(batch)[-rank:]
        numbers = np.arange(prod(sizes), dtype=np.float64).reshape((1, 1, *sizes))
        where = np.broadcast_to(pool.windows(numbers, -1.0), shape_of(seen))
        picked = ops.pick(where, ops.unsqueeze(chosen, dim=-1), dim=-1)
        indices = ops.cast(ops.squeeze(picked, dim=-1), dtype="int64")
        return unbatched(values, x, rank), unbatched(indices, x, rank)

    return pooled


_MAX: dict[str, Any] = {
    "kernel_size": REQUIRED,
    "stride": None,
    "padding": 0,
    "dilation": 1,
    "ceil_mode": False,
    "return_indices": False,
}


def _max_samples(rank: int) -> Any:
    plane = [_line(5)] if rank == 1 else [[_line(5), _line(5, 1.1), _line(5, -3.3)]]
    given = {**_MAX, "kernel_size": 2}
    return (
        sample([plane], **given),
        sample([plane], **{**given, "stride": 1}),
        sample([plane], **{**given, "padding": 1}),
        sample([plane], **{**given, "ceil_mode": True}),
        sample(plane, **{**given, "stride": 2}),
        sample([plane], **{**given, "dilation": 2, "stride": 1}),
        sample([plane], **{**given, "return_indices": True}),
        sample([plane], **{**given, "kernel_size": 1}),
    )


def _pool_refusals(rank: int, params: dict[str, Any]) -> Any:
    x = (1, 1, *(3,) * rank)
    return (
        bad(x, **{**params, "kernel_size": 5}, says="is larger than"),
        bad(x, **{**params, "kernel_size": 2, "padding": 2}, says="more than half"),
        bad((3,), **{**params, "kernel_size": 2}, says=f"needs an input of {rank + 1} dimensions"),
        bad(x, **{**params, "kernel_size": 0}, says="from 1 on"),
    )


def _max_op(rank: int, what: str) -> Op:
    name = f"max_pool{rank}d"
    return composite(
        name,
        _max_pooled(rank, name),
        guards=("input",),
        params=_MAX,
        node="MaxPool2DWithIndicesBackward0" if rank == 2 else None,
        doc=f"Largest element in each window of {what}, windows `stride` apart (their size without "
        "it). At a tie the first is taken and gets the gradient; `return_indices` tells its place.",
        source=f"PyTorch: nn.functional.{name}",
        samples=lambda: _max_samples(rank),
        known=lambda: (
            known(
                [[2.0, 2.0]] if rank == 1 else [[[2.0, 2.0]]],
                **{**_MAX, "kernel_size": 2 if rank == 1 else (1, 2)},
                grad=([[1.0, 0.0]] if rank == 1 else [[[1.0, 0.0]]],),
            ),
        ),
        bad=lambda: _pool_refusals(rank, _MAX),
    )


max_pool1d: Op = _max_op(1, "(batch, channels, length)")
max_pool2d: Op = _max_op(2, "(batch, channels, rows, columns)")


def _averaged(rank: int, name: str) -> Any:
    def averaged(
        x: Any,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: Any,
        count_include_pad: Any,
        divisor_override: Any = None,
    ) -> Any:
        batch = batched(x, rank, name)
        pool = _Pool(batch, rank, name, kernel_size, stride, padding, 1, ceil_mode)
        if rank == 1:  # PyTorch's is that of two dimensions
            found = avg_pool2d(
                ops.unsqueeze(x, dim=-2),
                **pool.of_rows(),
                ceil_mode=ceil_mode,
                count_include_pad=count_include_pad,
            )
            return ops.squeeze(found, dim=-2)
        total = ops.sum(pool.windows(batch, 0.0), dim=-1)
        if divisor_override is not None:
            divisor = float(number(divisor_override, "divisor_override"))
            if divisor == 0:
                raise run_error("bad-argument", "`divisor_override` cannot be 0")
            return unbatched(ops.div(total, divisor), x, rank)
        ones = np.ones((1, 1, *shape_of(batch)[-rank:]), dtype_of(batch))
        if count_include_pad:
            ones = np.ones(
                (1, 1, *(n + 2 * p for n, p in zip(ones.shape[2:], pool.padding, strict=True)))
            ).astype(ones.dtype)
            pool.margins = [(0, after - before) for before, after in pool.margins]
        count = np.sum(pool.windows(ones, 0.0), axis=-1)
        return unbatched(ops.div(total, count), x, rank)

    return averaged


_AVERAGE: dict[str, Any] = {
    "kernel_size": REQUIRED,
    "stride": None,
    "padding": 0,
    "ceil_mode": False,
    "count_include_pad": True,
}


def _average_op(rank: int, what: str, more: dict[str, Any]) -> Op:
    name = f"avg_pool{rank}d"
    params = {**_AVERAGE, **more}
    plane = [_line(5)] if rank == 1 else [[_line(5), _line(5, 1.1), _line(5, -3.3)]]
    given = {**params, "kernel_size": 2}
    return composite(
        name,
        _averaged(rank, name),
        guards=("input",),
        params=params,
        node="AvgPool2DBackward0" if rank == 2 else None,
        doc=f"Mean of each window of {what}, windows `stride` apart (their size without it). "
        "Padding counts unless `count_include_pad=False`.",
        source=f"PyTorch: nn.functional.{name}",
        samples=lambda: (
            sample([plane], **given),
            sample([plane], **{**given, "stride": 1}),
            sample([plane], **{**given, "padding": 1}),
            sample([plane], **{**given, "padding": 1, "count_include_pad": False}),
            sample([plane], **{**given, "ceil_mode": True}),
            sample([plane], **{**given, "ceil_mode": True, "padding": 1, "stride": 3}),
            sample(plane, **{**given, "stride": 2}),
            *((sample([plane], **{**given, "divisor_override": 3}),) if more else ()),
        ),
        bad=lambda: _pool_refusals(rank, params),
    )


avg_pool1d: Op = _average_op(1, "(batch, channels, length)", {})
avg_pool2d: Op = _average_op(2, "(batch, channels, rows, columns)", {"divisor_override": None})
