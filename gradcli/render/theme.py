"""The terminal's colours of all styles; only this module loads rich."""

from __future__ import annotations

from gradcli.render.text import Line, plain_text, trimmed

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold",
    "help": "bold green",
    "more": "bold",
    "title": "bold",
    "gutter": "blue",
    "label": "cyan",
    "heading": "dim",
    "name": "bold",
    "op": "",
    "shape": "dim",
    "value": "",
    "grad": "green",
    "place": "dim",
    "branch": "dim",
    "count": "yellow",
    "reference": "cyan",
    "added": "green",
    "removed": "red",
    "curve1": "cyan",
    "curve2": "magenta",
    "curve3": "green",
    "curve4": "yellow",
}


def text_of(lines: list[Line], *, colour: bool) -> str:
    """The lines as text to write, with or without a terminal's colours."""
    return _coloured(lines) if colour else plain_text(lines)


def _coloured(lines: list[Line]) -> str:
    from rich.color import ColorSystem
    from rich.style import Style

    styles = {name: Style.parse(description) for name, description in STYLES.items()}
    parts: list[str] = []
    for line in lines:
        for text, name in trimmed(line):
            style = styles.get(name)
            parts.append(
                style.render(text, color_system=ColorSystem.STANDARD) if style and text else text
            )
        parts.append("\n")
    return "".join(parts)
