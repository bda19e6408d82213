"""A diagnostic as text: its first line, the source with what is marked in it, notes and help."""

from __future__ import annotations

from gradcli.errors import Diagnostic
from gradcli.render.excerpt import excerpt
from gradcli.render.text import Line, visible

WIDTH = 100
"""Cells that a line of the source may take where no terminal says how wide it is."""


def full(diagnostic: Diagnostic, width: int = WIDTH) -> list[Line]:
    """The whole message."""
    lines = [_first_line(diagnostic)]
    indent = " "
    if diagnostic.source is not None and diagnostic.span is not None:
        drawn, gutter = excerpt(diagnostic, diagnostic.source, diagnostic.span, width)
        lines += drawn
        indent = " " * gutter
    for note in diagnostic.notes:
        lines += _remark(indent, "note", note)
    if diagnostic.help:
        lines += _remark(indent, "help", diagnostic.help)
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


def _remark(indent: str, kind: str, text: str) -> list[Line]:
    """`= note: text`, the text's further lines under its first."""
    first, *rest = map(visible, text.split("\n"))
    lines: list[Line] = [[(f"{indent} = ", "gutter"), (f"{kind}: ", kind), (first, "")]]
    return lines + [[(" " * (len(indent) + len(kind) + 5), ""), (line, "")] for line in rest]
