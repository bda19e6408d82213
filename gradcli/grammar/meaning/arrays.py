"""Tell which expressions are NumPy's arrays in a program that imports PyTorch, too.

Some methods have one meaning for arrays and another for tensors: `x.std()`, `x.max(axis=0)`; and
their texts differ. A value counts as an array where the text of the program makes that certain: it
comes from NumPy's functions, from `.numpy()`, from arithmetic and methods of arrays, or from
functions of the program that return such values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from gradcli.grammar.syntax import ast

if TYPE_CHECKING:
    from gradcli.grammar.meaning.scopes import Scope

_NO_ARRAYS = frozenset({"item", "tolist"})
"""Methods of arrays that give no arrays."""
_SIGNS = frozenset({"<", "<=", ">", ">=", "==", "!="})


class Arrays:
    """The names and functions of a program that are certainly arrays, or give them.

    Args:
        body: The statements of the program.
        counts: How often each top-level name is given a value.
        counts_inside: The same of the names of a function, by it and its scope.
        scope_of: The scope of a top-level function.
        path: The full dotted path of an expression in a scope, None if it has none.
    """

    def __init__(
        self,
        body: tuple[ast.Statement, ...],
        counts: Mapping[str, int],
        counts_inside: Callable[[ast.Def, Scope], Mapping[str, int]],
        scope_of: Callable[[ast.Def], Scope],
        path: Callable[[ast.Expr, Scope | None], str | None],
    ) -> None:
        self._body = body
        self._counts = counts
        self._counts_inside = counts_inside
        self._scope_of = scope_of
        self._path = path
        defined = [s for s in body if isinstance(s, ast.Def) and not s.decorators]
        self._functions = {made.name: made for made in defined if counts[made.name] == 1}
        self._give: dict[str, bool] = {}
        self._top: frozenset[str] | None = None
        self._inside: dict[int, tuple[ast.Def, frozenset[str]]] = {}  # by the function's id

    def has(self, expr: ast.Expr, scope: Scope | None) -> bool:
        """True if an expression is certainly an array in a scope."""
        return _is_array(expr, self._names(scope), self._asked(scope))

    def _asked(self, scope: Scope | None) -> Callable[[ast.Expr], bool | None]:
        """Tell of a function in a scope whether its call gives an array; None if it is a method,
        whose receiver decides.
        """

        def given(function: ast.Expr) -> bool | None:
            full = self._path(function, scope)
            if full is not None and full.startswith(("numpy.", "scipy.")):
                return True
            if not isinstance(function, ast.Name):
                return None
            own = scope is not None and scope.binds(function.id)
            return function.id in self._functions and not own and self._gives(function.id)

        return given

    def _gives(self, name: str) -> bool:
        """True if each `return` of a function is an array. While it is found out, a function that
        calls itself gives none.
        """
        if name not in self._give:
            self._give[name] = False
            made = self._functions[name]
            scope = self._scope_of(made)
            given = [s.value for s in _statements(made.body) if isinstance(s, ast.Return)]
            self._give[name] = bool(given) and all(
                value is not None and self.has(value, scope) for value in given
            )
        return self._give[name]

    def _names(self, scope: Scope | None) -> frozenset[str]:
        """The names of arrays that a scope sees: its own, and those of the scopes around it."""
        if scope is None:
            if self._top is None:
                self._top = frozenset()  # while it is found out
                asked = self._asked(None)
                self._top = _array_names(self._body, self._counts, asked, frozenset())
            return self._top
        around = self._names(scope.outer) - scope.names
        if scope.made is None:
            return around
        if id(scope.made) not in self._inside:
            self._inside[id(scope.made)] = scope.made, frozenset()
            counts, asked = self._counts_inside(scope.made, scope), self._asked(scope)
            own = _array_names(scope.made.body, counts, asked, around)
            self._inside[id(scope.made)] = scope.made, own
        return around | self._inside[id(scope.made)][1]


def _array_names(
    body: tuple[ast.Statement, ...],
    counts: Mapping[str, int],
    asked: Callable[[ast.Expr], bool | None],
    around: frozenset[str],
) -> frozenset[str]:
    """Return the names of a scope to which nothing but arrays is assigned.

    Args:
        body: The statements of the program or function.
        counts: How often each name of this scope is given a value.
        asked: What is known of the call of a function.
        around: Names of arrays in the scopes around it.
    """
    values: dict[str, list[ast.Expr]] = {}
    updates: dict[str, int] = {}
    for statement in _statements(body):
        if isinstance(statement, ast.Update) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            updates[name] = updates.get(name, 0) + 1
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name, value in _assigned(target, statement.value):
                    values.setdefault(name, []).append(value)
        elif isinstance(statement, ast.For):
            for name, value in _assigned(statement.target, _each(statement.iterable)):
                values.setdefault(name, []).append(value)
    likely = [x for x in values if len(values[x]) + updates.get(x, 0) == counts.get(x)]
    known = {*around, *likely}
    removed = True
    while removed:  # seldom more than twice: names depend on those that stand before them
        removed = False
        for name in [x for x in likely if x in known]:
            if not all(_is_array(e, known, asked) for e in values[name]):
                known.remove(name)
                removed = True
    return frozenset(known.intersection(likely))


def _is_array(
    expr: ast.Expr, names: Collection[str], asked: Callable[[ast.Expr], bool | None]
) -> bool:
    """True if an expression is certainly an array; `names` are those of arrays."""
    pending, found = [expr], False
    while pending:
        match pending.pop():
            case ast.Literal():
                pass
            case ast.Name(id=name):
                if name not in names:
                    return False
                found = True
            case ast.Binary(left=left, right=right):
                pending += (left, right)
            case ast.Compare(first=first, ops=(sign,), rest=(second,)) if sign in _SIGNS:
                pending += (first, second)
            case ast.Unary(op="-", operand=inner) | ast.Index(value=inner):
                pending.append(inner)
            case ast.Attribute(name="T", value=inner):
                pending.append(inner)
            case ast.Call(function=function):
                given = asked(function)
                if given is not None:
                    if not given:
                        return False
                    found = True
                elif not isinstance(function, ast.Attribute) or function.name in _NO_ARRAYS:
                    return False
                elif function.name == "numpy":
                    found = True
                else:
                    pending.append(function.value)
            case _:
                return False
    return found


def _assigned(target: ast.Expr, value: ast.Expr) -> Iterator[tuple[str, ast.Expr]]:
    """The names that are assigned, with their values: those of `x = a`, of `x, y = a, b`, and of
    `u, s, v = a`, whose parts count as `a` does.
    """
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        if isinstance(value, ast.Tuple) and len(value.items) == len(target.items):
            values = value.items
        else:
            values = (value,) * len(target.items)
        for part, given in zip(target.items, values, strict=True):
            yield from _assigned(part, given)


def _each(iterable: ast.Expr) -> ast.Expr:
    """What a turn of a loop gets, as an expression: a part of an array counts as the array."""
    match iterable:
        case ast.Call(function=ast.Name(id="zip"), args=args):
            return ast.Tuple(iterable.span, args)
        case ast.Call(function=ast.Name(id="enumerate"), args=(among,)):
            return ast.Tuple(iterable.span, (ast.Literal(iterable.span, 0), among))
    return iterable


def _statements(body: tuple[ast.Statement, ...]) -> Iterator[ast.Statement]:
    """The statements of a block and of the blocks in it, without those of functions and classes."""
    for statement in body:
        yield statement
        match statement:
            case ast.If() | ast.While() | ast.For():
                yield from _statements((*statement.body, *statement.orelse))
            case ast.With():
                yield from _statements(statement.body)
            case ast.Try():
                handled = (s for handler in statement.handlers for s in handler.body)
                whole = (*statement.body, *handled, *statement.orelse, *statement.last)
                yield from _statements(whole)
