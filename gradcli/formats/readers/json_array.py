"""An array of JSON objects as lines of one object each, while it is read."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from gradcli.errors import Diagnostic
from gradcli.source import Cell, Source, Span

_BOM = b"\xef\xbb\xbf"
_TEXT = rb'"[^"\\]*(?:\\.[^"\\]*)*'  # a string without its end
_STRING = re.compile(_TEXT + rb'"', re.DOTALL)
_TOKEN = re.compile(  # an object without others in it, a string, a bracket
    rb'\{[^{}\[\]"]*(?:%b"[^{}\[\]"]*)*\}|%b("?)|[{}\[\]]' % (_TEXT, _TEXT), re.DOTALL
)
_QUOTE, _CLOSING, _OPENING = ord('"'), ord("]"), b"{["
_ARRAY = re.compile(rb"\s*\[\s*([{\]]?)")
_BLOCK = 2**20  # bytes that are read at once
_MOST = 2**26  # bytes of an object
_KEPT = 2**24  # bytes of text that are kept for messages, at least as much as is read ahead
_BESIDE = 200  # bytes of the line of an object that are shown before and after it
_IN_LINE = bytes.maketrans(b"\r\n", b"  ")
_IN_STRING = bytes.maketrans(b"\r\n", b"\x1f\x1f")  # no sign of JSON, as the ends of lines are none

_OPEN = "the array is not closed: its `]` is missing"
_OTHER = "this element of the array is no object"
_HELP = {
    _OPEN: "the text may be cut short",
    _OTHER: 'objects give values by name, as in {"x": 1}',
}


class _Item(NamedTuple):
    """A stretch of text that comes as one line.

    Fields:
        start, end: The stretch.
        fault: What is wrong, if it is no object; else empty.
        is_broken: True if a string in it goes on in another line.
    """

    start: int
    end: int
    fault: str
    is_broken: bool = False

    def as_line(self, data: bytes) -> bytes:
        """It as one line, of the same length."""
        found = data[self.start : self.end]
        if self.is_broken:
            found = _STRING.sub(lambda string: string[0].translate(_IN_STRING), found)
        return b"%b\n" % (found.translate(_IN_LINE).strip() or b",")


class _Piece(NamedTuple):
    """Text that has come as lines.

    Fields:
        first: The number of the first of these lines, from 1.
        data: The text.
        line, column: Where it begins in the stream: a line from 1, and the signs before it there.
        before: The last bytes of these signs.
        is_begun: True if there are objects before it.
        starts: The lines of the stream in which the stretches begin that have come as lines.
        kind: "objects", "rest" of an array that does not end, or "lines" that come as they are.
    """

    first: int
    data: bytes
    line: int
    column: int
    before: bytes
    is_begun: bool
    starts: Sequence[int]
    kind: str

    @property
    def items(self) -> list[_Item]:
        """The stretches that have come as lines."""
        if self.kind == "objects":
            return _items(self.data, is_begun=self.is_begun)[0]
        return _rest(self.data, is_begun=self.is_begun)


class ArrayLines:
    """A stream of bytes. If it is an array of objects, each of them comes as one line; anything
    else, and what is not right in an array, comes as it is.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream: Any = stream
        self._data = b""
        self._is_array: bool | None = None
        self._is_begun = False  # an object has come
        self._line, self._column, self._before = 1, 0, b""  # where the data begin
        self._count = 0  # of the lines that have come
        self._pieces: deque[_Piece] = deque()
        self._looked: tuple[_Piece, list[_Item]] | None = None

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
        while (found := _ARRAY.match(unmarked(self._data))) is None or not found[1]:
            left = unmarked(self._data).strip(b" \t\r\n[")
            piece = self._stream.read1(_BLOCK) if _BOM.startswith(left) else b""
            if not piece:
                self._is_array = False
                return
            self._data += piece
        self._is_array = True
        self._data = unmarked(self._data)
        self._pass(self._data.index(b"[") + 1)

    def _pass(self, end: int) -> None:
        """Go on behind some of the data."""
        ends = self._data.count(b"\n", 0, end)
        self._line += ends
        last = self._data[self._data.rfind(b"\n", 0, end) + 1 : end]
        self._column = len(_text(last)) + (0 if ends else self._column)
        self._before = ((b"" if ends else self._before) + last[-_BESIDE:])[-_BESIDE:]
        self._data = self._data[end:]

    def _come(self, items: list[_Item], end: int, kind: str) -> bytes:
        """Some of the data as lines, which are passed."""
        data = self._data[:end]
        found = b"".join(item.as_line(data) for item in items)
        at = self._count + 1, data, self._line, self._column, self._before, self._is_begun
        starts = array("q", _starts(data, items, self._line))
        self._pieces.append(_Piece(*at, starts, kind))
        while len(self._pieces) > 1 and sum(len(piece.data) for piece in self._pieces) > _KEPT:
            self._pieces.popleft()
        self._count += len(items)
        self._is_begun = True
        self._pass(end)
        return found

    def _lines(self) -> bytes:
        """The objects that are complete by now, a line each; also what is wrong between them."""
        items, end, is_over = _items(self._data, is_begun=self._is_begun)
        if not items and not is_over:
            return b""
        found = self._come(items, end, "objects")
        if is_over:
            self._is_array = False
            self._pass(len(self._data) - len(self._data.lstrip()))
            self._come([], 0, "lines")
        return found

    def _rest(self) -> bytes:
        """The text of an array that does not end."""
        self._is_array = False
        return self._come(_rest(self._data, is_begun=self._is_begun), len(self._data), "rest")

    # places of messages ---------------------------------------------------------------------------

    def line_of(self, number: int) -> int:
        """The line of the stream in which a line of this one begins; its own number if that is no
        longer known.
        """
        piece = self._piece(number)
        if piece is None:
            return number
        at = number - piece.first
        if piece.kind == "lines":
            return piece.line + at
        return piece.starts[at] if at < len(piece.starts) else number

    def locate(self, said: Diagnostic) -> None:
        """Have a message about a line tell its place in the stream and show the text there, as far
        as it is still known; and what is wrong with the array.
        """
        assert said.source is not None, "it is about a line"
        number = said.source.first
        found = self._found(number)
        if found is None:
            return
        (piece, item), line = found, self.line_of(number)
        if item is None:
            indent = piece.column if number == piece.first else 0
            said.source = _at(said.source.name, said.source.text, line, indent)
            return
        begin = piece.data.rfind(b"\n", 0, item.start) + 1
        start = max(begin, item.start - _BESIDE)
        end = piece.data.find(b"\n", max(item.end - 1, item.start), item.end + _BESIDE)
        text = _text(piece.data[start : item.end + _BESIDE if end < 0 else end])
        before = len(_text(piece.data[start : item.start]))
        indent = len(_text(piece.data[begin:start])) + (0 if begin else piece.column)
        if not start:
            text, front = _text(piece.before) + text, len(_text(piece.before))
            before, indent = before + front, indent - front
        said.source = _at(said.source.name, text, line, indent)
        span = Span(0, item.end - item.start) if item.fault else said.span
        said.span = None if span is None else Span(span.start + before, span.end + before)
        if item.fault:
            said.message, said.help = item.fault, _HELP.get(item.fault)

    def _piece(self, number: int) -> _Piece | None:
        """The text that a line is from, as far as it is still known."""
        for piece in reversed(self._pieces):
            if piece.first <= number:
                return piece
        return None

    def _found(self, number: int) -> tuple[_Piece, _Item | None] | None:
        """The text, and the stretch of it, that came as a line."""
        piece = self._piece(number)
        if piece is None:
            return None
        if piece.kind == "lines":
            return piece, None
        if self._looked is None or self._looked[0] is not piece:
            self._looked = piece, piece.items
        items, at = self._looked[1], number - piece.first
        return (piece, items[at]) if at < len(items) else None


