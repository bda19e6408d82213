"""Lower displays and comprehensions to instructions that make lists, sets and dictionaries.

As in Python, a comprehension is a function of its first iterable, called at once, with its own
local names. That of a generator expression emits its items one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.grammar.meaning.names import function_scope, local_names
from gradcli.grammar.meaning.slots import Function
from gradcli.grammar.meaning.targets import Targets
from gradcli.grammar.syntax import ast
from gradcli.ir import program as ir
from gradcli.source import Span


class Displays(Targets):
    """The part of the lowering that handles displays and comprehensions."""

    def build(
        self, span: Span, kind: str, items: Sequence[ast.Expr], into: int | None
    ) -> ir.Operand:
        """A list, tuple, set or slice of items."""
        starred = any(isinstance(item, ast.Starred) for item in items)
        if starred and kind != "list":
            return self.made_of_list(span, kind, self.build(span, "list", items, None), into)
        busy = self.function.busy
        if starred:
            return self.extended(span, items)
        operands = tuple(self.expression(item) for item in items)
        target = self.target(busy, into)
        self.emit(ir.Build(span, target, kind, operands))
        return ir.Slot(target, span)

    def extended(
        self, span: Span, items: Sequence[ast.Expr], first: tuple[ir.Operand, ...] = ()
    ) -> ir.Slot:
        """A list of the operands `first`, then of the items, with starred ones unpacked."""
        made = ir.Slot(self.temporary(), span)
        self.emit(ir.Build(span, made.index, "list", first))
        for item in items:
            busy = self.function.busy
            if isinstance(item, ast.Starred):
                self.emit(ir.Extend(item.span, made, self.expression(item.value)))
            else:
                self.emit(ir.Append(item.span, made, self.expression(item)))
            self.function.busy = busy
        return made

    def made_of_list(
        self, span: Span, kind: str, items: ir.Operand, into: int | None
    ) -> ir.Operand:
        """A collection of another kind, made of a list."""
        target = self.temporary() if into is None else into
        self.emit(ir.Apply(span, target, kind, (("iterable", items),)))
        return ir.Slot(target, span)

    def dictionary(self, e: ast.Dict) -> ir.Operand:
        """The dictionary of a display, filled pair by pair."""
        target = ir.Slot(self.temporary(), e.span)
        self.emit(ir.Build(e.span, target.index, "dict", ()))
        for pair in e.pairs:
            busy = self.function.busy
            self.pair(target, pair)
            self.function.busy = busy
        return target

    def pair(self, into: ir.Operand, pair: ast.Pair) -> None:
        """Put a pair into a dictionary, or all pairs of `**other`."""
        if pair.key is None:
            other = self.expression(pair.value)
            self.emit(ir.Method(pair.span, self.temporary(), into, "update", (other,), ()))
            return
        key, value = self.expression(pair.key), self.expression(pair.value)
        self.emit(ir.SetItem(pair.span, into, key, value))

    def comprehension(self, e: ast.Comprehension, into: int | None) -> ir.Operand:
        """The value of a comprehension: a collection or a generator."""
        if e.kind == "set":
            items = self.comprehension(
                ast.Comprehension(e.span, "list", e.element, e.clauses), None
            )
            return self.made_of_list(e.span, "set", items, into)
        busy = self.function.busy
        first = self.expression(e.clauses[0].iterable)
        function = ir.Slot(self.temporary(), e.span)
        self.emit(ir.Define(e.span, function.index, self.comprehended(e)))
        target = self.target(busy, into)
        self.emit(ir.Call(e.span, target, function, (first,), ()))
        return ir.Slot(target, e.span)

    def comprehended(self, e: ast.Comprehension) -> ir.Function:
        """The function of a comprehension; its parameter is the first iterable."""

        def body() -> tuple[ir.Parameter, ...]:
            first = ir.Slot(self.temporary(), e.clauses[0].iterable.span)
            made = None
            if e.kind != "generator":
                made = ir.Slot(self.temporary(), e.span)
                self.emit(ir.Build(e.span, made.index, e.kind, ()))
            self.clauses(e, 0, first, made)
            if made is not None:
                self.emit(ir.Return(e.span, made))
            return (ir.Parameter("iterable", first.index, None, first.span, ""),)

        return self.function_of(e, f"%{e.kind}", "", body)

    def clauses(
        self, e: ast.Comprehension, at: int, iterable: ir.Operand, made: ir.Operand | None
    ) -> None:
        """Emit the loops of a comprehension from clause `at` on."""
        clause = e.clauses[at]

        def inside() -> None:
            if at + 1 < len(e.clauses):
                self.clauses(e, at + 1, self.expression(e.clauses[at + 1].iterable), made)
            else:
                self.element(e.element, made)

        def conditions(left: Sequence[ast.Expr]) -> None:
            if not left:
                return inside()
            test = self.expression(left[0])
            outside, self.out = self.out, []
            conditions(left[1:])
            then, self.out = self.out, outside
            self.emit(ir.Branch(left[0].span, test, then, []))
            return None

        self.turns(clause.span, clause.target, iterable, lambda: conditions(clause.conditions))

    def element(self, element: ast.Expr | ast.Pair, made: ir.Operand | None) -> None:
        """Add the element to the collection `made`, or emit it if that is None."""
        if isinstance(element, ast.Pair):
            assert made is not None
            self.pair(made, element)
            return
        value = self.expression(element)
        if made is None:
            self.emit(ir.Emit(element.span, self.temporary(), value))
        else:
            self.emit(ir.Append(element.span, made, value))

    def function_of(
        self,
        made: ast.Def | ast.Lambda | ast.Comprehension,
        name: str,
        context: str,
        body: Callable[[], tuple[ir.Parameter, ...]],
    ) -> ir.Function:
        """A function with its own slots; `body` emits its code and returns its parameters."""
        outer = self.function
        self.function = Function(function_scope(made, outer.scope), outer, context)
        outside, self.out = self.out, []
        for local in local_names(made):
            self.declare(local)
        parameters = body()
        here, self.function = self.function, outer
        instructions, self.out = self.out, outside
        code = name, parameters, instructions, here.locals, tuple(here.captures), made.span
        doc = _docstring(made)
        return ir.Function(*code) if doc is None else ir.DocumentedFunction(*code, doc)


def _docstring(made: ast.Def | ast.Lambda | ast.Comprehension) -> str | None:
    first = made.body[0] if isinstance(made, ast.Def) and made.body else None
    text = first.value if isinstance(first, ast.ExprStatement) else None
    return text.value if isinstance(text, ast.Literal) and isinstance(text.value, str) else None
