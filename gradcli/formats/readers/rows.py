"""Read rows of inputs one at a time: the records of a CSV, or one JSON object a line."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from math import nan
from typing import IO, Any

from gradcli.errors import Diagnostic, InputError
from gradcli.formats.files.compressed import Opened, open_bytes
from gradcli.formats.files.places import is_url
from gradcli.formats.readers.block import Block, LineBlock, Row
from gradcli.formats.readers.encoded import Encoded
from gradcli.formats.readers.json_array import ArrayLines
from gradcli.formats.readers.json_block import JsonBlock
from gradcli.formats.readers.json_values import json_value, printed_values
from gradcli.formats.readers.line_blocks import LineBlocks
from gradcli.formats.readers.plain_lines import are_plain
from gradcli.formats.readers.table import (
    LONGEST,
    Column,
    Header,
    Lines,
    Record,
    header_of,
    told,
)
from gradcli.formats.texts.delimited import DELIMITERS
from gradcli.formats.texts.dialect import USUAL, Dialect
from gradcli.formats.texts.number import WORDS, number
from gradcli.formats.texts.refusal import no_input, refused, unreadable
from gradcli.formats.texts.spelling import check_spelling
from gradcli.signatures import signature
from gradcli.source import Span

_JSON = (".json", ".ndjson", ".jsonl")
_QUOTED = re.compile(r'[:\[,]\s*"\s*[-+.\d\\iInN]')  # the start of a number in quotes


class Rows:
    """The records of a file or of standard input.

    Args:
        name: Its name in messages.
        opened: The stream.
        dialect: How it is written, if not as usual.

    Fields:
        name: Its name in messages.
        form: "csv", "tsv" or "ndjson".
        names: The columns, or the keys of the first object, as names of inputs.
        titles: The same as written in the file.
        at_once: True if no record has to be waited for, as in a file.
        count: The number of the next record.
        is_alone: False if other files are read, too, so that messages name the file.
        is_numbered: False if nobody has counted the records before these.
    """

    is_alone = True
    is_numbered = True
    _array: ArrayLines | None = None

    def __init__(self, name: str, opened: Opened, dialect: Dialect = USUAL) -> None:
        self.name = name
        self.at_once = is_url(name) or os.path.isfile(name)
        self._stream, self._size = opened.stream, opened.size
        self._dialect = dialect
        columns = dialect.columns
        is_table = os.path.splitext(opened.name)[1].lower() in (".csv", ".tsv")
        stream: Any = opened.stream
        if dialect.encoding is not None:
            stream = Encoded(stream, dialect.encoding)
        self._array = None if is_table else ArrayLines(stream)
        self._blocks = LineBlocks(self._array or stream, LONGEST)
        self._lines = Lines(name, self._blocks, opened.failures)
        self.count = 0
        self._first = self._lines.filled()
        _check_kind(name, (self._first or "").encode("utf-8", "surrogateescape"))
        self._header: Header | None = None
        self.form = self._told(opened.name, columns)
        if self.form == "ndjson":
            self.names = self._keys()
            self.titles = tuple(written_object(self._first or ""))
            return
        delimiter = dialect.separator or DELIMITERS[self.form]
        if columns is not None:
            self._header = Header(columns, delimiter, None, dialect)
        elif self._first is None:
            raise refused(f"`{name}` is empty: it has no header")
        else:
            head = self._lines.record(self._first, delimiter)
            self._header = header_of(head, delimiter, dialect)
            self._first = None
        self.names = tuple(self._header.columns)
        self.titles = self._header.titles

    def _told(self, name: str, columns: Sequence[str] | None) -> str:
        suffix = os.path.splitext(name)[1].lower()
        first = (self._first or "").strip()
        if suffix in _JSON or first.startswith("{"):
            self._check_objects(first)
            return "ndjson"
        if suffix in (".csv", ".tsv"):
            return suffix[1:]
        if first.startswith("["):
            self._check_objects(first)
        if not first and columns is None:
            return "ndjson"  # `jq` writes nothing if it finds no object
        return told(first)

    def _check_objects(self, first: str) -> None:
        """Refuse JSON that is not one object a line."""
        file = "" if self.name.startswith("<") else f" {self.name}"
        if first.startswith("["):
            message = f"the JSON in `{self.name}` is an array, but not of objects"
            raise refused(message, help='objects give values by name, as in [{"x": 1}, {"x": 2}]')
        if first == "{":
            help = f"`jq -c .{file}` writes an object so"
        else:
            return
        raise refused(f"the JSON in `{self.name}` is not one object a line", help=help)

    def _keys(self) -> tuple[str, ...]:
        """The keys of the first object; none if it is broken."""
        try:
            found = {} if self._first is None else _object(self._json(self._first), self._dialect)
            return tuple(self._dialect.given(found))
        except InputError:
            return ()  # reported like any bad row

    def _json(self, line: str) -> Record:
        return Record(self.name, self._lines.number, line, [], None)

    def place(self, number: int, line: int) -> str:
        """Where the record of a number stands in its file, for messages."""
        (line,) = self.lines_of([line])
        return f"line {line}" if self.is_alone else f"line {line} of `{self.name}`"

    def lines_of(self, lines: Sequence[int]) -> Sequence[int]:
        """The lines of the file in which records begin, by the lines as which they were read."""
        return lines if self._array is None else [*map(self._array.line_of, lines)]

    def locate(self, said: Diagnostic) -> None:
        """Have a message about a record show the file's text, if that is written otherwise."""
        if self._array is not None and said.source is not None and said.source.name == self.name:
            self._array.locate(said)

    def share(self) -> float | None:
        """The share of the file that has been read; None for streams and compressed files."""
        if not self._size:
            return None
        return min(max(self._stream.tell() - self._blocks.waiting, 0) / self._size, 1.0)

    def begin(self, number: int, over: int = 0) -> None:
        """Number the records from here, and their lines as if more were before them."""
        self.count = number
        self._lines.number += over

    def check(self, names: frozenset[str]) -> None:
        """Check that the columns for these names are complete arrays.

        Raises:
            InputError: If elements are missing.
        """
        if self._header is not None:
            self._header.check(names)

    @property
    def every(self) -> Rows:
        """All records, also those that `--where` leaves out."""
        return self

    def judged(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Those of some records that count, with the refusals of those that cannot be judged."""
        return rows

    def apart(self) -> list[Rows]:
        """The files, each by itself; they may have different columns. Instead of iterating."""
        return [self]

    def take(self, names: Collection[str], titles: Collection[str]) -> None:
        """Have no other columns read than those of some inputs and those below some titles, if the
        file stores them apart.
        """

    def __iter__(self) -> Iterator[Row]:
        """The records, numbered from 0.

        Raises:
            InputError: If a record is too long.
        """
        while (line := self._first or self._lines.filled()) is not None:
            self._first = None
            if self._header is None:
                record = self._json(line)
            else:
                record = self._lines.record(line, self._header.delimiter)
            self.count += 1
            yield Row(self.count - 1, record, self._header, self._dialect)

    @property
    def at_hand(self) -> bool:
        """True if a record can be read without waiting."""
        return self.at_once or self._blocks.at_hand

    def block(
        self, names: Collection[str], most: int, titles: Collection[str] = ()
    ) -> Block | None:
        """The next records, to be read together; None if they need a reading one by one, or there
        are none.

        Args:
            names: The columns of numbers.
            most: The most bytes to read ahead.
            titles: The columns of texts.

        Raises:
            InputError: If they cannot be read.
        """
        header = self._header
        if self._first is not None or (header is not None and header.is_recorded):
            return None
        lines = self._lines.block(self._blocks, most)
        if not lines or not are_plain(lines, header.delimiter if header else None):
            self._blocks.put_back(lines)
            return None
        at = self.count, self._lines.number + 1
        found: Block
        if header is None:
            found = JsonBlock(self.name, self._dialect, lines, *at, names)
        else:
            found = LineBlock(self.name, header, lines, *at, names, titles)
        self.count += found.count
        self._lines.number += found.count
        return found


class Wanted:
    """The inputs that rows give.

    Fields:
        names: The inputs that rows may give.
        left: Inputs that keep their defaults if a row does not give them; a key of a JSON object
            must not be a misspelling of one.
        noted: True once numbers in quotes have been reported.
    """

    def __init__(self, names: frozenset[str], left: tuple[str, ...]) -> None:
        self.names = names
        self.left = left
        self.noted = False
        self._checked: set[tuple[str, ...]] = set()  # the keys of each object that passed
        self._columns: dict[Header, list[tuple[str, Column]]] = {}

    def of(self, row: Row) -> dict[str, Any]:
        """The values of a row that are inputs; numbers in quotes count as numbers.

        Raises:
            InputError: If the row is broken.
            GradError: Its refusal.
        """
        if row.refusal is not None:
            raise row.refusal
        record, header = row.record, row.header
        if header is None:
            return self._of_object(
                row.dialect.given(_object(record, row.dialect)), record, row.dialect
            )
        record.check(row.dialect.encoding)
        header.fits(record)
        if header.is_recorded and record.cells[-1]:
            span = record.span(header.delimiter, len(record.cells) - 1)
            message = f"this row is an error of an earlier gradcli: {record.cells[-1]}"
            raise refused(message, record.source, span)
        return {name: header.value(record, name, column) for name, column in self._in(header)}

    def _in(self, header: Header) -> list[tuple[str, Column]]:
        """The columns of a table that are inputs."""
        found = self._columns.get(header)
        if found is None:
            found = [item for item in header.columns.items() if item[0] in self.names]
            self._columns[header] = found
        return found

    def _of_object(self, found: dict[str, Any], record: Record, dialect: Dialect) -> dict[str, Any]:
        names = self.names
        known = {name: value for name, value in found.items() if name in names}
        if found and not known:
            text = "no key of this row is an input of the program"
            raise no_input(text, found, names, record.source, _whole(record))
        keys = tuple(found)
        if self.left and keys not in self._checked:
            left = [name for name in self.left if name not in known]
            check_spelling("this row", keys, names, left, record.source, _whole(record))
            self._checked.add(keys)
        return {name: _of_json(value, name, record, dialect) for name, value in known.items()}

    def quoted(self, row: Row) -> list[str]:
        """The inputs of a good row whose numbers are in quotes; none once that was reported."""
        record, header = row.record, row.header
        if self.noted or '"' not in record.text:
            return []
        if header is None:
            if not _QUOTED.search(record.text):
                return []
            found = row.dialect.given(_object(record, row.dialect))
            return [n for n, v in found.items() if n in self.names and _unquoted(v) is not v]
        delimiter = header.delimiter
        return [
            name
            for name, column in self._in(header)
            for place in column.cells
            if delimiter not in record.cells[place]
            and record.text[record.span(delimiter, place).start] == '"'
        ]


def _of_json(value: Any, name: str, record: Record, dialect: Dialect) -> Any:
    """The value of an input in a row of JSON: a number, a bool, or a list of such values.

    Raises:
        InputError: If it is anything else, at its place in the row.
    """
    if isinstance(value, list):
        return [_of_json(item, name, record, dialect) for item in value]
    said = "null" if value is None else value
    if isinstance(said, str) and said.strip() in dialect.missing:
        return nan
    found = _unquoted(value)
    if isinstance(found, (int, float)) or (isinstance(found, str) and found in WORDS):
        return found
    told = "null" if value is None else "an object" if isinstance(value, dict) else f"`{value}`"
    help = "`--na null` takes null as nan" if value is None else None
    span = _span_of(value, name, record, dialect)
    raise refused(f"{told} for `{name}` is not a number", record.source, span, help=help)


def _span_of(value: Any, name: str, record: Record, dialect: Dialect) -> Span:
    """The place of a wrong value: the first that is written like it behind the key of its input."""
    import json

    text = record.text
    for key in re.finditer(r'"((?:[^"\\]|\\.)*)"\s*:', text):
        if dialect.name(json.loads(f'"{key[1]}"')) != name:
            continue
        written = json.dumps(value, ensure_ascii=False)
        at = text.find(written, key.end())
        if at < 0:
            at, written = key.start(), key[0]
        return Span(at, at + len(written))
    return _whole(record)


def _unquoted(value: Any) -> Any:
    """The number in a text; any other value as it is."""
    if not isinstance(value, str) or value in WORDS:  # JSON writes these in quotes
        return value
    try:
        return number(value)
    except ValueError:
        return value


def check_row(row: Row) -> None:
    """Check that a record can be read, whatever its values are.

    Raises:
        InputError: If it is broken.
    """
    if row.header is None:
        _object(row.record, row.dialect)
        return
    row.record.check(row.dialect.encoding)
    row.header.fits(row.record)


def numbers_of(row: Row, names: Collection[str]) -> dict[str, Any]:
    """The values of some inputs in a row that can be read, as far as it has them.

    Raises:
        InputError: If one is no number.
    """
    record, header = row.record, row.header
    if header is None:
        found = row.dialect.given(_object(record, row.dialect))
        return {n: _of_json(found[n], n, record, row.dialect) for n in names if n in found}
    columns = header.columns
    return {name: header.value(record, name, columns[name]) for name in names if name in columns}


def _object(record: Record, dialect: Dialect) -> dict[str, Any]:
    """The values by name in a row of JSON, or in one of gradcli's own output."""
    record.check(dialect.encoding)
    source = record.source
    found = json_value(source)
    if not isinstance(found, dict):
        help = 'write values by name, as in {"x": 1}'
        raise refused("a row is a JSON object", source, _whole(record), help=help)
    error = found.get("error")
    if "row" in found and isinstance(error, dict) and "message" in error:
        message = f"this row is an error of an earlier gradcli: {error['message']}"
        raise refused(message, source, _whole(record))
    printed = printed_values(found)
    return found if printed is None else printed


def written_object(text: str) -> dict[str, Any]:
    """A JSON object as written; empty if the text is not one."""
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _check_kind(name: str, data: bytes) -> None:
    """Refuse what is no text in UTF-8, by its first bytes.

    Raises:
        InputError: If it is not.
    """
    if (found := signature(data)) is not None:
        way = found.way if found.encoding is None else f"`--encoding {found.encoding}` reads it"
        raise refused(f"`{name}` is {found.kind}, not UTF-8 text", help=way)


def _whole(record: Record) -> Span:
    return Span(0, len(record.text.rstrip()))


def open_rows(name: str, stdin: IO[bytes] | None, dialect: Dialect) -> Rows:
    """The rows of a file; `-` is standard input.

    Raises:
        InputError: If it cannot be read or has no header.
    """
    if name == "-":
        if stdin is None:
            raise refused("standard input is closed")
        return Rows("<stdin>", Opened(stdin, "<stdin>", (OSError,), None), dialect)
    try:
        opened = open_bytes(name)  # iterating closes it
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None
    return Rows(name, opened, dialect)
