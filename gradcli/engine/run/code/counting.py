"""Code that counts what a run does: it ends where nothing of what it may do is left.

The counters are the session's. They stand on what is left, so that code of any kind has to know no
limit to keep them: it takes one off, and where that is less than none it calls what raises.
"""

from __future__ import annotations

import ast
from typing import Any

from gradcli.engine.run.code.pieces import Pieces
from gradcli.ir.program import Call, Function, Method
from gradcli.ir.visit import instructions
from gradcli.source import Span


class Counting:
    """Code that counts what nothing else bounds: calls within each other, of functions that call
    any. The others add one at most.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._nests = False

    def enter(self, function: Function) -> bool:
        """Begin the code of a function; gives what `leave` wants."""
        outside, self._nests = self._nests, self.counts(function)
        return outside

    def leave(self, outside: bool) -> None:
        """Go back to the code around it."""
        self._nests = outside

    def counts(self, function: Function) -> bool:
        """True if calls of a function count."""
        return any(isinstance(i, (Call, Method)) for i in instructions(function.body))

    def step(self, span: Span) -> list[ast.stmt]:
        """Statements that count a turn of a loop or a call, at its place."""
        return []

    def entered(self, span: Span) -> list[ast.stmt]:
        """Statements that a call of the function does first."""
        deeper = self._one_less("depth", "@too_deep", span) if self._nests else []
        return [*self.step(span), *deeper]

    def left(self, span: Span) -> list[ast.stmt]:
        """Statements that a call does last. An error skips them: no run continues after one."""
        return [self._change("depth", ast.Add(), span)] if self._nests else []

    def _one_less(self, counter: str, end: str, span: Span) -> list[ast.stmt]:
        at, pieces = self._pieces.at(span), self._pieces
        left = self._counter(counter, ast.Load(), span)
        none = ast.Compare(left, [ast.Lt()], [pieces.constant(0, span)], **at)
        over = ast.Expr(pieces.ask(end, span, of="@counters"), **at)
        return [self._change(counter, ast.Sub(), span), ast.If(none, [over], [], **at)]

    def _change(self, counter: str, by: ast.operator, span: Span) -> ast.stmt:
        one = self._pieces.constant(1, span)
        changed = self._counter(counter, ast.Store(), span)
        return ast.AugAssign(changed, by, one, **self._pieces.at(span))

    def _counter(self, name: str, context: ast.expr_context, span: Span) -> Any:
        pieces = self._pieces
        return ast.Attribute(pieces.name("@counters", span), name, context, **pieces.at(span))


class Stepping(Counting):
    """Code that counts each turn of a loop and each call, too, and all calls within each other."""

    def counts(self, function: Function) -> bool:
        return True

    def step(self, span: Span) -> list[ast.stmt]:
        return self._one_less("steps", "@out_of_steps", span)
