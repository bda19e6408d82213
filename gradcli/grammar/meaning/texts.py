"""Names that an expression uses as texts."""

from __future__ import annotations

from gradcli.grammar.meaning.names import walk
from gradcli.grammar.syntax import ast

_METHODS = frozenset(
    {
        *("startswith", "endswith", "removeprefix", "removesuffix", "find", "replace", "split"),
        *("lower", "upper", "casefold", "title", "capitalize", "strip", "lstrip", "rstrip"),
        *("isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace"),
    }
)


def names_of_texts(expression: ast.Expr) -> frozenset[str]:
    """The names whose values are texts: those compared with a text or several, joined to one, or
    asked for a method of texts.
    """
    found: set[str] = set()
    count = -1
    while len(found) > count:  # a name compared with another one that is a text
        count = len(found)
        for node, _, _ in walk(expression):
            if isinstance(node, ast.Compare):
                _add([node.first, *node.rest], found)
            elif isinstance(node, ast.Binary) and node.op == "+":
                _add([node.left, node.right], found)
            elif isinstance(node, ast.Attribute) and node.name in _METHODS:
                found.update(_root(node.value))
    return frozenset(found)


def _add(values: list[ast.Expr], found: set[str]) -> None:
    """Add the names of some values if one of them is a text."""
    if any(_is_text(value) or found.intersection(_root(value)) for value in values):
        found.update(name for value in values for name in _root(value))


def _is_text(node: ast.Expr) -> bool:
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return bool(node.items) and all(map(_is_text, node.items))
    return isinstance(node, ast.FString) or (
        isinstance(node, ast.Literal) and isinstance(node.value, str)
    )


def _root(node: ast.Expr) -> list[str]:
    """The name of which a value is a part, or the answer of a method."""
    while isinstance(node, (ast.Index, ast.Attribute, ast.Call)):
        node = node.function if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Name):
            return [node.id]
    return [node.id] if isinstance(node, ast.Name) else []
