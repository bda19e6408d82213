"""Read tables: records of a CSV or TSV one at a time, their cells and their header."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from typing import Any, NamedTuple, TextIO

from gradcli.errors import InputError, counted, nearest
from gradcli.formats.readers.line_blocks import LineBlocks, TooLong
from gradcli.formats.texts.dialect import USUAL, Dialect
from gradcli.formats.texts.number import TooLarge, number
from gradcli.formats.texts.refusal import refused, unreadable
from gradcli.source import Source, Span

LONGEST = 2**26  # characters of a line, and of a record
_DEEPEST = 64  # nested lists in a cell
_ELEMENT = re.compile(r"([^\W\d]\w*)((?:\.(?:0|[1-9]\d{0,8}))+)")  # `w.0`, `w.1.2`
_COMMA = re.compile(r"[+-]?\d+,\d+")  # a decimal comma
_MISSING = frozenset(
    {"na", "n/a", "null", "none", "nil", "missing"}
)  # no value, in tables of others
_BYTES = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, decoded by `surrogateescape`


def told(line: str) -> str:
    """The form that a header seems to have: "csv" or "tsv"."""
    return "tsv" if "\t" in line and "," not in line else "csv"


# records ------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """A record: its file, its first line's number, its text, its cells, and the offset of an
    unclosed quote or None.
    """

    name: str
    line: int
    text: str
    cells: list[str]
    unclosed: int | None

    @property
    def source(self) -> Source:
        """The record as messages show it."""
        return Source(self.name, _BYTES.sub("\ufffd", self.text), self.line)

    def check(self, encoding: str | None = None) -> None:
        """Check that the record is text with closed quotes.

        Args:
            encoding: The encoding of the file that it comes from; None for UTF-8.

        Raises:
            InputError: Where it is not.
        """
        if not self.text.isascii() and (found := _BYTES.search(self.text)):
            message, help = f"this is no text in the encoding `{encoding}`", None
            if encoding is None:
                message = f"the byte {ord(found[0]) - 0xDC00:#x} is not UTF-8 text"
                help = "`--encoding latin-1` reads a file in Latin-1; `iconv` converts others"
            raise refused(message, self.source, Span(*found.span()), help=help)
        if self.unclosed is not None:
            span = Span(self.unclosed, self.unclosed + 1)
            raise refused("a quote is not closed", self.source, span)

    def span(self, delimiter: str, index: int) -> Span:
        """The place of a cell."""
        cell = list(_cells(_lines(self.text), delimiter))[index]
        return Span(cell.start, cell.end)


class _Cell(NamedTuple):
    text: str
    start: int
    end: int
    closed: bool


class Lines:
    """The lines of a stream, which end at LF, CRLF or a lone CR.

    Fields:
        name: The stream's name in messages.
        number: The number of the last line that was read.
    """

    def __init__(
        self,
        name: str,
        stream: TextIO | LineBlocks,
        failures: tuple[type[Exception], ...] = (OSError,),
    ) -> None:
        self.name = name
        self.number = 0
        self._stream = stream
        self._failures: tuple[type[Exception], ...] = (*failures, TooLong)

    def next(self) -> str | None:
        """The next line with its end, or None after the last.

        Raises:
            InputError: If it cannot be read, or is too long.
        """
        try:
            line = self._stream.readline(LONGEST + 1)
            if len(line) > LONGEST:
                raise TooLong
        except self._failures as error:
            raise self._unread(error) from None
        if not line:
            return None
        self.number += 1
        return line

    def block(self, stream: LineBlocks, most: int) -> bytes:
        """The next lines of the stream, as `LineBlocks.block` returns them.

        Raises:
            InputError: If they cannot be read, or one is too long.
        """
        try:
            return stream.block(most)
        except self._failures as error:
            raise self._unread(error) from None

    def _unread(self, error: Exception) -> InputError:
        if isinstance(error, TooLong):
            return refused(
                f"`{self.name}`, line {self.number + 1}: longer than {LONGEST >> 20} MiB",
                help="a line or record so long is a mistake; is a line end missing?",
            )
        return unreadable(self.name, error)

    def filled(self) -> str | None:
        """The next line that is not blank."""
        line = self.next()
        while line is not None and not line.strip():
            line = self.next()
        return line

    def record(self, line: str, delimiter: str) -> Record:
        """The record that begins with a line; a quoted cell may continue on further lines.

        Raises:
            InputError: If it is too long.
        """
        read: list[str] = []
        lines = self._collected(line, read)
        return _record(self.name, self.number, line, delimiter, lines, read)

    def _collected(self, first: str, read: list[str]) -> Iterator[str]:
        """The line and all further ones; each is appended to `read`."""
        line: str | None = first
        number, size = self.number, 0
        while line is not None:
            read.append(line)
            size += len(line)
            if size > LONGEST:
                raise refused(
                    f"`{self.name}`, line {number}: a quote that opens in this record is not "
                    f"closed within {LONGEST >> 20} MiB"
                )
            yield line
            line = self.next()


def record_of(name: str, number: int, line: str, delimiter: str) -> Record:
    """The record in a line of that number."""
    return _record(name, number, line, delimiter, iter([line]), [line])


def _record(
    name: str, number: int, line: str, delimiter: str, lines: Iterator[str], read: list[str]
) -> Record:
    """The record that begins with a line; `lines` puts it and the next ones into `read`."""
    if '"' not in line:
        return Record(name, number, line, line.rstrip("\r\n").split(delimiter), None)
    cells = list(_cells(lines, delimiter))
    unclosed = None if cells[-1].closed else cells[-1].start
    return Record(name, number, "".join(read), [cell.text for cell in cells], unclosed)


def _lines(text: str) -> Iterator[str]:
    return iter(StringIO(text, newline=""))


def _cells(lines: Iterator[str], delimiter: str) -> Iterator[_Cell]:
    """The cells of a record; reads as many lines as its quotes need. Only a quote that is a cell's
    first character opens it.
    """
    line, base, at = next(lines), 0, 0
    while True:
        start = base + at
        text, closed = "", True
        if line.startswith('"', at):
            pieces, look = [], at + 1
            while True:
                quote = line.find('"', look)
                if quote < 0:
                    pieces.append(line[look:])
                    more = next(lines, None)
                    if more is None:
                        yield _Cell("".join(pieces), start, base + len(line), closed=False)
                        return
                    base, line, look = base + len(line), more, 0
                elif line.startswith('"', quote + 1):
                    pieces.append(line[look : quote + 1])
                    look = quote + 2
                else:
                    break
            pieces.append(line[look:quote])
            text, at = "".join(pieces), quote + 1
        end = line.find(delimiter, at)
        last = end < 0
        end = len(line.rstrip("\r\n")) if last else end
        rest = line[at:end]
        if start < base + at:  # text after the closing quote makes the cell a text
            text = f'"{text}"{rest}' if rest.strip() else text
        else:
            text = rest
        yield _Cell(text, start, base + end, closed)
        if last:
            return
        at = end + 1


# the header ---------------------------------------------------------------------------------------


class Column(NamedTuple):
    """The indices of a value's cells in a record; `shape` is None for a single cell."""

    cells: tuple[int, ...]
    shape: tuple[int, ...] | None


