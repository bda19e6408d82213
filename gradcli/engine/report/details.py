"""Details of chosen nodes of a recorded graph: saved values, partials, gradients."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gradcli.engine.report.partials import partials
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import CompositeNode, Node, NodeOfOp
from gradcli.engine.tape.tensor import OpNode, Tensor
from gradcli.engine.values.carrier import Like, data_of
from gradcli.engine.values.data import NUMBERS, Quiet
from gradcli.errors import GradError
from gradcli.results import Details


def details(
    steps: Mapping[Node, Collection[Node]],
    cotangents: Mapping[Node, Any],
    shown: Callable[[Node], int | None],
) -> dict[int, Details]:
    """The details of nodes, by their numbers in the graph.

    Args:
        steps: The nodes, each with those that are one step together with it.
        cotangents: The derivative of the result by each node, where known.
        shown: The number in the graph under which a node is shown, None if it is not.
    """
    found = {}
    with Quiet():
        for node, step in steps.items():
            number = shown(node)
            if number is not None and isinstance(node, NodeOfOp):
                back = _flows(node, cotangents.get(node), shown)
                found[number] = Details(_saved(node), _partials(node, step, shown), back)
    return found


def _saved(node: NodeOfOp) -> tuple[tuple[str, Any], ...]:
    """The values that a node saved for its derivative, each with the name of its op's argument."""
    if not isinstance(node, OpNode):
        return ()
    names = node.op.args  # type: ignore[attr-defined]  # of an entry of the catalog
    found = []
    for i, x in enumerate(node.data):
        if x is not None and not isinstance(x, Like):
            found.append((names[min(i, len(names) - 1)].lstrip("*").partition("=")[0], x))
    found += [("result", node.out)] if node.op.tape.saves_out else []
    return tuple((name, _plain(x)) for name, x in found)


def _partials(
    node: NodeOfOp, step: Collection[Node], shown: Callable[[Node], int | None]
) -> tuple[tuple[int, Any], ...]:
    """The partial derivative of a step by each operand that the graph shows."""
    if type(node.like) is tuple:
        return ()
    try:
        found = partials((node, 0), {inner for part in step for inner in _inside(part)})
    except GradError:
        return ()
    told = ((shown(under), x) for (under, _), x in found.items())
    return tuple((number, _plain(x)) for number, x in told if number is not None and x is not None)


def _inside(node: Node) -> set[Node]:
    """A node with those that it stands for, between it and the operands that the graph shows."""
    if not isinstance(node, CompositeNode):
        return {node}
    ends = {under for under, _ in node.under}
    found: set[Node] = {node}
    stack: list[Node] = [node]
    while stack:
        for under in stack.pop().edges:
            if under is not None and under not in ends and under not in found:
                found.add(under)
                stack.append(under)
    return found


def _flows(
    node: NodeOfOp, g: Any, shown: Callable[[Node], int | None]
) -> tuple[tuple[int, Any], ...]:
    """The terms that a node adds to the cotangents of its operands."""
    if g is None or not isinstance(node, OpNode):
        return ()
    wanted = [under is not None for under in node.edges]
    try:
        pulled = node.pull(g, wanted)
    except GradError:
        return ()
    found = []
    for under, c in zip(node.edges, pulled, strict=True):
        number = None if under is None else shown(under)
        if number is not None and c is not None and type(under.like) is not tuple:  # type: ignore[union-attr]
            found.append((number, _plain(data_of(c))))
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or type(value) in NUMBERS else plain_value(Tensor(data_of(value)))
