"""Program text with its name, and positions in it."""

from __future__ import annotations

from bisect import bisect_right
from io import StringIO
from itertools import accumulate
from typing import IO, NamedTuple

_PIECE = 2**20


class Span(NamedTuple):
    """A stretch of a source's text, in code points: from ``start`` up to, not with, ``end``."""

    start: int
    end: int


class Cell(NamedTuple):
    """A stretch of a source that is a cell of a notebook, or a block of code in a page.

    Fields:
        start, end: The stretch, in offsets.
        number: The number of the cell, from 1.
        name: What places in it are told by, such as `cell 3`; "" if by the lines of the file.
        line: The number of its first line, in the cell or in the file.
        indent: Columns of the file to the left of its lines.
    """

    start: int
    end: int
    number: int
    name: str
    line: int
    indent: int


class Source:
    """A program's text and the name that messages give it, or a part of a file.

    Lines end at LF, CRLF or a lone CR, as in Python.

    Fields:
        first: Number of the text's first line.
        cells: The cells that the program is made of, in order; none if it is one text.
    """

    __slots__ = ("_starts", "cells", "first", "name", "text")

    def __init__(self, name: str, text: str, first: int = 1, cells: tuple[Cell, ...] = ()) -> None:
        self.name = name
        self.text = text
        self.first = first
        self.cells = cells
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """Offsets at which the lines start; the first starts at ``starts[0]``."""
        if self._starts is None:
            lines = StringIO(self.text + ".", newline="")  # a last line that no end follows
            self._starts = [0, *accumulate(map(len, lines))][:-1]
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, the column in code points."""
        starts = self.starts
        index = bisect_right(starts, offset) - 1
        return self.first + index, offset - starts[index] + 1

    def cell(self, offset: int) -> Cell | None:
        """The cell in which an offset is, or the last one before it; None without cells."""
        index = bisect_right([cell.start for cell in self.cells], offset) - 1
        return self.cells[max(index, 0)] if self.cells else None

    def place(self, offset: int) -> tuple[str, int, int]:
        """Name, line and column of an offset, as messages tell them: those of its cell, if there
        are cells.
        """
        line, column = self.position(offset)
        cell = self.cell(offset)
        if cell is None:
            return self.name, line, column
        name = f"{self.name}:{cell.name}" if cell.name else self.name
        return name, line - self.position(cell.start)[0] + cell.line, column + cell.indent

    def told(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, as messages tell them."""
        return self.place(offset)[1:]

    def line_name(self, offset: int) -> str:
        """The line of an offset in a sentence: `line 3`, or `cell 2, line 3`."""
        cell = self.cell(offset)
        line = f"line {self.told(offset)[0]}"
        return f"{cell.name}, {line}" if cell is not None and cell.name else line

    def offset(self, line: int, column: int) -> int:
        """Offset of a line and column, both from 1: the inverse of ``position``."""
        return self.starts[line - self.first] + column - 1

    def line(self, number: int) -> str:
        """Text of a line, by its number, without its end."""
        starts = self.starts
        index = number - self.first
        end = starts[index + 1] if index + 1 < len(starts) else len(self.text)
        return self.text[starts[index] : end].rstrip("\r\n")


def bytes_of(file: IO[bytes], most: int) -> bytes | None:
    """The bytes of a file, None if there are more than `most`. It is read piece by piece: room for
    all that it may hold would be more than most machines have.
    """
    pieces = []
    size = 0
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            return None
    return b"".join(pieces)
