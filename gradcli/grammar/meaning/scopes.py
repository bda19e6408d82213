"""The scopes of a program: which names its functions and classes have of their own."""

from __future__ import annotations

from gradcli.grammar.syntax import ast
from gradcli.record import Record


class Scope(Record):
    """The names of a function or class, and the enclosing scope; None stands for the top level.
    Functions in a class do not see the names of its body. `kind` is "class", "method" (also of a
    function in a method) or "function"; `made` is the `def` if it is one.
    """

    __slots__ = ("names", "outer", "kind", "made")
    names: frozenset[str]
    outer: Scope | None
    kind: str
    made: ast.Def | None

    def binds(self, name: str) -> bool:
        """True if the name is local here or in an enclosing function."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.outer
        return False
