"""The recorded graph as a tree: operations from the result down to the inputs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradcli.render.graphs.labels import (
    facts,
    how_often,
    is_of_last_turn,
    name_and_text,
    partial_text,
    remarks,
    shape_text,
    short,
)
from gradcli.render.graphs.picture import Box, Picture
from gradcli.render.numbers import align, aligned
from gradcli.render.text import TIMES, Line, cells, line_cells, pad, shorten, visible, wrapped
from gradcli.results import Value

_STEP = 3  # cells of a level of the tree
_LABEL = 34  # cells that columns leave to a label; in narrow terminals half the width
_DEEPEST_LABEL = 41  # cells that guides leave free
_DEEPEST = 30  # levels, if the width is not limited
_GAP = "  "
_WIDE = 40  # cells of a value, if they are not limited


class _Entry(NamedTuple):
    """A line of the tree: its guides, the box that it shows or refers to, and the user above it."""

    guides: str
    box: Box | None
    refers: str  # the arrow of a reference, else ""
    text: str  # the text of a line without a box
    user: int | None


class _Task(NamedTuple):
    """A box to draw: the guides of its parent, True if it is the last child, its depth, and the
    parent.
    """

    box: int
    guides: str
    last: bool
    depth: int
    user: int | None


class _Column(NamedTuple):
    """A column beside the tree: its heading and style, and a text for each entry."""

    heading: str
    style: str
    texts: list[str]


def tree(drawn: Picture, *, precision: int, width: int | None) -> list[Line]:
    """A picture as a tree. A box that is used twice is drawn once and referred to afterwards; one
    too deep for the width is continued below. The least important columns go first if there is no
    room; without a width nothing is cut.
    """
    deepest = _DEEPEST if width is None else max((width - _DEEPEST_LABEL) // _STEP, 4)
    lines = _laid_out(_Tree(drawn, deepest), precision, width)
    told = remarks(drawn)
    if any(map(is_of_last_turn, drawn.boxes.values())):
        told.append(f"{TIMES}: all turns of a loop; value and gradient are those of the last turn")
    for text in told:
        room = cells(text) if width is None else width
        lines += [[(line, "place")] for line in wrapped(text, room, room)]
    return lines


class _Tree:
    """The lines of the tree in order, made without recursion."""

    def __init__(self, drawn: Picture, deepest: int) -> None:
        self.entries: list[_Entry] = []
        self.numbers: dict[int, int] = {}
        """The numbers of boxes that are referred to and have no name of their own."""
        self._drawn = drawn
        self._deepest = deepest
        self._done: set[int] = set()
        self._names = Counter(box.node.variable for box in drawn.boxes.values())
        sections = deque([drawn.root])
        while sections:
            root = sections.popleft()
            if root in self._done:
                continue
            if self.entries:
                self.entries.append(_Entry("", None, "", "", None))
            todo = [_Task(root, "", True, 0, None)]
            while todo:
                todo += reversed(self._line(todo.pop(), sections))

    def reference(self, box: Box) -> str:
        """The reference to a box in other lines: its variable if it is unique, else its number."""
        if box.node.variable and self._names[box.node.variable] == 1:
            return visible(box.node.variable)
        return f"#{self.numbers[box.id]}"

    def partials(self, precision: int) -> list[str]:
        """For each line, the partial derivatives of the box above it by its own."""
        return align(
            [
                ""
                if e.box is None or e.user is None
                else partial_text(self._drawn, e.user, e.box.id, precision)
                for e in self.entries
            ]
        )

    def _line(self, task: _Task, sections: deque[int]) -> list[_Task]:
        """Draw a box, and return the tasks for its inputs."""
        box = self._drawn.boxes[task.box]
        guides = task.guides + ("" if task.depth == 0 else "└─ " if task.last else "├─ ")
        later = bool(box.inputs) and task.depth >= self._deepest and box.id not in self._done
        if later or box.id in self._done:
            if not box.node.variable or self._names[box.node.variable] > 1:
                self.numbers.setdefault(box.id, len(self.numbers) + 1)
            if later:
                sections.append(box.id)
            self.entries.append(_Entry(guides, box, "↓ " if later else "↑ ", "", task.user))
            return []
        self._done.add(box.id)
        below = "" if task.depth == 0 else task.guides + ("   " if task.last else "│  ")
        self.entries.append(_Entry(guides, box, "", "", task.user))
        if box.hidden:
            last = "└─ " if not box.inputs else "├─ "
            self.entries.append(_Entry(below + last, None, "", f"… {box.hidden:,} more", None))
        return [
            _Task(id, below, index == len(box.inputs) - 1, task.depth + 1, box.id)
            for index, id in enumerate(box.inputs)
        ]


# --- lines -----------------------------------------------------------------------------------


def _laid_out(tree: _Tree, precision: int, width: int | None) -> list[Line]:
    """The tree with the columns that fit beside it."""
    labels = [_label(tree, entry) for entry in tree.entries]
    longest = max(map(line_cells, labels))
    if width is None:
        return _beside(labels, longest, _columns(tree, precision, _ROOMS[0]))
    least = max(line_cells(label[:2]) for label in labels)
    for beside in _ROOMS:
        columns = _columns(tree, precision, beside)
        room = width - sum(len(_GAP) + _width(column) for column in columns)
        if room >= max(least, min(longest, _LABEL, width // 2)):
            break
    return _beside(labels, max(min(room, longest), 1), columns)


def _label(tree: _Tree, entry: _Entry) -> Line:
    """A line of the tree: guides and name, which are never cut, then the rest."""
    box = entry.box
    if box is None:
        return [(entry.guides, "branch"), (entry.text, "place")]
    if entry.refers:
        name = entry.refers + tree.reference(box)
        return [(entry.guides, "branch"), (name, "reference")]
    name, text = name_and_text(box)
    number = f"#{tree.numbers[box.id]} " if box.id in tree.numbers else ""
    known: Line = [(entry.guides, "branch"), (number + name, "name" if name else "reference")]
    return [*known, (text, "op"), (how_often(box), "count")]


class _Room(NamedTuple):
    """The columns beside the tree.

    Fields:
        nodes: True if operations have PyTorch's names of nodes.
        ops, shapes, lines: True if there is this column.
        values, gradients: Cells of these columns; 0 for none.
    """

    nodes: bool
    ops: bool
    shapes: bool
    values: int
    gradients: int
    lines: bool


_ROOMS = (  # ever fewer: without names of nodes, then of ops, then narrow values
    _Room(True, True, True, _WIDE, _WIDE, True),
    _Room(True, True, True, 26, 26, True),
    _Room(False, True, True, 26, 26, True),
    _Room(False, False, True, 26, 26, True),
    _Room(False, False, True, 22, 22, True),
    _Room(False, False, True, 18, 18, True),
    _Room(False, False, True, 14, 14, True),
    _Room(False, False, True, 0, 18, True),
    _Room(False, False, False, 0, 14, True),
    _Room(False, False, False, 0, 14, False),
    _Room(False, False, False, 0, 0, False),
)


def _columns(tree: _Tree, precision: int, room: _Room) -> list[_Column]:
    """The columns beside the tree that are not empty."""
    boxes = [None if e.refers else e.box for e in tree.entries]

    def told(heading: str, style: str, tell: Callable[[Box], str]) -> _Column:
        return _Column(heading, style, ["" if box is None else tell(box) for box in boxes])

    values, grads = zip(*((None, None) if b is None else facts(b) for b in boxes), strict=True)
    columns = []
    if room.ops:
        columns.append(told("op", "shape", _node_name if room.nodes else _op_name))
    if room.shapes:
        columns.append(told("shape", "shape", shape_text))
    if room.values:
        columns.append(_Column("value", "value", _texts(values, precision, room.values)))
    if room.gradients:
        columns.append(_Column("gradient", "grad", _texts(grads, precision, room.gradients)))
    if room.gradients:
        columns.append(_Column("partial", "grad", tree.partials(precision)))
    if room.lines:
        columns.append(told("line", "place", _line_number))
    return [column for column in columns if any(column.texts)]


def _node_name(box: Box) -> str:
    several = box.turns or box.node.count > 1
    return visible(box.ops if several or box.is_input else box.node.name)


def _op_name(box: Box) -> str:
    return visible(box.ops)


def _line_number(box: Box) -> str:
    return str(box.lines[0]) if box.lines[0] and not box.turns else ""


def _texts(values: Sequence[Value], precision: int, width: int) -> list[str]:
    return aligned([short(value, precision, width) for value in values], values)


def _width(column: _Column) -> int:
    return max(map(cells, [column.heading, *column.texts]))


def _beside(labels: list[Line], room: int, columns: list[_Column]) -> list[Line]:
    lines: list[Line] = []
    if columns:
        head: Line = [(" " * room, "")]
        head += [(f"{_GAP}{pad(c.heading, _width(c))}", "heading") for c in columns]
        lines.append(head)
    widths = [_width(column) for column in columns]
    for row, label in enumerate(labels):
        line = _fit(label, room)
        line.append((" " * (room - line_cells(line)), ""))
        for column, wide in zip(columns, widths, strict=True):
            line.append((_GAP + pad(column.texts[row], wide), column.style))
        lines.append(line)
    return lines


def _fit(label: Line, width: int) -> Line:
    """A label cut to a width, first its expression, then its end."""
    over = line_cells(label) - width
    if over > 0 and len(label) == 4:
        *before, (text, style), last = label
        kept = max(cells(text) - over, 0)
        label = [*before, (shorten(text, kept), style), last]
    fitted: Line = []
    for text, style in label:
        part = shorten(text, max(width - line_cells(fitted), 0))
        fitted.append((part, style))
    return fitted
