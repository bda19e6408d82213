"""Compressed files, told by their suffix, read piece by piece."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any, NamedTuple

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The module that opens files of a suffix."""


class Opened(NamedTuple):
    """An open file, its name without the suffix of a compression, how reading it can fail, and how
    many bytes it has, None of what is compressed or no file.
    """

    stream: IO[bytes]
    name: str
    failures: tuple[type[Exception], ...]
    size: int | None


def open_bytes(name: str) -> Opened:
    """Open a file to be read, through what its suffix names: .gz, .bz2, .xz.

    Raises:
        OSError: If it cannot be opened.
        ValueError: If its name is none.
    """
    bare, suffix = os.path.splitext(name)
    if suffix not in _MODULES:
        stream: Any = open(name, "rb")  # noqa: SIM115  # by the one who reads it
        return Opened(
            stream, name, (OSError,), os.path.getsize(name) if os.path.isfile(name) else None
        )
    found = import_module(_MODULES[suffix])
    failures = [OSError, EOFError]
    if suffix == ".gz":
        failures.append(import_module("zlib").error)
    elif suffix == ".xz":
        failures.append(found.LZMAError)
    return Opened(found.open(name, "rb"), bare, tuple(failures), None)
