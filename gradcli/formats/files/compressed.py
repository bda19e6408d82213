"""Compressed files, told by their suffix, read piece by piece."""

from __future__ import annotations

import os
from typing import IO, Any, NamedTuple, cast


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
    failures: list[type[Exception]] = [OSError]
    opener: Any = open
    if suffix in (".gz", ".bz2", ".xz"):
        failures.append(EOFError)
        if suffix == ".gz":
            import gzip
            import zlib

            opener = gzip.open
            failures.append(zlib.error)
        elif suffix == ".bz2":
            import bz2

            opener = bz2.open
        else:
            import lzma

            opener = lzma.open
            failures.append(lzma.LZMAError)
    else:
        bare = name
    stream = cast(IO[bytes], opener(name, "rb"))
    size = os.path.getsize(name) if bare == name and os.path.isfile(name) else None
    return Opened(stream, bare, tuple(failures), size)
