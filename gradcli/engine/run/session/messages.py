"""Parts of messages that a run and the checks before it share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.errors import Label
from gradcli.source import Source, Span


def operand_label(source: Source, span: Span, value: Any) -> Label:
    """A label with the kind of the operand at a place."""
    return Label(span, f"{_name(source, span)} is {kind_of(value)}")


def value_label(source: Source, span: Span, value: Any) -> Label | None:
    """A label with the value of the number or tensor at a place; None for anything else."""
    data = data_of(value)
    if type(data) not in NUMBERS and not hasattr(data, "dtype"):
        return None
    return Label(span, f"{_name(source, span)} is {short(value)}")


def _name(source: Source, span: Span) -> str:
    """The text at a place, if it is short."""
    written = source.text[span.start : span.end]
    return f"`{written}`" if len(written) <= 20 and "\n" not in written else "this"


def short(value: Any) -> str:
    """A number or tensor in few words: its elements, or of many the smallest and largest."""
    data = data_of(value)
    if type(data) in NUMBERS:
        return f"{data:.6g}" if type(data) is float else str(data)
    if not data.size or data.dtype == bool:
        return kind_of(value)
    if data.size <= _FEW:
        elements = ", ".join(map(_digits, data.ravel().tolist()))
        return f"[{elements}]" if data.ndim else elements
    known = data[np.isfinite(data)]
    between = f" from {_digits(known.min())} to {_digits(known.max())}" if known.size else ""
    other = data.size - known.size
    return f"{kind_of(value)}{between}" + (f", {other} not finite" if other else "")


_FEW = 4  # elements that are shown as they are


def _digits(x: Any) -> str:
    return f"{x:.6g}"


def turn_note(number: int, line: str) -> str:
    """In which turn of a loop, counted from 1, something failed; `line` is as `line 3`."""
    ending = "th" if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, "th")
    return f"in the {number:,}{ending} turn of the loop at {line}"


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def call_note(line: str) -> str:
    """The note with the line from which a failing function was called, as `line 3`."""
    return f"called from {line}"


def shortened(lines: Sequence[str]) -> list[str]:
    """Lines of calls, the innermost first: the last of many are counted only."""
    return (
        [*lines] if len(lines) <= 4 else [*lines[:3], f"... and {len(lines) - 3} calls further out"]
    )
