"""The recorded graph in Graphviz's language."""

from __future__ import annotations

import math

from gradcli.formats.literal import literal
from gradcli.results import Graph, GraphNode, Value

_LONGEST_VALUE = 40


def dot(graph: Graph) -> str:
    """A digraph: arrows point from an op to what it used; inputs are boxes."""
    lines = ["digraph gradcli {", '  node [fontname="monospace"];']
    for node in graph.nodes:
        shape = "ellipse" if node.op else "box"
        lines.append(f'  n{node.id} [shape={shape}, label="{_label(node)}"];')
    for edge in graph.edges:
        lines.append(f'  n{edge.source} -> n{edge.target} [label="{edge.input}"];')
    return "\n".join([*lines, "}", ""])


def _label(node: GraphNode) -> str:
    title = f"{node.name} × {node.count:,}" if node.count > 1 else node.name
    rows = [title]
    if node.value is not None:
        rows.append(f"{node.variable} = {_short(node.value)}".removeprefix(" = "))
    if node.grad is not None:
        rows.append(f"grad {_short(node.grad)}")
    if node.line:
        rows.append(f"line {node.line}")
    return "\\n".join(map(_escape, rows))


def _short(value: Value) -> str:
    if math.prod(getattr(value, "shape", ())) > _LONGEST_VALUE:
        return f"shape {literal(value.shape)}"
    text = literal(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
