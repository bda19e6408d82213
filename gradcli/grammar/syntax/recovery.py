"""Find further syntax errors: leave out a bad line and parse again.

The line is replaced by blanks, so that offsets stay those of the text. A stand-in keeps the lines
around it valid: a `0`, or the head of a block for lines that are indented under it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token
from gradcli.grammar.syntax.lexer import tokens
from gradcli.grammar.syntax.tables import load

_MOST = 100  # faults to look for
_MOST_READ = 500_000  # characters to parse again in all
_HEADS = ("if 0:", "elif 0:", "else:")
_OTHER_HEADS = {"try": ("try:",), "except": ("except:",), "finally": ("finally:",)}
_FOREIGN_HEADS = frozenset({"match"})  # of blocks that are left out whole
_FURTHER = frozenset({"elif", "else", "except", "finally"})  # they continue an earlier statement


def faults(text: str, first: Fault, again: Callable[[str, int], Fault | None]) -> Iterator[Fault]:
    """The first fault of a text and further ones, in order.

    Args:
        text: The program.
        first: Its first fault.
        again: Returns the first fault of a text from an offset on, or None. The offset is a line
            end before a top-level statement.
    """
    yield first
    fault = first
    begin, left = 0, _MOST_READ
    for _ in range(_MOST - 1):
        bad = _bad_line(text, begin, fault)
        if bad is None or left < 0:
            return
        begin = bad.top
        reached, found = bad.stop, None
        for tried in bad.replaced(text):
            then = again(tried, begin)
            at = len(text) + 1 if then is None else then.span.start
            to_the_end = then is None or then.code == "unclosed-bracket"
            left -= (len(text) if to_the_end else at) - begin
            if at > reached:
                reached, found, best = at, then, tried
        if reached == bad.stop:
            best = bad.left_out(text)
            found = again(best, begin)
        if found is None or found.span.start <= fault.span.start:
            return
        if not _closes(best, fault, found):
            yield found
        text, fault = best, found


def _closes(text: str, fault: Fault, found: Fault) -> bool:
    """True if a string fault is only the closing quote of the unclosed string before it."""
    ends = re.compile(r".[ \t)\],]*(?=[\r\n]|\Z)").match(text, found.span.start)
    return fault.code == found.code == "bad-string" and ends is not None


class _Line(NamedTuple):
    """A line: the start and end of its tokens, its indent, its first word. Brackets join lines."""

    start: int
    stop: int
    indent: str
    word: str


class _Bad(NamedTuple):
    """A line with a syntax error.

    Fields:
        top: the line end before its top-level statement.
        start: where it begins, decorators included.
        stop: where it ends.
        block: where the lines indented under it end.
        stand_ins: texts that may replace it.
        nothing: the text that replaces it together with its block.
    """

    top: int
    start: int
    stop: int
    block: int
    stand_ins: tuple[str, ...]
    nothing: str

    def replaced(self, text: str) -> Iterator[str]:
        """The text with each stand-in that fits into the line."""
        for word in self.stand_ins:
            if len(word) <= self.stop - self.start:
                yield _blanked(text, self.start, self.stop, word)

    def left_out(self, text: str) -> str:
        """The text without the line and its block."""
        return _blanked(text, self.start, self.block, self.nothing)


def _blanked(text: str, start: int, stop: int, word: str) -> str:
    blank = "".join(c if c in "\r\n" else " " for c in text[start + len(word) : stop])
    return f"{text[:start]}{word}{blank}{text[stop:]}"


def _bad_line(text: str, begin: int, fault: Fault) -> _Bad | None:
    """The line of a fault, or None if its end is unclear."""
    if fault.code == "bad-string" and text.startswith(('"""', "'''"), fault.span.start):
        return None
    unclosed = fault.span.start if fault.code == "unclosed-bracket" else None
    lines = _lines(text, begin, unclosed)
    before: list[_Line] = []
    following = next(lines, None)
    while following is not None and (not before or following.start <= fault.span.end):
        before.append(following)
        following = next(lines, None)
    if not before:
        return None
    line = before[-1]
    top = next((n.start for n in reversed(before) if not n.indent and n.word not in _FURTHER), 0)
    start = line.start
    for earlier in reversed(before[:-1]):
        if earlier.word != "@":
            break
        start = earlier.start
    alone = fault.code == "bad-indent" and fault.span.end <= line.start
    block = line.stop
    while following is not None and following.indent.startswith(line.indent):
        if following.indent == line.indent and not alone:
            break
        block = following.stop
        following = next(lines, None)
    stand_ins: tuple[str, ...] = ("0",)
    if line.word in _FOREIGN_HEADS or alone or (unclosed is not None and block > line.stop):
        stand_ins = ()
    elif block > line.stop:
        stand_ins = _OTHER_HEADS.get(line.word, _HEADS)
    elif following and following.indent == line.indent and following.word in _FURTHER:
        stand_ins = tuple(f"{head}0" for head in _HEADS)
    return _Bad(
        _line_end_before(text, top), start, line.stop, block, stand_ins, "" if alone else "0"
    )


def _line_end_before(text: str, start: int) -> int:
    if start == 0:
        return 0
    return start - 2 if text[start - 2 : start] == "\r\n" else start - 1


def _lines(text: str, begin: int, unclosed: int | None) -> Iterator[_Line]:
    """The lines from an offset on; an open bracket at `unclosed` does not count."""
    depth = 0
    blanks = re.compile(r"[ \t\f]*").match(text, begin)
    indent = "" if blanks is None else blanks[0]
    first: Token | None = None
    stop = begin
    for token in readable_tokens(text, begin):
        kind, word, start, end = token
        if kind == "_NEWLINE":
            if depth:
                continue
            if first is not None:
                yield _Line(first[2], stop, indent, first[1])
            first, indent = None, word.lstrip("\r\n")
            continue
        if kind in OPENERS and start != unclosed:
            depth += 1
        elif kind in CLOSERS:
            depth = max(depth - 1, 0)
        first, stop = first or token, end
    if first is not None:
        yield _Line(first[2], stop, indent, first[1])


def readable_tokens(text: str, at: int = 0) -> Iterator[Token]:
    """The tokens from an offset on; text that begins none becomes a token without a kind."""
    while True:
        try:
            yield from tokens(load(), text, at, len(text))
            return
        except Fault as fault:
            at = max(fault.span.end, fault.span.start + 1)
            yield "", text[fault.span.start : at], fault.span.start, at
