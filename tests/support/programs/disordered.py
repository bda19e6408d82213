"""Programs in another layout: blanks, line breaks, joined lines and comments at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token, layout
from gradcli.grammar.syntax.lexer import tokens
from gradcli.grammar.syntax.tables import load

_WORDS = frozenset({"NAME", "NUMBER", "STRING", "FSTRING", "DECLARE"})
_INDENTS = ("  ", "    ", "\t")


def disordered(text: str, seed: int) -> str:
    """A program of the same tokens in another layout, with a few comments; its own are left out."""
    rng = random.Random(seed)
    found = [*layout(tokens(load(), text, 0, len(text)), len(text))]
    lines = [*_lines(found)]
    unit, pieces, joined = rng.choice(_INDENTS), [], False
    for index, (depth, line) in enumerate(lines):
        pieces.append("" if joined else unit * depth)
        pieces.append(_spread(line, rng))
        after = lines[index + 1] if index + 1 < len(lines) else None
        joined = after is not None and after[0] == depth and _is_simple(line, after[1])
        joined = joined and rng.random() < 0.3
        pieces.append(rng.choice([";", "; ", " ;"]) if joined else _end(line, rng))
    return "".join(pieces)


def _lines(found: list[Token]) -> Iterator[tuple[int, list[Token]]]:
    """The lines, each with the depth of its block."""
    depth, line = 0, []
    for token in found:
        if token[0] == "_NEWLINE":
            yield depth, line
            line = []
        elif token[0] in ("_INDENT", "_DEDENT"):
            depth += 1 if token[0] == "_INDENT" else -1
        elif token[0] != "$END":
            line.append(token)


_HEADS = frozenset(
    ["if", "elif", "else", "while", "for", "with", "try", "except", "finally", "def", "class", "@"]
)


def _is_simple(line: list[Token], after: list[Token]) -> bool:
    """True if a line and the next one may be joined."""
    return line[0][1] not in _HEADS and after[0][1] not in _HEADS and line[-1][1] not in (":", ";")


def _spread(line: list[Token], rng: random.Random) -> str:
    """A line with other blanks between its tokens, and in brackets line breaks and comments."""
    pieces, depth = [line[0][1]], line[0][0] in OPENERS
    for before, token in pairwise(line):
        depth -= token[0] in CLOSERS
        blank = rng.choice(["", "", " ", " ", "  "])
        if depth > 0 and rng.random() < 0.05:
            blank = rng.choice(["\n  ", "  # in brackets\n", "\n\n"])
        elif depth == 0 and rng.random() < 0.03:
            blank = " \\\n  "
        pieces += [blank or (" " if _needs_blank(before, token) else ""), token[1]]
        depth += token[0] in OPENERS
    return "".join(pieces)


def _needs_blank(before: Token, after: Token) -> bool:
    """True if two tokens would be others, or one, without a blank between them."""
    words = [t[0] in _WORDS or t[1][:1].isalpha() for t in (before, after)]
    return all(words) or (before[0] == "NUMBER" and after[1][:1] == ".")


def _end(line: list[Token], rng: random.Random) -> str:
    """The end of a line, perhaps with a comment."""
    last = "" if line[0][1] in _HEADS or line[-1][1] == ";" else ";"
    return rng.choice(["\n", "\n", "\n\n\n", "  # c\n", f" {last}\n", "\n# between\n", "  \n"])
