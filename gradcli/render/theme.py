"""The terminal's colours of all styles; only this module loads rich."""

from __future__ import annotations

from gradcli.render.text import Line, plain_text, trimmed

# From the fixed part of the 256 colours, by their medium brightness: the contrast is 3 or more on
# white and on black. The brightness of the first 16 is the terminal's choice: yellow and cyan are
# hard to read on white in many, blue on black.
RED, YELLOW, GREEN = "color(196)", "color(136)", "color(29)"
BLUE, CYAN, MAGENTA = "color(33)", "color(31)", "color(133)"

STYLES = {
    "error": f"bold {RED}",
    "warning": f"bold {YELLOW}",
    "note": "bold",
    "help": f"bold {GREEN}",
    "more": "bold",
    "title": "bold",
    "gutter": BLUE,
    "label": CYAN,
    "heading": "dim",
    "name": "bold",
    "op": "",
    "shape": "dim",
    "value": "",
    "grad": GREEN,
    "place": "dim",
    "branch": "dim",
    "count": YELLOW,
    "reference": CYAN,
    "added": GREEN,
    "removed": RED,
    "curve1": CYAN,
    "curve2": MAGENTA,
    "curve3": GREEN,
    "curve4": YELLOW,
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
                style.render(text, color_system=ColorSystem.EIGHT_BIT) if style and text else text
            )
        parts.append("\n")
    return "".join(parts)
