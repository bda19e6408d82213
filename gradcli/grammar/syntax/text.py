"""Decode a program's bytes."""

from __future__ import annotations

from gradcli.errors import Diagnostic, ProgramError
from gradcli.source import Source, Span

_MARK = "\ufeff"
_HEAD = 64  # bytes; a null among them means that the file is not text


def decode(name: str, data: bytes) -> Source:
    """The source in a file's bytes: UTF-8, without a byte order mark.

    Raises:
        ProgramError: The bytes are not UTF-8.
    """
    text, start = None, 0
    try:
        text = data.decode("utf-8").removeprefix(_MARK)
        if b"\0" not in data[:_HEAD]:
            return Source(name, text)
    except UnicodeDecodeError as error:
        start = error.start
    from gradcli.signatures import signature

    found = signature(data)
    if found is None and text is not None:
        return Source(name, text)
    source = Source(name, data.decode("utf-8", "replace").removeprefix(_MARK))
    if found is not None:
        start, message, help = 0, f"this is {found.kind}, not UTF-8 text", found.way
    else:
        message, help = f"byte 0x{data[start]:02X} is not UTF-8", None
    at = len(data[:start].decode("utf-8").removeprefix(_MARK))
    raise ProgramError(Diagnostic("bad-encoding", message, source, Span(at, at + 1), help=help))
