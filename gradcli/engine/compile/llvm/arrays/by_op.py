"""What ops do to symbolic arrays whose NumPy functions do not run on these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.compile.llvm.arrays.functions import TYPES_MADE
from gradcli.engine.compile.llvm.arrays.symbolic import Steps, Symbolic
from gradcli.engine.compile.llvm.emit.writer import constant
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.values import memory
from gradcli.engine.values.data import np

SAME = (ops.copied, ops.detached, ops.unboxed)
"""The ops whose result has the elements of their argument, which nothing changes in place."""


def _put_in_zeros(steps: Steps, value: Any, at: Any, size: Sequence[int]) -> Symbolic:
    symbol = steps.symbol(value)
    zero = constant(TYPES_MADE[symbol.type](0.0))
    assert zero is not None
    return steps.put(steps.number(zero).spread(size), steps.symbol(at), symbol)


def _put_rows_in_zeros(steps: Steps, g: Any, at: Any, size: Sequence[int]) -> Symbolic:
    spread = steps.symbol(np.zeros(())).spread(size)
    return steps.add_rows(spread, steps.symbol(at), steps.symbol(g))


def _picked(steps: Steps, x: Any, index: Any, dim: int) -> Symbolic:
    x, index = steps.symbol(x), steps.symbol(index)
    if not index.is_in_order:
        raise Untranslatable("places that may have another layout")
    return steps.pick_along(x, index, dim)


def _placed(steps: Steps, g: Any, index: Any, dim: int, size: Sequence[int]) -> Symbolic:
    g, index = steps.symbol(g), steps.symbol(index)
    if not index.is_in_order:
        raise Untranslatable("places that may have another layout")
    return steps.add_along(size, index, g, dim)


AT_ONE_PLACE = (ops.row, ops.unrow, ops.with_row)
"""The ops whose last argument is a place that is known only when the code runs."""

BY_OP: dict[Op, Callable[..., Symbolic]] = {
    ops.row: lambda steps, x, at: steps.pick(x, steps.symbol(at)),
    ops.unrow: _put_in_zeros,
    ops.rows: lambda steps, x, at: steps.pick_rows(x, steps.symbol(at)),
    ops.unrows: _put_rows_in_zeros,
    ops.with_row: lambda steps, x, value, at: steps.put(x, steps.symbol(at), steps.symbol(value)),
    ops.pick: _picked,
    ops.place: _placed,
    ops.unfold: lambda steps, x, **at: x.shown(ops.unfold.value.array(x.ghost, **at)),
    ops.recurrence: lambda steps, a, b: steps.recur(steps.symbol(a), steps.symbol(b)),
}


def laid_out(op: Op, symbol: Symbolic, args: Sequence[Any], index: int) -> Symbolic:
    """The result of an op with this index, laid out as the interpreter's result."""
    if not symbol.ghost.flags.c_contiguous and _layout(op, index) is not memory.as_made:
        symbol = symbol.copy("C")
    check_layout(op, symbol, args, index)
    return symbol


def check_layout(op: Op, symbol: Symbolic, args: Sequence[Any], index: int = 0) -> None:
    """Refuse an op whose result, the one with this index, the interpreter may lay out otherwise
    than contiguously.
    """
    layout = _layout(op, index)
    arrays = [x for x in args if isinstance(x, Symbolic) and x.ndim > 1]
    if layout is memory.in_order or symbol.ndim < 2:
        return
    if not symbol.is_in_order:
        raise Untranslatable("a result that is not contiguous")
    follows = layout in (memory.as_arguments, memory.as_first)
    if layout is memory.as_made or (follows and all(x.is_in_order for x in arrays)):
        return
    ghosts = [x.ghost if isinstance(x, Symbolic) else x for x in args]
    if not layout(np.empty(symbol.shape, symbol.dtype), ghosts).flags.c_contiguous:
        raise Untranslatable("a result that is not contiguous")


def _layout(op: Op, index: int) -> Any:
    layouts = op.memory.layouts or (memory.as_made,)
    return layouts[min(index, len(layouts) - 1)]
