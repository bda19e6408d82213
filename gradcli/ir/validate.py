"""Rules that every ops program keeps; the tests check them after each lowering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.ir.text import place
from gradcli.source import Span

if TYPE_CHECKING:
    from gradcli.ir.signature import Signatures

_CHOICES = ("and", "or", "chain", "if")
_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
_TESTS = ("<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in")
_SIGNS = {1: ("+", "-", "~", "not"), 2: (*_ARITHMETIC, *_TESTS, "[]", "+[]", "*[]")}
"""The operators by how many operands they have."""


def faults(program: ir.Program, signatures: Signatures) -> list[str]:
    """The violations of the rules in a program, each with its place."""
    return list(_Validator(program, signatures).faults())


class _Validator:
    def __init__(self, program: ir.Program, signatures: Signatures) -> None:
        self.program = program
        self.signatures = signatures
        self.end = len(program.source.text)

    def faults(self) -> Iterator[str]:
        program = self.program
        main = program.main
        if main.parameters or main.captures:
            yield "main has parameters or captures"
        if program.result is not None:
            yield from self.operand(program.result, main)
        owners: dict[int, ir.Function] = {}
        for function in visit.all_functions(main):
            for slot in function.locals:
                if slot in owners:
                    yield f"slot {slot} is owned twice"
                owners[slot] = function
        for name, slot in program.names.items():
            if owners.get(slot) is not main or program.variables.get(slot) != name:
                yield f"the top-level name `{name}` has no slot of main"
        inputs = [i for i in visit.instructions(main.body) if isinstance(i, ir.Input)]
        if sorted(map(id, inputs)) != sorted(map(id, program.inputs)):
            yield "the listed inputs are not those of main"
        yield from self.function(main, None)

    def function(self, function: ir.Function, outer: ir.Function | None) -> Iterator[str]:
        """A function, then those in it."""
        yield from self.span(function.span, f"function {function.name}")
        seen = () if outer is None else (*outer.locals, *outer.captures)
        for slot in function.captures:
            if slot not in seen:
                yield f"{function.name} captures {slot}, which nothing around it has"
        for parameter in function.parameters:
            if parameter.slot not in function.locals:
                yield f"the parameter {parameter.name} of {function.name} is no slot of its own"
        yield from self.block(function.body, function, outer is None)
        for i in visit.instructions(function.body):
            yield from self.instruction(i, function)
        for inner in visit.functions_in(function.body):
            yield from self.function(inner, function)

    def block(self, body: ir.Body, function: ir.Function, is_main: bool) -> Iterator[str]:
        """Check that instructions which leave a loop, a function or a choice are inside one."""
        pending: list[tuple[ir.Instruction, bool, bool]] = [(i, False, False) for i in body]
        while pending:
            i, looped, yields = pending.pop()
            here = self.at(i)
            if isinstance(i, (ir.Break, ir.Continue)) and not looped:
                yield f"{here}: {type(i).__name__.lower()} outside a loop"
            if isinstance(i, ir.Return) and is_main:
                yield f"{here}: return outside a function"
            if isinstance(i, (ir.Input, ir.Watch)) and not is_main:
                yield f"{here}: an input in a function"
            if isinstance(i, ir.Yield) and not yields:
                yield f"{here}: yield that does not end a block of a choice"
            if isinstance(i, ir.Choice):
                for block in (i.then, i.orelse):
                    if not block or not isinstance(block[-1], ir.Yield):
                        yield f"{here}: a block of the choice does not yield"
            for block in visit.blocks(i):
                last = len(block) - 1
                inside = isinstance(i, (ir.For, ir.While)) or (
                    looped and isinstance(i, (ir.Branch, ir.Mode, ir.Try))
                )
                if isinstance(i, ir.While) and block is i.condition:
                    inside = False
                pending += [
                    (inner, inside, isinstance(i, ir.Choice) and at == last)
                    for at, inner in enumerate(block)
                ]

    def instruction(self, i: ir.Instruction, function: ir.Function) -> Iterator[str]:
        """Check an instruction: its place, the slots that it reads and writes, and its fields."""
        here = self.at(i)
        yield from self.span(i.span, here)
        for operand in visit.operands(i):
            yield from self.operand(operand, function)
        for slot in visit.writes(i):
            if not _has(function, slot):
                yield f"{here}: slot {slot} is written and is none of {function.name}"
        match i:
            case ir.Operator() if i.operator not in _SIGNS.get(len(i.args), ()):
                yield f"{here}: no operator `{i.operator}` of {len(i.args)} operands"
            case ir.Augment() if i.operator.removesuffix("=") not in _ARITHMETIC:
                yield f"{here}: no operator `{i.operator}` of 2 operands"
            case ir.CallBuiltin() if not self.knows(i.name):
                yield f"{here}: no built-in `{i.name}`"
            case ir.Choice() if i.kind not in _CHOICES:
                yield f"{here}: no choice `{i.kind}`"
            case ir.Apply() | ir.Inplace():
                yield from self.bound(i, here)

    def knows(self, name: str) -> bool:
        """True if there is a built-in, or one that a method ending in `_` does in place."""
        return name in self.signatures or name.removesuffix("_") in self.signatures

    def bound(self, i: ir.Apply | ir.Inplace, here: str) -> Iterator[str]:
        """Check that bound arguments fit the signature."""
        if i.op not in self.signatures:
            yield f"{here}: no built-in `{i.op}`"
            return
        signature = self.signatures[i.op]
        names = [name for name, _ in i.arguments]
        known = (*signature.positional, *signature.keywords)
        if signature.variadic or signature.constant:
            yield f"{here}: the arguments of `{i.op}` cannot be bound"
        if len(set(names)) != len(names) or not set(names) <= set(known):
            yield f"{here}: arguments of `{i.op}` that are not its own: {', '.join(names)}"
        if not set(signature.positional[: signature.required]) <= set(names):
            yield f"{here}: `{i.op}` lacks arguments"

    def operand(self, operand: ir.Operand, function: ir.Function) -> Iterator[str]:
        """Check that every slot that is read has a value."""
        yield from self.span(operand.span, "an operand")
        if isinstance(operand, ir.Builtin) and operand.name not in self.signatures:
            yield f"no built-in `{operand.name}`"
        if isinstance(operand, ir.Imported) and not self.signatures.in_library(operand.path):
            yield f"the library has no `{operand.path}`"
        if isinstance(operand, ir.Slot) and not _has(function, operand.index):
            yield f"slot {operand.index} is read and neither owned nor captured by {function.name}"

    def span(self, span: Span, what: str) -> Iterator[str]:
        """Check that a span is inside the text."""
        if not 0 <= span.start <= span.end <= self.end:
            yield f"{what} lies outside the text: {span.start}-{span.end}"

    def at(self, i: ir.Instruction) -> str:
        start, end = sorted(min(max(at, 0), self.end) for at in (i.span.start, i.span.end))
        return f"{type(i).__name__} at {place(self.program.source, Span(start, end))}"


def _has(function: ir.Function, slot: int) -> bool:
    owned: Sequence[Sequence[int]] = (function.locals, function.captures)
    return any(slot in slots for slots in owned)
