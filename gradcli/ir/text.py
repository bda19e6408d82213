"""Print a program for people: one instruction a line, blocks indented, followed by its place.

Slots with a name are shown by it, with their number if several have the same; temporaries are `%3`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from gradcli.ir import program as ir
from gradcli.ir.visit import writes
from gradcli.source import Source, Span

Block: TypeAlias = "tuple[str, Sequence[Part]]"
"""A line and what stands below it."""
Part: TypeAlias = "str | ir.Instruction | Block"

_INDENT = "  "
_COLUMN = 48  # the column of the places, unless the line is longer
_CHOICES = {"and": "and", "or": "or", "chain": "chain", "if": "choose"}


def text(program: ir.Program, remark: Callable[[ir.Instruction], str] = lambda i: "") -> str:
    """The program's text, with a newline at the end; `remark` returns a text to add after the place
    of an instruction.
    """
    return "".join(f"{line}\n" for line in _Printer(program, remark).lines())


def place(source: Source, span: Span) -> str:
    """Lines and columns of a span: `2:5-2:10`."""
    ends = (source.position(at) for at in (span.start, max(span.start, span.end)))
    return "-".join(f"{line}:{column}" for line, column in ends)


class _Printer:
    def __init__(self, program: ir.Program, remark: Callable[[ir.Instruction], str]) -> None:
        self.program = program
        self.remark = remark
        names = Counter(program.variables.values())
        self.several = {name for name, count in names.items() if count > 1}

    def lines(self) -> Iterator[str]:
        """The lines. Inner instructions wait on a stack, because programs nest deeply."""
        program = self.program
        result = [] if program.result is None else [f"result {self.operand(program.result)}"]
        pending: list[tuple[int, Part]] = [(0, p) for p in [*self.inside(program.main), *result]]
        pending.reverse()
        while pending:
            depth, part = pending.pop()
            below: Sequence[Part] = ()
            if isinstance(part, ir.Instruction):
                (head, below), *others = self.parts(part)
                pending.extend((depth, other) for other in reversed(others))
                said = f"{place(program.source, part.span)} {self.remark(part)}".rstrip()
                yield f"{_INDENT * depth}{head}".ljust(_COLUMN) + f"  # {said}"
            elif isinstance(part, str):
                yield f"{_INDENT * depth}{part}"
            else:
                head, below = part
                yield f"{_INDENT * depth}{head}"
            pending.extend((depth + 1, inner) for inner in reversed(below))

    def inside(self, function: ir.Function) -> list[Part]:
        """The lines of a function: its slots, then its instructions."""
        slots = [("locals", function.locals), ("captures", function.captures)]
        named = [f"{word} {', '.join(map(self.slot, ours))}" for word, ours in slots if ours]
        return [*named, *function.body]

    def parts(self, i: ir.Instruction) -> list[Block]:
        """The lines of an instruction, each with the blocks below it."""
        match i:
            case ir.Branch():
                sides: list[Block] = [(f"if {self.operand(i.test)}:", i.then)]
                return [*sides, ("else:", i.orelse)] if i.orelse else sides
            case ir.Choice():
                head = f"{self.slot(i.target)} = {_CHOICES[i.kind]} {self.operand(i.test)}:"
                return [(head, i.then), ("else:", i.orelse)]
            case ir.While():
                return [("while:", i.condition), (f"do if {self.operand(i.test)}:", i.body)]
            case ir.For():
                return [(f"for {self.slot(i.target)} in {self.operand(i.iterable)}:", i.body)]
            case ir.Mode():
                word = "frame" if isinstance(i, ir.FrameMode) else "with"
                return [(f"{word} {i.mode}:", i.body)]
            case ir.Assert():
                said = [] if i.message is None else [f"message {self.operand(i.message)}"]
                return [(f"assert {self.operand(i.test)}", [*i.body, *said])]
            case ir.Define():
                head = f"{self.slot(i.target)} = define {self.header(i.function)}"
                return [(head, self.inside(i.function))]
            case ir.DefineRule():
                methods = [(self.header(m), self.inside(m)) for m in i.methods]
                held = self.called(i.bases, i.attributes)
                head = f"rule {i.name}({held})" if held else f"rule {i.name}"
                return [(f"{self.slot(i.target)} = {head}:", methods)]
            case ir.Try():
                return [*self.attempt(i)]
            case ir.Input():
                default = [] if i.default is None else [f"default {self.operand(i.default)}"]
                return [(self.declaration(i), [*i.body, *default])]
            case _:
                return [(self.line(i), ())]

    def attempt(self, i: ir.Try) -> Iterator[Block]:
        """A `try` with its handlers."""
        yield "try:", i.body
        for handler in i.handlers:
            if handler.test:
                yield "test:", handler.test
            kind = "" if handler.type is None else f" {self.operand(handler.type)}"
            yield f"{self.slot(handler.target)} = except{kind}:", handler.body
        if i.orelse:
            yield "else:", i.orelse
        if i.last:
            yield "finally:", i.last

    def line(self, i: ir.Instruction) -> str:
        """An instruction with nothing inside."""
        match i:
            case ir.SetAttribute():
                return f"{self.operand(i.receiver)}.{i.name} = {self.operand(i.value)}"
            case ir.SetItem():
                where = f"{self.operand(i.receiver)}[{self.operand(i.index)}]"
                return f"{where} = {self.operand(i.value)}"
            case ir.Unpack(starred=int(starred)):
                names = [self.slot(t) for t in i.targets]
                names[starred] = f"*{names[starred]}"
                return f"{', '.join(names)} = unpack {self.operand(i.value)}"
            case ir.Unpack():
                return f"{', '.join(map(self.slot, i.targets))} = unpack {self.operand(i.value)}"
            case ir.Return() | ir.Yield():
                return f"{type(i).__name__.lower()} {self.operand(i.value)}"
            case ir.Break() | ir.Continue():
                return type(i).__name__.lower()
            case ir.Raise():
                return "raise" if i.value is None else f"raise {self.operand(i.value)}"
            case ir.Watch():
                return f"watch {self.slot(i.slot)}"
            case ir.Append() | ir.Extend():
                added = f"{self.operand(i.receiver)}, {self.operand(i.value)}"
                return f"{type(i).__name__.lower()} {added}"
            case ir.Delete():
                return f"delete {self.operand(i.slot)}"
            case ir.DeleteAttribute():
                return f"delete {self.operand(i.receiver)}.{i.name}"
            case ir.DeleteItem():
                return f"delete {self.operand(i.receiver)}[{self.operand(i.index)}]"
            case _:
                (target,) = writes(i)
                return f"{self.slot(target)} = {self.value(i)}"

    def value(self, i: ir.Instruction) -> str:
        """The text of the value that an instruction puts into its target."""
        match i:
            case ir.Copy():
                return self.operand(i.value)
            case ir.Operator(operator="[]", args=(value, index)):
                return f"{self.operand(value)}[{self.operand(index)}]"
            case ir.Operator(args=(only,)):
                return f"{i.operator} {self.operand(only)}"
            case ir.Operator(args=(left, right)):
                return f"{self.operand(left)} {i.operator} {self.operand(right)}"
            case ir.Augment():
                return f"{self.operand(i.receiver)} {i.operator}= {self.operand(i.value)}"
            case ir.Apply():
                return f"apply {i.op}({self.named(i.arguments)})"
            case ir.Inplace():
                return f"inplace {i.op}({self.named(i.arguments)})"
            case ir.CallBuiltin():
                return f"builtin {i.name}({self.called(i.args, i.keywords)})"
            case ir.Call():
                return f"call {self.operand(i.function)}({self.called(i.args, i.keywords)})"
            case ir.Method():
                receiver = f"{self.operand(i.receiver)}.{i.name}"
                return f"method {receiver}({self.called(i.args, i.keywords)})"
            case ir.GetAttribute():
                return f"{self.operand(i.receiver)}.{i.name}"
            case ir.DefineClass():
                return f"class {i.name}({self.called(i.bases, i.members)})"
            case ir.Super():
                return f"super {self.operand(i.owner)}, {self.operand(i.receiver)}"
            case ir.SpreadCall():
                return f"call {self.operand(i.function)}({self.spread(i)})"
            case ir.SpreadMethod():
                return f"method {self.operand(i.receiver)}.{i.name}({self.spread(i)})"
            case ir.Emit():
                return f"emit {self.operand(i.value)}"
            case ir.EmitAll():
                return f"emit all {self.operand(i.value)}"
            case ir.Build():
                return f"build {i.kind}({self.called(i.items)})"
            case ir.Format():
                form = f"{i.conversion!r}, {self.operand(i.spec)}"
                return f"format {self.operand(i.value)}, {form}"
        raise AssertionError(f"no text of {type(i).__name__}")

    def declaration(self, i: ir.Input) -> str:
        """An input's line."""
        text = f"{self.slot(i.target)} = {i.kind} {i.name}"
        if i.type is not None:
            element, sizes = i.type
            shown = () if sizes is None else ("..." if s is ... else str(s) for s in sizes)
            text += f": {element}" + ("" if sizes is None else f"[{', '.join(shown)}]")
        if i.bounds is not None:
            text += f" in {[*i.bounds]}"
        return text + "".join(f", {name} into {self.slot(slot)}" for name, slot in i.sizes)

    def header(self, function: ir.Function) -> str:
        """A function's name and parameters."""
        shown = (
            p.kind.removeprefix("named")
            + self.slot(p.slot)
            + ("" if p.default is None else f"={self.operand(p.default)}")
            for p in function.parameters
        )
        return f"{function.name}({', '.join(shown)}):"

    def spread(self, i: ir.SpreadCall | ir.SpreadMethod) -> str:
        """The arguments of a call that come in a list and a dictionary."""
        named = "" if i.keywords is None else f", **{self.operand(i.keywords)}"
        return f"*{self.operand(i.args)}{named}"

    def called(self, args: Sequence[ir.Operand], keywords: ir.Named = ()) -> str:
        """The arguments of a call."""
        words = [*map(self.operand, args), self.named(keywords)]
        return ", ".join(word for word in words if word)

    def named(self, arguments: ir.Named) -> str:
        """Arguments by name."""
        return ", ".join(f"{name}={self.operand(operand)}" for name, operand in arguments)

    def operand(self, operand: ir.Operand) -> str:
        """The text of an operand."""
        match operand:
            case ir.Slot():
                return self.slot(operand.index)
            case ir.Const(value=value):
                return "..." if value is Ellipsis else repr(value)
            case ir.Builtin():
                return f"builtin {operand.name}"
            case ir.Imported():
                return f"imported {operand.path}"

    def slot(self, slot: int) -> str:
        """A slot by its name."""
        name = self.program.variables.get(slot)
        if name is None:
            return f"%{slot}"
        return f"{name}.{slot}" if name in self.several else name