class Header:
    """The columns of a table.

    Columns `w.0`, `w.1`, ... are the elements of an array `w`, unless a column is named `w`.
    Columns without a name are ignored.

    Fields:
        titles: The names in the header.
        names: The same as names of inputs.
        columns: The column or columns of each value, by name.
        record: The header's own record; None if an option gives the names.
        dialect: How the table is written.
    """

    def __init__(
        self,
        names: Sequence[str],
        delimiter: str,
        record: Record | None,
        dialect: Dialect = USUAL,
    ) -> None:
        self.titles = tuple(names)
        self.names = tuple(map(dialect.name, names))
        self.delimiter = delimiter
        self.dialect = dialect
        self._plain = dialect.has_plain_numbers
        self.record = record
        self.columns = _columns(self.names)

    def column(self, name: str) -> Column | None:
        """The columns of a value, or of one element of an array; None if there is no such name."""
        found = self.columns.get(name)
        if found is None and name in self.names:
            return Column((self.names.index(name),), None)
        return found

    def check(self, names: frozenset[str]) -> None:
        """Check that the arrays among these names have all their elements.

        Raises:
            InputError: If some are missing.
        """
        for name in sorted(names & self.columns.keys()):
            cells, shape = self.columns[name]
            if shape is not None and math.prod(shape) != len(cells):
                have = ", ".join(f"`{self.names[i]}`" for i in cells[:4])
                text = f"the columns {have} are not all elements of an array `{name}`"
                first = min(cells)
                raise refused(text, *self._place(first), help=f"`{name}.0` is the first element")

    def _place(self, index: int) -> tuple[Source, Span] | tuple[None, None]:
        if self.record is None:
            return None, None
        return self.record.source, self.record.span(self.delimiter, index)

    def value(self, record: Record, name: str, column: Column) -> Any:
        """A value in a record: a number, or a list for an array or for a cell with a list.

        Raises:
            InputError: At a cell that is not a number.
        """
        if column.shape is None:
            return self._number(record, name, column.cells[0])
        found = [self._number(record, self.names[i], i) for i in column.cells]
        for size in reversed(column.shape[1:]):
            found = [found[i : i + size] for i in range(0, len(found), size)]
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each title."""
        return {title: place for place, title in enumerate(self.titles)}

    def arranged(self, columns: Mapping[str, Column], cells: Iterable[Any]) -> dict[str, Any]:
        """Arrays of the cells of some columns as the values by name, with the records first."""
        import numpy as np

        rest = iter(cells)
        return {
            name: next(rest)
            if column.shape is None
            else np.stack([next(rest) for _ in column.cells], -1).reshape(-1, *column.shape)
            for name, column in columns.items()
        }

    @property
    def is_recorded(self) -> bool:
        """True if gradcli wrote the table, with a column of errors."""
        return len(self.names) > 1 and self.names[0] == "row" and self.names[-1] == "error"

    def _number(self, record: Record, name: str, index: int) -> Any:
        text = record.cells[index]
        try:
            return number(text) if self._plain else self._written(text)
        except ValueError as error:
            source, span = record.source, record.span(self.delimiter, index)
            if text.lstrip().startswith("["):
                return _list(text, source, span)
            raise no_number(text, f" in column `{name}`", error, source, span) from None

    def _written(self, text: str) -> Any:
        """The number in a cell, written in the table's dialect."""
        if text.strip() in self.dialect.missing:
            return math.nan
        point = self.dialect.decimal
        return number(text if point == "." else text.replace(point, ".", 1))

    def fits(self, record: Record) -> None:
        """Check that a record has as many cells as the header.

        Raises:
            InputError: At its end, or at its first extra cell.
        """
        count, wanted = len(record.cells), len(self.names)
        if count == wanted:
            return
        message = f"{counted(count, 'cell')}, and the header has {wanted}"
        if count < wanted:
            end = record.span(self.delimiter, count - 1).end
            raise refused(message, record.source, Span(end, end))
        start = record.span(self.delimiter, wanted).start
        end = record.span(self.delimiter, count - 1).end
        help = "put a cell that holds the separator in quotes"
        raise refused(message, record.source, Span(start, end), help=help)


