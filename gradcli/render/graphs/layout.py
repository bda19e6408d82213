"""Place the boxes of a graph: in layers from the result up, with few crossings and straight edges.

The method is that of Sugiyama, Tagawa and Toda (1981) as refined by Gansner and others (1993, "A
technique for drawing directed graphs"). Each box is one layer above the highest one that uses it.
An edge through several layers has a bend in each. Medians and exchanges of neighbours order the
layers. Least squares that keep the gaps move each layer close to its neighbours. Edges stay in the
gaps between boxes, so they cross no box.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

GAP_X, GAP_Y = 24.0, 44.0  # between boxes of a layer, and between layers
_BEND = 12.0  # width of a bend
_SWEEPS = 12
_STRAIGHT = 8.0  # weight of a bend, where a box has 1


class Place(NamedTuple):
    """The center and the size of a box."""

    x: float
    y: float
    width: float
    height: float


class Way(NamedTuple):
    """An edge between boxes, straight down between the points of each pair. It `turns` if it points
    against the others, as from one turn of a loop to the next.
    """

    source: int
    target: int
    pairs: tuple[tuple[float, float, float], ...]  # x, then the y where it starts and where it ends
    turns: bool


class Layout(NamedTuple):
    """The places of all boxes, the paths of all edges, and the size of the picture."""

    places: dict[int, Place]
    ways: list[Way]
    width: float
    height: float


def layout(
    sizes: Mapping[int, tuple[float, float]],
    inputs: Mapping[int, Sequence[int]],
    root: int,
    gap: float = GAP_Y,
) -> Layout:
    """Places for boxes of given sizes and inputs, with the root at the bottom and a gap between
    layers.
    """
    edges = _acyclic(inputs, root)
    layers, chains = _layered(sizes, [*edges])
    _order(layers)
    across = _across(layers, sizes)
    heights = [max(sizes[n][1] for n in row.nodes if n in sizes) for row in layers]
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + gap)
    places, slots = {}, {}
    for level, row in enumerate(layers):
        middle = tops[level] + heights[level] / 2
        for n in row.nodes:
            slots[n] = (tops[level], tops[level] + heights[level])
            if n in sizes:
                places[n] = Place(across[n], middle, *sizes[n])
    ways = []
    for (above, below), chain in chains.items():
        pairs = tuple((across[n], *slots[n]) for n in chain)
        for turns in sorted(edges[above, below]):
            source, target = (below, above) if turns else (above, below)
            ways.append(Way(source, target, pairs, turns))
    right = max(place.x + place.width / 2 for place in places.values())
    width = max([right, *(across[n] + _BEND / 2 for row in layers for n in row.nodes)])
    return Layout(places, ways, width, tops[-1] - gap)


# --- layers ----------------------------------------------------------------------------------


class _Layer:
    """A layer from left to right, with each place's neighbours above and below."""

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.above: dict[int, list[int]] = {}
        self.below: dict[int, list[int]] = {}

    def add(self, node: int) -> None:
        self.nodes.append(node)
        self.above[node], self.below[node] = [], []


def _acyclic(inputs: Mapping[int, Sequence[int]], root: int) -> dict[tuple[int, int], set[bool]]:
    """The edges, from input to user, without cycles: an edge that would close one is reversed. The
    set of each edge holds True if it stands for a reversed one, False if for a normal one.
    """
    edges: dict[tuple[int, int], set[bool]] = {}
    walked, way = {root}, {root}
    stack = [(root, iter(inputs[root]))]
    while stack:
        node, rest = stack[-1]
        for under in rest:
            if under in way:
                edges.setdefault((node, under), set()).add(True)
                continue
            edges.setdefault((under, node), set()).add(False)
            if under not in walked:
                walked.add(under)
                way.add(under)
                stack.append((under, iter(inputs[under])))
                break
        else:
            way.discard(node)
            stack.pop()
    return edges


def _layered(
    sizes: Mapping[int, tuple[float, float]], edges: list[tuple[int, int]]
) -> tuple[list[_Layer], dict[tuple[int, int], list[int]]]:
    """The layers from the top, and the bends of each edge."""
    users: dict[int, list[int]] = {n: [] for n in sizes}
    under: dict[int, list[int]] = {n: [] for n in sizes}
    for above, below in edges:
        users[above].append(below)
        under[below].append(above)
    waiting = {n: len(found) for n, found in users.items()}
    ready = [n for n, count in waiting.items() if not count]
    level: dict[int, int] = {}
    while ready:
        node = ready.pop()
        level[node] = 1 + max((level[u] for u in users[node]), default=-1)
        for n in under[node]:
            waiting[n] -= 1
            if not waiting[n]:
                ready.append(n)
    top = max(level.values())
    layers = [_Layer() for _ in range(top + 1)]
    for n in sizes:
        layers[top - level[n]].add(n)
    chains: dict[tuple[int, int], list[int]] = {}
    bend = min(sizes) - 1
    for above, below in edges:
        chain, last = [], above
        for at in range(top - level[above] + 1, top - level[below]):
            layers[at].add(bend)
            _join(layers, at, last, bend)
            chain.append(bend)
            last, bend = bend, bend - 1
        _join(layers, top - level[below], last, below)
        chains[above, below] = chain
    return layers, chains


