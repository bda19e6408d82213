"""The recorded graph as a tree: operations from the result down to the inputs."""

from __future__ import annotations

import math
from collections import Counter, deque
from typing import NamedTuple

from gradcli.render.chains import Chains, Fold
from gradcli.render.numbers import align, block, is_number, number, shape_of
from gradcli.render.text import TIMES, Line, Segment, cells, line_cells, shorten, visible
from gradcli.results import Graph, GraphNode, Value

_STEP = 3  # cells of one level of the tree
_MOST_LINES = 500
_VALUES = (22, 16, 12)  # cells that a value or gradient may take, as there is room
_LABEL = 34  # cells of the tree at least; narrower terminals get values below the names
_DEEPEST_LABEL = 41  # cells kept free of guides
_MOST_INPUTS = 12  # of a node with more, the first and last are drawn
_GAP = "  "


class _Entry(NamedTuple):
    """A line of the tree: guides before it, what it says, and what stands beside it."""

    guides: str
    below: str
    node: int | None
    label: Line
    value: Value
    grad: Value
    place: str


class _Task(NamedTuple):
    """A node to draw: the guides of its parent, whether it is the last child, how often it is
    there, and how deep. Without a node: `times` inputs that are left out.
    """

    node: int | None
    guides: str
    last: bool
    times: int
    depth: int


