"""What a prompt asks of a text while it is typed: whether it is whole, and its colours."""

from __future__ import annotations

from gradcli.grammar.syntax.layout import CLOSERS, OPENERS
from gradcli.grammar.syntax.lexer import comments
from gradcli.grammar.syntax.recovery import readable_tokens


def is_whole(text: str) -> bool:
    """True if a text needs no further line: no bracket, string or block is open. A blank line ends
    a block.
    """
    depth = 0
    for kind, word, *_ in readable_tokens(text):
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if kind == "" and word.startswith(('"""', "'''")):
            return False
    lines = text.split("\n")
    if depth > 0 or lines[-1].endswith("\\"):
        return False
    heads = any(line.split("#")[0].rstrip().endswith(":") for line in lines)
    is_block = heads or text.lstrip().startswith("@") or lines[-1][:1].isspace()
    return not is_block or not lines[-1].strip()


def styles(text: str) -> list[tuple[int, int, str]]:
    """Start, end and style of each part of a text that is highlighted: "keyword", "string",
    "number" or "comment".
    """
    found = [(start, end, _style(kind, word)) for kind, word, start, end in readable_tokens(text)]
    found += [(start, end, "comment") for *_, start, end in comments(text)]
    return sorted(part for part in found if part[2])


def _style(kind: str, word: str) -> str:
    if kind in ("STRING", "FSTRING"):
        return "string"
    if kind == "NUMBER":
        return "number"
    is_word = kind not in ("NAME", "", "_NEWLINE") and word[:1].isalpha()
    return "keyword" if is_word else ""
