"""The recorded graph as an SVG for browsers, notebooks and papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gradcli.render.graphs.edges import Label, Point, labels, stretches
from gradcli.render.graphs.labels import Row, partial_text, remarks, rows
from gradcli.render.graphs.layout import GAP_Y, Layout, Place, Way, layout
from gradcli.render.graphs.picture import Box, Picture
from gradcli.render.text import cells
from gradcli.render.web import DARK, LIGHT, escaped

CELL, LINE = 7.5, 17.0  # width of a character and height of a line of text
PAD_X, PAD_Y = 14.0, 9.0
MARGIN = 16.0
_WRAP = 40  # cells of an expression's line

RULES = """\
.gradcli svg text, svg.gradcli text { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas,
  monospace; fill: var(--ink); white-space: pre; }
.gradcli text.name { font-weight: bold; }
.gradcli text.place, .gradcli text.shape { fill: var(--dim); }
.gradcli text.grad { fill: var(--grad); }
.gradcli text.count { fill: var(--count); }
.gradcli rect { fill: var(--box); stroke: var(--line); }
.gradcli .input rect { fill: var(--input); }
.gradcli .fold rect { fill: var(--fold); }
.gradcli .partial rect { fill: var(--paper); stroke: none; }
.gradcli .partial text { text-anchor: middle; }
.gradcli path { fill: none; stroke: var(--line); stroke-width: 1.3; }
.gradcli path.turns { stroke-dasharray: 5 4; }
.gradcli marker path { fill: var(--line); stroke: none; }
"""
_STYLE = f"""\
.gradcli {{ {LIGHT} }}
@media (prefers-color-scheme: dark) {{ .gradcli {{ {DARK} }} }}
{RULES}"""


class Drawing(NamedTuple):
    """A picture with the lines in each box, the places of all boxes, and the texts at edges."""

    picture: Picture
    texts: dict[int, list[Row]]
    layout: Layout
    labels: list[Label]


def drawing(drawn: Picture, precision: int) -> Drawing:
    """The picture with places for its boxes."""
    texts = {
        id: [part for row in rows(box, precision) for part in _wrapped(row)]
        for id, box in drawn.boxes.items()
    }
    sizes = {
        id: (
            max(cells(row.text) for row in lines) * CELL + 2 * PAD_X,
            len(lines) * LINE + 2 * PAD_Y,
        )
        for id, lines in texts.items()
    }
    inputs = {id: box.inputs for id, box in drawn.boxes.items()}
    placed = layout(sizes, inputs, drawn.root, GAP_Y + LINE if drawn.partials else GAP_Y)
    partials = [(way, _partial(drawn, way, precision)) for way in placed.ways]
    told = [(way, text) for way, text in partials if text]
    return Drawing(drawn, texts, placed, labels(told, placed, (CELL, LINE)))


def _partial(drawn: Picture, way: Way, precision: int) -> str:
    return partial_text(drawn, way.target, way.source, precision)


def svg(seen: Picture, precision: int) -> str:
    """A picture as a complete SVG, with inputs at the top and the result at the bottom."""
    drawn = drawing(seen, precision)
    said = remarks(seen)
    width = max([drawn.layout.width, *(cells(text) * CELL for text in said)]) + 2 * MARGIN
    height = drawn.layout.height + 2 * MARGIN + len(said) * LINE
    notes = [
        _text(0, drawn.layout.height + LINE * (i + 1), text, "place") for i, text in enumerate(said)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="gradcli" role="img" '
            f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}">',
            f"<title>{escaped(title(seen))}</title>",
            f"<desc>{escaped(_told(drawn))}</desc>",
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" style="fill: var(--paper); stroke: none"/>',
            f'<g transform="translate({_n(MARGIN)} {_n(MARGIN)})">',
            *elements(drawn),
            *notes,
            "</g>",
            "</svg>",
            "",
        ]
    )


def elements(drawn: Drawing) -> list[str]:
    """The edges and boxes as SVG elements."""
    found = [
        '<defs><marker id="gradcli-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" '
        'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0.5 8 4 0 7.5z"/></marker></defs>'
    ]
    places = drawn.layout.places
    for way in drawn.layout.ways:
        kind = ' class="turns"' if way.turns else ""
        found.append(
            f'<path data-from="{way.source}" data-to="{way.target}"{kind} '
            f'marker-end="url(#gradcli-arrow)" d="{_path(way, places)}"/>'
        )
    for id, box in drawn.picture.boxes.items():
        found += _box(box, drawn.texts[id], places[id])
    for text, place, way in drawn.labels:
        left, top = place.x - place.width / 2, place.y - place.height / 2
        found += [
            f'<g class="partial" data-from="{way.source}" data-to="{way.target}" '
            f'transform="translate({_n(left)} {_n(top)})">',
            f'<rect width="{_n(place.width)}" height="{_n(place.height)}"/>',
            _text(place.width / 2, LINE * 0.75, text, ""),
            "</g>",
        ]
    return found


def _box(box: Box, lines: Sequence[Row], place: Place) -> list[str]:
    left, top = place.x - place.width / 2, place.y - place.height / 2
    found = [
        f'<g class="box {box.kind}" data-id="{box.id}" transform="translate({_n(left)} {_n(top)})">'
    ]
    sizes = f'width="{_n(place.width)}" height="{_n(place.height)}" rx="{_n(corner(box, place))}"'
    if box.turns:
        found.append(f'<rect x="5" y="-5" {sizes}/>')
    found.append(f"<rect {sizes}/>")
    for i, row in enumerate(lines):
        found.append(_text(PAD_X, PAD_Y + LINE * (i + 0.75), row.text, row.style))
    return [*found, "</g>"]


def corner(box: Box, place: Place) -> float:
    """The radius of a box's corners; inputs are rounder."""
    return min(place.height / 2, 16.0) if box.is_input else 4.0


def _path(way: Way, places: dict[int, Place]) -> str:
    """The curve of an edge."""
    parts = stretches(way, places)
    text = f"M{_pair(parts[0][0])}"
    for _, *rest in parts:
        text += ("C" if len(rest) > 1 else "L") + " ".join(map(_pair, rest))
    return text


def _pair(point: Point) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _wrapped(row: Row) -> list[Row]:
    """A line in short pieces, broken at blanks if there are any."""
    found, text = [], row.text
    while cells(text) > _WRAP:
        at = text.rfind(" ", len(text) - len(text.lstrip()) + 1, _WRAP)
        at = _WRAP if at <= 0 else at
        found.append(Row(text[:at], row.style))
        text = f"  {text[at:].strip()}"
    return [*found, Row(text, row.style)]


def title(drawn: Picture) -> str:
    """The title of a picture."""
    root = rows(drawn.boxes[drawn.root], 6)[0].text
    return f"The graph of {root}: {len(drawn.boxes):,} nodes"


def _told(drawn: Drawing) -> str:
    """A description of the picture, with a sentence for each box."""
    told = []
    for id, box in drawn.picture.boxes.items():
        first = drawn.texts[id][0].text
        said = ", ".join(row.text for row in drawn.texts[id][1:])
        uses = ", ".join(drawn.texts[i][0].text for i in box.inputs)
        told.append(first + (f" ({said})" if said else "") + (f", of {uses}" if uses else ""))
    return ". ".join(told) + "."


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" class="{style}">{escaped(text)}</text>'


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
