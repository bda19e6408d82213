"""Split arguments and options into names and values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from gradcli.cli.terminal.failures import usage
from gradcli.limits import size
from gradcli.machine import processors

_MOST_JOBS = 256


def split(arguments: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """The FILE, or None, and the texts of the inputs by name; the last one of a name counts."""
    files, texts = split_files(arguments)
    if len(files) > 1:
        help = "an input is written NAME=VALUE"
        if "=" in arguments or any(text[:1] == "=" or text[-1:] == "=" for text in arguments):
            help += ", without blanks"
        raise usage(f"two programs, `{files[0]}` and `{files[1]}`", help)
    return files[0] if files else None, texts


def split_files(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The FILEs, and the texts of the inputs by name; the last one of a name counts."""
    files = []
    texts = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if equals and name.isidentifier():
            texts[name] = text
        else:
            files.append(argument)
    return files, texts


def jobs(text: str) -> int:
    """The number of jobs that an option gives; `auto` is that of the processors at hand."""
    if text == "auto":
        return processors()
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST_JOBS:
        return int(text)
    help = "`auto` takes as many as there are processors"
    raise usage(f"`--jobs {text}` is no number from 1 to {_MOST_JOBS}", help)


def part_size(text: str | None) -> int | None:
    """The bytes of --part-size; None without.

    Raises:
        UsageError: If it is no size.
    """
    if text is None:
        return None
    with suppress(ValueError):
        found = size(text)
        if isinstance(found, int) and found > 0:
            return found
    raise usage(f"`{text}` in --part-size is no size", "as in --part-size 256MiB")


def split_names(options: Sequence[str] | None, flag: str) -> list[str] | None:
    """The names of a repeatable option that takes `NAME,..`, each once; None if it is not given."""
    if not options:
        return None
    names = [name.strip() for option in options for name in option.split(",")]
    if not all(names):
        raise usage(f"an empty name in {flag}", f"names are written {flag} a,b")
    return list(dict.fromkeys(names))
