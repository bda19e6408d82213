"""Styled text without a terminal: lines of segments, measured in terminal cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Segment: TypeAlias = tuple[str, str]
"""A text and the name of its style in the theme; "" for none."""

Line: TypeAlias = list[Segment]

TIMES = "×"

_FIRST_WIDE = "\u0300"  # every character below it takes one cell


def plain_text(lines: list[Line]) -> str:
    """The lines without styles and trailing blanks."""
    return "".join(f"{''.join(text for text, _ in line).rstrip(' ')}\n" for line in lines)


def trimmed(line: Line) -> Line:
    """The line without trailing blanks."""
    kept = list(line)
    while kept and not kept[-1][0].rstrip(" "):
        kept.pop()
    if kept:
        text, style = kept[-1]
        kept[-1] = (text.rstrip(" "), style)
    return kept


def cells(text: str) -> int:
    """Terminal cells that a text takes: wide characters two, combining marks none."""
    if text.isascii() or max(text) < _FIRST_WIDE:
        return len(text)
    import unicodedata

    width = 0
    for character in text:
        if unicodedata.east_asian_width(character) in "WF":
            width += 2
        elif not unicodedata.combining(character):
            width += 1
    return width


def line_cells(line: Line) -> int:
    """Terminal cells that a line takes."""
    return sum(cells(text) for text, _ in line)


def visible(text: str) -> str:
    """The text with escapes for all characters that are not printable.

    So no name or program can send a terminal a command, and hidden characters become visible.
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def shorten(text: str, width: int) -> str:
    """The text, cut to `width` cells with `…` at its end if it is longer."""
    if cells(text) <= width:
        return text
    room = width - 1
    kept = ""
    for character in text:
        room -= cells(character)
        if room < 0:
            break
        kept += character
    return f"{kept}…" if width > 0 else ""


def wrapped(text: str, first: int, room: int) -> list[str]:
    """The text in lines of at most `room` cells, the first of `first`, broken at blanks. Text in
    backticks is broken only if it is longer than a line; a longer word stays whole. The first line
    may be empty.
    """
    lines = [""]
    left = first
    for word in _words(text, room):
        taken = cells(word) + bool(lines[-1])
        if taken > left and (lines[-1] or len(lines) == 1):
            lines.append("")
            left, taken = room, cells(word)
        lines[-1] += f" {word}" if lines[-1] else word
        left -= taken
    return lines


def _words(text: str, room: int) -> Iterator[str]:
    for word in re.findall(r"(?:`[^`]*`|\S)+", text):
        yield from [word] if cells(word) <= room else word.split()


def bracketed(numbers: Iterable[int]) -> str:
    """A shape or an index: `[3, 2]`; "" if it is empty."""
    text = ", ".join(map(str, numbers))
    return f"[{text}]" if text else ""


def pad(text: str, width: int) -> str:
    """The text padded with blanks to `width` cells."""
    return text + " " * (width - cells(text))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return repr(character)[1:-1]
