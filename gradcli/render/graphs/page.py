"""The recorded graph as a web page that works offline and steps through the run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradcli.render.graphs.labels import VALUE, facts, name_and_text, remarks, shape_text, short
from gradcli.render.graphs.picture import Box, Picture
from gradcli.render.graphs.svg import RULES, Drawing, drawing, elements, title
from gradcli.render.numbers import block
from gradcli.render.text import visible
from gradcli.render.web import DARK, LIGHT, escaped
from gradcli.results import Graph, Value

_WIDE = 72  # cells of a value's line in the details of a node
_STEP = 44  # cells of a value in a sentence about a step
_LONGEST_PROGRAM = 200_000  # characters of the program that the page shows
_HINT = (
    "Play goes through the run and then the backward pass, ▶ makes one step. "
    "Choose a node to see its details."
)
_HERE = Path(__file__).parent


def graph_page(graph: Graph, drawn: Picture, *, program: str, name: str, precision: int) -> str:
    """The page: picture, steps, details of nodes, program and table. It loads nothing."""
    placed = drawing(drawn, precision)
    layout = placed.layout
    data = {
        "nodes": [_node(box, graph, drawn, precision) for box in drawn.boxes.values()],
        "steps": _steps(graph, drawn, precision),
        "hint": _HINT,
        "root": drawn.root,
        "width": layout.width,
        "height": layout.height,
    }
    colours = (
        f":root {{ {LIGHT} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {DARK} }} }}\n"
        f":root[data-theme=dark] {{ {DARK} }}\n"
        f"@media print {{ :root:root:root {{ {LIGHT} }} }}\n"
    )
    parts = {
        "title": escaped(f"{visible(name)}: {title(drawn)}"),
        "style": colours + RULES + _text("page.css"),
        "picture": "\n".join(elements(placed)),
        "remarks": "".join(f"<p>{escaped(text)}</p>" for text in remarks(drawn)),
        "program": _program(program),
        "table": _table(placed, precision),
        "data": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "script": _text("page.js"),
    }
    page = _text("page.html")
    for key, text in parts.items():
        before, found, after = page.partition(f"<!-- {key} -->")
        assert found, key
        page = before + text + after
    return page


def _text(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


# --- nodes -----------------------------------------------------------------------------------


def _node(box: Box, graph: Graph, drawn: Picture, precision: int) -> dict[str, Any]:
    """The details of a box, which the page shows when it is selected."""
    node = box.node
    value, grad = facts(box)
    info = [("operation", visible(box.ops))]
    if node.op and not box.turns:
        info.append(("PyTorch's node", visible(node.name)))
    if box.turns:
        info.append(("turns", f"{box.turns * box.times:,}; values are those of the last"))
    elif box.times > 1:
        info.append(("there", f"{box.times:,} times, once in each turn"))
    info.append(("shape", shape_text(box)))
    info.append(("value", _block(value, precision)))
    info.append(("gradient", _block(grad, precision)))
    more = graph.details.get(box.id)
    if more is not None:
        info += [(f"saved {visible(name)}", _block(x, precision)) for name, x in more.saved]
        for under, x in more.partials:
            info.append((f"∂ by {_called(under, graph, drawn)}", _block(x, precision)))
    first, last = box.lines
    return {
        "id": box.id,
        "name": "".join(name_and_text(box)),
        "inputs": box.inputs,
        "hidden": box.hidden,
        "lines": [first, last],
        "info": [[label, text] for label, text in info if text],
    }


def _block(value: Value, precision: int) -> str:
    return "\n".join(block(value, precision, _WIDE)) if value is not None else ""


def _called(node: int, graph: Graph, drawn: Picture) -> str:
    """The name of a node in the description of a step."""
    found = drawn.boxes.get(node)
    if found is None:
        under = graph.nodes[node]
        return visible(under.variable or under.expression or under.op)
    return visible(found.node.variable) or name_and_text(found)[1]


# --- steps -----------------------------------------------------------------------------------


def _steps(graph: Graph, drawn: Picture, precision: int) -> list[dict[str, Any]]:
    """The steps of the run, oldest box first, then of the backward pass, newest first: a
    description of each, and the gradients so far.
    """
    found: list[dict[str, Any]] = []
    for id in sorted(drawn.boxes, reverse=True):
        box = drawn.boxes[id]
        value = short(facts(box)[0], precision, _STEP)
        said = f"{_called(id, graph, drawn)} = {value}" if value else _called(id, graph, drawn)
        found.append({"way": "forward", "node": id, "says": said, "grads": {}})
    if drawn.boxes[drawn.root].node.grad is None:
        return found
    waiting = dict.fromkeys(drawn.boxes, 0)
    for box in drawn.boxes.values():
        for under in box.inputs:
            waiting[under] += 1
    sums: dict[int, Value] = {}
    for id in sorted(drawn.boxes):
        box = drawn.boxes[id]
        grads = {}
        told = []
        flows = graph.details[id].flows if id in graph.details and not box.turns else ()
        for under, flow in flows:
            sums[under] = flow if under not in sums else sums[under] + flow
            if under in drawn.boxes:
                told.append(f"{_called(under, graph, drawn)} {short(flow, precision, _STEP)}")
        for under in box.inputs:
            waiting[under] -= 1
            whole = short(facts(drawn.boxes[under])[1], precision, VALUE)
            part = short(sums.get(under), precision, VALUE)
            if whole or part:
                grads[under] = whole if not waiting[under] else f"{part or '…'} so far"
        own = short(facts(box)[1], precision, _STEP)
        if id == drawn.root:
            grads[id] = short(facts(box)[1], precision, VALUE)
        said = f"gradient of {_called(id, graph, drawn)}: {own}" if own else ""
        said += f"; adds to {', '.join(told)}" if told else ""
        found.append({"way": "backward", "node": id, "says": said, "grads": grads})
    return found


# --- next to the picture ---------------------------------------------------------------------


def _program(text: str) -> str:
    """The program as a list with an item for each line."""
    shown = text[:_LONGEST_PROGRAM].splitlines()
    lines = [
        f'<li data-line="{i}"><code>{escaped(visible(line.expandtabs()))}</code></li>'
        for i, line in enumerate(shown, 1)
    ]
    if len(text) > _LONGEST_PROGRAM:
        lines.append("<li><code>…</code></li>")
    return "".join(lines)


def _table(placed: Drawing, precision: int) -> str:
    """The nodes in a table, for screen readers."""
    found = []
    boxes = placed.picture.boxes
    for id, box in boxes.items():
        value, grad = (short(fact, precision, _STEP) for fact in facts(box))
        uses = ", ".join(placed.texts[i][0].text for i in box.inputs)
        times = f"{box.turns * box.times:,} turns" if box.turns else ""
        line = " to ".join(dict.fromkeys(map(str, box.lines))) if box.lines[0] else ""
        cells = (
            "".join(name_and_text(box)),
            box.ops,
            shape_text(box),
            value,
            grad,
            times,
            line,
            uses,
        )
        row = "".join(f"<td>{escaped(visible(cell))}</td>" for cell in cells)
        found.append(f'<tr data-row="{id}">{row}</tr>')
    return "".join(found)
