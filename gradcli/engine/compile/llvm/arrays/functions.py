"""What functions of NumPy's other than element by element do to symbolic arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.arrays.steps import Copy, Node
from gradcli.engine.compile.llvm.arrays.symbolic import Steps, Symbolic
from gradcli.engine.compile.llvm.emit.inner_loops import TYPE_OF
from gradcli.engine.compile.llvm.emit.writer import Number, constant
from gradcli.engine.compile.scalar.errors import Untranslatable


def _where(steps: Steps, test: Any, *ways: Any) -> Symbolic:
    symbols = [steps.symbol(x) for x in (test, *ways)]
    if len(symbols) != 3:
        raise Untranslatable("the places of true elements")
    symbols[0] = symbols[0].astype(np.bool_)
    dtype = np.result_type(*(x.dtype for x in symbols[1:]))
    if dtype not in TYPE_OF:
        raise Untranslatable("a choice of numbers of several types")
    type_ = TYPE_OF[dtype]
    return steps.map("select", [symbols[0], *ways], ("bool", type_, type_, type_))


def _filled(value: float) -> Callable[..., Symbolic]:
    def like(steps: Steps, x: Symbolic, order: str = "K", shape: Any = None) -> Symbolic:
        found = constant(TYPES_MADE[x.type](value))
        assert found is not None
        number = steps.number(found)
        if shape is not None:
            spread = number.shown(np.broadcast_to(number.ghost, shape))
            return steps.whole(steps.copy(spread, Node(x.type, shape)).node)
        if x.is_like_by_rows or x.ndim == 1:
            return number.shown(np.broadcast_to(number.ghost, x.shape))
        raise Untranslatable("a result that is not contiguous")

    return like


TYPES_MADE: dict[str, Callable[[float], Any]] = {"float": float, "int": int, "bool": bool}


def _viewed(function: Any) -> Callable[..., Symbolic]:
    """A function on symbols that makes the view that a NumPy function makes."""

    def view(steps: Steps, x: Symbolic, *args: Any, **options: Any) -> Symbolic:
        return x.shown(function(x.ghost, *args, **options))

    return view


def _folded(function: Any) -> Callable[..., Symbolic]:
    def fold(steps: Steps, x: Symbolic, axis: Any = None, keepdims: Any = False) -> Symbolic:
        return steps.fold(function, x, axis, keepdims)

    return fold


def _sum(
    steps: Steps, x: Symbolic, axis: Any = None, keepdims: Any = False, dtype: Any = None
) -> Symbolic:
    if dtype is not None and x.type not in ("bool", "float"):  # bools count exactly
        raise Untranslatable(f"a sum of {x.type} as {dtype}")
    return steps.fold(np.add, x if dtype is None else x.astype(dtype), axis, keepdims)


def _extreme(function: Any, least: float) -> Callable[..., Symbolic]:
    """`np.max` or `np.min`; `least` is the value of no elements."""

    def fold(
        steps: Steps, x: Symbolic, axis: Any = None, keepdims: Any = False, initial: Any = None
    ) -> Symbolic:
        if initial is None:
            return steps.extreme(function, x, axis, keepdims)
        if initial != least or not x.is_in_order:
            raise Untranslatable("the largest of an array and a number")
        return steps.fold(function, x, axis, keepdims)

    return fold


def _scanned(function: Any) -> Callable[..., Symbolic]:
    return lambda steps, x, axis: steps.scan(function, x, axis)


def _rolled(steps: Steps, x: Symbolic, shift: Any, axis: Any = None) -> Symbolic:
    if not x.is_like_by_rows:
        raise Untranslatable("an array that may have another layout is rolled")
    if axis is None:
        return _rolled(steps, x.reshape(-1), shift, 0).reshape(x.shape)
    for by, k in zip(*map(np.ravel, np.broadcast_arrays(shift, axis)), strict=True):
        count = int(by) % x.shape[k]
        before = (slice(None),) * (k % x.ndim)
        if count:
            parts = x[(*before, slice(-count, None))], x[(*before, slice(None, -count))]
            x = _put_together(steps, parts, k)
    return steps.whole(steps.copy(x, Node(x.type, x.shape)).node)


def _taken(steps: Steps, x: Symbolic, indices: Any, axis: int) -> Symbolic:
    """The parts of an array at places along a dimension that are known."""
    before = (slice(None),) * (axis % x.ndim)
    places = np.arange(x.shape[axis])[indices].tolist()
    return _put_together(steps, [x[(*before, slice(k, k + 1))] for k in places], axis)


def _joined(steps: Steps, parts: Sequence[Any], axis: int = 0, dtype: Any = None) -> Symbolic:
    symbols = [steps.symbol(x) for x in parts]
    if dtype is not None:
        symbols = [x.astype(dtype) for x in symbols]
    if not symbols[0].ndim or not (_are_by_rows(symbols) or _join_by_rows(symbols, axis)):
        raise Untranslatable("parts that are not contiguous")
    if len({x.type for x in symbols}) > 1:
        raise Untranslatable("parts of several types")
    return _put_together(steps, symbols, axis)


def _are_by_rows(symbols: Sequence[Symbolic]) -> bool:
    return all(x.is_like_by_rows for x in symbols if x.ndim > 1)


def _join_by_rows(symbols: Sequence[Symbolic], axis: int) -> bool:
    """True if NumPy's result is contiguous, though a part is not."""
    are_known = all(x.is_certain for x in symbols)
    return are_known and np.concatenate([x.ghost for x in symbols], axis).flags.c_contiguous


