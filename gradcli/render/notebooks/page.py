"""A lesson that has run as a web page: text, code, outputs, graphs and plots in one file."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from typing import Any

from gradcli.lesson import Lesson, Part
from gradcli.render.text import visible
from gradcli.views import CellResult, NotebookResult

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --paper: #fff; --soft: #f6f8fa; --line: #d0d7de;
  --quiet: #656d76; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #161b22;
  --line: #30363d; --quiet: #8d96a0; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 54rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
pre, code { font: .875rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0; overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; }
img, svg { max-width: 100%; height: auto; }
.cell { margin: 1.1rem 0; border: 1px solid var(--line); border-radius: 6px; }
.code { padding: .7rem .9rem; background: var(--soft); border-radius: 6px; }
.part { position: relative; padding: .6rem .9rem; border-top: 1px solid var(--line); }
.cell[data-number]::before { content: "[" attr(data-number) "]"; float: right; color: var(--quiet);
  font: .75rem/1 ui-monospace, monospace; padding: .5rem .6rem; }
.error { color: var(--bad); }
.figure { background: #fff; border-radius: 0 0 6px 6px; }
.passed { opacity: .6; }
details summary { cursor: pointer; color: var(--quiet); }
details svg { margin-top: .5rem; background: #fff; }
@media print { body { max-width: none; padding: 0; } .cell { break-inside: avoid; } pre {
  white-space: pre-wrap; } details:not([open]) { display: none; } }
"""


def lesson_page(result: NotebookResult, lesson: Lesson) -> str:
    """The page. It loads nothing and works offline."""
    cells = {cell.number: cell for cell in result.cells}
    body = "\n".join(_part(part, cells) for part in lesson.parts if part.text.strip())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(_title(lesson))}</title>\n<style>{_STYLE}{_code_style()}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _title(lesson: Lesson) -> str:
    """The first heading, else the name of the file."""
    for part in lesson.parts:
        found = re.search(r"^#+ +(.+)$", part.text, re.MULTILINE) if part.kind == "text" else None
        if found is not None:
            return visible(found[1].strip())
    return visible(lesson.name)


def _part(part: Part, cells: dict[int, CellResult]) -> str:
    if part.kind == "text":
        return _markdown(part.text)
    if part.kind == "raw":
        return f"<pre>{escape(part.text)}</pre>"
    ran = cells.get(part.number)
    state = "cell passed" if part.kind == "passed" or ran is None else "cell"
    inside = [f'<div class="code">{_highlighted(part.text)}</div>']
    if ran is not None and part.kind != "passed":
        inside += _outputs(ran)
    return f'<div class="{state}" data-number="{part.number}">{"".join(inside)}</div>'


def _outputs(cell: CellResult) -> Iterator[str]:
    if cell.printed:
        yield _block("", cell.printed)
    for figure in cell.figures:
        data = b64encode(figure).decode()
        yield (
            '<div class="part figure">'
            f'<img alt="plot of cell {cell.number}" src="data:image/png;base64,{data}"></div>'
        )
    if cell.shown:
        yield _block("", cell.shown)
    if cell.graph:
        summary = "<summary>recorded graph</summary>"
        yield f'<div class="part"><details>{summary}{cell.graph}</details></div>'
    if cell.error is not None:
        notes = "".join(f"\nnote: {note}" for note in cell.error.notes)
        help = f"\nhelp: {cell.error.help}" if cell.error.help else ""
        yield _block(" error", f"{cell.error}{notes}{help}")


def _block(state: str, text: str) -> str:
    shown = "\n".join(map(visible, text.rstrip("\n").split("\n")))
    return f'<div class="part{state}"><pre>{escape(shown)}</pre></div>'


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    reader: Any = MarkdownIt("commonmark", {"html": False}).enable("table")
    made: str = reader.render(text)
    return made


def _highlighted(code: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    made: str = highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    return f"<pre>{made.rstrip()}</pre>"


def _code_style() -> str:
    """Colours of code, on light and on dark paper."""
    from pygments.formatters import HtmlFormatter

    light, dark = (_rules(HtmlFormatter(style=name)) for name in ("xcode", "monokai"))
    return f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _rules(formatter: Any) -> str:
    lines = formatter.get_style_defs(".code").split("\n")
    return "\n".join(line for line in lines if line.startswith(".code .") and "linenos" not in line)
