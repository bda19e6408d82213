"""Compressed files, recognized by their suffix and read piece by piece."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any, NamedTuple

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The module that opens files of a suffix."""


class Opened(NamedTuple):
    """An open file, its name without a compression's suffix, the errors that reading may raise, and
    its size in bytes: None if it is compressed or not a regular file.
    """

    stream: IO[bytes]
    name: str
    failures: tuple[type[Exception], ...]
    size: int | None


def open_bytes(name: str) -> Opened:
    """Open a file for reading, decompressed if its suffix is .gz, .bz2 or .xz.

    Raises:
        OSError: If it cannot be opened.
        ValueError: If no file can have this name.
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
