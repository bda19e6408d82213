"""The partial derivatives of a step: how its result changes with each operand alone.

A step is a node, or the nodes that one instruction of the program recorded. Forward mode through
these nodes alone gives the partial by each operand.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.autodiff.paths import Paths, age
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode
from gradcli.engine.values.batch import Batch, units, value
from gradcli.engine.values.carrier import Like, like_of
from gradcli.engine.values.data import np
from gradcli.errors import GradError

Result: TypeAlias = tuple[Node, int]
"""A node and the number of one of its results."""

_MOST = 400  # elements of a Jacobian


def partials(result: Result, inner: Collection[Node]) -> dict[Result, Any]:
    """The partial derivatives of a result, by operand.

    Args:
        result: The result of the step.
        inner: The nodes of the step.

    Returns:
        For an element-wise step the derivative of each element, in the result's shape; else the
            Jacobian, of the result's shape followed by the operand's, or None if it is large.
    """
    node, _ = result
    if len(inner) == 1 and type(node.out) is float and all(map(_is_number, node.edges)):
        return _of_number(node)
    order = sorted(inner, key=age)
    operands = [
        (under, output)
        for each in order
        for under, output in zip(each.edges, each.outputs, strict=True)
        if under is not None and under not in inner
    ]
    paths = Paths(order, set(order))
    pointwise = all(map(_is_pointwise, order))
    return {o: _by(o, result, paths, pointwise) for o in dict.fromkeys(operands)}


def _of_number(node: Node) -> dict[Result, Any]:
    """Partials of a number made of numbers, by the op's rule without a pass."""
    edges = list(zip(node.edges, node.outputs, strict=True))
    found: dict[Result, Any] = {}
    for operand in edges:
        if operand[0] is not None and operand not in found:
            dot = node.push([1.0 if edge == operand else None for edge in edges])
            found[operand] = 0.0 if dot is None else dot  # type: ignore[index]  # it has a node
    return found


def _is_number(under: Node | None) -> bool:
    return under is None or type(recorded_value((under, 0))) is float


def _is_pointwise(node: Node) -> bool:
    return isinstance(node, OpNode) and ops[node.op.name].derivatives.partials is not None


def _by(operand: Result, result: Result, paths: Paths, pointwise: bool) -> Any:
    """The partial by one operand."""
    like, out = recorded_like(operand), recorded_like(result)
    if pointwise:
        ones = np.ones(like.shape, like.dtype)
        found = _pushed(operand, value(ones), result, paths)
        zero = 0.0 if found is None else found
        return value(np.broadcast_to(np.asarray(zero), out.shape)) if out.shape else zero
    count = math.prod(like.shape)
    if count * math.prod(out.shape) > _MOST:
        return None
    columns = np.zeros((count, *out.shape))
    if all(node.takes_batches for node in paths.order):
        found = _pushed(operand, units(like, 0, count), result, paths) if count else None
        if found is not None:
            columns[:] = found.data if isinstance(found, Batch) else found
    else:
        for i in range(count):
            one = _pushed(operand, value(units(like, i, i + 1).data[0]), result, paths)
            columns[i] = 0.0 if one is None else one
    return value(np.moveaxis(columns, 0, -1).reshape((*out.shape, *like.shape)))


def _pushed(operand: Result, dot: Any, result: Result, paths: Paths) -> Any:
    """The tangent of the result if one operand alone moves along `dot`."""
    under, output = operand
    seed = dot
    if type(under.like) is tuple:
        seed = tuple(dot if i == output else None for i in range(len(under.like)))
    node, index = result
    try:
        found: Mapping[Node, Any] = tangents([node], {under: seed}, paths)
    except GradError:  # an own rule without a derivative by this argument
        return None
    moved = found.get(node)
    return moved[index] if type(moved) is tuple else moved


def recorded_value(result: Result) -> Any:
    """Plain data of a result, of a leaf at its last use; None if the node did not keep it."""
    node, index = result
    if node.out is None and isinstance(node, AccumulateGrad) and node.variable is not None:
        return node.variable.data
    return node.out[index] if type(node.out) is tuple else node.out


def recorded_like(result: Result) -> Like:
    """Shape and dtype of a result."""
    node, index = result
    found = recorded_value(result)
    if found is not None:
        return like_of(found)
    like: Like = node.like[index] if type(node.like) is tuple else node.like
    return like
