"""Texts that come with gradcli: its documentation and samples."""

from __future__ import annotations

import sys
from pathlib import Path

from gradcli.cli.terminal.terminal import is_terminal, paged, wants_colour, width, write_output

_PACKAGE = Path(__file__).parents[2]


TOPICS = {
    "language": ("language", None),
    "inputs": ("commands", "The program and its inputs"),
    "rows": ("commands", "Rows"),
    "scale": ("scale", None),
    "formats": ("commands", "Formats"),
    "options": ("commands", "Options"),
    "messages": ("commands", "Messages"),
    "exit-status": ("commands", "Exit status"),
    "environment": ("commands", "Environment"),
    "codes": ("commands", "Codes"),
    "errors": ("errors", None),
    "kinks": ("kinks", None),
    "models": ("models", None),
    "lessons": ("lessons", None),
    "pipelines": ("pipelines", None),
    "python": ("python", None),
    "server": ("serve", None),
    "source-code": ("export", None),
    "compiled": ("compiled", None),
    "operations": ("ops", None),
    "security": ("security", None),
    "editors": ("editors", None),
}
"""Topics and what of the documentation they show: a page, or a section of one."""


def folder(name: str) -> Path:
    """A folder of texts, in the installed package or beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def samples() -> dict[str, Path]:
    """The sample programs, by file name without suffix, and their data by file name."""
    files = sorted(p for p in folder("samples").iterdir() if p.is_file())
    return {p.stem if p.suffix == ".grad" else p.name: p for p in files}


PACKAGES = ("nn", "optim", "distributions", "utils")
"""The packages of the library."""


def library() -> dict[str, Path]:
    """The modules of the library by name, such as `nn/linear`."""
    folder = _PACKAGE / "library"
    files = sorted(folder.rglob("*.grad"))
    return {p.relative_to(folder).with_suffix("").as_posix(): p for p in files}


def page(topic: str) -> str:
    """The page or section of the documentation for a topic, as Markdown."""
    name, heading = TOPICS[topic]
    text = (folder("docs") / f"{name}.md").read_text("utf-8")
    return text if heading is None else section(text, heading)


def section(text: str, heading: str) -> str:
    """The part of a page under a heading."""
    start = text.index(f"## {heading}\n")
    end = text.find("\n## ", start)
    return text[start:] if end < 0 else text[start : end + 1]


def explanation(code: str) -> str:
    """The explanation of a code in the documentation, as Markdown."""
    return section((folder("docs") / "errors.md").read_text("utf-8"), code)


def show(text: str, color: str) -> None:
    """Write Markdown, laid out on a terminal and unchanged elsewhere."""
    if not is_terminal(sys.stdout):
        write_output(text)
        return
    from gradcli.render.markdown import laid_out

    colour = wants_colour(sys.stdout, color)
    paged(laid_out(text, width=min(width(sys.stdout) or 80, 100), colour=colour))
