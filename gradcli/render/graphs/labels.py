"""Texts in a box of the graph: name, expression, value, gradient and place."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from gradcli.render.graphs.picture import Box, Picture
from gradcli.render.numbers import block, is_number, nested, number, python_item, shape_of
from gradcli.render.text import TIMES, bracketed, cells, shorten, visible
from gradcli.results import Value

_UPDATE = re.compile(r"\s*(?:\*\*|//|[-+*/%@&|^])=(?!=)")
_FEWEST_DIGITS = 3  # digits of listed elements; a list too long even so shows its range
_FEW = 12  # elements of an array that may be listed


def name_and_text(box: Box) -> tuple[str, str]:
    """The program's name for a box, "" for none, and its expression: `= x @ w1`."""
    node = box.node
    name, text = visible(node.variable), visible(node.expression)
    if not name:
        return "", text or visible(node.op or node.name)
    if text.startswith(name) and _UPDATE.match(text, len(name)):
        return name, text[len(name) :]
    return name, f" = {text}" if text else ""


def how_often(box: Box) -> str:
    """The count of a box for several operations: ` × 100,000, lines 3 to 5`; else ""."""
    if not box.turns:
        return f" {TIMES} {box.times:,}" if box.times > 1 else ""
    first, last = box.lines
    text = f" {TIMES} {box.turns * box.times:,}"
    if not first:
        return text
    return f"{text}, line {first}" if first == last else f"{text}, lines {first} to {last}"


def is_of_last_turn(box: Box) -> bool:
    """True if value and gradient of a box are those of the last turn of a loop."""
    return box.turns > 0 and box.times == 1


def shape_text(box: Box) -> str:
    """The shape of its value: `[3, 2]`, "" for a number."""
    return bracketed(box.node.shape)


def facts(box: Box) -> tuple[Value, Value]:
    """Its value and gradient; None for a box that occurs several times."""
    return (box.node.value, box.node.grad) if box.times == 1 else (None, None)


def short(value: Value, precision: int, width: int) -> str:
    """A value in at most `width` cells, with fewer digits or as a range if it is long."""
    if value is None:
        return ""
    if is_number(value):
        return shorten(number(python_item(value), precision), width)
    shape = shape_of(value)
    digits = range(precision, min(precision, _FEWEST_DIGITS) - 1, -1)
    fewer = range(precision, 0, -1)
    if hasattr(value, "tolist") and math.prod(shape) <= _FEW:
        for few in digits:
            text = nested(value.tolist(), few)
            if cells(text) <= width:
                return text
    if hasattr(value, "min") and math.prod(shape) > 0:
        low, high = python_item(value.min()), python_item(value.max())
        if low == high:
            return shorten(f"all {number(low, precision)}", width)
        for form in ("min {}, max {}", "{} to {}"):
            for few in fewer:
                edges = number(low, few), number(high, few)
                text = form.format(*edges) if edges[0] != edges[1] else f"about {edges[0]}"
                if cells(text) <= width:
                    return text
        return "…"
    return shorten(" ".join(block(value, precision, width)), width)


VALUE = 30  # cells of a value


_PARTIAL = 16  # cells of the partials at an edge


def partial_text(drawn: Picture, box: int, under: int, precision: int) -> str:
    """The partial derivatives of a box by one of its inputs; "" if they are not shown."""
    found = drawn.partials.get((box, under), ())
    return shorten(", ".join(short(x, precision, _PARTIAL) for x in found), _PARTIAL)


class Row(NamedTuple):
    """A line of a box, with its style."""

    text: str
    style: str


def rows(box: Box, precision: int) -> list[Row]:
    """The lines of a box: its name and expression, then its value, gradient and place."""
    name, text = name_and_text(box)
    found = [Row(f"{name}{text}", "name")]
    if box.turns or box.times > 1:
        said = " (last turn shown)" if is_of_last_turn(box) else ""
        found.append(Row(f"{how_often(box).strip()}{said}", "count"))
    value, grad = (short(fact, precision, VALUE) for fact in facts(box))
    if box.node.shape:
        found.append(Row(f"shape {shape_text(box)}", "shape"))
    if value:
        found.append(Row(f"= {value}", "value"))
    if grad:
        found.append(Row(f"gradient {grad}", "grad"))
    if box.lines[0] and not box.turns:
        found.append(Row(f"line {box.lines[0]}", "place"))
    if box.hidden:
        found.append(Row(f"… {box.hidden:,} more inputs", "place"))
    return found


def remarks(drawn: Picture) -> list[str]:
    """Remarks on the picture: why gradients are missing, and how many nodes are not drawn."""
    found = [f"gradients missing: {visible(drawn.missing)}"] if drawn.missing else []
    if drawn.left:
        found.append(f"… {drawn.left:,} more nodes: --nodes and --depth show more")
    return found
