"""Read the bytes of the program from a file, an option or standard input."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from gradcli.cli.terminal.failures import unreadable, usage
from gradcli.cli.terminal.terminal import is_terminal
from gradcli.errors import nearest
from gradcli.source import Source, bytes_of

_LONGEST_PROGRAM = 64 * 2**20  # bytes; /dev/zero never ends


def read_program(file: str | None, expressions: Sequence[str] | None) -> tuple[str, bytes]:
    """Name and bytes of the program, from its only source. FILE may also be an expression."""
    if expressions:
        if file is not None:
            raise usage(
                f"a program in -e and another in `{file}`", "an input is written NAME=VALUE"
            )
        return "<expr>", _bytes("\n".join(expressions))
    if file is None or file == "-":
        return "<stdin>", _standard_input(asked_for=file == "-")
    if is_expression(file):
        return "<expr>", _bytes(file)
    return file, _file(file)


def program_source(file: str | None, expressions: Sequence[str] | None, *, marked: bool) -> Source:
    """The text of the program, from its only source: that of a notebook or page is a `Lesson`. If
    `marked`, lines `# %%` part it into cells.

    Raises:
        UsageError: If it cannot be read.
        ProgramError: If it is no text, or no notebook.
    """
    from gradcli.program import decode

    source = decode(*read_program(file, expressions))
    suffix = os.path.splitext(source.name)[1].lower()
    if marked or suffix in LESSONS or '"nbformat"' in source.text:
        from gradcli.formats.notebooks.read import lesson_of

        return lesson_of(source, marked=marked) or source
    return source


LESSONS = (".ipynb", ".md", ".markdown")
"""Suffixes of files that are lessons, not plain programs."""


# imported only if no file has the given name
_PATH = r"[\w.~/-]*"
_SHORT = r"(?:[A-Za-z]\w?|[\d.]+)(?:[-/](?:[A-Za-z]\w?|[\d.]+))+"
_SIGN = r"[-+*/%@<>()\[\]^;\n]"
_STATEMENT = r"(?:assert|class|def|for|if|input|param|while|with)\s.*\w"
_SUFFIX = r"\.[a-z]\w{1,4}$"


def is_expression(argument: str) -> bool:
    """True if the FILE argument is meant as a program's text. No file or folder has that name, it
    has no suffix, and it has an operator or a call or begins like a statement. A possible path such
    as `my-model` is one, unless it consists of numbers and short names, as `x/2` does.
    """
    if "\0" in argument or os.path.lexists(argument) or re.search(_SUFFIX, argument):
        return False
    folder = os.path.dirname(argument)
    if folder and os.path.isdir(folder):
        return False
    if argument[:1] == "-":
        return argument != "-"  # behind `--`: an option would have been one
    if re.fullmatch(_PATH, argument):
        return re.fullmatch(_SHORT, argument) is not None
    return re.search(f"{_SIGN}|^{_STATEMENT}", argument) is not None


def _bytes(text: str) -> bytes:
    """The bytes that an argument was decoded from."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate, which no shell passes
        return text.encode("utf-8", "surrogatepass")


def _standard_input(*, asked_for: bool) -> bytes:
    if sys.stdin is None:
        raise usage("no program: standard input is closed", "name a FILE or give -e TEXT")
    if not asked_for and is_terminal(sys.stdin):
        raise usage(
            "no program", "name a FILE, give -e TEXT, or pipe a program into standard input"
        )
    try:
        return _bounded(sys.stdin.buffer, "standard input")
    except OSError as error:
        raise unreadable("standard input", error.strerror or str(error)) from None


def _file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return _bounded(file, f"`{name}`")
    except OSError as error:
        raise unreadable(f"`{name}`", error.strerror or str(error), _instead_of(name)) from None
    except ValueError as error:
        from gradcli.formats.texts.file import name_fault

        raise unreadable(f"`{name}`", name_fault(name) or str(error)) from None


def _instead_of(name: str) -> str | None:
    """A hint for a file that cannot be read: a similar name, an input, or -e for a text."""
    if "=" in name:
        return f"an input is NAME=VALUE, and `{name.partition('=')[0]}` is not a name"
    folder, base = os.path.split(name)
    with suppress(OSError):
        beside = sorted(n for n in os.listdir(folder or ".") if not n.startswith("."))
        if f"{base}.grad" in beside:
            return f"did you mean `{name}.grad`?"
        stem, suffix = os.path.splitext(base)
        stems = [n.removesuffix(suffix) for n in beside if suffix and n.endswith(suffix)]
        near = nearest(stem, stems) if stems else nearest(base, beside)
        if near is not None and stems:
            near = near.replace("`?", f"{suffix}`?")
        if near is not None:
            return near.replace("`", f"`{os.path.join(folder, '')}", 1)
    if folder or os.path.lexists(name) or re.search(_SUFFIX, name):
        return None
    import shlex

    return f"a program's text is given as -e {shlex.quote(name)}"


def _bounded(file: IO[bytes], name: str) -> bytes:
    data = bytes_of(file, _LONGEST_PROGRAM)
    if data is None:
        raise unreadable(name, f"longer than {_LONGEST_PROGRAM // 2**20} MiB")
    return data
