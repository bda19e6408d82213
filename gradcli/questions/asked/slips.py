"""Find slips that the language takes silently, and that mean something else than they look like."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.errors import Diagnostic
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source


def slips(program: ir.Program, source: Source) -> list[Diagnostic]:
    """The warnings about a program, whatever its inputs."""
    return [*_powers(program, source), *_without_return(program, source)]


def _powers(program: ir.Program, source: Source) -> Iterator[Diagnostic]:
    """`x ^ 2`, which looks like a power."""
    for i in visit.everything(program):
        if not isinstance(i, (ir.Operator, ir.Augment)) or i.operator not in ("^", "^="):
            continue
        power = i.value if isinstance(i, ir.Augment) else i.args[-1]
        if not isinstance(power, ir.Const) or type(power.value) is not int or power.value < 2:
            continue
        written = source.text[power.span.start : power.span.end]
        if written.isdecimal():  # not the bits of `0xff`
            yield Diagnostic(
                "bitwise-power",
                f"`^ {written}` is exclusive or of ints",
                source,
                i.span,
                help=f"a power is `** {written}`; `^ {hex(power.value)}` shows that bits are meant",
                severity="warning",
            )


def _without_return(program: ir.Program, source: Source) -> Iterator[Diagnostic]:
    """A result that is a call of a function which computes a value at its end and drops it."""
    result = program.result
    calls = [i for i in program.main.body if isinstance(i, ir.Call)]
    if not calls or not isinstance(result, ir.Slot) or calls[-1].target != result.index:
        return
    callee = calls[-1].function
    if not isinstance(callee, ir.Slot):
        return
    made = [i for i in visit.everything(program) if callee.index in visit.writes(i)]
    if len(made) != 1 or not isinstance(made[0], ir.Define) or not made[0].function.body:
        return
    function = made[0].function
    last = function.body[-1]
    inside = list(visit.instructions(function.body))
    if not isinstance(last, (ir.Operator, ir.Apply)) or last.target in program.variables:
        return
    if not any(isinstance(i, (ir.Return, ir.Emit, ir.EmitAll)) for i in inside):
        yield Diagnostic(
            "no-return",
            f"`{function.name}` returns None: it computes a value at its end and drops it",
            source,
            last.span,
            help=f"write `return {source.text[last.span.start : last.span.end]}`",
            severity="warning",
        )