def graph_view(graph: Graph, *, precision: int, width: int) -> list[Line]:
    """The graph as a tree. What is used twice is drawn once and named afterwards, the turns of a
    loop are one line, and what would be too deep for the width is continued below.
    """
    tree = _Tree(graph, deepest=max((width - _DEEPEST_LABEL) // _STEP, 4))
    tree.draw()
    for cut in _VALUES:
        lines = _beside(tree, [_facts(e, precision, cut) for e in tree.entries], width)
        if lines:
            break
    else:
        lines = _below(tree, precision, width)
    if tree.left:
        rest = f"… {tree.left:,} more nodes; the formats dot and json have all of them"
        lines.append([(shorten(rest, width), "place")])
    return lines


class _Tree:
    """The lines of the tree in order, made without recursion."""

    def __init__(self, graph: Graph, deepest: int) -> None:
        self.entries: list[_Entry] = []
        self.referred: set[int] = set()
        self.left = 0
        self._graph = graph
        self._deepest = deepest
        self._chains = Chains(graph)
        self._drawn: set[int] = set()
        self._folds: dict[int, Fold] = {}
        self._names = Counter(node.variable for node in graph.nodes)

    def draw(self) -> None:
        """Fill `entries`, `referred` (nodes whose number must be shown) and `left`."""
        sections = deque([self._graph.root])
        while sections:
            root = sections.popleft()
            if root in self._drawn:
                continue
            if self.entries:
                self.entries.append(_Entry("", "", None, [], None, None, ""))
            todo = [_Task(root, "", True, 1, 0)]
            while todo and len(self.entries) < _MOST_LINES:
                todo += reversed(self._line(todo.pop(), sections))
            if len(self.entries) >= _MOST_LINES:
                break
        if len(self.entries) >= _MOST_LINES:
            known = self._drawn | {
                n for n, first in self._chains.owner.items() if first in self._drawn
            }
            self.left = len(self._graph.nodes) - len(known)

    def name(self, node: int) -> str:
        """How other lines call a node: by its variable if no other node has it."""
        variable = self._chains.nodes[node].variable
        if variable and self._names[variable] == 1 and node not in self._folds:
            return visible(variable)
        self.referred.add(node)
        return f"#{node}"

    def _line(self, task: _Task, sections: deque[int]) -> list[_Task]:
        """Draw a node; the tasks for what is under it."""
        if task.node is None:
            self._add(task, None, [(f"… {task.times:,} more", "place")], None, None, "")
            return []
        node = self._chains.owner.get(task.node, task.node)
        if node in self._drawn:
            self._refer(task, "↑", node)
            return []
        if node != task.node:
            self._refer(task, "↓", node)
            return []
        self._folds |= self._chains.folds_from(node)
        inputs = self._chains.inputs[node]
        if inputs and task.depth >= self._deepest:
            sections.append(node)
            self._refer(task, "↓", node)
            return []
        self._drawn.add(node)
        below = _under(task)
        under: list[tuple[int | None, int]] = []
        if node in self._folds:
            fold = self._folds[node]
            last = self._chains.nodes[node]  # what the last turn made
            value, grad = (last.value, last.grad) if task.times == 1 else (None, None)
            self._add(task, node, _fold_label(fold, task.times), value, grad, self._lines(fold))
            under += [(t, task.times * (fold.turns if own else 1)) for t, own in fold.sides]
            if fold.after is not None:
                under.append((fold.after, task.times))
        else:
            n = self._chains.nodes[node]
            place = str(n.line) if n.line else ""
            times = 1 if n.variable and not inputs else task.times  # turns share their leaves
            value, grad = (n.value, n.grad) if times == 1 else (None, None)
            self._add(task, node, _label(n, times), value, grad, place)
            under += [(t, task.times) for t in inputs]
        if len(under) > _MOST_INPUTS:
            under[_MOST_INPUTS - 3 : -2] = [(None, len(under) - _MOST_INPUTS + 1)]
        return [
            _Task(t, below, index == len(under) - 1, times, task.depth + 1)
            for index, (t, times) in enumerate(under)
        ]

    def _refer(self, task: _Task, arrow: str, node: int) -> None:
        self._add(task, None, [(f"{arrow} {self.name(node)}", "reference")], None, None, "")

    def _add(
        self, task: _Task, node: int | None, label: Line, value: Value, grad: Value, place: str
    ) -> None:
        branch = "" if task.depth == 0 else "└─ " if task.last else "├─ "
        self.entries.append(
            _Entry(task.guides + branch, _under(task), node, label, value, grad, place)
        )

    def _lines(self, fold: Fold) -> str:
        lines = [self._chains.nodes[n].line for n in fold.pattern if self._chains.nodes[n].line]
        if not lines:
            return ""
        return str(lines[0]) if min(lines) == max(lines) else f"{min(lines)}-{max(lines)}"


def _under(task: _Task) -> str:
    """The guides before what stands under a node."""
    if task.depth == 0:
        return ""
    return task.guides + ("   " if task.last else "│  ")


def _label(node: GraphNode, times: int) -> Line:
    label: Line = [(visible(node.name), "op")]
    if node.variable:
        label.append((f" {visible(node.variable)}", "name"))
    if node.shape:
        label.append((f" [{', '.join(map(str, node.shape))}]", "shape"))
    if times * node.count > 1:
        label.append((f" {TIMES} {times * node.count:,}", "count"))
    return label


def _fold_label(fold: Fold, times: int) -> Line:
    names = list(fold.label)
    if len(names) > 3:
        names[2:] = [f"… {len(names) - 2} more"]
    return [
        (" ".join(map(visible, names)), "op"),
        (f" {TIMES} {times * fold.turns:,}", "count"),
    ]


def _facts(entry: _Entry, precision: int, width: int) -> tuple[str, str]:
    """Value and gradient, each in at most `width` cells."""
    return _one_line(entry.value, precision, width), _one_line(entry.grad, precision, width)


def _one_line(value: Value, precision: int, width: int) -> str:
    if value is None:
        return ""
    if hasattr(value, "shape") and len(value.shape) > 1 and math.prod(value.shape):
        low, high = (number(edge.item(), precision) for edge in (value.min(), value.max()))
        return shorten(f"{low} to {high}", width)
    if len(shape_of(value)) > 1:
        return "[…]"
    return shorten(block(value, precision, width)[0], width)


def _beside(tree: _Tree, texts: list[tuple[str, str]], width: int) -> list[Line] | None:
    """The tree with values, gradients and lines in columns; None if there is no room."""
    headings = ("", "value", "gradient", "line")
    styles = ("", "value", "grad", "place")
    labels = [_whole_label(tree, entry) for entry in tree.entries]
    columns = [
        _aligned([e.value for e in tree.entries], [value for value, _ in texts]),
        _aligned([e.grad for e in tree.entries], [grad for _, grad in texts]),
        [e.place for e in tree.entries],
    ]
    kept = [i for i, column in enumerate(columns) if any(column)]
    widths = [max(map(cells, [headings[i + 1], *columns[i]])) for i in kept]
    room = width - sum(widths) - len(_GAP) * len(widths)
    if room < min(_LABEL, max(map(line_cells, labels))):
        return None
    room = min(room, max(map(line_cells, labels)))
    lines: list[Line] = []
    if kept:
        head: Line = [(" " * room, "")]
        for i, wide in zip(kept, widths, strict=True):
            head.append((f"{_GAP}{headings[i + 1]:<{wide}}", "heading"))
        lines.append(head)
    for row, label in enumerate(labels):
        line = _fit(label, room)
        line.append((" " * (room - line_cells(line)), ""))
        for i, wide in zip(kept, widths, strict=True):
            text = columns[i][row]
            line.append((_GAP + text + " " * (wide - cells(text)), styles[i + 1]))
        lines.append(line)
    return lines


def _below(tree: _Tree, precision: int, width: int) -> list[Line]:
    """The tree for a narrow terminal: values under each name, on one line if that is enough."""
    lines: list[Line] = []
    for entry in tree.entries:
        lines.append(_fit(_whole_label(tree, entry), width))
        room = max(width - cells(entry.below), 1)
        value, grad = _facts(entry, precision, max(room - len("grad "), 1))
        facts = [("= ", value), ("grad ", grad), ("line ", entry.place)]
        texts = [name + text for name, text in facts if text]
        if cells("  ".join(texts)) <= room:
            texts = ["  ".join(texts)]
        for text in filter(None, texts):
            lines.append(_fit([(entry.below, "branch"), (text, "value")], width))
    return lines


def _whole_label(tree: _Tree, entry: _Entry) -> Line:
    line: Line = [(entry.guides, "branch"), *entry.label]
    if entry.node is not None and entry.node in tree.referred:
        line.append((f" #{entry.node}", "reference"))
    return line


def _aligned(values: list[Value], texts: list[str]) -> list[str]:
    """The texts, numbers among them with their points under each other."""
    rows = [i for i, value in enumerate(values) if is_number(value)]
    column = list(texts)
    for i, text in zip(rows, align([texts[i] for i in rows]), strict=True):
        column[i] = text
    return column


def _fit(line: Line, width: int) -> Line:
    """The line cut to a width."""
    fitted: list[Segment] = []
    room = width
    for text, style in line:
        part = shorten(text, room)
        fitted.append((part, style))
        room -= cells(part)
        if part != text or room <= 0:
            break
    return fitted
