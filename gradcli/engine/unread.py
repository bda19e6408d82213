"""Names that a program assigns or takes and never reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli import ir
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span


def unread(program: ir.Program, source: Source) -> list[Diagnostic]:
    """A warning for each input that is never read, and for each assignment: at top level only in a
    program with a result, without one all its names are what it gives.
    """
    read: set[int] = set()
    written: dict[int, Span] = {}
    _gather(program.main.body, read, written)
    if isinstance(program.result, ir.Slot):
        read.add(program.result.index)
    inputs = {i.target: i for i in program.inputs}
    top = set(program.names.values())
    found = []
    for slot, name in program.variables.items():
        i = inputs.get(slot)
        if slot in read or name.startswith("_"):
            continue
        if i is not None and i.kind != "constant":
            message = f"the input `{name}` is never read"
            found.append(Diagnostic("unused-input", message, source, i.span, severity="warning"))
        elif slot in written and (slot not in top or program.result is not None):
            message = f"`{name}` is assigned and never read"
            span = written[slot]
            found.append(Diagnostic("unused-name", message, source, span, severity="warning"))
    return found


def _gather(body: Sequence[ir.Instruction], read: set[int], written: dict[int, Span]) -> None:
    """Which slots instructions read, and where they write."""
    for i in body:
        if isinstance(i, (ir.Copy, ir.Apply, ir.Call, ir.Method, ir.Build, ir.GetAttribute)):
            written.setdefault(i.target, i.span)
        for name in type(i).__slots__:
            _gather_part(getattr(i, name), read, written)


def _gather_part(part: Any, read: set[int], written: dict[int, Span]) -> None:
    if isinstance(part, ir.Slot):
        read.add(part.index)
    elif isinstance(part, ir.Function):
        for parameter in part.parameters:
            _gather_part(parameter.default, read, written)
        _gather(part.body, read, written)
    elif isinstance(part, ir.Instruction):
        _gather([part], read, written)
    elif isinstance(part, (list, tuple)):
        for inner in part:
            _gather_part(inner, read, written)
