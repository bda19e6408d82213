"""The recorded graph in Graphviz's language."""

from __future__ import annotations

from gradcli.render.graphs.labels import partial_text, remarks, rows
from gradcli.render.graphs.picture import Picture


def dot(drawn: Picture, precision: int) -> str:
    """A digraph whose arrows follow the flow of values; inputs are boxes."""
    lines = ["digraph gradcli {", '  node [fontname="monospace"];']
    if drawn.partials:
        lines.append('  edge [fontname="monospace"];')
    said = remarks(drawn)
    if said:
        lines.append(f'  label="{_escaped(said)}";')
    for box in drawn.boxes.values():
        shape = "box" if box.is_input else "ellipse"
        label = _escaped([row.text for row in rows(box, precision)])
        lines.append(f'  n{box.id} [shape={shape}, label="{label}"];')
    for box in drawn.boxes.values():
        lines += [_edge(drawn, box.id, id, precision) for id in box.inputs]
    return "\n".join([*lines, "}", ""])


def _edge(drawn: Picture, box: int, under: int, precision: int) -> str:
    label = _escaped([partial_text(drawn, box, under, precision)])
    return f"  n{under} -> n{box}" + (f' [label="{label}"];' if label else ";")


def _escaped(texts: list[str]) -> str:
    return "\\n".join(text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
