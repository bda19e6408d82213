"""Inputs as programs declare them."""

from __future__ import annotations

from gradcli.results import Declared
from gradcli.source import Source, Span


def declared(
    source: Source,
    span: Span,
    name: str,
    kind: str,
    type: tuple[str, tuple[object, ...] | None] | None,
    *,
    has_default: bool,
) -> Declared:
    """The declaration of an input at a place."""
    element, sizes = type or ("", None)
    written = "" if sizes is None else f"[{', '.join(map(_size, sizes))}]"
    text = source.text[span.start : span.end]
    default = text.partition("=")[2].strip() if has_default else ""
    return Declared(name, kind, f"{element}{written}", default)


def _size(size: object) -> str:
    return "..." if size is Ellipsis else str(size)