def _put_together(steps: Steps, symbols: Sequence[Symbolic], axis: int) -> Symbolic:
    """A new array of parts of one type along a dimension."""
    shape = [*symbols[0].shape]
    shape[axis] = sum(x.shape[axis] for x in symbols)
    target = steps.whole(Node(symbols[0].type, shape))
    assert isinstance(target.source, Node)
    for x, place in zip(symbols, _places(symbols, axis), strict=True):
        index = (slice(None),) * (axis % x.ndim) + (place,)
        source = x.source if isinstance(x.source, Number) else x.part()
        steps.steps.append(Copy(target.source, target[index].part(), source))
    return target


def _stacked(steps: Steps, parts: Sequence[Any], axis: int = 0, dtype: Any = None) -> Symbolic:
    symbols = [steps.symbol(x) for x in parts]
    at = axis % (symbols[0].ndim + 1)
    shape = [*symbols[0].shape]
    shape.insert(at, 1)
    return _joined(steps, [x.reshape(shape) for x in symbols], at, dtype)


def _places(symbols: Sequence[Symbolic], axis: int) -> Iterator[slice]:
    start = 0
    for x in symbols:
        yield slice(start, start + x.shape[axis])
        start += x.shape[axis]


def _clipped(steps: Steps, x: Symbolic, least: float, most: float) -> Symbolic:
    return x.done(_CLIP, [x, least, most])


def _triangle(is_upper: bool) -> Callable[..., Symbolic]:
    def part(steps: Steps, x: Symbolic, k: int = 0) -> Symbolic:
        rows, columns = x.shape[-2:]
        mask = np.tri(rows, columns, k=k - is_upper, dtype=np.bool_)
        return _where(steps, ~mask if is_upper else mask, x, TYPES_MADE[x.type](0.0))

    return part


def _copied(steps: Steps, x: Any, order: str = "K") -> Symbolic:
    return steps.symbol(x).copy(order)


def _ordered(steps: Steps, x: Symbolic, axis: int = -1, kind: str = "") -> Symbolic:
    if kind != "stable":
        raise Untranslatable("an order of equal elements that is not known")
    return steps.order(x, axis)


def _located(function: Any) -> Callable[..., Symbolic]:
    def locate(
        steps: Steps, x: Symbolic, axis: int | None = None, keepdims: bool = False
    ) -> Symbolic:
        return steps.locate(function, x, axis, keepdims)

    return locate


def _taken_along(steps: Steps, x: Any, places: Any, axis: int = -1) -> Symbolic:
    return steps.pick_along(steps.symbol(x), steps.symbol(places), axis)


_CLIP = (getattr(np, "_core", None) or np.core).umath.clip
"""The function that `np.clip` calls; it has no public name."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.ones_like: _filled(1.0),
    np.zeros_like: _filled(0.0),
    np.sum: _sum,
    np.prod: _folded(np.multiply),
    np.max: _extreme(np.maximum, -np.inf),
    np.min: _extreme(np.minimum, np.inf),
    np.cumsum: _scanned(np.add),
    np.cumprod: _scanned(np.multiply),
    np.roll: _rolled,
    np.take: _taken,
    np.clip: _clipped,
    np.tril: _triangle(False),
    np.triu: _triangle(True),
    np.any: _folded(np.logical_or),
    np.all: _folded(np.logical_and),
    np.concatenate: _joined,
    np.stack: _stacked,
    np.copy: _copied,
    np.argsort: _ordered,
    np.argmax: _located(np.argmax),
    np.argmin: _located(np.argmin),
    np.take_along_axis: _taken_along,
    np.shape: lambda _, x: x.shape,
    np.ndim: lambda _, x: x.ndim,
    np.size: lambda _, x: x.size,
    np.reshape: lambda _, x, shape: x.reshape(shape),
    **{
        function: _viewed(function)
        for function in (
            *(np.transpose, np.swapaxes, np.moveaxis, np.broadcast_to, np.expand_dims),
            *(np.squeeze, np.diagonal, np.flip, np.lib.stride_tricks.sliding_window_view),
        )
    },
}
