"""Compressed files, recognized by their suffix and read and written piece by piece."""

from __future__ import annotations

import os
from importlib import import_module
from typing import IO, Any, NamedTuple

from gradcli.errors import Diagnostic, InputError, UsageError
from gradcli.formats.files.places import facts, is_url, open_url, open_url_buffered

_MODULES = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The module that opens files of a suffix."""
_ZSTD = ".zst"
_PIECE = 2**20  # bytes that are compressed together
_HELP = "`pip install 'gradcli[fast]'` installs pyarrow"


class Opened(NamedTuple):
    """An open file, its name without a compression's suffix, the errors that reading may raise, and
    its size in bytes: None if it is compressed or not a regular file.
    """

    stream: IO[bytes]
    name: str
    failures: tuple[type[Exception], ...]
    size: int | None


def bare_name(name: str) -> str:
    """The name of a file without the suffix of a compression."""
    bare, suffix = os.path.splitext(name)
    return bare if suffix.lower() in (*_MODULES, _ZSTD) else name


def open_bytes(name: str) -> Opened:
    """Open a file for reading, decompressed if its suffix is .gz, .bz2, .xz or .zst.

    Raises:
        OSError: If it cannot be opened.
        ValueError: If no file can have this name.
        InputError: If pyarrow is needed and not installed.
    """
    bare, suffix = os.path.splitext(name)
    url = is_url(name)
    if suffix == _ZSTD:
        return Opened(_zstd(name), bare, (OSError, ValueError), None)
    if suffix not in _MODULES and url:
        there = open_url_buffered(name)
        return Opened(there, name, (OSError,), facts(name).size)
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
    source = open_url_buffered(name) if url else name
    return Opened(found.open(source, "rb"), bare, tuple(failures), None)


def _zstd(name: str) -> Any:
    url = is_url(name)
    if not url:
        with open(name, "rb"):  # for its errors
            pass
    try:
        import pyarrow
    except ImportError:
        message = f"`{name}` is read by pyarrow, which is not installed"
        raise InputError(Diagnostic("missing-extra", message, help=_HELP)) from None
    source = pyarrow.PythonFile(open_url(name)) if url else pyarrow.OSFile(name)
    return pyarrow.CompressedInputStream(source, "zstd")


class Packer:
    """Compresses bytes as the suffix of a file says; leaves them as they are if it says nothing.

    Args:
        name: The file.

    Raises:
        UsageError: If pyarrow is needed and not installed.
    """

    def __init__(self, name: str) -> None:
        suffix = os.path.splitext(name)[1].lower()
        self._pieces: list[bytes] = []
        self._size = 0
        self._codec: Any = None
        if suffix == _ZSTD:
            self._codec = _Frames(name)
        elif suffix == ".gz":
            zlib = import_module("zlib")
            self._codec = zlib.compressobj(wbits=31)
        elif suffix == ".bz2":
            self._codec = import_module("bz2").BZ2Compressor()
        elif suffix == ".xz":
            self._codec = import_module("lzma").LZMACompressor()

    def add(self, piece: bytes) -> bytes:
        """Add bytes; returns those of the file that are complete."""
        if self._codec is None:
            return piece
        self._pieces.append(piece)
        self._size += len(piece)
        return self._flushed() if self._size >= _PIECE else b""

    def end(self) -> bytes:
        """The last bytes of the file."""
        return b"" if self._codec is None else self._flushed() + bytes(self._codec.flush())

    def _flushed(self) -> bytes:
        whole, self._pieces, self._size = b"".join(self._pieces), [], 0
        found: bytes = self._codec.compress(whole)
        return found


class _Frames:
    """Compresses each piece as a frame of Zstandard; frames follow each other in a file."""

    def __init__(self, name: str) -> None:
        try:
            import pyarrow
        except ImportError:
            message = f"`{name}` is written by pyarrow, which is not installed"
            raise UsageError(Diagnostic("missing-extra", message, help=_HELP)) from None
        self._codec = pyarrow.Codec("zstd")

    def compress(self, piece: bytes) -> bytes:
        found: bytes = self._codec.compress(piece, asbytes=True)
        return found

    def flush(self) -> bytes:
        return b""
