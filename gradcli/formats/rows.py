"""Rows of inputs: the records of a CSV, or JSON objects a line, read one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

from gradcli.errors import Diagnostic, InputError
from gradcli.formats.read import decoded, json_value, number, refused

_LONGEST = 2**26  # characters of a line
_JSON = (".json", ".ndjson", ".jsonl")


class Row(NamedTuple):
    """A record: its number from 0, its line in the file, and the values by name; or what is wrong
    with it.
    """

    number: int
    line: int
    values: dict[str, Any]
    error: InputError | None


class Rows:
    """The records of a file or of standard input.

    Fields:
        name: What messages call it.
        form: "csv", "tsv" or "ndjson".
        names: The columns, or the keys of the first object.
    """

    def __init__(self, name: str, stream: IO[bytes], columns: Sequence[str] | None) -> None:
        self.name = name
        self._stream = stream
        self._line = 0
        self._first = self._next()
        self.form = self._told()
        self._given = columns is not None
        if columns is not None:
            self.names = tuple(columns)
        elif self.form == "ndjson":
            self.names = tuple(self._object(self._first)) if self._first else ()
        else:
            self.names = tuple(cell.strip() for cell in self._cells(self._first or ""))
            if not any(self.names):
                raise refused(f"`{name}` is empty: it has no header")
            for column in self.names:
                if self.names.count(column) > 1:
                    raise refused(f"`{name}` has two columns `{column}`")

    def _told(self) -> str:
        suffix = os.path.splitext(self.name)[1].lower()
        if suffix in _JSON or (self._first or "").lstrip().startswith("{"):
            return "ndjson"
        return "tsv" if suffix == ".tsv" else "csv"

    def __iter__(self) -> Iterator[Row]:
        """The records, numbered from 0."""
        count = 0
        pending = self._first if self._given or self.form == "ndjson" else self._next()
        while pending is not None:
            if pending.strip():
                yield self._row(count, pending)
                count += 1
            pending = self._next()

    def _row(self, count: int, text: str) -> Row:
        try:
            values = self._object(text) if self.form == "ndjson" else self._record(text)
        except InputError as error:
            return Row(count, self._line, {}, error)
        return Row(count, self._line, values, None)

    def _object(self, text: str) -> dict[str, Any]:
        found = json_value(self.name, text)
        if not isinstance(found, dict):
            raise refused(f"`{self.name}`, line {self._line}: a row is a JSON object")
        printed = str(found.get("schema", "")).startswith("gradcli.")
        values = found.get("values")
        return values if printed and isinstance(values, dict) else found

    def _record(self, text: str) -> dict[str, Any]:
        cells = self._cells(text)
        if len(cells) != len(self.names):
            raise refused(
                f"`{self.name}`, line {self._line}: {len(cells)} cells, and the header has "
                f"{len(self.names)}"
            )
        return {
            column: json_value(self.name, cell)
            if cell.lstrip().startswith("[")
            else _Cell(self.name, self._line, column, cell)
            for column, cell in zip(self.names, cells, strict=True)
        }

    def _cells(self, text: str) -> list[str]:
        delimiter = "\t" if self.form == "tsv" else ","
        if '"' not in text:  # most records need no csv reader
            return text.rstrip("\r\n").split(delimiter)
        import csv

        while text.count('"') % 2:  # a quoted line end
            more = self._next()
            if more is None:
                raise refused(f"`{self.name}`, line {self._line}: a quote is not closed")
            text += more
        try:
            return next(csv.reader([text], delimiter=delimiter))
        except csv.Error as error:
            raise refused(f"`{self.name}`, line {self._line}: {error}") from None

    def _next(self) -> str | None:
        """The next line, or None at the end."""
        data = self._stream.readline(_LONGEST + 1)
        if not data:
            return None
        self._line += 1
        if len(data) > _LONGEST:
            raise refused(f"`{self.name}`, line {self._line}: longer than {_LONGEST >> 20} MiB")
        return decoded(self.name, data) if self._line == 1 else self._decoded(data)

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise refused(f"`{self.name}`, line {self._line}: it is no UTF-8 text") from None


class _Cell(NamedTuple):
    """A cell that becomes a number where it is an input: other columns may hold anything."""

    name: str
    line: int
    column: str
    text: str

    def number(self) -> float:
        return number(self.name, self.line, self.text, self.column)


def taken(row: Row, names: frozenset[str]) -> dict[str, Any]:
    """The values of a row that are inputs, cells as numbers.

    Raises:
        InputError: If the row is broken.
    """
    if row.error is not None:
        raise row.error
    return {
        name: value.number() if type(value) is _Cell else value
        for name, value in row.values.items()
        if name in names
    }


def open_rows(name: str, stdin: IO[bytes] | None, columns: Sequence[str] | None) -> Rows:
    """The rows of a file; `-` is standard input.

    Raises:
        InputError: If it cannot be read or has no header.
    """
    if name == "-":
        if stdin is None:
            raise refused("standard input is closed")
        return Rows("<stdin>", stdin, columns)
    try:
        stream = open(name, "rb")  # noqa: SIM115  # read to the end by the one who iterates
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = f"cannot read `{name}`: {reason[:1].lower()}{reason[1:]}"
        raise InputError(Diagnostic("unreadable-file", text)) from None
    return Rows(name, stream, columns)
