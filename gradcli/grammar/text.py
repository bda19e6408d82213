"""Bytes to text."""

from __future__ import annotations

from gradcli.errors import Diagnostic, ProgramError
from gradcli.source import Source, Span

_MARK = "\ufeff"


def decode(name: str, data: bytes) -> Source:
    """The source that a file's bytes hold: UTF-8, a byte order mark at the start passed over.

    Raises:
        ProgramError: The bytes are not UTF-8.
    """
    try:
        return Source(name, data.decode("utf-8").removeprefix(_MARK))
    except UnicodeDecodeError as error:
        start = error.start
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = "the text is UTF-16, not UTF-8"
    elif b"\0" in data[:1024]:
        message = "these are no bytes of a text"
    else:
        message = f"byte 0x{data[start]:02X} is not UTF-8"
    source = Source(name, data.decode("utf-8", "replace").removeprefix(_MARK))
    at = len(data[:start].decode("utf-8").removeprefix(_MARK))
    raise ProgramError(Diagnostic("bad-encoding", message, source, Span(at, at + 1)))