def _starts(data: bytes, items: Iterable[_Item], line: int) -> Iterator[int]:
    """The lines in which stretches of a text begin, itself beginning in one."""
    at = 0
    for item in items:
        line += data.count(b"\n", at, item.start)
        at = item.start
        yield line


def unmarked(data: bytes) -> bytes:
    """Data without the byte order marks at their beginning; joined files may have several."""
    while data.startswith(_BOM):
        data = data.removeprefix(_BOM)
    return data


def _text(data: bytes) -> str:
    """Text that may be cut within a sign."""
    return data.decode("utf-8", "ignore")


def _at(name: str, text: str, line: int, indent: int) -> Source:
    """A part of a file that begins at a line, with columns of it to the left."""
    cells = (Cell(0, len(text), 1, "", line, indent),) if indent else ()
    return Source(name, text, line, cells)


def _items(data: bytes, *, is_begun: bool) -> tuple[list[_Item], int, bool]:
    """What is complete of the elements of an array; where it ends; and whether the array does."""
    items, faults = list[_Item](), list[_Item]()
    depth = start = end = 0
    for token in _TOKEN.finditer(data):
        sign = token[0][0]
        if sign == _QUOTE:
            if not token[1]:
                break  # it goes on
            continue
        if depth == 0 and sign in _OPENING:
            start = token.start()
            faults = _between(data, end, start, b"," if is_begun else b"")
        if len(token[0]) == 1:
            depth += 1 if sign in _OPENING else -1
        if depth == 0:
            end, is_begun = token.end(), True
            items += faults
            items.append(_Item(start, end, "", _is_broken(data[start:end])))
        elif depth < 0:
            if sign == _CLOSING:
                return items + _between(data, end, token.start(), b""), token.end(), True
            depth = 0
    return items, end, False


def _is_broken(text: bytes) -> bool:
    """True if a string of an object goes on in another line."""
    if b"\n" not in text and b"\r" not in text:
        return False
    return any(b"\n" in string or b"\r" in string for string in _STRING.findall(text))


def _between(data: bytes, start: int, end: int, wanted: bytes) -> list[_Item]:
    """What is wrong in the text before an object or the end of the array."""
    text = data[start:end].strip()
    if text == wanted:
        return []
    if not text:
        return [_Item(end, end + 1, "a comma is missing before this object")]
    if inner := text.strip(b" \t\r\n,"):
        at = data.index(inner, start)
        return [_Item(at, at + len(inner), _OTHER)]
    at = data.rindex(b",", start, end)
    where = "follows" if data[end : end + 1] == b"]" else "stands before"
    return [_Item(at, at + 1, f"no object {where} this comma")]


def _rest(data: bytes, *, is_begun: bool) -> list[_Item]:
    """What is left of an array that does not end."""
    at = data.find(b"{")
    if at >= 0:
        wanted = b"," if is_begun else b""
        return [*_between(data, 0, at, wanted), _Item(at, len(data), "")]
    end = len(data.rstrip())
    return [_Item(max(end - 1, 0), end, _OPEN)]
