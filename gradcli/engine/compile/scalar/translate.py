"""Translate Python functions on numbers into the scalar form by partial evaluation of their text.

Values known at compile time, such as a static parameter, the type of an argument or a function
passed as an argument, are plain Python values here and emit nothing. A `Number` is known only at
run time. A function that raises bails out, unless a `try` of its own handles the error.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeAlias

from gradcli.engine.compile.scalar import numbers
from gradcli.engine.compile.scalar.builder import CARRIERS, Builder, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import OTHER_TYPE, RAISED, Undefined
from gradcli.engine.compile.scalar.library import native
from gradcli.engine.compile.scalar.sources import tree
from gradcli.engine.compile.scalar.values import (
    Lambda,
    Method,
    Scope,
    bind,
    by_pieces,
    evaluated,
    moves,
    number,
    operand,
    same,
    type_of,
)
from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.hypot import hypot
from gradcli.engine.numerics.piecewise import pieces
from gradcli.engine.ops.op import Op

Piecewise: TypeAlias = Callable[[FunctionType, Mapping[str, Any]], str]

_CLASSES: Mapping[str, type] = {"float": float, "int": int, "whole": int, "bool": bool}

_UNARY: dict[type[ast.unaryop], tuple[Any, Any]] = {
    ast.USub: (operator.neg, numbers.negative),
    ast.UAdd: (operator.pos, numbers.positive),
    ast.Invert: (operator.invert, numbers.inverted),
    ast.Not: (operator.not_, numbers.opposite),
}
_BINARY: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARED: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda x, y: x in y,
    ast.NotIn: lambda x, y: x not in y,
}


def call(
    b: Builder,
    piecewise: Piecewise,
    function: Callable[..., Any],
    args: Sequence[Any],
    params: Mapping[str, Any],
    wanted: str,
) -> Number:
    """Emit a call of a function with a number of the type `wanted` as its value; code bails out if
    the value has another type. `piecewise` returns the name of a piecewise function, given its
    arguments by name.
    """
    result = _Translator(b, piecewise).call(function, args, dict(params), wanted)
    return numbers.converted(b, number(result), wanted)


def inlined(
    b: Builder, piecewise: Piecewise, function: FunctionType, args: Mapping[str, Any]
) -> Number:
    """Emit the body of a function on floats, with arguments by name."""
    return number(_Translator(b, piecewise).inline(function, args, "float"))


class _Translator:
    def __init__(self, builder: Builder, piecewise: Piecewise) -> None:
        self.b = builder
        self.piecewise = piecewise
        self.inside: list[FunctionType] = []  # functions under translation, which must not recurse

    # calls

    def call(
        self,
        function: Any,
        args: Sequence[Any],
        params: dict[str, Any],
        wanted: str | None,
    ) -> Any:
        """Emit a call, or compute it if all arguments are known."""
        if not any(map(moves, (*args, *params.values()))):
            return evaluated(function, *args, **params)
        if function is type:
            return evaluated(operator.getitem, _CLASSES, args[0].type)
        if function is map:
            return tuple(
                self.call(args[0], items, {}, None) for items in zip(*args[1:], strict=False)
            )
        if function is isinstance:
            return issubclass(evaluated(operator.getitem, _CLASSES, args[0].type), args[1])
        if function is pieces and args[1] is ieee:
            return self.piece(args[0], args[2], args[3])
        if isinstance(function, Lambda):
            given = dict(zip(function.names, args, strict=True))
            return self.expression(function.body, function.scope.inner(given), wanted)
        if isinstance(function, Op) and function.value.number is not None:
            function = function.value.number
        if function is math.hypot:
            function = hypot
        write = native(function)
        if write is not None and not params:
            found = write(self.b, *(operand(a) for a in args))
            if found is not None:
                return found
        if not isinstance(function, FunctionType) or function in self.inside:
            raise Untranslatable(f"a call of {function!r}")
        bound = bind(function, args, params)
        if by_pieces(function):
            name = self.piecewise(function, bound)
            floats = [a.value for a in bound.values() if isinstance(a, Number)]
            return self.b.called(name, "float", floats)
        self.inside.append(function)
        found = self.inline(function, bound, wanted)
        self.inside.pop()
        return found

    def piece(self, x: Number, bounds: Sequence[float], functions: Sequence[Any]) -> Number:
        """Emit `pieces` on a number: a branch to the function for the interval of x."""
        on, ways = self.b.new_label(), []
        for bound, function in zip((*bounds, None), functions, strict=True):
            after = self.b.new_label()
            if bound is not None:
                here = self.b.new_label()
                below = numbers.compared(self.b, "Lt", x, number(bound))
                self.b.branch(below.value, here, after)
                self.b.start(here)
            value = number(self.call(function, (x, ieee), {}, "float"))
            ways.append((value, self.b.label))
            self.b.go(on)
            if bound is not None:
                self.b.start(after)
        self.b.start(on)
        return self.join(ways)  # type: ignore[no-any-return]  # of numbers

    def inline(self, function: FunctionType, args: Mapping[str, Any], wanted: str | None) -> Any:
        scope = Scope(function, dict(args))
        scope.wanted = wanted
        node = tree(function.__code__)
        if isinstance(node, ast.Lambda):
            return self.expression(node.body, scope, wanted)
        scope.end = self.b.new_label()
        match node.body:
            case [ast.Return(value=ast.expr() as value)] | [
                ast.Expr(ast.Constant()),
                ast.Return(value=ast.expr() as value),
            ]:
                found = self.expression(value, scope, wanted)
                if not self.b.ended and (wanted is None or type_of(found) in (wanted, None)):
                    return found
                self.give(found, scope)
            case body:
                self.block(body, scope)
        if not self.b.ended:
            raise Untranslatable("a function ends without a value")
        if not scope.ends:  # all paths raise
            self.b.start(self.b.new_label())
            return Number(Undefined(CARRIERS[wanted or "float"]), wanted or "float")
        self.b.start(scope.end)
        return self.join(scope.ends)

    def join(self, ways: Sequence[tuple[Any, int]]) -> Any:
        """The merge of values from several blocks."""
        first = ways[0][0]
        if len(ways) == 1 or all(not moves(x) and same(x, first) for x, _ in ways):
            return first
        found = [(number(x), block) for x, block in ways]
        types = {x.type for x, _ in found}
        if len(types) > 1:
            raise Untranslatable(f"a value of one of several types: {sorted(types)}")
        type = types.pop()
        ways = [(x.value, block) for x, block in found]
        return Number(self.b.merged(CARRIERS[type], ways), type)

    # statements

    def block(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        """Emit statements up to the one that ends the block."""
        for statement in body:
            if self.b.ended:
                return
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.Return(value=ast.expr() as value):
                self.give(self.expression(value, scope, scope.wanted), scope)
            case ast.Raise():
                self.b.give_up(RAISED)
            case ast.If():
                self.choose(node, scope)
            case ast.Try(handlers=handlers, orelse=[], finalbody=[]):
                self.attempt(node.body, handlers, scope)
            case ast.Assign(targets=targets):
                value = self.expression(node.value, scope)
                for target in targets:
                    self.assign(target, value, scope)
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(node.target, self.expression(value, scope), scope)
            case ast.AugAssign(target=ast.Name(id=name)):
                x, y = scope.look_up(name), self.expression(node.value, scope)
                scope.variables[name] = self.binary(node.op, x, y)
            case ast.For(orelse=[]):
                items = self.expression(node.iter, scope)
                if isinstance(items, Number):
                    raise Untranslatable("a loop over an unknown value")
                for item in items:
                    self.assign(node.target, item, scope)
                    self.block(node.body, scope)
            case ast.Expr():
                value = self.expression(node.value, scope)
                if isinstance(value, Number):
                    raise Untranslatable("a value that nobody reads")
            case _:
                raise Untranslatable(f"a statement: {type(node).__name__}")

    def give(self, value: Any, scope: Scope) -> None:
        """Emit a `return`."""
        if self.b.ended:
            return
        if scope.wanted is not None and type_of(value) not in (scope.wanted, None):
            if type_of(value) not in ("whole", "mixed"):
                self.b.give_up(OTHER_TYPE)
                return
            value = numbers.converted(self.b, number(value), scope.wanted)
        scope.ends.append((value, self.b.label))
        self.b.go(scope.end)

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.variables[name] = value
            case ast.Tuple(elts=targets) if isinstance(value, tuple):
                for inner, item in zip(targets, value, strict=True):
                    self.assign(inner, item, scope)
            case _:
                raise Untranslatable(f"an assignment to {ast.unparse(target)}")

    def choose(self, node: ast.If, scope: Scope) -> None:
        test = self.truth(self.expression(node.test, scope))
        if not isinstance(test, Number):
            self.block(node.body if test else node.orelse, scope)
            return
        yes, no, on = self.b.new_label(), self.b.new_label(), self.b.new_label()
        self.b.branch(test.value, yes, no)
        before, left = scope.variables, []
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.b.start(label)
            scope.variables = dict(before)
            self.block(body, scope)
            if not self.b.ended:
                left.append((scope.variables, self.b.label))
                self.b.go(on)
        self.merge(left, on, scope)

    def attempt(
        self, body: Sequence[ast.stmt], handlers: Sequence[ast.ExceptHandler], scope: Scope
    ) -> None:
        kinds = [h.type.id if isinstance(h.type, ast.Name) else "" for h in handlers]
        before, left, on = scope.variables, [], self.b.new_label()
        scope.variables = dict(before)
        with self.b.handling(kinds) as labels:
            self.block(body, scope)
        if not self.b.ended:
            left.append((scope.variables, self.b.label))
            self.b.go(on)
        for kind, handler in zip(kinds, handlers, strict=True):
            if not labels[kind].used:
                continue
            self.b.start(labels[kind].label)
            scope.variables = dict(before)
            self.block(handler.body, scope)
            if not self.b.ended:
                left.append((scope.variables, self.b.label))
                self.b.go(on)
        self.merge(left, on, scope)

    def merge(self, left: Sequence[tuple[dict[str, Any], int]], on: int, scope: Scope) -> None:
        """Continue after several blocks, with their variables merged."""
        if not left:
            return
        self.b.start(on)
        names = set.intersection(*(set(variables) for variables, _ in left))
        merged = {}
        for name in sorted(names):
            values = [(variables[name], block) for variables, block in left]
            same = all(x is values[0][0] for x, _ in values)
            merged[name] = values[0][0] if same else self.join(values)
        scope.variables = merged

    # expressions

    def expression(self, node: ast.expr, scope: Scope, wanted: str | None = None) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return scope.look_up(name)
            case ast.Attribute(value=inner, attr=name):
                held = self.expression(inner, scope)
                if isinstance(held, Number):
                    return Method(held, name)
                return getattr(held, name)
            case ast.UnaryOp(op=sign, operand=inner):
                known, write = _UNARY[type(sign)]
                x = self.expression(inner, scope)
                return write(self.b, x) if isinstance(x, Number) else evaluated(known, x)
            case ast.BinOp(left=left, op=sign, right=right):
                x = self.expression(left, scope)
                return self.binary(sign, x, self.expression(right, scope))
            case ast.Compare():
                return self.comparison(node, scope)
            case ast.BoolOp(op=sign, values=values):
                return self.junction(isinstance(sign, ast.And), values, scope)
            case ast.IfExp():
                return self.conditional(node, scope, wanted)
            case ast.Call():
                return self.call_of(node, scope, wanted)
            case ast.Lambda(body=body, args=ast.arguments(args=names)):
                return Lambda([a.arg for a in names], body, scope)
            case ast.List(elts=items):
                return [self.expression(i, scope) for i in items]
            case ast.Tuple(elts=items):
                return tuple(self.expression(i, scope) for i in items)
            case ast.Subscript(value=held, slice=index):
                values = self.expression(held, scope)
                return evaluated(operator.getitem, values, self.expression(index, scope))
            case ast.Slice(lower=low, upper=high, step=step):
                ends = (None if end is None else self.expression(end, scope) for end in (low, high))
                return evaluated(slice, *ends, step and self.expression(step, scope))
            case _:
                raise Untranslatable(f"an expression: {type(node).__name__}")

    def call_of(self, node: ast.Call, scope: Scope, wanted: str | None) -> Any:
        function = self.expression(node.func, scope)
        args: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                args += self.expression(a.value, scope)
            else:
                args.append(self.expression(a, scope))
        params: dict[str, Any] = {}
        for k in node.keywords:
            value = self.expression(k.value, scope)
            params.update(value if k.arg is None else {k.arg: value})
        if isinstance(function, Method):
            if function.name != "bit_length":
                raise Untranslatable(f"the method {function.name}")
            return numbers.bit_length(self.b, function.of)
        return self.call(function, args, params, wanted)

    def binary(self, sign: ast.operator, x: Any, y: Any) -> Any:
        if not moves(x) and not moves(y):
            return evaluated(_BINARY[type(sign)], x, y)
        return numbers.operation(self.b, type(sign).__name__, number(x), number(y))

    def comparison(self, node: ast.Compare, scope: Scope) -> Any:
        left = self.expression(node.left, scope)
        found: list[Any] = []
        for sign, right in zip(node.ops, node.comparators, strict=True):
            other = self.expression(right, scope)
            if not moves(left) and not moves(other):
                found.append(evaluated(_COMPARED[type(sign)], left, other))
            elif left is other and isinstance(sign, ast.NotEq) and CARRIERS[left.type] != "float":
                found.append(False)  # `x != x` tests for nan
            elif isinstance(sign, ast.Is | ast.IsNot):
                found.append(isinstance(sign, ast.IsNot))  # a number is not None
            else:
                name = type(sign).__name__
                found.append(numbers.compared(self.b, name, number(left), number(other)))
            left = other
        if not any(map(moves, found)):
            return all(found)
        together, *tests = [number(x).value for x in found]
        for test in tests:
            together = self.b.put("bool_and", together, test)
        return Number(together, "bool")

    def junction(self, all_of: bool, values: Sequence[ast.expr], scope: Scope) -> Any:
        """Emit `and` or `or`."""
        x = self.expression(values[0], scope)
        if len(values) == 1:
            return x
        test = self.truth(x)
        if not isinstance(test, Number):
            return self.junction(all_of, values[1:], scope) if bool(test) == all_of else x
        more, on, before = self.b.new_label(), self.b.new_label(), self.b.label
        self.b.branch(test.value, *((more, on) if all_of else (on, more)))
        self.b.start(more)
        y = self.junction(all_of, values[1:], scope)
        after = self.b.label
        self.b.go(on)
        self.b.start(on)
        return self.join([(x, before), (y, after)])

    def conditional(self, node: ast.IfExp, scope: Scope, wanted: str | None) -> Any:
        test = self.truth(self.expression(node.test, scope))
        if not isinstance(test, Number):
            return self.expression(node.body if test else node.orelse, scope, wanted)
        yes, no, on = self.b.new_label(), self.b.new_label(), self.b.new_label()
        self.b.branch(test.value, yes, no)
        ways = []
        for label, value in ((yes, node.body), (no, node.orelse)):
            self.b.start(label)
            x = self.expression(value, scope, wanted)
            if wanted is not None and type_of(x) not in (wanted, "whole", "mixed", None):
                self.b.give_up(OTHER_TYPE)
                continue
            ways.append((x, self.b.label))
            self.b.go(on)
        ways = self.alike(ways)
        self.b.start(on)
        if not ways:
            return Number(Undefined(CARRIERS[wanted or "float"]), wanted or "float")
        return self.join(ways)

    def alike(self, ways: Sequence[tuple[Any, int]]) -> list[tuple[Any, int]]:
        """The same values, with numbers of several types converted to a common one."""
        types = {type_of(x) or "" for x, _ in ways}
        if len(types) == 1 or "" in types or ("whole" in types and "float" not in types):
            return [*ways]
        found = []
        for x, label in ways:
            with self.b.at_the_end_of(label):
                found.append((numbers.common(self.b, number(x), types), label))
        return found

    def truth(self, x: Any) -> Any:
        """A bool for a known value, else a `Number` with its truth."""
        return numbers.to_bool(self.b, x) if isinstance(x, Number) else bool(x)
