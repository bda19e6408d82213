"""The operations evaluated at a kink, for people."""

from __future__ import annotations

from gradcli.render.numbers import block, number
from gradcli.render.table import styled_column, table, text_column
from gradcli.render.text import Line, bracketed, visible
from gradcli.results import GradResult, Kinked, RunResult, Value

_DIGITS = 6


def kinks_view(result: RunResult | GradResult, *, width: int) -> list[Line]:
    """A row for each kink."""
    kinks = result.kinks
    if not kinks:
        return [[("no operation is evaluated at a corner, jump or tie", "help")]]
    columns = [
        text_column("kink", "name", [visible(k.op) for k in kinks]),
        text_column("line", "place", [str(k.line) if k.line else "" for k in kinks]),
        text_column("index", "shape", [bracketed(k.index) for k in kinks]),
        text_column("at", "value", [number(k.at, _DIGITS) for k in kinks]),
        text_column("left", "value", [_text(k.left) for k in kinks]),
        text_column("right", "value", [_text(k.right) for k in kinks]),
        text_column("chosen", "grad", [_text(k.chosen) for k in kinks]),
        styled_column("", ["warning"] * len(kinks), [_note(k) for k in kinks]),
        text_column("", "place", [_turn(k) for k in kinks]),
    ]
    return table(columns, width)


def _text(value: Value) -> str:
    return " ".join(block(value, _DIGITS, 24))


def _note(k: Kinked) -> str:
    jump = [] if k.jump is None else [f"jumps {_text(k.jump[0])} to {_text(k.jump[1])}"]
    return ", ".join([*jump, *["PyTorch gives nan here"] * k.pytorch_nan])


def _turn(k: Kinked) -> str:
    """The innermost of the kink's loop turns and calls."""
    note = k.turns[0] if k.turns else ""
    return note.removeprefix("in the ").replace(" of the loop at ", ", ")
