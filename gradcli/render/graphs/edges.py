"""Edges of a placed graph: their curves, and places for the texts at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from gradcli.render.graphs.layout import Layout, Place, Way

Point: TypeAlias = tuple[float, float]

Stretch: TypeAlias = tuple[Point, ...]
"""A part of an edge: the ends of a straight line, or the four points of a cubic Bezier curve."""

_ALONG = (
    0.5,
    0.4,
    0.6,
    0.3,
    0.7,
    0.2,
    0.8,
    0.15,
    0.85,
)  # places of a text on a curve, tried in order


class Label(NamedTuple):
    """The text at an edge, and its place."""

    text: str
    place: Place
    way: Way


def stretches(way: Way, places: Mapping[int, Place]) -> list[Stretch]:
    """The parts of an edge in its direction: straight down through each layer that it passes."""
    ends = (way.target, way.source) if way.turns else (way.source, way.target)
    above, below = places[ends[0]], places[ends[1]]
    points = [(above.x, above.y + above.height / 2)]
    for x, top, bottom in way.pairs:
        points += [(x, top), (x, bottom)]
    points.append((below.x, below.y - below.height / 2))
    if way.turns:
        points.reverse()
    found: list[Stretch] = []
    for i, (start, end) in enumerate(pairwise(points)):
        half = (start[1] + end[1]) / 2
        bent = (start, (start[0], half), (end[0], half), end)
        found.append((start, end) if i % 2 else bent)
    return found


def labels(
    texts: Sequence[tuple[Way, str]], placed: Layout, size: tuple[float, float]
) -> list[Label]:
    """Places for texts at edges, near the box that they lead to; elsewhere on the edge where
    another text stands there. `size` is the width of a character and the height of a line.
    """
    found: list[Label] = []
    for way, text in texts:
        width, height = len(text) * size[0] + size[0], size[1]
        tried = [
            Place(min(max(x, width / 2), placed.width - width / 2), y, width, height)
            for x, y in _middles(way, placed.places)
        ]
        free = (p for p in tried if not any(_meet(p, other.place) for other in found))
        found.append(Label(text, next(free, tried[0]), way))
    return found


def _middles(way: Way, places: Mapping[int, Place]) -> Iterator[Point]:
    """Points of an edge, in the order in which they are tried."""
    for part in reversed(stretches(way, places)):
        if len(part) == 4:  # texts stand in the gaps between boxes
            for along in _ALONG:
                yield _at(part, along)


def _at(curve: Stretch, t: float) -> Point:
    """The point of a Bezier curve at `t` between 0 and 1."""
    weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3)
    x, y = (sum(w * p[k] for w, p in zip(weights, curve, strict=True)) for k in (0, 1))
    return x, y


def _meet(a: Place, b: Place) -> bool:
    """True if two rectangles overlap."""
    across, down = (a.width + b.width) / 2, (a.height + b.height) / 2
    return abs(a.x - b.x) < across and abs(a.y - b.y) < down
