"""The terminals that the grammar accepts after some text."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.grammar.syntax.tables import Tables


def acceptable(tables: Tables, start: int, before: Iterable[str]) -> set[str]:
    """The terminals that may follow.

    Args:
        tables: The automaton.
        start: Its first state.
        before: The terminals of the text so far, which the grammar accepts.
    """
    stack = [start]
    for terminal in before:
        _advance(tables, stack, terminal)
    terminals = {t for _, actions in tables.states for t in actions}
    return {t for t in terminals if _advance(tables, stack.copy(), t)}


def _advance(tables: Tables, stack: list[int], terminal: str) -> bool:
    """True if the terminal can be shifted, after any reductions; the stack changes."""
    while True:
        default, actions = tables.states[stack[-1]]
        action = actions.get(terminal, default)
        if action is None:
            return False
        if action >= 0:
            stack.append(action)
            return True
        origin, size, *_ = tables.rules[-1 - action]
        if size:
            del stack[-size:]
        stack.append(tables.following(stack[-1], origin))
