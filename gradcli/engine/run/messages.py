"""Parts of messages that a run and the checks before it share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.run.session import kind_of
from gradcli.errors import Label
from gradcli.source import Source, Span


def operand_label(source: Source, span: Span, value: Any) -> Label:
    """What the operand written at a place was."""
    written = source.text[span.start : span.end]
    name = written if len(written) <= 20 and "\n" not in written else "this"
    return Label(span, f"`{name}` is {kind_of(value)}")


def turn_note(number: int, line: int) -> str:
    """In which turn of a loop, counted from 1, something failed."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, "th")
    return f"in the {number:,}{ending} turn of the loop at line {line}"


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def call_note(line: int) -> str:
    """Where a function was called that failed."""
    return f"called from line {line}"


def shortened(lines: Sequence[str]) -> list[str]:
    """Lines of calls, the innermost first: the last of many are counted only."""
    return (
        [*lines] if len(lines) <= 4 else [*lines[:3], f"... and {len(lines) - 3} calls further out"]
    )
