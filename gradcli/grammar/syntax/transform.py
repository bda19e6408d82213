"""Turns rules of the grammar into syntax nodes: one method for each rule or alias of grad.lark.

A method takes the span of the rule's text and its parts: the text of a token, the node of a rule,
None for an absent optional part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.literals import (
    format_string,
    identifier,
    merge,
    number,
    plain_string,
    size,
)
from gradcli.source import Span

Part = Callable[[int, int], ast.Expr]


class Transform:
    """Makes the nodes of one text; `part` parses an expression of an f-string."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._named: list[ast.Name] = []  # targets of `:=` in blocks that are not complete

    # --- statements --------------------------------------------------------------------------

    def module(self, span: Span, *body: ast.Statement) -> ast.Module:
        """The program; the block of `if __name__ == "__main__":` belongs to the top level."""
        flat: list[ast.Statement] = []
        for statement in body:
            if isinstance(statement, ast.If) and _is_main(statement):
                flat += statement.body
            else:
                flat.append(statement)
        return ast.Module(span, self._binding(span, tuple(flat)))

    def expression(self, span: Span, value: ast.Expr) -> ast.Expr:
        return value

    def block(self, span: Span, *body: ast.Statement) -> tuple[ast.Statement, ...]:
        return self._binding(span, body)

    def _binding(self, span: Span, body: tuple[ast.Statement, ...]) -> tuple[ast.Statement, ...]:
        """A block with the names that `:=` in it gives values, behind its first text."""
        names = self._named_in(span)
        if not names:
            return body
        binds = ast.Binds(Span(span.start, span.start), names)
        first, *rest = body
        if isinstance(first, ast.ExprStatement) and isinstance(first.value, ast.Literal):
            return (first, binds, *rest)
        return (binds, *body)

    def _named_in(self, span: Span) -> tuple[str, ...]:
        """The names in a part of the text that `:=` gives values, and that no inner part has
        taken.
        """
        found = [target.id for target in self._named if target.span.start >= span.start]
        self._named = [target for target in self._named if target.span.start < span.start]
        return tuple(dict.fromkeys(found))

    def named(self, span: Span, name: str, value: ast.Expr) -> ast.Named:
        target = ast.Name(Span(span.start, span.start + len(name)), identifier(name, span))
        self._named.append(target)
        return ast.Named(span, target, value)

    expression_statement = ast.ExprStatement
    pass_statement = ast.Pass
    break_statement = ast.Break
    continue_statement = ast.Continue
    assert_statement = ast.Assert
    return_statement = ast.Return
    yield_value = ast.Yield
    yield_from = ast.YieldFrom
    raise_statement = ast.Raise

    def context(
        self, span: Span, made: ast.Expr, target: ast.Expr | None
    ) -> tuple[Span, ast.Expr, ast.Expr | None]:
        return span, made, target

    def with_statement(self, span: Span, *parts: Any) -> ast.With:
        """Nested `with` statements, one for each context."""
        *contexts, body = parts
        for part, made, target in reversed(contexts):
            body = (ast.With(Span(part.start, span.end), made, target, body),)
        (whole,) = body
        return ast.With(span, whole.context, whole.target, whole.body)

    def assign(self, span: Span, *sides: ast.Expr) -> ast.Assign:
        return ast.Assign(span, sides[:-1], sides[-1])

    def global_statement(self, span: Span, *names: str) -> ast.Outer:
        return ast.Outer(span, "global", tuple(identifier(name, span) for name in names))

    def nonlocal_statement(self, span: Span, *names: str) -> ast.Outer:
        return ast.Outer(span, "nonlocal", tuple(identifier(name, span) for name in names))

    def annotated(
        self, span: Span, target: ast.Expr, annotation: ast.Expr, value: ast.Expr | None
    ) -> ast.Annotated | ast.Pass:
        if not isinstance(target, (ast.Name, ast.Attribute, ast.Index)):
            raise Fault("syntax-error", "a type may follow a single name only", *target.span)
        if value is not None:
            return ast.Annotated(span, (target,), value)
        return ast.Declared(span, target.id) if isinstance(target, ast.Name) else ast.Pass(span)

    def del_statement(self, span: Span, targets: ast.Expr) -> ast.Delete:
        if isinstance(targets, (ast.Tuple, ast.List)):
            return ast.Delete(span, targets.items)
        return ast.Delete(span, (targets,))

    def update(self, span: Span, target: ast.Expr, op: str, value: ast.Expr) -> ast.Update:
        return ast.Update(span, target, op[:-1], value)

    def if_statement(
        self, span: Span, test: ast.Expr, body: tuple[ast.Statement, ...], *rest: Any
    ) -> ast.If:
        orelse: tuple[ast.Statement, ...] = rest[-1] or ()
        for part, condition, block in reversed(rest[:-1]):
            orelse = (ast.If(Span(part.start, span.end), condition, block, orelse),)
        return ast.If(span, test, body, orelse)

    def elif_part(
        self, span: Span, test: ast.Expr, body: tuple[ast.Statement, ...]
    ) -> tuple[Span, ast.Expr, tuple[ast.Statement, ...]]:
        return span, test, body

    def while_statement(
        self,
        span: Span,
        test: ast.Expr,
        body: tuple[ast.Statement, ...],
        orelse: tuple[ast.Statement, ...] | None,
    ) -> ast.While:
        return ast.While(span, test, body, orelse or ())

    def for_statement(
        self,
        span: Span,
        target: ast.Expr,
        iterable: ast.Expr,
        body: tuple[ast.Statement, ...],
        orelse: tuple[ast.Statement, ...] | None,
    ) -> ast.For:
        return ast.For(span, target, iterable, body, orelse or ())

    def definition(self, span: Span, *parts: Any) -> ast.Def:
        *decorators, name, params, _, body = parts
        return ast.Def(span, identifier(name, span), params, body, tuple(decorators))

    def decorator(self, span: Span, made: ast.Expr) -> ast.Expr:
        return made

    def parameters(self, span: Span, *params: ast.Param) -> tuple[ast.Param, ...]:
        """The parameters; those after `*` are given by name only."""
        found: list[ast.Param] = []
        star: ast.Param | None = None
        slashes = 0
        for param in params:
            if param.kind == "/":
                slashes += 1
                if slashes > 1 or star is not None or not found or found[-1].kind:
                    message = "a `/` is allowed once, after parameters given by position"
                    raise Fault("syntax-error", message, *param.span)
                continue
            if found and found[-1].kind == "**":
                raise Fault("syntax-error", "the `**` parameter must be the last", *param.span)
            if param.kind == "*" and star is not None:
                raise Fault("syntax-error", "one parameter at most has a `*`", *param.span)
            if param.kind == "*":
                star = param
            if star is not None and not param.kind:
                found.append(ast.Param(param.span, param.name, param.default, "named"))
            elif param.name:
                found.append(param)
        if star is not None and not star.name and not any(p.kind == "named" for p in found):
            raise Fault("syntax-error", "a bare `*` must be followed by names", *star.span)
        return tuple(found)

    lambda_parameters = parameters

    def parameter(
        self, span: Span, name: str, annotation: ast.Expr | None, default: ast.Expr | None
    ) -> ast.Param:
        return ast.Param(span, identifier(name, span), default, "")

    def lambda_parameter(self, span: Span, name: str, default: ast.Expr | None) -> ast.Param:
        return ast.Param(span, identifier(name, span), default, "")

    def rest_parameter(
        self, span: Span, name: str | None, annotation: ast.Expr | None = None
    ) -> ast.Param:
        return ast.Param(span, identifier(name or "", span), None, "*")

    def end_of_places(self, span: Span) -> ast.Param:
        return ast.Param(span, "", None, "/")

    def named_parameter(
        self, span: Span, name: str, annotation: ast.Expr | None = None
    ) -> ast.Param:
        return ast.Param(span, identifier(name, span), None, "**")

    def class_definition(self, span: Span, *parts: Any) -> ast.Class:
        *decorators, name, bases, body = parts
        return ast.Class(span, identifier(name, span), bases or (), body, tuple(decorators))

    def bases(self, span: Span, *bases: ast.Expr) -> tuple[ast.Expr, ...]:
        return bases

    def try_statement(self, span: Span, body: tuple[ast.Statement, ...], *rest: Any) -> ast.Try:
        *handlers, last = rest
        orelse = handlers.pop() if handlers else None
        return ast.Try(span, body, tuple(handlers), orelse or (), last or ())

    def handler(
        self, span: Span, type: ast.Expr | None, name: str | None, body: tuple[ast.Statement, ...]
    ) -> ast.Handler:
        return ast.Handler(span, type, identifier(name, span) if name else "", body)

    def otherwise(self, span: Span, body: tuple[ast.Statement, ...]) -> tuple[ast.Statement, ...]:
        return body

    last = otherwise

    def declaration(
        self,
        span: Span,
        kind: str,
        name: str,
        type: ast.Type | None,
        bounds: tuple[ast.Expr, ast.Expr] | None,
        default: ast.Expr | None,
    ) -> ast.Declaration:
        return ast.Declaration(span, kind, identifier(name, span), type, bounds, default)

    def bounds(self, span: Span, lower: ast.Expr, upper: ast.Expr) -> tuple[ast.Expr, ast.Expr]:
        return lower, upper

    def declared_type(self, span: Span, kind: str, sizes: tuple[object, ...] | None) -> ast.Type:
        return ast.Type(span, kind, sizes)

    def sizes(self, span: Span, *sizes: object) -> tuple[object, ...]:
        if ... in sizes and len(sizes) > 1:
            message = "`...` means any shape and excludes other sizes"
            raise Fault("bad-declaration", message, *span)
        return sizes

    def size_name(self, span: Span, name: str) -> str:
        return identifier(name, span)

    def size_number(self, span: Span, text: str) -> int:
        return size(span, text)

    def size_any(self, span: Span) -> object:
        return ...

    # --- imports -----------------------------------------------------------------------------

    def import_module(self, span: Span, module: str, alias: str | None) -> ast.Import:
        return ast.Import(span, module, (("", alias or ""),))

    def import_from(self, span: Span, module: str, *names: tuple[str, str]) -> ast.Import:
        return ast.Import(span, module, names)

    def import_all(self, span: Span, module: str) -> ast.Import:
        return ast.Import(span, module, (("*", ""),))

    def imported_name(self, span: Span, name: str, alias: str | None) -> tuple[str, str]:
        return name, alias or ""

    def dotted(self, span: Span, *names: str) -> str:
        return ".".join(names)

    # --- expressions -------------------------------------------------------------------------

    def lambda_expression(
        self, span: Span, params: tuple[ast.Param, ...], body: ast.Expr
    ) -> ast.Lambda:
        return ast.Lambda(span, params, body, self._named_in(body.span))

    unary = ast.Unary
    index = ast.Index

    def if_else(self, span: Span, then: ast.Expr, test: ast.Expr, orelse: ast.Expr) -> ast.IfElse:
        return ast.IfElse(span, test, then, orelse)

    def or_test(self, span: Span, *values: ast.Expr) -> ast.Boolean:
        return ast.Boolean(span, "or", values)

    def and_test(self, span: Span, *values: ast.Expr) -> ast.Boolean:
        return ast.Boolean(span, "and", values)

    def comparison(self, span: Span, first: ast.Expr, *rest: Any) -> ast.Compare:
        return ast.Compare(span, first, rest[0::2], rest[1::2])

    def comparison_op(self, span: Span, *words: str) -> str:
        return " ".join(words)

    def binary(self, span: Span, left: ast.Expr, op: str, right: ast.Expr) -> ast.Binary:
        return ast.Binary(span, op, left, right)

    def call(self, span: Span, function: ast.Expr, *args: ast.Expr | ast.Keyword) -> ast.Call:
        places: list[ast.Expr] = []
        keywords: list[ast.Keyword] = []
        for arg in args:
            if isinstance(arg, ast.Keyword):
                keywords.append(arg)
            elif keywords and (not isinstance(arg, ast.Starred) or not keywords[-1].name):
                before = f"{keywords[-1].name}=" if keywords[-1].name else "**"
                message = f"an argument without a name follows `{before}`"
                raise Fault("syntax-error", message, *arg.span)
            else:
                places.append(arg)
        return ast.Call(span, function, tuple(places), tuple(keywords))

    def keyword(self, span: Span, name: str, value: ast.Expr) -> ast.Keyword:
        return ast.Keyword(span, identifier(name, span), value)

    def keywords(self, span: Span, value: ast.Expr) -> ast.Keyword:
        return ast.Keyword(span, "", value)

    def slice_bounds(
        self,
        span: Span,
        start: ast.Expr | None,
        stop: ast.Expr | None,
        step: ast.Expr | None,
    ) -> ast.Slice:
        return ast.Slice(span, start, stop, step)

    def attribute(self, span: Span, value: ast.Expr, name: str) -> ast.Attribute:
        return ast.Attribute(span, value, name)

    def tuple_display(self, span: Span, *items: ast.Expr) -> ast.Tuple:
        return ast.Tuple(span, items)

    def list_display(self, span: Span, *items: ast.Expr) -> ast.List:
        return ast.List(span, items)

    def set_display(self, span: Span, *items: ast.Expr) -> ast.Set:
        return ast.Set(span, items)

    def dict_display(self, span: Span, *pairs: ast.Pair) -> ast.Dict:
        return ast.Dict(span, pairs)

    pair = ast.Pair
    starred = ast.Starred

    def merged(self, span: Span, value: ast.Expr) -> ast.Pair:
        return ast.Pair(span, None, value)

    def clause(
        self, span: Span, target: ast.Expr, iterable: ast.Expr, *conditions: ast.Expr
    ) -> ast.Clause:
        return ast.Clause(span, target, iterable, conditions)

    def list_comprehension(
        self, span: Span, element: ast.Expr, *clauses: ast.Clause
    ) -> ast.Comprehension:
        return ast.Comprehension(span, "list", element, clauses)

    def set_comprehension(
        self, span: Span, element: ast.Expr, *clauses: ast.Clause
    ) -> ast.Comprehension:
        return ast.Comprehension(span, "set", element, clauses)

    def dict_comprehension(
        self, span: Span, element: ast.Pair, *clauses: ast.Clause
    ) -> ast.Comprehension:
        if element.key is None:
            message = "a comprehension has one `key: value` before its `for`"
            raise Fault("syntax-error", message, *element.span)
        return ast.Comprehension(span, "dict", element, clauses)

    def generator(self, span: Span, element: ast.Expr, *clauses: ast.Clause) -> ast.Comprehension:
        return ast.Comprehension(span, "generator", element, clauses)

    # --- atoms -------------------------------------------------------------------------------

    def name(self, span: Span, text: str) -> ast.Name:
        return ast.Name(span, identifier(text, span))

    def number(self, span: Span, text: str) -> ast.Literal:
        return ast.Literal(span, number(span, text))

    def true(self, span: Span) -> ast.Literal:
        return ast.Literal(span, True)

    def false(self, span: Span) -> ast.Literal:
        return ast.Literal(span, False)

    def none(self, span: Span) -> ast.Literal:
        return ast.Literal(span, None)

    def ellipsis(self, span: Span) -> ast.Literal:
        return ast.Literal(span, ...)

    def plain_string(self, span: Span, text: str) -> ast.Literal:
        return ast.Literal(span, plain_string(span, text))

    def format_string(self, span: Span, text: str) -> ast.FString:
        return ast.FString(span, format_string(span, text, self._part))

    def strings(self, span: Span, *strings: ast.Literal | ast.FString) -> ast.Expr:
        if len(strings) == 1:
            return strings[0]
        parts: list[ast.Literal | ast.Formatted] = []
        for string in strings:
            parts.extend(string.parts if isinstance(string, ast.FString) else (string,))
        merged = merge(parts)
        if all(isinstance(string, ast.Literal) for string in strings):
            return ast.Literal(span, "".join(str(part.value) for part in merged))
        return ast.FString(span, merged)


def _is_main(statement: ast.If) -> bool:
    """True if a statement is `if __name__ == "__main__":` without an `else`."""
    match statement:
        case ast.If(
            test=ast.Compare(
                first=ast.Name(id="__name__"), ops=("==",), rest=(ast.Literal(value="__main__"),)
            ),
            orelse=(),
        ):
            return True
    return False
