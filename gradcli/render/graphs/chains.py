"""Fold long chains of a recorded graph: show once what every turn of a loop repeats.

The spine of a node is the longest path down from it. A loop leaves a spine in which the same
operations, written at the same places and with the same kinds of side inputs, repeat. Such a
stretch is a `Fold`. Nothing here recurses: a graph may be a million nodes deep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from gradcli.render.text import TIMES
from gradcli.results import Graph, GraphNode

_FEWEST_TURNS = 4  # fewer are drawn one by one
_LONGEST_TURN = 512  # operations of a turn on the spine
_CANDIDATES = 8  # later occurrences of an operation that are tried as the start of the next turn
_LARGEST_SIDE = 64  # nodes of a side input that are compared; a larger one equals no other


class Fold(NamedTuple):
    """A stretch of a spine that repeats.

    Fields:
        label: names of the pattern's operations.
        pattern: the nodes of the first turn.
        turns: how often it occurs.
        members: all nodes that the fold stands for.
        sides: inputs of the first turn from beside the spine; True for one that each turn has its
            own of.
        after: the node that the last turn uses, or None.
    """

    label: tuple[str, ...]
    pattern: tuple[int, ...]
    turns: int
    members: frozenset[int]
    sides: tuple[tuple[int, bool], ...]
    after: int | None


class _Item(NamedTuple):
    """A spine node or a folded stretch: its signature, label, nodes, and the items of its turns."""

    signature: int
    label: tuple[str, ...]
    nodes: tuple[int, ...]
    turns: int
    period: int  # nodes of one turn
    parts: tuple[_Item, ...]


class Chains:
    """Finds the folds of a graph, from one node down at a time. The last `unfolded` turns of each
    loop stay as they are.
    """

    def __init__(self, graph: Graph, unfolded: int) -> None:
        self._unfolded = unfolded
        self.nodes: dict[int, GraphNode] = {node.id: node for node in graph.nodes}
        self.inputs: dict[int, list[int]] = {node.id: [] for node in graph.nodes}
        for edge in sorted(graph.edges, key=lambda edge: edge.input):
            self.inputs[edge.source].append(edge.target)
        self.owner: dict[int, int] = {}
        """The first node of the fold that stands for a node."""
        self._users = Counter(edge.target for edge in graph.edges)
        self._height = self._heights(graph)
        self._on_spine: set[int] = set()
        self._signatures: dict[Hashable, int] = {}

    def folds_from(self, start: int) -> dict[int, Fold]:
        """The folds of the spine from here down, by their first nodes; {} if the spine is known."""
        if start in self._on_spine:
            return {}
        spine = self._spine(start)
        place = {node: index for index, node in enumerate(spine)}
        items = [
            _Item(self._signature(i, spine, place), (_done(self.nodes[node]),), (node,), 1, 1, ())
            for i, node in enumerate(spine)
        ]
        longest = 1
        while longest <= _LONGEST_TURN:  # inner loops before outer ones
            folded = self._fold(items, longest)
            longest *= 1 if len(folded) < len(items) else 2
            items = folded
        found = {}
        at = 0
        for item in self._with_turns(items):
            at += len(item.nodes)
            if len(item.nodes) > 1:
                after = spine[at] if at < len(spine) else None
                found[item.nodes[0]] = self._finish(item, after, place)
        return found

    def _with_turns(self, items: list[_Item]) -> list[_Item]:
        """The items, with the last turns of each folded stretch unfolded again."""
        if not self._unfolded:
            return items
        found = []
        todo = items[::-1]
        while todo:
            item = todo.pop()
            if item.turns == 1 or not item.parts:
                found.append(item)
                continue
            shown = min(self._unfolded, item.turns)
            count = shown * (len(item.parts) // item.turns)
            rest = item.turns - shown
            if rest:
                nodes = item.nodes[shown * item.period :]
                todo.append(item._replace(nodes=nodes, turns=rest, parts=()))
            todo += reversed(item.parts[:count])
        return found

    def _heights(self, graph: Graph) -> dict[int, int]:
        height: dict[int, int] = {}
        for node in reversed(graph.nodes):
            height[node.id] = 1 + max((height[t] for t in self.inputs[node.id]), default=0)
        return height

    def _spine(self, start: int) -> list[int]:
        spine = []
        node: int | None = start
        while node is not None:
            spine.append(node)
            self._on_spine.add(node)
            free = [t for t in self.inputs[node] if t not in self._on_spine]
            node = max(free, key=self._height.__getitem__, default=None)
        return spine

    def _signature(self, index: int, spine: list[int], place: dict[int, int]) -> int:
        """A number that is equal for nodes with the same operation, place and kinds of inputs."""
        node = self.nodes[spine[index]]
        following = spine[index + 1] if index + 1 < len(spine) else None
        inputs = tuple(
            "next" if t == following else self._input(t, index, place) for t in self.inputs[node.id]
        )
        return self._intern((node.name, node.line, node.column, node.count, inputs))

    def _input(self, target: int, index: int, place: dict[int, int]) -> Hashable:
        """A key for an input, relative to the spine's node number `index`."""
        seen: dict[int, int] = {}
        looks: list[Hashable] = []
        todo = [target]
        while todo:
            node = todo.pop()
            if node in place and not self._is_shared_leaf(node):
                looks.append(("spine", place[node] - index))
            elif node in self.owner:
                looks.append(("fold", self.owner[node]))
            elif node in seen:
                looks.append(("again", seen[node]))
            elif len(seen) == _LARGEST_SIDE:
                return ("large", target)
            else:
                seen[node] = len(seen)
                n = self.nodes[node]
                below = self.inputs[node]
                looks.append((n.name, n.variable, n.line, n.column, len(below)))
                todo += reversed(below)
        return tuple(looks)

    def _is_shared_leaf(self, node: int) -> bool:
        """True if a node is a leaf that several turns of a loop may use."""
        return not self.inputs[node] and self._users[node] >= _FEWEST_TURNS

    def _intern(self, key: Hashable) -> int:
        return self._signatures.setdefault(key, len(self._signatures))

    def _fold(self, items: list[_Item], longest: int) -> list[_Item]:
        """The items, with every stretch of turns of at most `longest` items folded into one."""
        following = _next_same(items)
        folded = []
        at = 0
        while at < len(items):
            period, turns = _repeats(items, at, following, longest)
            if turns < _FEWEST_TURNS:
                folded.append(items[at])
                at += 1
                continue
            turn = items[at : at + period]
            whole = items[at : at + period * turns]
            folded.append(
                _Item(
                    self._intern(("turns", turns, *(item.signature for item in turn))),
                    tuple(_counted(item) for item in turn),
                    tuple(node for item in whole for node in item.nodes),
                    turns,
                    sum(len(item.nodes) for item in turn),
                    tuple(whole) if self._unfolded else (),
                )
            )
            at += period * turns
        return folded

    def _finish(self, item: _Item, after: int | None, place: dict[int, int]) -> Fold:
        members = frozenset(item.nodes)
        first = item.nodes[0]
        pattern = item.nodes[: item.period]
        second = item.nodes[item.period : 2 * item.period]
        sides: dict[int, bool] = {}
        for node, again in zip(pattern, second or pattern, strict=True):
            for mine, other in zip(self.inputs[node], self.inputs[again], strict=True):
                if mine not in members and mine != after and mine not in sides:
                    sides[mine] = mine != other
        own = self._beside([t for t, differs in sides.items() if differs], place)
        shared = {target for target, differs in sides.items() if not differs}
        targets = (t for n in item.nodes[item.period :] for t in self.inputs[n])
        rest = self._beside((t for t in targets if t not in shared), place) - own - {after}
        for node in members | rest:
            self.owner.setdefault(node, first)
        return Fold(item.label, pattern, item.turns, members | rest, tuple(sides.items()), after)

    def _beside(self, targets: Iterable[int], place: dict[int, int]) -> set[int]:
        """The unnamed nodes at and below the targets that are not on a spine."""
        found: set[int] = set()
        todo = list(targets)
        while todo:
            node = todo.pop()
            if node in found or node in place or node in self._on_spine or node in self.owner:
                continue
            if self.inputs[node] or not self.nodes[node].variable:
                found.add(node)
                todo += self.inputs[node]
        return found


def _done(node: GraphNode) -> str:
    """The name of a node's operation."""
    return node.op or node.name


def _counted(item: _Item) -> str:
    if item.turns == 1:
        return item.label[0]
    return f"({' '.join(item.label)} {TIMES} {item.turns:,})"


def _next_same(items: list[_Item]) -> list[int]:
    """For each item the index of the next equal one, or -1."""
    following = [-1] * len(items)
    last: dict[int, int] = {}
    for index in range(len(items) - 1, -1, -1):
        following[index] = last.get(items[index].signature, -1)
        last[items[index].signature] = index
    return following


def _repeats(items: list[_Item], start: int, following: list[int], longest: int) -> tuple[int, int]:
    """The shortest period that repeats from `start`, and the number of repeats; (1, 1) if none."""
    candidate = following[start]
    for _ in range(_CANDIDATES):
        period = candidate - start
        if candidate < 0 or period > longest:
            break
        end = candidate
        while end < len(items) and items[end].signature == items[end - period].signature:
            end += 1
        turns = (end - start) // period
        if turns >= _FEWEST_TURNS:
            return period, turns
        candidate = following[candidate]
    return 1, 1
