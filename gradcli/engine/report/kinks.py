"""Find ops of a recorded graph that are evaluated at a corner, jump or tie.

The op's value and derivative are computed at the floating-point numbers next to an operand. At a
kink they differ between the two sides by more than along either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.report.pytorch import nan_in_pytorch
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, version_of
from gradcli.engine.values.carrier import Like, data_of
from gradcli.engine.values.data import is_floating, np, plain, shape_of
from gradcli.errors import GradError
from gradcli.record import Record

_FEW = 4  # elements of an operand that are reported
_MOST = 64  # elements of an operand that are checked for ties
_PART = 1e-6  # of the slopes or values on either side: a smaller difference does not count
_WIDE = 2.0**-18  # of the largest element: the step for ops with ties
_MORE = 8  # times the difference along either side


class Kink(Record):
    """One element of an operand at a kink of the op that a node records.

    Fields:
        node: The node.
        argument: Name of the operand's argument.
        index: Index of the element, empty for a number.
        at: Its value.
        left, right: The derivative on either side: of one element of the result, or of all.
        chosen: The derivative that is used at the kink.
        jump: The values on either side if they differ, else None.
        pytorch_nan: True if PyTorch's pass back makes nan at this element, gradcli's a number.
    """

    __slots__ = (
        "node",
        "argument",
        "index",
        "at",
        "left",
        "right",
        "chosen",
        "jump",
        "pytorch_nan",
    )
    node: Node
    argument: str
    index: tuple[int, ...]
    at: float
    left: Any
    right: Any
    chosen: Any
    jump: tuple[Any, Any] | None
    pytorch_nan: bool


def kinks(nodes: Iterable[Node], pulled: Mapping[Node, Any]) -> Iterator[Kink]:
    """The kinks at ops whose operands are still known, the oldest op first.

    Args:
        nodes: The nodes to look at.
        pulled: The cotangents of all nodes of a pass back, which tell where PyTorch gives nan;
            empty if there was no pass.
    """
    for node in sorted(nodes, key=lambda node: node.seq):
        if not isinstance(node, OpNode):
            continue
        op = ops[node.op.name]
        args, rules = _values(node), op.derivatives
        if args is None or not (rules.partials is not None or rules.ties or rules.nan_in_pytorch):
            continue
        for i, under in enumerate(node.edges):
            if under is None or not is_floating(args[i]):
                continue
            with suppress(GradError):  # the op may refuse a neighbouring operand
                nan = nan_in_pytorch(node, op, args, i, pulled)
                yield from _of_argument(node, op, args, i, nan)


def _values(node: OpNode) -> list[Any] | None:
    """The operands of a node, or None if one of them was not kept."""
    found = []
    for arg, data, under, index in zip(node.args, node.data, node.edges, node.outputs, strict=True):
        value = data
        if isinstance(data, Like) and under is not None:
            value = _kept(under, index)
        if isinstance(value, Like) or (value is None and arg is not None):
            return None
        found.append(data_of(value))
    return found


def _kept(node: Node, index: int) -> Any:
    """The value of a node; None for a leaf that was changed in place since."""
    if not isinstance(node, AccumulateGrad):
        return node.out[index] if type(node.out) is tuple else node.out
    leaf = node.variable
    return None if leaf is None or version_of(leaf) else leaf.data


class _Side(Record):
    """Value and slope of an op with one operand moved by some steps."""

    __slots__ = ("value", "slope")
    value: Any
    slope: Any


def _of_argument(node: OpNode, op: Op, args: Sequence[Any], i: int, nan: Any) -> Iterator[Kink]:
    """The first few kinks of an op with respect to one operand; `nan` as of `_of_elements`."""
    argument = op.args[min(i, len(op.args) - 1)]
    if op.derivatives.partials is not None:
        found = _of_elements(op, args, i, node.params, nan)
    elif op.derivatives.nan_in_pytorch is not None:
        found = _of_marked(op, args, i, node.params, nan)
    else:
        found = _of_ties(op, args, i, node.params)
    for index, left, here, right, jumps, is_nan in islice(found, _FEW):
        at = float(np.asarray(args[i])[index])
        jump = (plain(left.value), plain(right.value)) if jumps else None
        sides = (plain(left.slope), plain(right.slope))
        through = plain(here.slope) if np.isfinite(here.slope).all() or not is_nan else 0.0
        yield Kink(node, argument, index, at, *sides, through, jump, is_nan)


Found: TypeAlias = tuple[tuple[int, ...], _Side, _Side, _Side, bool, bool]
"""Index of the element; the op on the left, there and on the right; True if its value jumps; True
if PyTorch gives nan.
"""


def _of_elements(op: Op, args: Sequence[Any], i: int, params: Any, nan: Any) -> Iterator[Found]:
    """Kinks of an element-wise op: all elements move at once. `nan` marks the elements of the
    result at which PyTorch gives nan; these are listed at any rate.
    """
    sides = _sides(op, args, i, params, np.ones(shape_of(args[i]), bool))
    jumps = _gap([side.value for side in sides])
    nan = np.broadcast_to(nan, np.shape(jumps))
    for at in np.argwhere(_breaks(sides, jumps) | nan):
        where = tuple(map(int, at))
        left, here, right = (_Side(s.value[where], s.slope[where]) for s in sides[1:4])
        jump = bool(jumps[where])
        yield _place(args[i], where), left, here, right, jump, bool(nan[where])


def _of_marked(op: Op, args: Sequence[Any], i: int, params: Any, nan: Any) -> Iterator[Found]:
    """The elements of an operand at which PyTorch gives nan; each moves alone."""
    for at in np.argwhere(nan):
        place = np.zeros(shape_of(args[i]), bool)
        place[tuple(at)] = True
        sides = _sides(op, args, i, params, place)[1:4]
        left, here, right = (_Side(np.sum(s.value), np.sum(s.slope)) for s in sides)
        yield tuple(map(int, at)), left, here, right, False, True


def _of_ties(op: Op, args: Sequence[Any], i: int, params: Any) -> Iterator[Found]:
    """Kinks of any other op: each element that may be tied moves alone."""
    for at in _suspects(args[i]):
        place = np.zeros(shape_of(args[i]), bool)
        place[at] = True
        sides = _sides(op, args, i, params, place)
        jumps = _gap([side.value for side in sides])
        if _breaks(sides, jumps).any():
            yield at, sides[1], sides[2], sides[3], bool(jumps.any()), False


def _sides(op: Op, args: Sequence[Any], i: int, params: Any, place: Any) -> list[_Side]:
    return [_moved(op, args, i, steps, params, place) for steps in (-2, -1, 0, 1, 2)]


def _moved(op: Op, args: Sequence[Any], i: int, steps: int, params: Any, place: Any) -> _Side:
    """The op with some elements of an operand moved by a number of steps. A step leads to the next
    floating-point number; it is wider for ops with ties, whose sums would lose so small a one.
    """
    x = np.array(args[i])
    if op.derivatives.ties:
        x = np.where(place, x + steps * _WIDE * (np.max(abs(x)) or 1.0), x).astype(x.dtype)
    else:
        end = np.array(np.copysign(np.inf, steps), x.dtype)
        for _ in range(abs(steps)):
            x = np.where(place, np.nextafter(x, end), x)
    given: list[Any] = list(args)
    given[i] = float(x) if type(args[i]) is float else x
    out = op.evaluate(given, params)
    dots: list[Any] = [None] * len(args)
    dots[i] = 1.0 if type(args[i]) is float else place.astype(x.dtype)
    slope = op.push(dots, out, given, params)
    if type(out) is tuple:
        out, slope = out[0], 0.0 if slope is None else slope[0]
    slope = np.broadcast_to(0.0 if slope is None else slope, np.shape(out))
    return _Side(np.asarray(out, np.float64), slope)


def _breaks(sides: Sequence[_Side], jumps: Any) -> Any:
    """A mask of the result's elements whose value or slope differs between the two sides, or whose
    slope at the operand agrees with neither side.
    """
    slopes = [side.slope for side in sides]
    return (jumps | _gap(slopes) | _apart(slopes)) & np.isfinite(sides[2].value)


def _gap(parts: Sequence[Any]) -> Any:
    outer_left, left, _, right, outer_right = parts
    along = abs(left - outer_left) + abs(outer_right - right)
    return _differ(left, right, along)


def _apart(parts: Sequence[Any]) -> Any:
    outer_left, left, here, right, outer_right = parts
    along = abs(left - outer_left) + abs(outer_right - right)
    return _differ(left, here, along) & _differ(right, here, along)


def _differ(a: Any, b: Any, along: Any) -> Any:
    between = abs(a - b)
    more = (between > _MORE * along) & (between > _PART * np.maximum(abs(a), abs(b)))
    return more & np.isfinite(between)


def _suspects(x: Any) -> list[tuple[int, ...]]:
    """Indices of the first elements that are zero or have the same size as another."""
    size = abs(np.asarray(x))
    _, which, count = np.unique(size, return_inverse=True, return_counts=True)
    tied = (count[which].reshape(size.shape) > 1) | (size == 0)
    return [tuple(map(int, at)) for at in np.argwhere(tied)[:_MOST]]


def _place(x: Any, of_result: tuple[int, ...]) -> tuple[int, ...]:
    """The index in an operand, which may be broadcast, of an element of the result."""
    shape = shape_of(x)
    inner = of_result[len(of_result) - len(shape) :]
    return tuple(0 if n == 1 else k for n, k in zip(shape, inner, strict=True))
