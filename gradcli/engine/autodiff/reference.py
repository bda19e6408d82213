"""Reverse mode as a textbook has it. `backward.py` computes the same to the last bit, but faster.

A run records a graph: a node for each operation, with edges to the nodes of the values that it was
made from. The *cotangent* of a node is the derivative of the final result by the value of the node.
Reverse mode computes it by the chain rule:

    the cotangent of a node is the sum of what each node that was made from it passes back

A node passes back along each of its edges the product of its own cotangent and the derivative of
its operation (`Node.pull`). So a pass needs the complete cotangent of a node before it visits the
node. The order of the visits takes care of that. Nodes are numbered in the order of recording
(`Node.seq`): a node has a larger number than all that it was made from. In decreasing order of the
numbers, a pass meets every user of a node before the node itself, and it needs no recursion.

The pass here does only that. `backward.py` also runs the program's hooks, frees nodes, and asks
`motion.py` where zero times infinity has given nan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Node

Root: TypeAlias = tuple[Node, int, Any]
"""A node, the number of one of its results, and the cotangent of that result."""

Pull: TypeAlias = Callable[[Node, Any, Sequence[bool]], Sequence[Any]]
"""Returns the cotangent of each wanted edge of a node, None for the others."""


def cotangents(roots: Sequence[Root], targets: Collection[Node]) -> dict[Node, Any]:
    """The cotangents of targets, as plain data, from those of roots.

    A target that no root was made from is left out. The cotangent of a node with several results is
    a list.
    """
    return _visit(roots, targets, lambda node, g, wanted: node.pull(g, wanted))


def recorded_cotangents(roots: Sequence[Root], targets: Collection[Node]) -> dict[Node, Any]:
    """Like `cotangents`, by recorded ops, so that another pass can differentiate the result."""
    return _visit(roots, targets, lambda node, g, wanted: node.pull_recorded(g, wanted))


def _visit(roots: Sequence[Root], targets: Collection[Node], pull: Pull) -> dict[Node, Any]:
    """Visit the nodes between targets and roots, the youngest first."""
    order = _oldest_first([node for node, _, _ in roots])
    needed = set(targets)
    for node in order:
        if any(edge in needed for edge in node.edges):
            needed.add(node)
    found: dict[Node, Any] = {}
    for node, index, g in roots:
        _add(found, node, index, g)
    for node in reversed(order):
        wanted = [edge in needed for edge in node.edges]
        if node in found and any(wanted):
            passed_back = pull(node, found[node], wanted)
            for edge, index, c in zip(node.edges, node.outputs, passed_back, strict=True):
                if edge is not None and c is not None:
                    _add(found, edge, index, c)
    return {node: found[node] for node in targets if node in found}


def _oldest_first(roots: Sequence[Node]) -> list[Node]:
    """The roots and all nodes that they were made from, in the order of recording."""
    seen = set(roots)
    waiting = [*seen]
    while waiting:
        for edge in waiting.pop().edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                waiting.append(edge)
    return sorted(seen, key=lambda node: node.seq)


def _add(found: dict[Node, Any], node: Node, index: int, c: Any) -> None:
    """Add to the cotangent of a node, or of one of its results."""
    if isinstance(node.like, tuple):
        parts = found.setdefault(node, [None] * len(node.like))
        parts[index] = c if parts[index] is None else ops.add(parts[index], c)
    else:
        found[node] = ops.add(found[node], c) if node in found else c
