"""Forward mode: from the tangents of inputs to the tangents of what was made from them.

Tangents are pushed along the recorded graph, the oldest node first, by the same ops' rules; one
recording serves both modes. A tangent belongs to the nodes between the inputs of one call and its
outputs, so nested calls never mix up theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import check_versions, leading_to, reachable, saved_values
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.own import OwnRule
from gradcli.engine.tape.graph import Node


def tangents(
    outputs: Sequence[Node], seeds: Mapping[Node, Any], *, create_graph: bool = False
) -> dict[Node, Any]:
    """Tangents of the nodes between seeds and outputs, visiting each once.

    Args:
        outputs: Nodes whose tangents are wanted.
        seeds: Nodes of inputs with their tangents, shaped as their values. If one is made from
            another, its own tangent is what is added to what it has of that.
        create_graph: Record the pass, so that its results can be differentiated.

    Returns:
        The tangent of every node that a seed reaches, as plain data, or as tensors with
        `create_graph`; of a node with several results a tuple.

    Raises:
        RunError: If a value that a node saved has been changed in place since.
    """
    found: dict[Node, Any] = dict(seeds)
    ends = set(seeds)
    order = sorted(leading_to(sorted(reachable(outputs), key=_seq), ends), key=_seq)
    for node in order:
        dots = []
        for under, index in zip(node.edges, node.outputs, strict=True):
            dot = None if under is None else found.get(under)
            dots.append(dot[index] if type(dot) is tuple else dot)
        if all(dot is None for dot in dots):
            continue
        dot = dots[0] if node.op is None else _pushed(node, dots, create_graph)
        if dot is not None:
            # a seed may be made from others: then it moves with them, too
            found[node] = ops.add(found[node], dot) if node in ends else dot
    return found


def _seq(node: Node) -> int:
    return node.seq


def _pushed(node: Node, dots: Sequence[Any], create_graph: bool) -> Any:
    op = node.op
    if isinstance(op, OwnRule):
        return op.push(node, dots, create_graph)
    assert op is not None
    check_versions(node)
    args, out = saved_values(node, create_graph)
    return op.push(dots, node.like if out is None else out, args, node.params)
