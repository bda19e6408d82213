"""The bytes of the program, from a file, an option or standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gradcli.cli.failures import unreadable, usage
from gradcli.cli.terminal import is_terminal

_LONGEST_PROGRAM = 64 * 2**20  # bytes; /dev/zero has no end


def read_program(file: str | None, expressions: Sequence[str] | None) -> tuple[str, bytes]:
    """Name and bytes of the program, from the one place that the command line names."""
    if expressions:
        if file is not None:
            raise usage(
                f"a program in -e and another in `{file}`", "an input is written NAME=VALUE"
            )
        return "<expr>", _bytes("\n".join(expressions))
    if file is None or file == "-":
        return "<stdin>", _standard_input(asked_for=file == "-")
    return file, _file(file)


def _bytes(text: str) -> bytes:
    """The bytes that an argument was made from."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, as no shell gives it
        return text.encode("utf-8", "surrogatepass")


def _standard_input(*, asked_for: bool) -> bytes:
    if sys.stdin is None:
        raise usage("no program: standard input is closed", "name a FILE or give -e TEXT")
    if not asked_for and is_terminal(sys.stdin):
        raise usage(
            "no program", "name a FILE, give -e TEXT, or pipe a program into standard input"
        )
    try:
        return _bounded(sys.stdin.buffer.read(_LONGEST_PROGRAM + 1), "standard input")
    except OSError as error:
        raise unreadable("standard input", error.strerror or str(error)) from None


def _file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return _bounded(file.read(_LONGEST_PROGRAM + 1), f"`{name}`")
    except OSError as error:
        hint = None
        if "=" in name:
            hint = f"an input is NAME=VALUE, and `{name.partition('=')[0]}` is no name"
        raise unreadable(f"`{name}`", error.strerror or str(error), hint) from None
    except ValueError as error:
        from gradcli.formats.file import name_fault

        raise unreadable(f"`{name}`", name_fault(name) or str(error)) from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > _LONGEST_PROGRAM:
        raise unreadable(name, f"longer than {_LONGEST_PROGRAM // 2**20} MiB")
    return data
