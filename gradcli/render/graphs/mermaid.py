"""The recorded graph in Mermaid's language, which many sites and notebooks draw."""

from __future__ import annotations

from gradcli.render.graphs.labels import partial_text, remarks, rows
from gradcli.render.graphs.picture import Picture

_ENTITIES = str.maketrans({c: f"#{ord(c)};" for c in '"#&<>`\\|{}[]()*_~'})


def mermaid(drawn: Picture, precision: int) -> str:
    """A flowchart whose arrows follow the flow of values; inputs have round ends."""
    lines = ["flowchart TD", *(f"  %% {text}" for text in remarks(drawn))]
    for box in drawn.boxes.values():
        opening, closing = ("([", "])") if box.is_input else ("[", "]")
        label = "<br/>".join(row.text.translate(_ENTITIES) for row in rows(box, precision))
        lines.append(f'  n{box.id}{opening}"{label}"{closing}')
    for box in drawn.boxes.values():
        lines += [_edge(drawn, box.id, id, precision) for id in box.inputs]
    return "\n".join([*lines, ""])


def _edge(drawn: Picture, box: int, under: int, precision: int) -> str:
    label = partial_text(drawn, box, under, precision).translate(_ENTITIES)
    return f"  n{under} -->" + (f'|"{label}"|' if label else "") + f" n{box}"
