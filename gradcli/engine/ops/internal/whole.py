"""Ops on arrays that only compiled programs name."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import taken
from gradcli.engine.ops.op import REQUIRED, Op, linear, op, sample
from gradcli.engine.values import memory
from gradcli.engine.values.data import Data, dtype_of, np


class Constant:
    """An array that never changes. Two constants differ even if their elements are equal."""

    __slots__ = ("data",)

    def __init__(self, data: Data) -> None:
        self.data = data

    @property
    def dtype(self) -> str:
        return dtype_of(self.data)

    @property
    def shape(self) -> tuple[int, ...]:
        found: tuple[int, ...] = self.data.shape
        return found

    def __repr__(self) -> str:
        return f"{self.dtype}{[*self.shape]}"


held: Op = op(
    "held",
    args=(),
    params={"of": REQUIRED},
    doc="An array that is known before code runs.",
    array=lambda of: of.data,
    shape=lambda of: of.shape,
    dtype=lambda of: of.dtype,
)

assembled: Op = op(
    "assembled",
    args=("*numbers",),
    params={"size": REQUIRED},
    doc="A tensor of a shape, of these numbers.",
    array=lambda *numbers, size: np.array(numbers).reshape(size),
    shape=lambda *numbers, size: size,
    samples=lambda: (sample(1.0, 2.0, size=(2,)),),
)


def _owned(out: Data, *args: Data, by: str, index: int) -> Data:
    if any(memory.shares(out, a) for a in args):
        out = out.copy(order="K")
    layouts = ops[by].memory.layouts
    if not layouts or not out.ndim:
        return out
    return layouts[min(index, len(layouts) - 1)](out, args)


owned: Op = op(
    "owned",
    args=("*tensors",),
    params={"by": REQUIRED, "index": 0},
    doc="The first tensor, which the op `by`, made of others, gives for the others as its result "
    "`index`, on memory of its own.",
    source="identity",
    array=_owned,
    shape=lambda out, *args, by, index: out,
    dtype=lambda out, *args, by, index: dtype_of(out),
    layout=memory.as_made,
    vjp=(lambda g, out, i, *tensors, by, index: None if i else g,),
    jvp=(lambda dot, out, i, *tensors, by, index: None if i else dot,),
)

unboxed: Op = linear(
    "unboxed",
    doc="The number in an array without dimensions.",
    source="identity",
    number=lambda x: x,
    array=lambda x: x[()],
    shape=lambda x: x,
    vjp=(lambda g, out, x: g,),
    samples=lambda: (sample(2.0),),
)


def _laid_as(out: Data, other: Data) -> Data:
    if out.strides == other.strides and out.dtype == other.dtype:
        return out
    made = np.empty_like(other)
    made[...] = out
    return made


laid_as: Op = op(
    "laid_as",
    args=("input", "other"),
    doc="The input, whose elements lie in memory as those of the other do.",
    source="identity",
    array=_laid_as,
    shape=lambda x, other: x,
    dtype=lambda x, other: dtype_of(x),
    layout=memory.as_made,
    vjp=(lambda g, out, x, other: g, None),
    jvp=(lambda dot, out, x, other: dot, None),
)

row: Op = linear(
    "row",
    args=("input", "at"),
    doc="The part input[at], at a place that is known only when code runs.",
    source="indexing",
    array=taken,
    shape=lambda x, at: x[1:],
    dtype=lambda x, at: dtype_of(x),
    batch=lambda x, at: x[:, at[0]],
    view=True,
    layout=memory.as_made,
    vjp=(lambda g, out, x, at: unrow(g, at, size=x.shape), None),
    saves={"input": ("at",)},
)


def _unrow_batch(g: Data, at: Data, size: Sequence[int]) -> Data:
    out = np.zeros((len(g), *size), g.dtype)
    out[:, at[0]] = g
    return out


unrow: Op = linear(
    "unrow",
    args=("g", "at"),
    params={"size": REQUIRED},
    doc="Zeros of the shape `size` with g at a place: the transpose of `row`.",
    array=lambda g, at, size: ops.unindex.value.array(g, index=at, size=size),
    shape=lambda g, at, size: size,
    dtype=lambda g, at, size: dtype_of(g),
    batch=_unrow_batch,
    vjp=(lambda g, out, x, at, size: row(g, at), None),
    saves={"g": ("at",)},
)


rows: Op = linear(
    "rows",
    args=("input", "at"),
    doc="The parts input[at] at several places, that are known only when code runs.",
    source="indexing",
    array=taken,
    shape=lambda x, at: (*at, *x[1:]),
    dtype=lambda x, at: dtype_of(x),
    batch=lambda x, at: np.array(x[:, at[0]], order="C"),
    layout=memory.as_made,
    vjp=(lambda g, out, x, at: unrows(g, at, size=x.shape), None),
    saves={"input": ("at",)},
    node="IndexBackward0",
)


def _unrows(g: Data, at: Data, size: Sequence[int]) -> Data:
    found: Data = ops.unindex.value.array(g, index=at, size=size)
    return found


unrows: Op = linear(
    "unrows",
    args=("g", "at"),
    params={"size": REQUIRED},
    doc="Zeros of the shape `size`, to which the parts g are added at places: the transpose of "
    "`rows`.",
    array=_unrows,
    shape=lambda g, at, size: size,
    dtype=lambda g, at, size: dtype_of(g),
    batch=lambda g, at, size: np.stack([_unrows(one, at[0], size) for one in g]),
    vjp=(lambda g, out, x, at, size: rows(g, at), None),
    saves={"g": ("at",)},
)


def _with_row_batch(x: Data, value: Data, at: Data) -> Data:
    count = max(len(x), len(value))
    out = np.array(np.broadcast_to(x, (count, *x.shape[1:])))
    out[:, at[0]] = value
    return out


with_row: Op = op(
    "with_row",
    args=("input", "value", "at"),
    doc="The input with `input[at] = value` done, at a place that is known only when code runs.",
    source="indexing",
    array=lambda x, value, at: ops.set_at.value.array(x, value, index=at),
    shape=lambda x, value, at: x,
    dtype=lambda x, value, at: dtype_of(x),
    batch=_with_row_batch,
    layout=memory.as_first,
    vjp=(
        lambda g, out, x, value, at: with_row(g, 0.0, at),
        lambda g, out, x, value, at: row(g, at),
        None,
    ),
    jvp=(
        lambda dot, out, x, value, at: with_row(dot, 0.0, at),
        lambda dot, out, x, value, at: with_row(ops.zeros_of(like=x), dot, at),
        None,
    ),
    saves={"input": ("at",), "value": ("at",)},
)
