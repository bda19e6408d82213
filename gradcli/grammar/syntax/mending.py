"""Suggest a corrected line for one with a known mistake, if the corrected line parses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gradcli.grammar.syntax.faults import Fault

_LONGEST = 72  # characters of a suggested line


def offer(faults: Iterable[Fault], text: str, reads: Callable[[str], bool]) -> None:
    """Put the corrected line into the help of faults with a known correction.

    Args:
        faults: All faults of a program; those on one line are corrected together.
        text: The program.
        reads: True for a text that parses as a program.
    """
    lines: dict[int, list[Fault]] = {}
    for fault in faults:
        if fault.instead is not None:
            at = fault.instead[0].start
            start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
            lines.setdefault(start, []).append(fault)
    for start, found in lines.items():
        line = _mended(text, start, found)
        if len(line) <= _LONGEST and reads(_completed(line)):
            for fault in found:
                fault.help = f"write `{line}`"


def _mended(text: str, start: int, faults: list[Fault]) -> str:
    """The line at an offset with the corrections of its faults."""
    parts, at = [], start
    for span, instead in sorted(f.instead for f in faults if f.instead is not None):
        if span.start >= at:
            parts += [text[at : span.start], instead]
            at = span.end
    rest = re.compile(r"[^\r\n]*").match(text, at)
    return "".join([*parts, "" if rest is None else rest[0]]).strip()


def _completed(line: str) -> str:
    """The line as a complete program."""
    before = "if 0: pass\n" if re.match(r"(elif|else)\b", line) else ""
    return f"{before}{line}{' pass' if line.endswith(':') else ''}\n"
