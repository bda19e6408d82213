"""Calls of the program's own functions with arguments that they do not take."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.run.code.functions import PARAMETERS, RESULT
from gradcli.errors import Diagnostic, Label, RunError, counted, listed
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span


def wrong_call(call: ir.Call, function: ir.Function, source_text: str) -> RunError | None:
    """The fault of a call's arguments, None if they fit."""
    by_name = [word for word, _ in call.keywords]
    return misfit(call, [a.span for a in call.args], by_name, function, source_text)


def misfit(
    call: ir.Call | ir.SpreadCall,
    args: Sequence[Span],
    by_name: Sequence[str],
    function: ir.Function,
    source_text: str,
) -> RunError | None:
    """The fault of a call with `args` positional arguments and these by name, None if they fit."""
    written = source_text[call.function.span.start : call.function.span.end]
    name = f"`{written}`" if written.isidentifier() else "this function"
    kinds = {p.kind for p in function.parameters}
    names = [p.name for p in function.parameters if not p.kind]
    taken = [*names, *(p.name for p in function.parameters if p.kind == "named")]
    required = [p.name for p in function.parameters if p.default is None and p.name in taken]
    by_place = names[: len(args)]
    span = call.span
    unknown = next((w for w in by_name if w not in taken and "**" not in kinds), None)
    twice = next((word for word in by_name if word in by_place), None)
    missing = [n for n in required if n not in by_place and n not in by_name]
    if unknown is not None:
        message = f"{name} takes no argument `{unknown}`"
    elif twice is not None:
        message = f"{name} gets its argument `{twice}` by position and by name"
    elif len(args) > len(names) and "*" not in kinds:
        needed = sum(n in required for n in names)
        least = f"{needed} to " if needed < len(names) else ""
        message = f"{name} takes {least}{counted(len(names), 'argument')}, got {len(args)}"
        span = Span(args[len(names)].start, args[-1].end)
    elif missing:
        noun = "argument" if len(missing) == 1 else "arguments"
        message = f"{name} lacks its {noun} {listed(missing)}"
    else:
        return None
    place = parameters_of(function)
    labels = () if place is None else (Label(place, PARAMETERS),)
    return RunError(Diagnostic("wrong-arity", message, None, span, labels=labels))


def parameters_of(function: ir.Function) -> Span | None:
    """The place of a function's parameters, None if it has none."""
    spans = [p.span for p in function.parameters]
    return Span(spans[0].start, spans[-1].end) if spans else None


def part_of(function: ir.Function, label: str) -> Span | None:
    """The place of a part of a function, by its label; None where it has not one such."""
    if label == PARAMETERS:
        return parameters_of(function)
    returns = [i.value.span for i in visit.instructions(function.body) if isinstance(i, ir.Return)]
    return returns[0] if label == RESULT and len(returns) == 1 else None
