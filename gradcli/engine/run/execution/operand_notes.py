"""The notes of an error message about its operands: their values, where they come from, what would
fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.run.session.messages import operand_label
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.errors import Diagnostic, Label
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span

_LONGEST = 60  # characters of a suggested replacement


class Remarks(NamedTuple):
    """The message in the words of the program, the place, labels beside it, and the way out."""

    message: str
    span: Span
    labels: tuple[Label, ...]
    help: str | None


def remarks(
    refusal: Diagnostic,
    program: ir.Program,
    span: Span,
    operands: Sequence[tuple[ir.Operand, Any]],
    given: Mapping[str, Given],
) -> Remarks:
    """The notes to add to an error message.

    Args:
        refusal: The error, without a place.
        program: The program.
        span: The place in it.
        operands: The operands there, with their values.
        given: Values from outside by name.
    """
    if refusal.code == "needs-float":
        return _of_ints(refusal, program, span)
    if refusal.code == "used-before-assigned":
        assigned = tuple(_assignments(program, span))
        return Remarks(refusal.message, span, assigned, refusal.help)
    kinds = (Tensor, list, tuple, str) if refusal.code == "wrong-type" else (Tensor, list)
    shown = [
        (operand, value)
        for operand, value in operands
        if isinstance(operand, ir.Slot)
        and isinstance(value, kinds)
        and not isinstance(value, Number)
    ]
    labels = [operand_label(program.source, operand.span, value) for operand, value in shown]
    help = refusal.help
    if refusal.code in ("shape-mismatch", "wrong-type"):
        labels += _origins(program, span, shown, given)
        help = help or _fitting(program, span, shown)
    if refusal.code == "dtype-mismatch":
        help = _power(program, span) or help
    return Remarks(_in_signs(refusal, program, span), span, tuple(labels), help)


def _in_signs(refusal: Diagnostic, program: ir.Program, span: Span) -> str:
    """The message, with the sign of an operator for the name of its op."""
    i = instruction_at(program, span, ir.Operator, ir.Augment)
    if refusal.code != "wrong-type" or not isinstance(i, (ir.Operator, ir.Augment)):
        return refusal.message
    sign = i.operator
    name = OPS.get((sign, len(i.args) if isinstance(i, ir.Operator) else 2))
    wanted = re.fullmatch(rf"`{name}` needs a number or tensor as `\w+`, (got .*)", refusal.message)
    if wanted is None or sign == "[]":
        return refusal.message
    return f"`{sign.removesuffix('[]')}` needs numbers or tensors, {wanted[1]}"


# --- shapes ----------------------------------------------------------------------------------


def _origins(
    program: ir.Program,
    span: Span,
    operands: Sequence[tuple[ir.Slot, Any]],
    given: Mapping[str, Given],
) -> Iterator[Label]:
    """Labels at the places where the variables among the operands got their values."""
    for slot in {slot.index: slot for slot, _ in operands}.values():
        name = program.variables.get(slot.index)
        made = _assigned(program, slot, span)
        if name is None or made is None:
            continue
        text = f"`{name}` comes from here"
        if isinstance(made, ir.Input) and name in given:
            text = f"`{name}` is given as {given[name].origin}"
        yield Label(made.span, text)


def _assigned(program: ir.Program, slot: ir.Slot, place: Span) -> ir.Instruction | None:
    """The instruction that gave a variable its value, if the text tells which it was."""
    writers, loops = [], []
    for i in visit.everything(program):
        if slot.index in visit.writes(i):
            writers.append(i)
        if isinstance(i, (ir.For, ir.While)) and _within(place, i.span):
            loops.append(i)
    later = (i for i in writers if i.span.start >= place.start)
    if any(_within(i.span, loop.span) for i in later for loop in loops):
        return None
    before = [i for i in writers if i.span.start < place.start]
    last = max(before, key=lambda i: i.span.start, default=None)
    if last is None or isinstance(last, ir.For) or _lines(program, last.span) > 1:
        return None
    return last


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _lines(program: ir.Program, span: Span) -> int:
    return len(program.source.text[span.start : span.end].splitlines())


def _fitting(
    program: ir.Program, span: Span, operands: Sequence[tuple[ir.Slot, Any]]
) -> str | None:
    """A product of the same two tensors that fits, for one that does not."""
    i = instruction_at(program, span, ir.Operator)
    if not isinstance(i, ir.Operator) or i.operator != "@" or len(operands) != 2:
        return None
    (a, x), (b, y) = operands
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        return None
    left, right = (_factor(program, slot) for slot in (a, b))
    ways = (
        (f"{left}.T @ {right}", _transposed(x.shape), y.shape),
        (f"{left} @ {right}.T", x.shape, _transposed(y.shape)),
        (f"{right} @ {left}", y.shape, x.shape),
    )
    for text, s, t in ways:
        if s and t and len(s) <= 2 and len(t) <= 2 and s[-1] == t[0]:
            return f"`{text}` fits: {list(s)} @ {list(t)} gives {[*s[:-1], *t[1:]]}"
    return None


def _transposed(shape: Sequence[int]) -> Sequence[int]:
    """The shape of a matrix's transpose; none of anything else."""
    return shape[::-1] if len(shape) == 2 else ()


