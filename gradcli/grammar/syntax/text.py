"""Bytes to text."""

from __future__ import annotations

from gradcli.errors import Diagnostic, ProgramError
from gradcli.signatures import seems_text, signature
from gradcli.source import Source, Span

_MARK = "\ufeff"


def decode(name: str, data: bytes) -> Source:
    """The source that a file's bytes hold: UTF-8, a byte order mark at the start passed over.

    Raises:
        ProgramError: The bytes are not UTF-8.
    """
    found = None if seems_text(data) else signature(data)
    start = 0
    try:
        text = data.decode("utf-8").removeprefix(_MARK)
        if found is None:
            return Source(name, text)
    except UnicodeDecodeError as error:
        found = signature(data)
        start = 0 if found else error.start
    source = Source(name, data.decode("utf-8", "replace").removeprefix(_MARK))
    at = len(data[:start].decode("utf-8").removeprefix(_MARK))
    if found:
        message, help = f"this is {found.kind}, not UTF-8 text", found.way
    else:
        message, help = f"byte 0x{data[start]:02X} is not UTF-8", None
    raise ProgramError(Diagnostic("bad-encoding", message, source, Span(at, at + 1), help=help))
