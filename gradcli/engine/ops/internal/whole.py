"""Ops on arrays that only compiled programs name."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, op, sample
from gradcli.engine.values import memory
from gradcli.engine.values.data import Data, dtype_of, np


class Constant:
    """An array that nobody changes; another one is another constant, be the elements the same."""

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


def _array(of: Any) -> Data:
    return of.data


held: Op = op(
    "held",
    params={"of": REQUIRED},
    doc="An array that is known before code runs.",
    source="definition",
    array=_array,
    shape=lambda of: of.shape,
    dtype=lambda of: of.dtype,
    method=False,
)

assembled: Op = op(
    "assembled",
    args=("*numbers",),
    params={"size": REQUIRED},
    doc="A tensor of a shape, of these numbers.",
    source="definition",
    array=lambda *numbers, size: np.array(numbers).reshape(size),
    shape=lambda *numbers, size: size,
    method=False,
    samples=lambda: (sample(1.0, 2.0, size=(2,)),),
)


def _owned(out: Data, *args: Data, by: str) -> Data:
    if any(memory.shares(out, a) for a in args):
        out = out.copy(order="K")
    layouts = ops[by].layouts
    return layouts[0](out, args) if layouts and out.ndim else out


owned: Op = op(
    "owned",
    args=("*tensors",),
    params={"by": REQUIRED},
    doc="The first tensor, which the op `by`, made of others, gives for the others, on memory of "
    "its own.",
    source="identity",
    array=_owned,
    shape=lambda out, *args, by: out,
    dtype=lambda out, *args, by: dtype_of(out),
    layout=memory.as_made,
    vjp=(lambda g, out, i, *tensors, by: None if i else g,),
    jvp=(lambda dot, out, i, *tensors, by: None if i else dot,),
    method=False,
)

unboxed: Op = op(
    "unboxed",
    args=("input",),
    doc="The number in an array without dimensions.",
    source="identity",
    number=lambda x: x,
    array=lambda x: x[()],
    shape=lambda x: x,
    vjp=(lambda g, out, x: g,),
    jvp=(lambda dot, out, x: dot,),
    method=False,
    samples=lambda: (sample(2.0),),
)
