"""An array of JSON objects as lines of one object each, while it is read."""

from __future__ import annotations

import re
from typing import IO, Any

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*("?)|[{}\[\]]', re.DOTALL)
_ARRAY = re.compile(rb"\s*\[\s*([{\]]?)")
_BLOCK = 2**20  # bytes that are read at once
_MOST = 2**26  # bytes of an object


class ArrayLines:
    """A stream of bytes. If it is an array of objects, each of them comes as one line; anything
    else, and what is not right in an array, comes as it is.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream: Any = stream
        self._data = b""
        self._is_array: bool | None = None
        self._objects = 0

    def tell(self) -> int:
        """The place in the stream."""
        found: int = self._stream.tell()
        return found

    def read1(self, most: int) -> bytes:
        """Some bytes; none after the last."""
        if self._is_array is None:
            self._begin()
        if not self._is_array:
            found, self._data = self._data, b""
            return found or bytes(self._stream.read1(most))
        while self._is_array:
            lines = self._lines()
            if lines:
                return lines
            piece = self._stream.read1(_BLOCK) if self._is_array else b""
            if self._is_array and (not piece or len(self._data) > _MOST):
                return self._rest()
            self._data += piece
        return self.read1(most)

    def _begin(self) -> None:
        """Tell whether it is an array of objects."""
        while (found := _ARRAY.match(self._data.removeprefix(_BOM))) is None or not found[1]:
            left = self._data.removeprefix(_BOM).strip(b" \t\r\n[")
            piece = self._stream.read1(_BLOCK) if _BOM.startswith(left) else b""
            if not piece:
                self._is_array = False
                return
            self._data += piece
        self._is_array = True
        bare = self._data.removeprefix(_BOM)
        self._data = bare[bare.index(b"[") + 1 :]

    def _lines(self) -> bytes:
        """The objects that are complete by now, a line each; also what is wrong between them."""
        lines: list[bytes] = []
        depth = start = end = 0
        for token in _TOKEN.finditer(self._data):
            sign = token[0][:1]
            if sign == b'"':
                if not token[1]:
                    break  # it goes on
            elif sign in b"{[":
                if depth == 0:
                    start = token.start()
                    lines += self._between(self._data[end:start])
                depth += 1
            elif depth:
                depth -= 1
                if depth == 0:
                    end = token.end()
                    self._objects += 1
                    lines.append(self._data[start:end].replace(b"\r", b" ").replace(b"\n", b" "))
            elif sign == b"]":
                lines += self._between(self._data[end : token.start()], last=True)
                self._is_array, self._data, end = False, self._data[token.end() :].lstrip(), 0
                break
        self._data = self._data[end:]
        return b"".join(line + b"\n" for line in lines)

    def _between(self, text: bytes, *, last: bool = False) -> list[bytes]:
        """What is wrong in the text before an object or the end of the array."""
        wanted = b"" if last or not self._objects else b","
        found = text.strip()
        return [] if found == wanted else [found.replace(b"\n", b" ") or b","]

    def _rest(self) -> bytes:
        """The text of an array that does not end."""
        found, self._data, self._is_array = self._data, b"", False
        return (found.strip().replace(b"\n", b" ") or b"[") + b"\n"
