"""A diagnostic as text: its first line, the source with marks, notes and help."""

from __future__ import annotations

from gradcli.errors import Diagnostic
from gradcli.render.excerpt import excerpt
from gradcli.render.text import Line, line_cells, visible, wrapped

_SOURCE_WIDTH = 100  # cells of a source line without a terminal
_HANGING = 4  # cells of indentation for further lines of a message


def full(
    diagnostic: Diagnostic, terminal: int | None = None, more: str | None = None
) -> list[Line]:
    """The whole message, wrapped to a terminal's width if there is one, and the command that
    explains it.
    """
    lines = _wrapped(_first_line(diagnostic), _HANGING, terminal)
    indent = " "
    if diagnostic.source is not None and diagnostic.span is not None:
        width = terminal or _SOURCE_WIDTH
        drawn, gutter = excerpt(diagnostic, diagnostic.source, diagnostic.span, width)
        lines += drawn
        indent = " " * gutter
    for note in diagnostic.notes:
        lines += _remark(indent, "note", note, terminal)
    if diagnostic.help:
        lines += _remark(indent, "help", diagnostic.help, terminal)
    if more is not None:
        lines += _remark(indent, "more", more, terminal)
    return lines


def concise(diagnostic: Diagnostic) -> list[Line]:
    """The first line alone."""
    return [_first_line(diagnostic)]


def _first_line(diagnostic: Diagnostic) -> Line:
    where = "gradcli"
    if diagnostic.place is not None:
        name, line, column = diagnostic.place
        where = f"{visible(name)}:{line}:{column}"
    return [
        (f"{where}: ", "title"),
        (f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity),
        (": ", "title"),
        (visible(diagnostic.message), "title"),
    ]


def _remark(indent: str, kind: str, text: str, terminal: int | None) -> list[Line]:
    """`= note: text`, with the text's further lines aligned."""
    first, *rest = map(visible, text.split("\n"))
    hanging = len(indent) + len(kind) + 5
    lines = _wrapped(
        [(f"{indent} = ", "gutter"), (f"{kind}: ", kind), (first, "")], hanging, terminal
    )
    for line in rest:
        lines += _wrapped([(" " * hanging, ""), (line, "")], hanging, terminal)
    return lines


def _wrapped(line: Line, hanging: int, terminal: int | None) -> list[Line]:
    """The line, with the text of its last segment wrapped if it is too long for the terminal;
    further lines are indented by `hanging` blanks.
    """
    if terminal is None or line_cells(line) <= terminal:
        return [line]
    *before, (text, style) = line
    room = terminal - hanging
    first, *rest = wrapped(text, terminal - line_cells(before), room)
    return [[*before, (first, style)], *([(" " * hanging, ""), (t, style)] for t in rest)]
