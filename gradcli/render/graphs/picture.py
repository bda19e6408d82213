"""The graph as all views draw it: each box is an operation, an input, or all turns of a loop.

The operations of one call of a composite share a box, and so do the turns of a loop. A large graph
is drawn from the result down, up to the limits. Nothing here recurses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from gradcli.render.graphs.chains import Chains, Fold
from gradcli.results import Graph, GraphEdge, GraphNode, Value

_MOST_INPUTS = 12  # boxes with more inputs show the first and last ones


class Extent(NamedTuple):
    """Limits on the part of a graph that is drawn.

    Fields:
        nodes: The most boxes.
        depth: The most steps from the result; None for all.
        unfold: Turns of each loop that are drawn one by one.
    """

    nodes: int = 500
    depth: int | None = None
    unfold: int = 0


class Box(NamedTuple):
    """A box of the picture.

    Fields:
        id: Its number.
        node: Its newest operation.
        ops: The names of its operations.
        inputs: The boxes that it uses.
        turns: The turns of a loop in it; 0 for none.
        lines: Its first and last line in the program.
        times: How often it occurs.
        hidden: The number of its inputs that are not drawn.
    """

    id: int
    node: GraphNode
    ops: str
    inputs: tuple[int, ...]
    turns: int
    lines: tuple[int, int]
    times: int
    hidden: int

    @property
    def is_input(self) -> bool:
        """True for a leaf of the graph."""
        return not self.node.op and not self.inputs and not self.hidden

    @property
    def kind(self) -> str:
        """How it is drawn: "input", "fold" for the turns of a loop, or "op"."""
        return "input" if self.is_input else "fold" if self.turns else "op"


class Picture(NamedTuple):
    """The boxes by number, from the result down in the order of a tree.

    Fields:
        root: The box of the result.
        boxes: The boxes.
        owner: The box of each node.
        left: The number of the graph's nodes that are not drawn.
        missing: The reason why there are no gradients, or "".
        partials: The derivatives of boxes by their inputs, by both numbers, if they are shown; a
            box that uses several values of another one has several.
    """

    root: int
    boxes: dict[int, Box]
    owner: dict[int, int]
    left: int
    missing: str
    partials: dict[tuple[int, int], list[Value]]

    @property
    def steps(self) -> dict[int, list[int]]:
        """The nodes of each box; of the turns of a loop only the newest node."""
        found = {id: [id] for id in self.boxes}
        for node, box in self.owner.items():
            if node != box and box in found and not self.boxes[box].turns:
                found[box].append(node)
        return found

    def with_partials(self, graph: Graph) -> Picture:
        """The picture with the partial derivatives among the graph's details."""
        found: dict[tuple[int, int], list[Value]] = {}
        for id, box in self.boxes.items():
            if box.turns or id not in graph.details:
                continue
            for node, partial in graph.details[id].partials:
                if self.owner[node] in box.inputs:
                    found.setdefault((id, self.owner[node]), []).append(partial)
        return self._replace(partials=found)


def picture(graph: Graph, extent: Extent = Extent()) -> Picture:  # noqa: B008  # it cannot change
    """The picture of a graph."""
    whole = _contracted(graph)
    chains = Chains(whole.graph, extent.unfold)
    found = _boxes(whole.graph, chains)
    kept = _near(found, whole.graph.root, extent)
    boxes = {id: _cut(found[id], kept) for id in found if id in kept}
    owner = {}
    for node in graph.nodes:
        box = whole.heads.get(node.id, node.id)
        owner[node.id] = chains.owner.get(box, box)
    left = sum(owner[node.id] not in kept for node in graph.nodes)
    return Picture(whole.graph.root, boxes, owner, left, graph.missing, {})


# --- composites ------------------------------------------------------------------------------


class _Contracted(NamedTuple):
    """A graph with one node for each composite, and the node in place of each removed one."""

    graph: Graph
    heads: dict[int, int]


