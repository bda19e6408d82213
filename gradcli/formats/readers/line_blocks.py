"""The lines of a stream, one by one or in blocks of whole lines, without waiting for more."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper
from typing import IO

from gradcli.formats.readers.json_array import ArrayLines, unmarked

_BLOCK = 2**20  # bytes that are read at once


class TooLong(Exception):
    """A line exceeds the longest allowed length."""


class LineBlocks:
    """A stream of lines that end at LF, CRLF or, in a text without LF, at CR.

    Args:
        stream: The stream.
        longest: The longest allowed line in bytes.

    Raises:
        TooLong: From the reading methods, if a line is longer.
    """

    def __init__(self, stream: IO[bytes] | ArrayLines, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._ahead = b""  # the beginning of an incomplete line
        self._is_first = True
        self._open(b"")

    def readline(self, limit: int) -> str:
        """The next line with its end, cut at `limit` characters; "" after the last."""
        line = self._text.readline(limit)
        if not line:
            self._open(self._next())
            line = self._text.readline(limit)
        self._left -= 1
        self._at += len(line if line.isascii() else line.encode("utf-8", "surrogateescape"))
        return line

    @property
    def at_hand(self) -> bool:
        """True if a line can be read without waiting."""
        return self._left > 0

    @property
    def waiting(self) -> int:
        """The number of bytes that are read from the stream but not yet returned."""
        return len(self._data) - self._at + len(self._ahead)

    def block(self, most: int) -> bytes:
        """The lines already read, else the next ones: up to `most` bytes but at least one line.
        Empty after the last line, or if lines were put back.
        """
        if self._is_back and self._left > 0:
            return b""
        data = self._data[self._at :] or self._next()
        if len(data) > most:
            end = data.rfind(b"\n", 0, most) + 1 or data.find(b"\n") + 1 or len(data)
            self._open(data[end:])
            return data[:end]
        self._open(b"")
        return data

    def put_back(self, block: bytes) -> None:
        """Return a block, so that its lines can be read one by one."""
        self._open(block + self._data[self._at :])
        self._is_back = True

    def _open(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._left = data.count(b"\n") or int(bool(data))
        self._text = TextIOWrapper(BytesIO(data), "utf-8", "surrogateescape", newline="")
        self._is_back = False

    def _next(self) -> bytes:
        """The next lines of the stream.

        Raises:
            TooLong: If the first line does not end.
        """
        pieces, size = [self._ahead], len(self._ahead)
        self._ahead = b""
        while piece := self._stream.read1(_BLOCK):  # type: ignore[union-attr]  # of all here
            end = piece.rfind(b"\n") + 1 or piece.rfind(b"\r", 0, -1) + 1
            pieces.append(piece[:end] if end else piece)
            if end:
                self._ahead = piece[end:]
                break
            size += len(piece)
            if size > self._longest:
                raise TooLong
        data = b"".join(pieces)
        if self._is_first:
            data = unmarked(data)
        self._is_first = False
        return data
