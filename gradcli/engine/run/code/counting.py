"""Code that counts steps and calls, and ends the run when a limit is reached.

The session has the counters. They hold the remaining amounts, so code needs no limit to count: it
subtracts one, and calls a function that raises if the result is negative.
"""

from __future__ import annotations

import ast
from typing import Any

from gradcli.engine.run.code.pieces import Pieces
from gradcli.ir.program import Call, Function, Method
from gradcli.ir.visit import instructions
from gradcli.source import Span


class Counting:
    """Code that counts only nested calls, of functions that call any. All other nesting adds at
    most one.
    """

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._nests = False

    def enter(self, function: Function) -> bool:
        """Begin the code of a function; the result is for `leave`."""
        outside, self._nests = self._nests, self.counts(function)
        return outside

    def leave(self, outside: bool) -> None:
        """Return to the enclosing code."""
        self._nests = outside

    def counts(self, function: Function) -> bool:
        """True if calls of a function are counted."""
        return any(isinstance(i, (Call, Method)) for i in instructions(function.body))

    def step(self, span: Span) -> list[ast.stmt]:
        """Statements that count a turn of a loop or a call, at its place."""
        return []

    def entered(self, span: Span) -> list[ast.stmt]:
        """Statements at the start of a function's call."""
        deeper = self._one_less("depth", "@too_deep", span) if self._nests else []
        return [*self.step(span), *deeper]

    def left(self, span: Span) -> list[ast.stmt]:
        """Statements at the end of a call. An error skips them: no run continues after one."""
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
    """Code that counts each turn of a loop and each call, and all nested calls."""

    def counts(self, function: Function) -> bool:
        return True

    def step(self, span: Span) -> list[ast.stmt]:
        return self._one_less("steps", "@out_of_steps", span)
