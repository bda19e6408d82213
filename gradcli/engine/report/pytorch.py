"""Find where PyTorch's pass back makes nan and gradcli's a number.

PyTorch multiplies a cotangent of zero by an infinite slope, as that of `log(x)` at 0 in
`where(x > 0, log(x), 0)`. gradcli gives zero there, because nothing comes through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.ops.op import Op
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import OpNode
from gradcli.engine.values.data import Quiet, np, shape_of

_NUMBER: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("log", 0): lambda x: x < 0,
    ("log2", 0): lambda x: x < 0,
    ("log10", 0): lambda x: x < 0,
    ("log1p", 0): lambda x: x < -1,
    ("atanh", 0): lambda x: abs(x) > 1,
    ("acosh", 0): lambda x: x < -1,
    ("digamma", 0): lambda x: x < 0,
    ("pow", 0): lambda x, y: y == 0,
    ("xlogy", 0): lambda x, y: ~np.isnan(y),  # PyTorch's cotangent is xlogy(g, y)
    ("xlog1py", 0): lambda x, y: ~np.isnan(y),
}
"""By op and number of the operand, masks of the operands at which PyTorch's formula gives a finite
slope, though the function has none there, or zero for a cotangent of zero.
"""

_NAN: Mapping[str, Callable[..., Any]] = {"hypot": lambda x, y: (x == 0) & (y == 0)}
"""Masks of the operands at which PyTorch's formula of an op's slope gives nan, and gradcli's a
number."""


def nan_in_pytorch(
    node: OpNode, op: Op, args: Sequence[Any], i: int, pulled: Mapping[Node, Any]
) -> Any:
    """A mask of the elements of a node's result at which PyTorch's cotangent of an operand becomes
    nan and gradcli's does not.

    Args:
        node: The node.
        op: Its op. One that is not element-wise has no such elements.
        args: Plain data of its operands.
        i: The number of the operand.
        pulled: The cotangents of all nodes of gradcli's pass back.
    """
    under, index, g = node.edges[i], node.outputs[i], pulled.get(node)
    partials = op.derivatives.partials
    if partials is None or under is None or g is None or under not in pulled:
        return False
    kept = pulled[under][index] if type(pulled[under]) is list else pulled[under]
    partial = partials[i]
    if kept is None or not callable(partial) or op.derivatives.chooses:
        return False
    given = [x if x is None else np.asarray(x) for x in args]
    with Quiet():
        out = np.asarray(op.evaluate(args, node.params))
        slope = np.asarray(partial(out, *given, **node.params))
        nan = np.isnan(g * slope)
        if (op.name, i) in _NUMBER:
            nan &= ~_NUMBER[op.name, i](*given)
        if op.name in _NAN:
            nan = nan | _NAN[op.name](*given)
    is_number = ~np.isnan(kept).reshape((1,) * (out.ndim - len(shape_of(kept))) + shape_of(kept))
    return nan & is_number & ~np.isnan(g)
