"""Read pages of Markdown with blocks of code, and programs with `# %%` between their cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gradcli.errors import Diagnostic, ProgramError
from gradcli.formats.notebooks.magics import pass_over
from gradcli.lesson import Lesson, Part, Stored
from gradcli.source import Cell, Span

_CODE = frozenset({"python", "py", "python3", "ipython", "ipython3", "grad"})
_OUTPUT = frozenset({"output", "text", ""})
_MARK = re.compile(r"#[ \t]*%%(.*)")


def read_markdown(name: str, text: str) -> Lesson:
    """A page of Markdown. Its blocks marked `python` or `grad` are the cells. A block that follows
    at once, marked `output` or `text` or not marked, is the output of the one before. Places are
    told by the lines of the page: other lines of the source are empty.

    Raises:
        ProgramError: If it has no such block.
    """
    lines = text.splitlines(keepends=True)
    source = [_end(line) for line in lines]
    blocks: list[tuple[int, int, int]] = []
    parts: list[Part] = []
    told = 0  # lines before this one are in parts
    for fence in _fences(text):
        first, last = fence.map
        if _word(fence) in _OUTPUT and parts and parts[-1].kind == "code":
            if not (parts[-1].stored or "".join(lines[told:first]).strip()):
                parts[-1].stored = (Stored("result", fence.content),)
                told = last
            continue
        if _word(fence) not in _CODE:
            continue
        if "".join(lines[told:first]).strip():
            parts.append(Part("text", "".join(lines[told:first]), 0, (), False))
        written = fence.content.splitlines(keepends=True)
        indent = _indent(lines[first + 1 :], written)
        for k, line in enumerate(written):
            source[first + 1 + k] = line.rstrip("\r\n") + _end(lines[first + 1 + k])
        blocks.append((first + 1, first + 1 + len(written), indent))
        parts.append(Part("code", fence.content, len(blocks), (), False))
        told = last
    if "".join(lines[told:]).strip():
        parts.append(Part("text", "".join(lines[told:]), 0, (), False))
    if not blocks:
        message = f"`{name}` has no block of code that is marked `python` or `grad`"
        raise ProgramError(Diagnostic("bad-notebook", message))
    return _lesson(name, source, blocks, parts)


def _lesson(
    name: str, lines: list[str], blocks: list[tuple[int, int, int]], parts: list[Part]
) -> Lesson:
    """The lesson whose cells are stretches of lines: first, last, and columns to their left."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    passed: list[Span] = []
    cells, written = [], "".join(lines)
    for number, (first, last, indent) in enumerate(blocks, 1):
        code, others = pass_over("".join(lines[first:last]))
        lines[first:last] = code.splitlines(keepends=True)
        passed += [Span(starts[first] + s.start, starts[first] + s.end) for s in others]
        cells.append(Cell(starts[first], starts[last], number, "", first + 1, indent))
    return Lesson(name, "".join(lines), written, tuple(cells), tuple(parts), tuple(passed))


def _fences(text: str) -> Iterator[Any]:
    from markdown_it import MarkdownIt

    return (token for token in MarkdownIt("commonmark").parse(text) if token.type == "fence")


def _word(fence: Any) -> str:
    """The first word of the mark of a block: `python` of `python`, `{code-cell} ipython3`."""
    words = re.findall(r"[\w-]+", fence.info)
    if words[:1] == ["code-cell"]:
        return "python"
    return words[0].lower() if words else ""


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _indent(lines: list[str], written: list[str]) -> int:
    """Columns of the page to the left of the lines of a block."""
    pairs = zip(lines, written, strict=False)
    return next((max(a.find(b.rstrip("\r\n")), 0) for a, b in pairs if b.strip()), 0)


def read_marked(name: str, text: str) -> Lesson:
    """A program whose cells begin at lines `# %%`; cells marked `[markdown]` are text."""
    lines = text.splitlines(keepends=True)
    marks = [k for k, line in enumerate(lines) if _MARK.match(line)]
    blocks: list[tuple[int, int, int]] = []
    parts: list[Part] = []
    stretches = zip([0, *marks], [*marks, len(lines)], strict=True)
    for first, last in stretches:
        written = "".join(lines[first:last])
        mark = _MARK.match(written)
        if mark is not None and ("[markdown]" in mark[1] or "[md]" in mark[1]):
            bare = (re.sub(r"^# ?", "", line) for line in lines[first + 1 : last])
            parts.append(Part("text", "".join(bare), 0, (), False))
        elif written.strip():
            blocks.append((first, last, 0))
            parts.append(Part("code", written, len(blocks), (), False))
    return _lesson(name, lines, blocks, parts)
