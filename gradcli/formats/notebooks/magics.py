"""Lines of a notebook that are no Python: `%matplotlib inline`, `!pip install x`, `tensor?`."""

from __future__ import annotations

import re

from gradcli.source import Span

_ASSIGNED = re.compile(r"[A-Za-z_][\w, ]*=\s*[%!]")
_TOKEN = re.compile(
    r"""(?P<quote>(?:[rRbBuUfF]{0,2})('{3}|"{3}))|(?P<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<comment>\#.*)|(?P<open>[(\[{])|(?P<close>[)\]}])"""
)


def pass_over(code: str) -> tuple[str, list[Span]]:
    """The code with such lines made comments of the same length, and their places.

    A line counts only where a statement begins: `% b` goes on with the line before where a bracket
    is open.
    """
    out: list[str] = []
    passed: list[Span] = []
    depth, quote, at = 0, "", 0
    joined, magic = False, False  # the line before goes on here; it is no Python
    for line in code.splitlines(keepends=True):
        begins = depth == 0 and not quote and not joined
        if (magic and joined) or (begins and _is_magic(line)):
            out.append(_as_comment(line, alone=begins))
            passed.append(Span(at, at + len(line.rstrip("\r\n"))))
            joined, magic = line.rstrip("\r\n").endswith("\\"), True
        else:
            out.append(line)
            depth, quote = _open(line, depth, quote)
            joined, magic = not quote and line.rstrip("\r\n").endswith("\\"), False
        at += len(line)
    return "".join(out), passed


def _is_magic(line: str) -> bool:
    bare = line.strip()
    if not bare or bare[0] == "#":
        return False
    if bare[0] in "%!?":
        return True
    return _without_comment(bare).endswith("?") or _ASSIGNED.match(bare) is not None


def _without_comment(line: str) -> str:
    """A line up to its comment."""
    comment = next((found for found in _TOKEN.finditer(line) if found["comment"]), None)
    return line if comment is None else line[: comment.start()].rstrip()


def _as_comment(line: str, *, alone: bool) -> str:
    """A comment of the same length. A line that is a statement in a block, `alone`, becomes one
    that does nothing, before a comment.
    """
    bare = line.lstrip(" \t")
    indent = line[: len(line) - len(bare)]
    mark = "0#" if alone and indent and len(bare.rstrip()) > 1 else "#"
    return indent + mark + bare[len(mark) :]


def _open(line: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets are open after a line, and the quotes of a text that goes on."""
    at = 0
    while at < len(line):
        if quote:
            end = line.find(quote, at)
            if end < 0:
                return depth, quote
            at, quote = end + 3, ""
            continue
        found = _TOKEN.search(line, at)
        if found is None:
            break
        at = found.end()
        if found["quote"]:
            quote = found[2]
        elif found["open"]:
            depth += 1
        elif found["close"]:
            depth = max(depth - 1, 0)
    return depth, quote
