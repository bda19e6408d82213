"""Colours of pages and pictures, and texts in them."""

from __future__ import annotations

LIGHT = (
    "--ink: #1d2733; --dim: #566372; --paper: #ffffff; --box: #f3f6fa; --line: #8796a8; "
    "--input: #e3f1e6; --fold: #fdf3dc; --grad: #12703a; --count: #8a5a00; --focus: #1f6fd6; "
    "--lit: #fff2a8;"
)
DARK = (
    "--ink: #e4eaf1; --dim: #9aa9b9; --paper: #12171d; --box: #1e2731; --line: #66768a; "
    "--input: #1b3325; --fold: #3a301a; --grad: #6fd897; --count: #e3b456; --focus: #6fb1ff; "
    "--lit: #4d4413;"
)


def escaped(text: str) -> str:
    """A text escaped for an element or an attribute."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )
