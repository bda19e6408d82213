"""The recorded graph in Graphviz's language."""

from __future__ import annotations

from gradcli.render.graphs.labels import remarks, rows
from gradcli.render.graphs.picture import Picture


def dot(drawn: Picture, precision: int) -> str:
    """A digraph whose arrows follow the flow of values; inputs are boxes."""
    lines = ["digraph gradcli {", '  node [fontname="monospace"];']
    said = remarks(drawn)
    if said:
        lines.append(f'  label="{_escaped(said)}";')
    for box in drawn.boxes.values():
        shape = "box" if box.is_input else "ellipse"
        label = _escaped([row.text for row in rows(box, precision)])
        lines.append(f'  n{box.id} [shape={shape}, label="{label}"];')
    for box in drawn.boxes.values():
        lines += [f"  n{id} -> n{box.id};" for id in box.inputs]
    return "\n".join([*lines, "}", ""])


def _escaped(texts: list[str]) -> str:
    return "\\n".join(text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
