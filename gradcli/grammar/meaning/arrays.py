"""Tell which expressions are NumPy's arrays in a program that imports PyTorch, too.

Some methods have one meaning for arrays and another for tensors: `x.std()`, `x.max(axis=0)`. A
value counts as an array where the text makes that certain: it comes from NumPy's functions, from
`.numpy()` or from arithmetic and methods of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from gradcli.grammar.syntax import ast

_NO_ARRAYS = frozenset({"item", "tolist"})
"""Methods of arrays that give no arrays."""


def array_names(
    body: tuple[ast.Statement, ...],
    counts: Mapping[str, int],
    path: Callable[[ast.Expr], str | None],
    around: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """Return the names of a scope to which nothing but arrays is assigned.

    Args:
        body: The statements of the program or function.
        counts: How often each name of this scope is given a value; a parameter has one.
        path: The full dotted path of an expression, None if it has none.
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
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(statement.value)
    likely = [x for x in values if len(values[x]) + updates.get(x, 0) == counts.get(x)]
    known = {*around, *likely}
    removed = True
    while removed:  # seldom more than twice: names depend on those that stand before them
        removed = False
        for name in [x for x in likely if x in known]:
            if not all(is_array(e, known, path) for e in values[name]):
                known.remove(name)
                removed = True
    return frozenset(known.intersection(likely))


def is_array(
    expr: ast.Expr, names: Collection[str], path: Callable[[ast.Expr], str | None]
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
            case ast.Unary(op="-", operand=inner) | ast.Index(value=inner):
                pending.append(inner)
            case ast.Attribute(name="T", value=inner):
                pending.append(inner)
            case ast.Call(function=function):
                full = path(function)
                if full is not None and full.startswith(("numpy.", "scipy.")):
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
