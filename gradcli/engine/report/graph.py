"""The recorded graph as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.autodiff.backward import all_cotangents
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import Node, Watchpoint
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, node_of
from gradcli.engine.values.data import NUMBERS
from gradcli.results import Graph, GraphEdge, GraphNode
from gradcli.source import Source


def recorded_graph(
    output: Tensor, cotangent: Any, values: Mapping[str, Any], source: Source
) -> Graph:
    """The graph behind a recorded value, the newest op first.

    Args:
        output: The value; its node is the root.
        cotangent: Where the derivatives start, or None to leave them out.
        values: Top-level names and their values, which give leaves their names.
        source: The program's text.
    """
    root = node_of(output)
    assert root is not None
    order = _below(root)
    found = {}
    if cotangent is not None:
        start = [(root, output.index, cotangent)]
        found = all_cotangents(start)
    names = {id(value): name for name, value in values.items() if isinstance(value, Tensor)}
    ids = {node: i for i, node in enumerate(order)}
    nodes = []
    edges = []
    for node in order:
        grad = found.get(node)
        nodes.append(_node(node, ids[node], None if grad is None else grad, names, source))
        for i, under in enumerate(_shown(node)):
            if under is not None:
                edges.append(GraphEdge(ids[node], ids[under], i))
    return Graph(ids[root], tuple(nodes), tuple(edges))


def _below(root: Node) -> list[Node]:
    seen = {root}
    stack = [root]
    while stack:
        for under in _shown(stack.pop()):
            if under is not None and under not in seen:
                seen.add(under)
                stack.append(under)
    return sorted(seen, key=lambda node: -node.seq)


def _shown(node: Node) -> list[Node | None]:
    """What a node was made of. A leaf ends there, where only the command looks at its value."""
    if type(node) is AccumulateGrad:
        return [n for n in node.edges if not (type(n) is Watchpoint and not n.edges)]
    return [under for under, _ in node.shown]


def _node(node: Node, number: int, grad: Any, names: dict[int, str], source: Source) -> GraphNode:
    variable, value = "", node.out
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        variable = names.get(id(leaf), "")
        value = node.out if leaf is None else leaf.data
    elif isinstance(node, Watchpoint):
        variable = node.variable
    elif node.site is not None:
        variable = node.site.variable
    line = column = 0
    if node.site is not None:
        line, column = source.position(node.site.span.start)
    return GraphNode(
        id=number,
        op=node.op_name,
        name=node.name(),
        variable=variable,
        shape=_shape(value, node),
        value=_plain(value),
        grad=_plain(grad),
        line=line,
        column=column,
        count=1,
    )


def _shape(value: Any, node: Node) -> tuple[int, ...]:
    if type(value) in NUMBERS:
        return ()
    if isinstance(value, tuple):
        return (len(value),)
    if hasattr(value, "shape"):
        return tuple(value.shape)
    return tuple(getattr(node.like, "shape", ()))


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or type(value) in NUMBERS else plain_value(Tensor(value))
