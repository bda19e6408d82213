"""Indentation: turns the tokens of lines into tokens of statements and blocks.

Our parser and Lark share this pass, so it works on plain tuples. It drops line breaks inside
brackets and blank lines, and keeps those that end a statement. It inserts `_INDENT` and `_DEDENT`
where blocks begin and end, as empty tokens right after the last real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from gradcli.errors import Label
from gradcli.grammar.syntax.faults import Fault
from gradcli.source import Span

Token: TypeAlias = tuple[str, str, int, int]
"""Terminal, text, start and end."""

MAX_BLOCKS = 100

_CLOSERS = {")": "(", "]": "[", "}": "{"}
OPENERS, CLOSERS = frozenset({"LPAR", "LSQB", "LBRACE"}), frozenset({"RPAR", "RSQB", "RBRACE"})
_STRUCTURE = OPENERS | CLOSERS | {"_NEWLINE"}
_BREAKS = frozenset({"_NEWLINE", "_INDENT", "_DEDENT"})


def layout(tokens: Iterable[Token], end: int, *, bracketed: bool = False) -> Iterator[Token]:
    """Tokens with blocks marked, and `$END` after the last one. `end` is where the text ends. If
    bracketed, the text is an expression that may break lines anywhere.

    Raises:
        Fault: A bracket without its partner, or an indentation that fits no block.
    """
    brackets: list[Token] = []
    indents = [""]
    between = not bracketed  # between statements: the next token begins one
    indent: str | None = None
    last = 0
    for token in tokens:
        kind, text, start, stop = token
        if kind in _STRUCTURE:
            if kind == "_NEWLINE":
                if brackets or bracketed:
                    continue
                if not between:
                    yield "_NEWLINE", "", last, last
                    between = True
                indent = text.lstrip("\r\n")
                continue
            if text in _CLOSERS:
                _close(brackets, token)
            else:
                brackets.append(token)
        if between:
            between = False
            if indent is None:
                if start > 0:
                    raise Fault("bad-indent", "the first line is indented", 0, start)
            elif indent != indents[-1]:
                for inserted in _blocks(indents, indent, start):
                    yield inserted, "", last, last
        last = stop
        yield token
    if brackets:
        raise unclosed(brackets[-1])
    if not between and not bracketed:
        yield "_NEWLINE", "", last, last
    for _ in indents[1:]:
        yield "_DEDENT", "", last, last
    yield "$END", "", end, end


def unclosed(opener: Token) -> Fault:
    """The fault of a bracket that is never closed."""
    _, text, start, end = opener
    return Fault("unclosed-bracket", f"`{text}` is never closed", start, end)


def _close(brackets: list[Token], closer: Token) -> None:
    _, text, start, end = closer
    if not brackets:
        message = f"`{text}` closes nothing: there is no `{_CLOSERS[text]}` before it"
        raise Fault("unclosed-bracket", message, start, end)
    _, opener, opened, opened_end = brackets.pop()
    if opener != _CLOSERS[text]:
        label = Label(Span(opened, opened_end), f"this `{opener}` is open")
        message = f"`{text}` does not close `{opener}`"
        raise Fault("unclosed-bracket", message, start, end, labels=(label,))


def _blocks(indents: list[str], indent: str, start: int) -> list[str]:
    """The tokens for a change of indentation. Changes `indents`."""
    indent = indent.replace("\f", "")
    begin = start - len(indent)
    current = indents[-1]
    if indent == current:
        return []
    if indent in indents:
        count = len(indents) - 1 - indents.index(indent)
        del indents[-count:]
        return ["_DEDENT"] * count
    if indent.startswith(current):
        if len(indents) > MAX_BLOCKS:
            message = f"blocks are nested more than {MAX_BLOCKS} deep"
            raise Fault("nested-too-deep", message, begin, start)
        indents.append(indent)
        return ["_INDENT"]
    if not current.startswith(indent):
        message = "the indentation mixes tabs and spaces otherwise than the lines above"
        raise Fault("bad-indent", message, begin, start)
    message = "this indentation fits none of the blocks above"
    raise Fault("bad-indent", message, begin, start)


def lines(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """The tokens line by line, each with the break behind it. The tokens before a fault come before
    it is raised.
    """
    line: list[Token] = []
    try:
        for token in tokens:
            line.append(token)
            if token[0] in _BREAKS:
                yield line
                line = []
    except Fault:
        yield line
        raise
    yield line
