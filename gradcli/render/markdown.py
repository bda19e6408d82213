"""Lay out Markdown for a terminal."""

from __future__ import annotations

import io


def laid_out(text: str, *, width: int, colour: bool) -> str:
    """A page of Markdown as lines of at most `width` cells."""
    from rich.console import Console
    from rich.markdown import Markdown

    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    console.print(Markdown(text))
    return out.getvalue()
