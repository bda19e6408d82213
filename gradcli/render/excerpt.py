"""The source lines of a diagnostic, with carets and labels under them."""

from __future__ import annotations

import re
from typing import NamedTuple

from gradcli.errors import Diagnostic
from gradcli.render.text import Line, cells, visible
from gradcli.source import Source, Span

_TAB = 4
_WHOLE_SPAN = 4  # a span over more lines shows only its first and last line
_NARROWEST = 16
_LABEL = "label"


class _Mark(NamedTuple):
    """A mark under one line, from column `start` to before `end`, counted from 0. The main mark has
    the style of the diagnostic's severity, others that of a label.
    """

    line: int
    start: int
    end: int
    style: str
    text: str

    @property
    def main(self) -> bool:
        return self.style != _LABEL


_RUN = re.compile(r"(.)\1*")  # of one sign


class _Row(NamedTuple):
    """A source line as shown: its text, and the cell at which each of its columns starts."""

    text: str
    cell: list[int]


def excerpt(
    diagnostic: Diagnostic, source: Source, span: Span, width: int
) -> tuple[list[Line], int]:
    """The excerpt, with at most `width` cells of source, and the width of its line numbers."""
    marks = _marks(source, span, diagnostic.label, diagnostic.severity)
    for label in diagnostic.labels:
        marks += _marks(source, label.span, label.text, _LABEL)
    numbers = sorted({mark.line for mark in marks})
    around = source.cell(span.start)
    gutter = max(len(str(source.told(source.offset(n, 1))[0])) for n in numbers)
    room = max(width - gutter - 3, _NARROWEST)

    lines: list[Line] = [[(" " * gutter + " |", "gutter")]]
    previous = numbers[0]
    for number in numbers:
        inside = source.cell(source.offset(number, 1))
        if inside != around and inside is not None and inside.name:
            lines.append([(f"... {inside.name}", "gutter")])
        elif number == previous + 2:
            lines += _source_line(source, number - 1, [], gutter, room)
        elif number > previous + 2:
            lines.append([("...", "gutter")])
        lines += _source_line(source, number, [m for m in marks if m.line == number], gutter, room)
        previous, around = number, inside
    return lines, gutter


def _marks(source: Source, span: Span, text: str, style: str) -> list[_Mark]:
    """A mark for each line of a span that is shown; the text belongs to the last."""
    first, start = source.position(span.start)
    last, end = source.position(max(span.start, span.end))
    if last > first and end == 1:  # to the end of the previous line
        last -= 1
        end = len(source.line(last)) + 1
    if first == last:
        return [_Mark(first, start - 1, max(end - 1, start), style, text)]
    inner = range(first + 1, last) if last - first < _WHOLE_SPAN else ()
    marks = [_Mark(first, start - 1, len(source.line(first)), style, "")]
    marks += [_Mark(n, _indent(source.line(n)), len(source.line(n)), style, "") for n in inner]
    marks.append(_Mark(last, _indent(source.line(last)), end - 1, style, text))
    return [mark for mark in marks if mark.end > mark.start or mark.text]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _source_line(
    source: Source, number: int, marks: list[_Mark], gutter: int, room: int
) -> list[Line]:
    text = source.line(number)
    first, last = _window(text, marks, room)
    row = _row(text[first:last], cut=(first > 0, last < len(text)))
    moved = []
    for mark in marks:
        start, end = (min(max(at - first, 0), last - first) for at in (mark.start, mark.end))
        moved.append(mark._replace(start=start, end=max(end, start + 1)))
    told, _ = source.told(source.offset(number, 1))
    lines: list[Line] = [[(f"{told:>{gutter}} | ", "gutter"), (row.text, "")]]
    for drawn in _drawing(row, text[first:last], moved):
        lines.append([(" " * gutter + " | ", "gutter"), *drawn])
    return lines


def _window(text: str, marks: list[_Mark], room: int) -> tuple[int, int]:
    """The columns of a long line to show: the main mark and as much around it as fits."""
    if len(text) <= room and sum(map(_width, text)) <= room:
        return 0, len(text)
    main = next((m for m in marks if m.main), marks[0] if marks else None)
    middle = 0 if main is None else min((main.start + main.end) // 2, main.start + room // 2)
    first = last = min(middle, len(text))
    left = room - 2  # the `…` at both ends
    if _is_plain(text[max(first - left, 0) : last + left]):  # by one and one, and the rest
        before = min(first, max((left + 1) // 2, left - (len(text) - last)))
        return first - before, min(last + left - before, len(text))
    while left > 0:
        grown = False
        if first > 0 and (width := _width(text[first - 1])) <= left:
            first, left, grown = first - 1, left - width, True
        if last < len(text) and (width := _width(text[last])) <= left:
            last, left, grown = last + 1, left - width, True
        if not grown:
            break
    return first, last


def _is_plain(text: str) -> bool:
    """True if each character takes one cell."""
    return text.isascii() and text.isprintable()


def _width(character: str) -> int:
    return _TAB if character == "\t" else cells(visible(character))


def _row(text: str, cut: tuple[bool, bool]) -> _Row:
    before, after = ("…" if side else "" for side in cut)
    shown = [before]
    at = len(before)
    if _is_plain(text):
        return _Row(f"{before}{text}{after}", [*range(at, at + len(text) + 2)])
    cell = []
    for character in text:
        cell.append(at)
        piece = " " * (_TAB - at % _TAB) if character == "\t" else visible(character)
        shown.append(piece)
        at += cells(piece)
    cell += [at, at + 1]  # a mark may follow the end of the line
    return _Row("".join(shown) + after, cell)


def _drawing(row: _Row, text: str, marks: list[_Mark]) -> list[Line]:
    """The lines under a source line: the marks with the rightmost label, then the other labels."""
    if not marks:
        return []
    canvas = _underlines(row, text, marks)
    hanging = sorted(
        ((_anchor(row, canvas, m), m) for m in marks if m.text), key=lambda pair: pair[0]
    )
    lines = [_segments(canvas, marks)]
    if hanging and hanging[-1][1].end == max(m.end for m in marks):
        _, mark = hanging.pop()
        lines[0] += [(" ", ""), (visible(mark.text), mark.style)]
    if hanging:
        lines.append(_connectors(hanging))
    while hanging:
        at, mark = hanging.pop()
        line = _connectors([pair for pair in hanging if pair[0] < at])
        used = sum(len(piece) for piece, _ in line)
        lines.append([*line, (" " * (at - used), ""), (visible(mark.text), mark.style)])
    return lines


def _underlines(row: _Row, text: str, marks: list[_Mark]) -> dict[int, str]:
    """The character in each cell under a line. Labels cover the main span's carets; blanks at the
    ends of the rest have no caret: `W @ x` with both sides labelled is `- ^ -`.
    """
    canvas: dict[int, str] = {}
    others = [m for m in marks if not m.main]
    for mark in others:
        _draw(canvas, row, mark.start, mark.end, "-")
    for mark in (m for m in marks if m.main):
        free = [True] * (mark.end - mark.start)
        for other in others:
            for at in range(max(other.start, mark.start), min(other.end, mark.end)):
                free[at - mark.start] = False
        if not any(free):
            _draw(canvas, row, mark.start, mark.end, "^")
            continue
        at = mark.start
        while at < mark.end:
            end = at
            while end < mark.end and free[end - mark.start] == free[at - mark.start]:
                end += 1
            piece = text[at:end]
            if free[at - mark.start] and (piece.strip() or mark.end - mark.start == end - at):
                start = at + _indent(piece) if piece.strip() else at
                stop = at + len(piece.rstrip()) if piece.strip() else end
                _draw(canvas, row, start, stop, "^")
            at = end
    return canvas


def _draw(canvas: dict[int, str], row: _Row, start: int, end: int, sign: str) -> None:
    for cell in range(row.cell[start], max(row.cell[end], row.cell[start] + 1)):
        canvas[cell] = sign


def _anchor(row: _Row, canvas: dict[int, str], mark: _Mark) -> int:
    """The cell from which a label hangs: the first that its mark still has."""
    sign = "^" if mark.main else "-"
    span = range(row.cell[mark.start], row.cell[mark.end] + 1)
    return next((cell for cell in span if canvas.get(cell) == sign), row.cell[mark.start])


def _segments(canvas: dict[int, str], marks: list[_Mark]) -> Line:
    styles = {"^" if mark.main else "-": mark.style for mark in marks}
    drawn = "".join([canvas.get(cell, " ") for cell in range(max(canvas) + 1)])
    return [(run[0], styles.get(run[0][0], "")) for run in _RUN.finditer(drawn)]


def _connectors(hanging: list[tuple[int, _Mark]]) -> Line:
    line: Line = []
    at = 0
    for cell, mark in hanging:
        if cell >= at:
            line += [(" " * (cell - at), ""), ("|", mark.style)]
            at = cell + 1
    return line
