"""Texts that come with gradcli: its documentation and samples."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


TOPICS = {
    "language": ("language", None),
    "inputs": ("commands", "The program and its inputs"),
    "rows": ("commands", "Rows"),
    "formats": ("commands", "Formats"),
    "options": ("commands", "Options"),
    "messages": ("commands", "Messages"),
    "exit-status": ("commands", "Exit status"),
    "environment": ("commands", "Environment"),
    "codes": ("commands", "Codes"),
    "kinks": ("kinks", None),
    "pipelines": ("pipelines", None),
}
"""Topics and what of the documentation they show: a page, or a section of one."""


def folder(name: str) -> Path:
    """A folder of texts, inside the installed package or beside it in a checkout."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


def samples() -> dict[str, Path]:
    """The sample programs and their data, by the names that they are asked for: of a program its
    file's name without the suffix.
    """
    files = sorted(p for p in folder("samples").iterdir() if p.is_file())
    return {p.stem if p.suffix == ".grad" else p.name: p for p in files}


def page(topic: str) -> str:
    """What the documentation has on a topic, as Markdown."""
    name, section = TOPICS[topic]
    text = (folder("docs") / f"{name}.md").read_text("utf-8")
    if section is None:
        return text
    head = f"## {section}\n"
    start = text.index(head)
    end = text.find("\n## ", start)
    return text[start:] if end < 0 else text[start : end + 1]