def _factor(program: ir.Program, slot: ir.Slot) -> str:
    text = program.source.text[slot.span.start : slot.span.end]
    return text if re.fullmatch(r"[\w.]+(\([^()]*\))?", text) else f"({text})"


def _assignments(program: ir.Program, place: Span) -> Iterator[Label]:
    """The lines that would give a name its value which is read here."""
    name = program.source.text[place.start : place.end]
    slots = {slot for slot, variable in program.variables.items() if variable == name}
    for i in visit.everything(program):
        if not slots.isdisjoint(visit.writes(i)) and _lines(program, i.span) == 1:
            yield Label(i.span, f"`{name}` is assigned here")


def _power(program: ir.Program, span: Span) -> str | None:
    """The line with a power for `^`, which is something else."""
    i = instruction_at(program, span, ir.Operator)
    if not isinstance(i, ir.Operator) or i.operator != "^":
        return None
    source = program.source
    between = source.text[i.args[0].span.end : i.args[1].span.start]
    number, column = source.position(i.args[0].span.end + between.index("^"))
    line = source.line(number)
    mended = f"{line[: column - 1]}**{line[column:]}".strip()
    return f"write `{mended}`" if len(mended) <= _LONGEST else None


# --- ints that must be floats ----------------------------------------------------------------


def _of_ints(refusal: Diagnostic, program: ir.Program, span: Span) -> Remarks:
    """The ints that must be floats, where the program writes them out."""
    data = _data(program, span)
    written = None if data is None else _written(program, data)
    if written is None:
        return Remarks(refusal.message, span, (), refusal.help)
    ints = list(_ints(program, written))
    if not ints:
        return Remarks(refusal.message, span, (), refusal.help)
    text, help = program.source.text, refusal.help
    parts, at = [], written.span.start
    for place, value in ints:
        parts += [text[at : place.start], repr(float(value))]
        at = place.end
    mended = "".join([*parts, text[at : written.span.end]])
    if len(mended) <= _LONGEST and "\n" not in mended:
        help = f"write `{mended}`"
    places = [place for place, _ in ints]
    if _within(written.span, span):
        span, *places = places
    return Remarks(refusal.message, span, tuple(Label(place, "") for place in places), help)


def _data(program: ir.Program, span: Span) -> ir.Operand | None:
    """The operand that is to require grad at a place."""
    kinds = (ir.Apply, ir.Method, ir.SetAttribute)
    match instruction_at(program, span, *kinds):
        case ir.Apply(arguments=[("data", operand), *_]):
            return operand
        case ir.Method(receiver=operand) | ir.SetAttribute(receiver=operand):
            return operand
    return None


def _written(program: ir.Program, operand: ir.Operand) -> ir.Const | ir.Build | None:
    """The literal that an operand's numbers are written as."""
    if isinstance(operand, ir.Const):
        return operand
    made = _made(program, operand) if isinstance(operand, ir.Slot) else None
    match made:
        case ir.Build():
            return made
        case ir.Apply(arguments=[("data", inner), *_]):
            return _written(program, inner)
        case ir.Input(kind="constant", default=inner) if inner is not None:
            return _written(program, inner)
    return None


def _made(program: ir.Program, slot: ir.Slot) -> ir.Instruction | None:
    """The instruction that made an operand: a variable's last assignment, or the operand itself."""
    if slot.index in program.variables:
        return _assigned(program, slot, slot.span)
    return instruction_at(program, slot.span, ir.Build, ir.Apply)


def _ints(program: ir.Program, written: ir.Const | ir.Build) -> Iterator[tuple[Span, int]]:
    """The ints in a literal, in order."""
    if isinstance(written, ir.Const):
        if type(written.value) is int:
            yield written.span, written.value
        return
    for item in written.items:
        inner = _made(program, item) if isinstance(item, ir.Slot) else item
        if isinstance(inner, (ir.Const, ir.Build)):
            yield from _ints(program, inner)


def instruction_at(
    program: ir.Program, span: Span, *kinds: type[ir.Instruction]
) -> ir.Instruction | None:
    """The last instruction of one of these kinds at a place."""
    found = None
    for i in visit.everything(program):
        if isinstance(i, kinds) and i.span == span:
            found = i
    return found
