"""The lines of a stream: one by one, or as blocks of whole lines, each as soon as it is there."""

from __future__ import annotations

from io import BytesIO, TextIOWrapper
from typing import IO

_BLOCK = 2**20  # bytes that are read together
_BOM = b"\xef\xbb\xbf"


class TooLong(Exception):
    """A line does not end."""


class LineBlocks:
    """A stream of lines, which end at LF, CRLF or, where no LF stands, at a lone CR.

    Args:
        stream: Where they come from.
        longest: Bytes of the longest line that is read.

    Raises:
        TooLong: By what reads, where a line is longer.
    """

    def __init__(self, stream: IO[bytes], longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._ahead = b""  # the beginning of a line whose end has not come
        self._is_first = True
        self._open(b"")

    def readline(self, limit: int) -> str:
        """The next line with its end, as far as the limit goes; "" behind the last."""
        line = self._text.readline(limit)
        if not line:
            self._open(self._next())
            line = self._text.readline(limit)
        self._left -= 1
        self._at += len(line if line.isascii() else line.encode("utf-8", "surrogateescape"))
        return line

    @property
    def at_hand(self) -> bool:
        """Whether a line is there without waiting."""
        return self._left > 0

    @property
    def waiting(self) -> int:
        """The bytes that have been read of the stream and of which no line has been given."""
        return len(self._data) - self._at + len(self._ahead)

    def block(self, most: int) -> bytes:
        """The lines that are at hand, else those that come next: as many as so many bytes hold, or
        one; nothing behind the last, and nothing of those that have been put back.
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
        """Let the lines of a block be read one by one."""
        self._open(block + self._data[self._at :])
        self._is_back = True

    def _open(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._left = data.count(b"\n") or int(bool(data))
        self._text = TextIOWrapper(BytesIO(data), "utf-8", "surrogateescape", newline="")
        self._is_back = False

    def _next(self) -> bytes:
        """The lines that come next.

        Raises:
            TooLong: If the first does not end.
        """
        pieces, size = [self._ahead], len(self._ahead)
        self._ahead = b""
        while piece := self._stream.read1(_BLOCK):  # type: ignore[attr-defined]  # of all here
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
            data = data.removeprefix(_BOM)
        self._is_first = False
        return data