def _join(layers: list[_Layer], at: int, above: int, below: int) -> None:
    layers[at].above[below].append(above)
    layers[at - 1].below[above].append(below)


# --- order -----------------------------------------------------------------------------------


def _order(layers: list[_Layer]) -> None:
    """Order each layer for few crossings: the best of some sweeps up and down."""
    _start(layers)
    best, least = [row.nodes[:] for row in layers], crossings(layers)
    for sweep in range(_SWEEPS):
        if not least:
            break
        down = sweep % 2 == 0
        for at in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            row, fixed = layers[at], layers[at - 1 if down else at + 1]
            place = {n: i for i, n in enumerate(fixed.nodes)}
            near = row.above if down else row.below
            _by_medians(row, {n: sorted(place[m] for m in near[n]) for n in row.nodes})
        _exchange(layers)
        found = crossings(layers)
        if found < least:
            best, least = [row.nodes[:] for row in layers], found
    for row, nodes in zip(layers, best, strict=True):
        row.nodes = nodes


def _start(layers: list[_Layer]) -> None:
    """The first order, that of a walk up from the result, so that a tree has no crossings."""
    for at in range(len(layers) - 2, -1, -1):
        met = (n for below in layers[at + 1].nodes for n in layers[at + 1].above[below])
        layers[at].nodes = list(dict.fromkeys([*met, *layers[at].nodes]))


def _by_medians(row: _Layer, near: dict[int, list[int]]) -> None:
    """Sort a layer by the medians of its neighbours; a place without any stays."""
    moved = iter(sorted((n for n in row.nodes if near[n]), key=lambda n: _median(near[n])))
    row.nodes = [next(moved) if near[n] else n for n in row.nodes]


def _median(places: Sequence[float]) -> float:
    half = len(places) // 2
    return places[half] if len(places) % 2 else (places[half - 1] + places[half]) / 2


def _exchange(layers: list[_Layer]) -> None:
    """Exchange adjacent places of a layer as long as that removes crossings."""
    for at, row in enumerate(layers):
        sides = []
        for near, other in ((row.above, at - 1), (row.below, at + 1)):
            if 0 <= other < len(layers):
                place = {n: i for i, n in enumerate(layers[other].nodes)}
                sides.append({n: sorted(place[m] for m in near[n]) for n in row.nodes})
        better = True
        while better:
            better = False
            for i in range(len(row.nodes) - 1):
                a, b = row.nodes[i : i + 2]
                now = sum(_crossed(side[a], side[b]) for side in sides)
                if now and now > sum(_crossed(side[b], side[a]) for side in sides):
                    row.nodes[i : i + 2] = [b, a]
                    better = True


def _crossed(left: list[int], right: list[int]) -> int:
    """The number of crossings between the edges of two places, the first on the left."""
    return sum(bisect_left(right, place) for place in left)


def crossings(layers: list[_Layer]) -> int:
    """The number of crossing edges."""
    total = 0
    for at in range(1, len(layers)):
        place = {n: i for i, n in enumerate(layers[at - 1].nodes)}
        passed: list[int] = []
        for n in layers[at].nodes:
            ends = sorted(place[m] for m in layers[at].above[n])
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


# --- places within the layers ----------------------------------------------------------------


def _across(layers: list[_Layer], sizes: Mapping[int, tuple[float, float]]) -> dict[int, float]:
    """The horizontal position of each place, near those above and below it."""
    wide = {n: sizes[n][0] if n in sizes else _BEND for row in layers for n in row.nodes}
    x: dict[int, float] = {}
    for row in layers:
        at = 0.0
        for n in row.nodes:
            x[n] = at + wide[n] / 2
            at += wide[n] + GAP_X
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        for row in layers if down else reversed(layers):
            near = row.above if down else row.below
            both = sweep >= _SWEEPS  # then near both
            wanted = []
            for n in row.nodes:
                found = [*row.above[n], *row.below[n]] if both else near[n]
                wanted.append(_median(sorted(x[m] for m in found)) if found else x[n])
            weights = [1.0 if n in sizes else _STRAIGHT for n in row.nodes]
            gaps = [(wide[a] + wide[b]) / 2 + GAP_X for a, b in pairwise(row.nodes)]
            x |= zip(row.nodes, spread(wanted, weights, gaps), strict=True)
    left = min(x[n] - wide[n] / 2 for n in x)
    return {n: at - left for n, at in x.items()}


def spread(wanted: list[float], weights: list[float], gaps: list[float]) -> list[float]:
    """Positions that keep the gaps, nearest to the wanted ones by weighted least squares. Places
    that come too close move as one block to the mean of what they want.
    """
    shift = [0.0]
    for gap in gaps:
        shift.append(shift[-1] + gap)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, number of places
    for place, weight, moved in zip(wanted, weights, shift, strict=True):
        mean, total, count = place - moved, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, more, others = blocks.pop()
            mean = (mean * total + before * more) / (total + more)
            total, count = total + more, count + others
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + moved for mean, moved in zip(means, shift, strict=True)]