def _columns(names: Sequence[str]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    arrays: dict[str, dict[tuple[int, ...], int]] = {}
    known = frozenset(names)
    for index, name in enumerate(names):
        element = _ELEMENT.fullmatch(name)
        if element and element[1] not in known:
            columns.setdefault(element[1], Column((), ()))
            place = tuple(map(int, element[2][1:].split(".")))
            arrays.setdefault(element[1], {})[place] = index
        elif name:
            columns[name] = Column((index,), None)
    for name, places in arrays.items():
        even = len(set(map(len, places))) == 1
        shape = tuple(max(axis) + 1 for axis in zip(*places, strict=True)) if even else (0,)
        columns[name] = Column(tuple(places[place] for place in sorted(places)), shape)
    return columns


def header_of(record: Record, delimiter: str, dialect: Dialect = USUAL) -> Header:
    """The header in a record.

    Raises:
        InputError: If it has no names, or a name twice.
    """
    record.check(dialect.encoding)
    names = [cell.strip() for cell in record.cells]
    if not any(names):
        raise refused(f"`{record.name}` has no header")
    before: set[str] = set()
    for index, name in enumerate(names):
        if name in before:
            span = record.span(delimiter, index)
            help = "give each column its own name"
            raise refused(f"two columns `{name}`", record.source, span, help=help)
        if name:
            before.add(name)
    if len(names) == 1:
        for other in (";", "\t"):
            if other in names[0]:
                at = record.text.index(other)
                what = "`;`" if other == ";" else "a tab"
                help = (
                    f"separate cells by commas: `tr '{other}' ,` makes a CSV of it, and `--rows` "
                    f"takes `--separator '{other}'`"
                    if other == ";"
                    else "name the file `.tsv`"
                )
                text = f"the header is one column with {what} in it"
                raise refused(text, record.source, Span(at, at + 1), help=help)
    for column in dialect.renamed:
        if column not in names:
            text = f"there is no column `{column}`, which --map names"
            raise refused(text, record.source, help=nearest(column, names))
    return Header(names, delimiter, record, dialect)


# cells --------------------------------------------------------------------------------------------


def no_number(text: str, where: str, error: ValueError, source: Source, span: Span) -> InputError:
    """The error for a cell or word that is not a number."""
    word = text.strip()
    shown = f"`{word[:40]}`{where}"
    if isinstance(error, TooLarge):
        return refused(f"{shown} is too large for a float", source, span)
    if not word:
        way = "leave the record out, or write `nan`"
        return refused(f"the cell{where} is empty", source, span, help=way)
    help = "write decimals after a point" if _COMMA.fullmatch(word) else None
    if word.lower() in _MISSING:
        help = f"with `--rows`, `--na {word}` takes it for nan"
    return refused(f"{shown} is not a number", source, span, help=help)


def _list(text: str, source: Source, span: Span) -> Any:
    """The list in a cell: numbers in brackets, written as in any cell.

    Raises:
        InputError: Where it is broken.
    """
    base = span.start + source.text.startswith('"', span.start)
    holders: list[list[Any]] = [[]]
    before = ","  # the bracket or comma before, or `1` for a value
    for found in re.finditer(r"[\[\],]|[^\[\],\s]+", text):
        word, place = found[0], Span(base + found.start(), base + found.end())
        opens = before != "1" and (word not in ("]", ",")) and (len(holders) > 1 or word == "[")
        closes = len(holders) > 1 and (
            (word == "]" and before != ",") or (word == "," and before == "1")
        )
        if not (opens or closes):
            raise refused(f"`{word[:40]}` has no place here in a list", source, place)
        if len(holders) > _DEEPEST:
            raise refused(f"more than {_DEEPEST} lists in each other", source, place)
        if word == "[":
            holders.append([])
        elif word == "]":
            done = holders.pop()
            holders[-1].append(done)
        elif word != ",":
            try:
                holders[-1].append(number(word.strip('"')))
            except ValueError as error:
                raise no_number(word, " in a list", error, source, place) from None
        before = word if word in "[," else "1"
    if len(holders) > 1:
        raise refused("a list is not closed", source, span)
    return holders[0][0]
