"""What is said where no code can be made."""

from __future__ import annotations

from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def refusal(
    reason: str, help: str | None, source: Source | None = None, span: Span | None = None
) -> Diagnostic:
    """That a program is not made into code, and why."""
    return Diagnostic("not-compilable", f"not compiled: {reason}", source, span, help=help)
