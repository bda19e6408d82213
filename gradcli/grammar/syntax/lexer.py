"""The lexer: turns text into tokens."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.grammar.syntax.layout import Token
from gradcli.grammar.syntax.tables import Tables, pattern


def tokens(tables: Tables, text: str, start: int, end: int) -> Iterator[Token]:
    """Tokens of the text from `start` to `end`, without blanks and comments.

    Raises:
        Fault: Text that begins no token.
    """
    match = pattern(text).match
    fixed = tables.fixed
    ignored = tables.ignored
    reserved = tables.reserved
    at = start
    while at < end:
        found = match(text, at, end)
        if found is None:
            break
        kind = found.lastgroup
        assert kind is not None
        begin, stop = found.span(kind)
        if kind == "NAME" or kind == "OPERATOR":  # noqa: PLR1714  # a tuple takes twice as long
            part = found[kind]
            kind = fixed.get(part, kind)
            if kind == "NAME" and part in reserved:
                at = begin
                break
            yield kind, part, begin, stop
        elif kind not in ignored:
            yield kind, found[kind], begin, stop
        at = stop
    if at < end:
        from gradcli.grammar.syntax.unreadable import fault

        raise fault(text, at, end)


def comments(text: str) -> Iterator[Token]:
    """The comments of a text that has no character which begins no token."""
    match = pattern(text).match
    at = 0
    while found := match(text, at):
        kind = found.lastgroup
        assert kind is not None
        begin, at = found.span(kind)
        if kind == "COMMENT":
            yield kind, found[kind], begin, at
