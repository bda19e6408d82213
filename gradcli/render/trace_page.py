"""The evaluation trace for slides and papers: a table in Markdown, and a page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.render.text import visible
from gradcli.render.trace import columns, left_out
from gradcli.render.web import DARK, LIGHT, escaped
from gradcli.views import TraceGap, TraceResult, TraceRow

_WIDE = 60  # cells of a value, an expression or the partials
_RIGHT = frozenset({"line", "value", "adjoint", "tangent"})  # columns of numbers


def trace_markdown(result: TraceResult, *, precision: int) -> str:
    """The trace as a table of Markdown; loop turns and calls are rows of their own."""
    headings = _headings(result)
    bars = ("---:" if heading in _RIGHT else "---" for heading in headings)
    lines = [_markdown_row(headings), f"|{'|'.join(bars)}|"]
    for row in _rows(result, precision):
        if isinstance(row, str):
            lines.append(_markdown_row(["", f"*{_escaped(row)}*", *[""] * (len(headings) - 2)]))
            continue
        name, expression, *others = (text.strip() for text in row)
        shown = f"`{expression.replace('|', chr(92) + '|')}`" if expression else ""
        lines.append(_markdown_row([_escaped(name), shown, *map(_escaped, others)]))
    return "\n".join([*lines, ""])


def trace_html(result: TraceResult, *, precision: int, program: str, name: str) -> str:
    """The trace as a page with the program; it loads nothing."""
    headings = _headings(result)
    places = [' class="n"' if heading in _RIGHT else "" for heading in headings]
    body = []
    for row in _rows(result, precision):
        if isinstance(row, str):
            body.append(f'<tr class="place"><td colspan="{len(headings)}">{escaped(row)}</td></tr>')
            continue
        cells = "".join(
            f"<td{place}>{escaped(text)}</td>" for place, text in zip(places, row, strict=True)
        )
        body.append(f"<tr>{cells}</tr>")
    title = f"{visible(name)}: the trace of {visible(result.output)}"
    listed = "".join(
        f"<li><code>{escaped(visible(line.expandtabs()))}</code></li>"
        for line in program.splitlines()
    )
    head = "".join(
        f'<th scope="col"{place}>{heading}</th>'
        for place, heading in zip(places, headings, strict=True)
    )
    return _PAGE.format(
        title=escaped(title), style=_STYLE, head=head, body="\n".join(body), program=listed
    )


def _headings(result: TraceResult) -> list[str]:
    return ["", "expression", "line", "value", "partials", *result.columns]


def _rows(result: TraceResult, precision: int) -> Iterator[Sequence[str] | str]:
    """The texts of each operation, and the lines for turns, calls and what is left out."""
    rows = [row for row in result.rows if isinstance(row, TraceRow)]
    texts = zip(*columns(rows, result.columns, precision, _WIDE, _WIDE), strict=True)
    before: tuple[str, ...] = ()
    for row in result.rows:
        if isinstance(row, TraceGap):
            yield left_out(row)
            continue
        if row.around != before:
            yield ", ".join(row.around) or "top level"
        before = row.around
        yield next(texts)


def _markdown_row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _escaped(text: str) -> str:
    """A text that Markdown shows as it is, in a cell of a table."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|" else c for c in text)


_STYLE = f"""\
:root {{ color-scheme: light dark; {LIGHT} }}
@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}
@media print {{ :root:root {{ {LIGHT} }} .wide {{ overflow: visible; }} }}
body {{ margin: 24px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 17px; overflow-wrap: anywhere; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th {{ text-align: left; color: var(--dim); font-weight: normal; }}
td, code {{ white-space: pre;
  font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }}
th, td {{ padding: 3px 18px 3px 0; border-bottom: 1px solid var(--box); }}
th.n, td.n {{ text-align: right; font-variant-numeric: tabular-nums; }}
td:nth-child(n+6) {{ color: var(--grad); }}
td:first-child {{ font-weight: bold; }}
tr.place td {{ color: var(--dim); font-weight: normal; padding-top: 10px; }}
ol {{ color: var(--dim); padding-left: 3em; overflow-x: auto; }}
code {{ color: var(--ink); }}
@media (max-width: 480px) {{ body {{ margin: 12px; }} th, td {{ padding-right: 12px; }} }}
"""

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<div class="wide">
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
<h1>Program</h1>
<ol>{program}</ol>
</body>
</html>
"""
