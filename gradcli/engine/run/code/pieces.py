"""Pieces of the Python code that a program becomes: names, loads, calls, with their positions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.ir import program as ir
from gradcli.ir.visit import writes
from gradcli.record import Record
from gradcli.source import Span


class Place(Record):
    """A call of a function that is made for one place: `name` is how the code calls it."""

    __slots__ = ("name", "instruction", "variable")
    name: str
    instruction: ir.Instruction
    variable: str


class Pieces:
    """The parts made of one program: places that its code calls, constants that it reads. Names
    that it makes are numbered from `first`.
    """

    def __init__(self, program: ir.Program, first: int = 0) -> None:
        self.program = program
        self.source = program.source
        self.places: list[Place] = []
        self.constants: set[str] = set()
        self.first = self.count = first
        self.cache: dict[Span, dict[str, int]] = {}

    def at(self, span: Span) -> Any:
        """A span as the position of a node of Python's tree."""
        found = self.cache.get(span)
        if found is None:
            line, column = self.source.position(span.start)
            end_line, end_column = self.source.position(max(span.start, span.end))
            found = self.cache[span] = {
                "lineno": line,
                "col_offset": column - 1,
                "end_lineno": end_line,
                "end_col_offset": end_column - 1,
            }
        return found

    def fresh(self, kind: str) -> str:
        """An unused name."""
        self.count += 1
        return f"%{kind}{self.count}"

    def variable(self, slot: int) -> str:
        """The Python variable of a slot."""
        return self.program.variables.get(slot) or f"%{slot}"

    def name(self, id: str, span: Span) -> ast.expr:
        """An expression that reads a variable."""
        return ast.Name(id, ast.Load(), **self.at(span))

    def load(self, operand: ir.Operand) -> ast.expr:
        """An expression that reads an operand."""
        if isinstance(operand, ir.Slot):
            return self.name(self.variable(operand.index), operand.span)
        if isinstance(operand, ir.Const):
            value: Any = operand.value
            return ast.Constant(value, **self.at(operand.span))
        if isinstance(operand, ir.Imported):
            return self.imported(operand)
        if ops[operand.name].constant is REQUIRED:
            return self.ask("@builtin", operand.span, [self.constant(operand.name, operand.span)])
        self.constants.add(operand.name)
        return self.name(f"@constant {operand.name}", operand.span)

    def imported(self, operand: ir.Imported) -> ast.expr:
        """An expression that reads a member of the library; a silent one is told its place."""
        span = operand.span
        given = [self.constant(operand.path, span)]
        if operand.path != ir.ANYTHING:
            return self.ask("@imported", span, given)
        given += [self.constant(span.start, span), self.constant(span.end, span)]
        return self.ask("@silent", span, given)

    def store(self, name: str, value: ast.expr, span: Span) -> ast.stmt:
        """Put a value into a variable."""
        return ast.Assign([ast.Name(name, ast.Store(), **self.at(span))], value, **self.at(span))

    def call(
        self,
        function: ast.expr,
        span: Span,
        args: Sequence[ir.Operand | ast.expr] = (),
        keywords: ir.Named = (),
    ) -> ast.expr:
        """A call."""
        loaded = [a if isinstance(a, ast.expr) else self.load(a) for a in args]
        named = [ast.keyword(k, self.load(v), **self.at(span)) for k, v in keywords]
        return ast.Call(function, loaded, named, **self.at(span))

    def ask(
        self,
        function: str,
        span: Span,
        args: Sequence[ir.Operand | ast.expr] = (),
        keywords: ir.Named = (),
        *,
        of: str = "@session",
    ) -> ast.expr:
        """A call of a function of the engine, with the run's session, or with another value `of`
        it.
        """
        return self.call(self.name(function, span), span, [self.name(of, span), *args], keywords)

    def plainly(self, function: str, span: Span, args: Sequence[ir.Operand | ast.expr]) -> ast.expr:
        """A call of a function of the engine that needs nothing of the run."""
        return self.call(self.name(function, span), span, args)

    def constant(self, value: Any, span: Span) -> ast.expr:
        """A constant."""
        return ast.Constant(value, **self.at(span))

    def place(self, instruction: ir.Instruction) -> str:
        """The name of a function made for an instruction."""
        named = self.program.variables
        variable = next((named.get(slot, "") for slot in writes(instruction)), "")
        name = f"@{self.first + len(self.places)}"
        self.places.append(Place(name, instruction, variable))
        return name

    def truth(self, operand: ir.Operand) -> ast.expr:
        """`v if v.__class__ is bool else @truth(v)`: comparisons of numbers cost no call."""
        span = operand.span
        value = self.load(operand)
        kind = ast.Attribute(self.load(operand), "__class__", ast.Load(), **self.at(span))
        is_bool = ast.Compare(kind, [ast.Is()], [self.name("@bool", span)], **self.at(span))
        asked = self.plainly("@truth", span, (operand,))
        return ast.IfExp(is_bool, value, asked, **self.at(span))

    def callee(self, function: ir.Operand) -> ast.expr:
        """`f if f.__class__ is @function else @callee(f)`: own functions cost no extra call."""
        span = function.span
        if isinstance(function, (ir.Builtin, ir.Imported)):
            return self.load(function)
        kind = ast.Attribute(self.load(function), "__class__", ast.Load(), **self.at(span))
        plain = ast.Compare(kind, [ast.Is()], [self.name("@function", span)], **self.at(span))
        asked = self.ask("@callee", span, (function,))
        return ast.IfExp(plain, self.load(function), asked, **self.at(span))

    def parameters(
        self, function: ir.Function, first: Sequence[str], defaults: Sequence[ast.expr]
    ) -> ast.arguments:
        """The parameters of a function, after the `first` ones."""
        places: list[ast.arg] = [ast.arg(name, **self.at(function.span)) for name in first]
        named: list[ast.arg] = []
        given = iter(defaults)
        by_place: list[ast.expr] = []
        by_name: list[ast.expr | None] = []
        rest: dict[str, ast.arg] = {}
        for p in function.parameters:
            arg = ast.arg(self.variable(p.slot), **self.at(function.span))
            default = None if p.default is None else next(given)
            if p.kind == "named":
                named.append(arg)
                by_name.append(default)
            elif p.kind:
                rest[p.kind] = arg
            else:
                places.append(arg)
                by_place += [] if default is None else [default]
        return ast.arguments([], places, rest.get("*"), named, by_name, rest.get("**"), by_place)

    def spread(
        self, function: ast.expr, i: ir.SpreadCall | ir.SpreadMethod, first: Sequence[ast.expr] = ()
    ) -> ast.expr:
        """A call whose arguments are the items of a list and of a dictionary."""
        at = self.at(i.span)
        star = ast.Starred(self.load(i.args), ast.Load(), **at)
        named = [] if i.keywords is None else [ast.keyword(None, self.load(i.keywords), **at)]
        return ast.Call(function, [*first, star], named, **at)

    def build(self, i: ir.Build) -> ast.expr:
        """A new list, tuple, dictionary, slice or text."""
        items = [self.load(item) for item in i.items]
        if i.kind == "list":
            return ast.List(items, ast.Load(), **self.at(i.span))
        if i.kind == "tuple":
            return ast.Tuple(items, ast.Load(), **self.at(i.span))
        if i.kind == "dict":
            return ast.Dict([], [], **self.at(i.span))
        return self.call(self.name(f"@{i.kind}", i.span), i.span, items)
