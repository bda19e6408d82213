"""Find where PyTorch's pass back makes nan and gradcli's a number.

PyTorch multiplies a cotangent of zero by an infinite slope, as that of `log(x)` at 0 in
`where(x > 0, log(x), 0)`. gradcli gives zero there, because nothing comes through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.ops.op import Op
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import OpNode
from gradcli.engine.values.data import Quiet, np, shape_of


def nan_in_pytorch(
    node: OpNode, op: Op, args: Sequence[Any], i: int, pulled: Mapping[Node, Any]
) -> Any:
    """A mask of the elements of a node's result at which PyTorch's cotangent of an operand becomes
    nan and gradcli's does not; of an op that is not element-wise, of those of the operand.

    Args:
        node: The node.
        op: Its op.
        args: Plain data of its operands.
        i: The number of the operand.
        pulled: The cotangents of all nodes of gradcli's pass back.
    """
    under, index, g = node.edges[i], node.outputs[i], pulled.get(node)
    rules = op.derivatives
    partials = rules.partials
    if under is None or g is None or under not in pulled:
        return False
    kept = pulled[under][index] if type(pulled[under]) is list else pulled[under]
    if kept is None:
        return False
    if partials is None:
        rule = rules.nan_in_pytorch
        marked = False if rule is None else rule(np.asarray(args[i]), **node.params)
        return marked & ~np.isnan(kept)
    partial = partials[i]
    if not callable(partial) or rules.chooses:
        return False
    given = [x if x is None else np.asarray(x) for x in args]
    with Quiet():
        out = np.asarray(op.evaluate(args, node.params))
        slope = np.asarray(partial(out, *given, **node.params))
        nan = np.isnan(g * slope)
        if i == 0 and rules.finite_in_pytorch is not None:
            nan &= ~rules.finite_in_pytorch(*given)
        if rules.nan_in_pytorch is not None:
            nan = nan | rules.nan_in_pytorch(*given)
    is_number = ~np.isnan(kept).reshape((1,) * (out.ndim - len(shape_of(kept))) + shape_of(kept))
    return nan & is_number & ~np.isnan(g)
