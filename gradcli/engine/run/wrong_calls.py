"""Calls of the program's own functions with arguments that they do not take."""

from __future__ import annotations

from gradcli import ir
from gradcli.engine.run.functions import PARAMETERS, RESULT
from gradcli.errors import Diagnostic, Label, RunError, counted, listed
from gradcli.ir import visit
from gradcli.source import Span


def wrong_call(call: ir.Call, function: ir.Function, source_text: str) -> RunError | None:
    """What is wrong with the arguments of a call, None if nothing is."""
    written = source_text[call.function.span.start : call.function.span.end]
    name = f"`{written}`" if written.isidentifier() else "this function"
    names = [p.name for p in function.parameters]
    required = [p.name for p in function.parameters if p.default is None]
    by_place = names[: len(call.args)]
    by_name = [word for word, _ in call.keywords]
    span = call.span
    unknown = next((word for word in by_name if word not in names), None)
    twice = next((word for word in by_name if word in by_place), None)
    missing = [n for n in required if n not in by_place and n not in by_name]
    if unknown is not None:
        message = f"{name} takes no argument `{unknown}`"
    elif twice is not None:
        message = f"{name} gets its argument `{twice}` by place and by name"
    elif len(call.args) > len(names):
        least = f"{len(required)} to " if len(required) < len(names) else ""
        message = f"{name} takes {least}{counted(len(names), 'argument')}, got {len(call.args)}"
        span = Span(call.args[len(names)].span.start, call.args[-1].span.end)
    elif missing:
        noun = "argument" if len(missing) == 1 else "arguments"
        message = f"{name} lacks its {noun} {listed(missing)}"
    else:
        return None
    place = parameters_of(function)
    labels = () if place is None else (Label(place, PARAMETERS),)
    return RunError(Diagnostic("wrong-arity", message, None, span, labels=labels))


def parameters_of(function: ir.Function) -> Span | None:
    """Where the parameters of a function stand, None if it has none."""
    spans = [p.span for p in function.parameters]
    return Span(spans[0].start, spans[-1].end) if spans else None


def part_of(function: ir.Function, label: str) -> Span | None:
    """The place of a part of a function, by its label; None where it has not one such."""
    if label == PARAMETERS:
        return parameters_of(function)
    returns = [i.value.span for i in visit.instructions(function.body) if isinstance(i, ir.Return)]
    return returns[0] if label == RESULT and len(returns) == 1 else None
