"""Programs as valid Python and back, so that a formatter of Python can lay them out.

Declarations are all that Python cannot parse. They become names and assignments of the same length,
by a mark: a letter that the program does not have. With `ĸ` as the mark:

    param a = 1                         paramĸa = 1
    param b: float[n] in [0, 1]         paramĸb: float[n].ĸĸĸ[0, 1]
    input c in [0, 1] = 0.5             inputĸc: ĸĸ[0, 1] = 0.5
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token

_ENDS = frozenset({"=", ";", ""})  # of what a declaration may have before its default


def free_mark(text: str) -> str:
    """A letter, as wide as others, that the text does not have."""
    return next(c for c in map(chr, range(0x100, 0x3000)) if c.isidentifier() and c not in text)


def to_python(text: str, tokens: Sequence[Token], mark: str) -> str:
    """A program as Python.

    Args:
        text: The program.
        tokens: Its tokens, with line breaks in brackets dropped.
        mark: A letter that the text does not have.
    """
    pieces, done = [], 0
    for start, end, written in _changes(tokens, mark):
        pieces += [text[done:start], written]
        done = end
    return "".join([*pieces, text[done:]])


def from_python(text: str, mark: str) -> str:
    """The program of a text that `to_python` made."""
    bounds = re.compile(rf"(?:\.{mark}{{3}}|: {mark}{{2}})(?=\[)")
    return bounds.sub(" in ", text).replace(mark, " ")


def _changes(tokens: Sequence[Token], mark: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each text to replace, with its replacement."""
    for index, (kind, _, _, end) in enumerate(tokens):
        if kind == "DECLARE":
            name = tokens[index + 1]
            yield end, name[2], mark
            bounds = _bounds(tokens, index + 2)
            if bounds is not None:
                last, bracket = tokens[bounds - 1], tokens[bounds + 1]
                yield last[3], bracket[2], f": {mark * 2}" if last is name else f".{mark * 3}"


def _bounds(tokens: Sequence[Token], start: int) -> int | None:
    """The index of the `in` of a declaration whose name is before `start`; None without bounds."""
    depth = 0
    for index in range(start, len(tokens)):
        kind, text = tokens[index][:2]
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if depth == 0 and (text == "in" or text in _ENDS):
            return index if text == "in" else None
    return None