def _contracted(graph: Graph) -> _Contracted:
    """The graph with the parts of each composite merged into the node of its value. A part with
    users outside stays.
    """
    if all(node.part_of is None for node in graph.nodes):
        return _Contracted(graph, {})
    users: dict[int, list[int]] = {node.id: [] for node in graph.nodes}
    inputs: dict[int, list[int]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        users[edge.target].append(edge.source)
        inputs[edge.source].append(edge.target)
    heads: dict[int, int] = {}
    counts: dict[int, int] = {}
    for node in graph.nodes:  # the newest first, so that users come before their inputs
        if node.part_of is None or node.part_of == node.id:
            continue
        if all(heads.get(user, user) == node.part_of for user in users[node.id]):
            heads[node.id] = node.part_of
            counts[node.part_of] = counts.get(node.part_of, 1) + node.count
    nodes = [
        _changed(node, op=node.whole, count=counts[node.id]) if node.id in counts else node
        for node in graph.nodes
        if node.id not in heads
    ]
    edges = [
        GraphEdge(node.id, target, i)
        for node in nodes
        for i, target in enumerate(_from_outside(node.id, inputs, heads))
    ]
    return _Contracted(Graph(graph.root, tuple(nodes), tuple(edges), graph.missing, {}), heads)


def _from_outside(node: int, inputs: dict[int, list[int]], heads: dict[int, int]) -> Iterator[int]:
    """The inputs of a node and of its parts from outside, in the order of use."""
    met = set()
    todo = inputs[node][::-1]
    while todo:
        target = todo.pop()
        if target not in heads:
            yield target
        elif target not in met:
            met.add(target)
            todo += reversed(inputs[target])


def _changed(node: GraphNode, **fields: object) -> GraphNode:
    return GraphNode(**{name: getattr(node, name) for name in GraphNode._fields} | fields)


# --- boxes -----------------------------------------------------------------------------------


def _boxes(graph: Graph, chains: Chains) -> dict[int, Box]:
    """All boxes, in the order of a walk down from the root."""
    folds: dict[int, Fold] = {}
    found: dict[int, Box] = {}
    todo = [(graph.root, 1)]
    while todo:
        target, times = todo.pop()
        id = chains.owner.get(target, target)
        if id in found:
            continue
        folds |= chains.folds_from(id)
        node = chains.nodes[id]
        if id in folds:
            fold = folds[id]
            under = [(t, times * (fold.turns if own else 1)) for t, own in fold.sides]
            under += [] if fold.after is None else [(fold.after, times)]
            ops, turns = " ".join(fold.label), fold.turns
            lines = [n.line for n in map(chains.nodes.__getitem__, fold.pattern) if n.line]
        else:
            under = [(t, times) for t in chains.inputs[id]]
            ops, turns, lines = node.op, 0, [node.line]
            if node.variable and not under:
                times = 1  # turns share their leaves
        inputs = tuple(dict.fromkeys(t for t, _ in under))
        span = (min(lines, default=0), max(lines, default=0))
        found[id] = Box(id, node, ops, inputs, turns, span, times, 0)
        todo += reversed(under)
    for id, box in found.items():  # by now the box of each node is known
        inputs = tuple(dict.fromkeys(chains.owner.get(t, t) for t in box.inputs))
        found[id] = box._replace(inputs=tuple(t for t in inputs if t != id))
    return found


def _near(found: dict[int, Box], root: int, extent: Extent) -> set[int]:
    """The numbers of the boxes to draw, those nearest to the root first."""
    kept = {root}
    level = deque([(root, 0)])
    while level:
        id, depth = level.popleft()
        if depth == extent.depth:
            continue
        for target in _shown(found[id].inputs):
            if len(kept) >= extent.nodes:
                return kept
            if target not in kept:
                kept.add(target)
                level.append((target, depth + 1))
    return kept


def _cut(box: Box, kept: set[int]) -> Box:
    inputs = tuple(t for t in _shown(box.inputs) if t in kept)
    return box._replace(inputs=inputs, hidden=len(box.inputs) - len(inputs))


def _shown(inputs: tuple[int, ...]) -> tuple[int, ...]:
    if len(inputs) <= _MOST_INPUTS:
        return inputs
    return inputs[: _MOST_INPUTS - 3] + inputs[-2:]
