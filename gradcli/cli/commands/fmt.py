"""`gradcli fmt`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

import typer

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.line.reading import read_program
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.terminal import wants_colour, write_message, write_output
from gradcli.errors import GradError, counted

if TYPE_CHECKING:
    from gradcli.render.text import Line as Drawn

_SUFFIX = ".grad"
_MARK = "\ufeff".encode()


@command("formatted", "expression", "only_check", "diff", "line_length", "quiet", *MESSAGES)
def fmt(line: Line) -> None:
    """Lay out programs as ruff lays out Python.

    A file stays as it is if it would become another program. A program from -e or standard input
    goes to standard output. Needs the extra `fmt`: pip install 'gradcli[fmt]'.

    Examples:
      echo 'param a=1;a**2+3*a' | gradcli fmt
      gradcli samples cooling -o .
      gradcli fmt --diff -q cooling.grad || true
      gradcli fmt -q cooling.grad
      gradcli fmt --check -q .
    """
    names: list[str] = [*_files(line.formatted or ())]
    if line.expression and names:
        raise usage(f"a program in -e and another in `{names[0]}`")
    is_dry = line.only_check or line.diff
    counts = {True: 0, False: 0}
    failed: list[GradError] = []
    for name in names or (None,):
        try:
            counts[_format(name, line)] += 1
        except GradError as error:
            failed.append(error)
    if any(counts.values()) and any(map(os.path.lexists, names)) and not line.quiet:
        did = "would change" if is_dry else "changed"
        write_message(f"{counted(counts[True], 'file')} {did}, {counts[False]} unchanged\n")
    if failed:
        raise type(failed[0])(*(found for error in failed for found in error.diagnostics))
    if counts[True] and is_dry:
        raise typer.Exit(1)


def _files(arguments: Sequence[str]) -> Iterator[str]:
    """The programs that the arguments name; of folders all in them, hidden folders left out."""
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for folder, inner, files in os.walk(argument):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            yield from (os.path.join(folder, n) for n in sorted(files) if n.endswith(_SUFFIX))


def _format(name: str | None, line: Line) -> bool:
    """Lay out a program, and write it or what would change. True if anything changes."""
    from gradcli.editor.layout import laid_out
    from gradcli.program import decode

    shown, data = read_program(name, line.expression)
    source = decode(shown, data)
    text = laid_out(source, line.line_length)
    is_changed = text != source.text
    if line.diff:
        _write_difference(source.text, text, shown, line.color)
    elif line.only_check:
        write_output(f"{shown}\n" if is_changed else "")
    elif shown != name:
        write_output(text)
    elif is_changed:
        _replace(name, text, _MARK if data.startswith(_MARK) else b"")
    return is_changed


def _replace(path: str, text: str, mark: bytes) -> None:
    """Write a file with its byte order mark."""
    from gradcli.formats.texts.file import write_atomically

    try:
        write_atomically(path, mark + text.encode())
    except OSError as error:
        raise unwritable(f"`{path}`", error.strerror or str(error)) from None


_STYLES = {"+": "added", "-": "removed", "@": "reference"}


def _write_difference(before: str, after: str, name: str, color: str) -> None:
    """Write a unified difference to standard output."""
    from difflib import unified_diff

    old, new = (list(StringIO(text, newline="\n")) for text in (before, after))
    found = [_whole(text) for text in unified_diff(old, new, name, name)]
    if not wants_colour(sys.stdout, color):
        write_output("".join(found))
        return
    from gradcli.render.theme import text_of

    drawn: list[Drawn] = [[(text.rstrip("\n"), _STYLES.get(text[:1], ""))] for text in found]
    write_output(text_of(drawn, colour=True))


def _whole(text: str) -> str:
    """A line of a difference with its end, or with the remark that it has none."""
    return text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n"
