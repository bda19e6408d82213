"""Memory of results and the order of their elements, as in PyTorch.

The result of an op whose entry says `view` shares the memory of its first argument if possible. Any
other result has memory of its own, with its elements in the order that the entry's `layout` gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.values.data import NUMBERS, Data, np


def shares(x: Data, y: Data) -> bool:
    """True if two values may share memory; numbers never do."""
    if type(x) in NUMBERS or type(y) in NUMBERS:
        return False
    if x.base is None is y.base:  # each owns its memory
        return x is y
    if not x.size or not y.size:  # empty arrays share by their owner
        return _owner(x) is _owner(y)
    return x is y or bool(np.may_share_memory(x, y))


def _owner(x: Any) -> Any:
    """The array that owns the memory of another."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def overlaps(x: Data) -> bool:
    """True if several elements share one place in memory, as after `expand` or `unfold`."""
    if type(x) in NUMBERS or not x.size or x.flags.c_contiguous:
        return False
    reach = 0
    for step, n in sorted((abs(s), n) for n, s in zip(x.shape, x.strides, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += step * (n - 1)
    return False


def shows_more(x: Data) -> bool:
    """True if it has more elements than there are places in memory for them."""
    return type(x) not in NUMBERS and x.size > 1 and 0 in x.strides


def own(out: Data, args: Sequence[Data], layout: Any) -> Data:
    """A result in memory that no argument shares, laid out by `layout(out, args)`."""
    if type(out) in NUMBERS:
        return out
    owner = out.base is None
    for a in args:
        lies = not owner and isinstance(a, np.ndarray)
        if out is a or (lies and np.may_share_memory(out, a)):
            out = out.copy(order="K")
            break
    return out if out.ndim == 0 else layout(out, args)


# layouts -----------------------------------------------------------------------------------------


def in_order(out: Data, args: Sequence[Data] = ()) -> Data:
    """The layout with the last dimension fastest: contiguous, in PyTorch's word."""
    return out if out.flags.c_contiguous else np.array(out, order="C")


def as_arguments(out: Data, args: Sequence[Data]) -> Data:
    """The layout of the arguments, as for PyTorch's element-wise ops."""
    if out.ndim == 1:
        return in_order(out)
    arrays = [a for a in args if isinstance(a, np.ndarray) and a.ndim]
    if all(a.flags.c_contiguous for a in arrays):
        return in_order(out)
    return permuted(out, [_spread(a, out.shape) for a in arrays])


def as_made(out: Data, args: Sequence[Data] = ()) -> Data:
    """The layout that the op itself has given the result."""
    return out


def as_first(out: Data, args: Sequence[Data]) -> Data:
    """The layout of the first argument."""
    return as_arguments(out, args[:1])


def in_columns(out: Data, args: Sequence[Data] = ()) -> Data:
    """The layout of matrices in column-major order, as LAPACK returns them."""
    if out.ndim < 2:
        return in_order(out)
    turned = np.swapaxes(out, -1, -2)
    return out if turned.flags.c_contiguous else np.swapaxes(np.array(turned, order="C"), -1, -2)


def permuted(out: Data, strides: Sequence[Sequence[int]]) -> Data:
    """The result with its dimensions ordered in memory as operands of these strides, spread to its
    shape, are walked through; a stride of 0 says nothing.
    """
    order = [*reversed(range(out.ndim))]  # the fastest first
    for i in range(1, out.ndim):
        at = i
        for j in reversed(range(i)):
            found = _compared(order[j], order[at], out.shape, strides)
            if found < 0:
                break
            if found > 0:
                order[j], order[at] = order[at], order[j]
                at = j
    slowest_first = order[::-1]
    turned = np.transpose(out, slowest_first)
    if turned.flags.c_contiguous:
        return out
    return np.transpose(np.array(turned, order="C"), np.argsort(slowest_first))


def _compared(a: int, b: int, shape: Sequence[int], strides: Sequence[Sequence[int]]) -> int:
    """Below 0 where dimension a runs faster than b, above where b does; 0: nothing tells."""
    for operand in strides:
        first, second = abs(operand[a]), abs(operand[b])
        if first == 0 or second == 0:
            continue
        if first != second:
            return first - second
        if shape[a] > shape[b]:
            return 1
    return 0


def _spread(x: Data, shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of an argument that is broadcast to a shape."""
    lead = (0,) * (len(shape) - x.ndim)
    own = (
        0 if n == 1 and m != 1 else s
        for n, m, s in zip(x.shape, shape[len(lead) :], x.strides, strict=True)
    )
    return (*lead, *own)
