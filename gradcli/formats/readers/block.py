"""Records of a table: one by one, and many together as columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from gradcli.errors import GradError
from gradcli.formats.readers.float_columns import columns_of
from gradcli.formats.readers.plain_lines import line_count, quoted_places
from gradcli.formats.readers.table import Header, Record, record_of
from gradcli.formats.texts.dialect import Dialect
from gradcli.formats.texts.json_text import NUMBER, json_cell
from gradcli.formats.texts.text_columns import each_text, texts_of


class Row(NamedTuple):
    """A record.

    Fields:
        number: Its number, from 0.
        record: Its text.
        header: Its header; None for a JSON object.
        dialect: Its file's dialect.
        value: Gives the value below a title; None where a file has only texts.
        refusal: The error of a record that cannot be judged by `--where`.
    """

    number: int
    record: Record
    header: Header | None
    dialect: Dialect
    value: Callable[[str], Any] | None = None
    refusal: GradError | None = None

    @property
    def line(self) -> int:
        """The line in the file where the record begins."""
        return self.record.line


class Block(ABC):
    """Records of one line each that are read together.

    Args:
        name: Their file.
        number: The first record's number, from 0.
        line: The first record's line in the file.
        count: How many there are; they follow each other.

    Fields:
        name, count: As above.
    """

    def __init__(self, name: str, number: int, line: int, count: int) -> None:
        self.name, self.number, self.line, self.count = name, number, line, count
        self._columns: dict[str, Any] | None = None

    @property
    def numbers(self) -> Any:
        """The numbers of the records, from 0: a range or an array."""
        return range(self.number, self.number + self.count)

    @property
    def lines(self) -> Any:
        """The lines of the records in the file: a range or an array."""
        return range(self.line, self.line + self.count)

    def shift(self, before: int) -> None:
        """Count the records of files before this one."""
        self.number += before

    @property
    def columns(self) -> dict[str, Any]:
        """Arrays of numbers by name, with nan for a row that needs a reading of its own."""
        if self._columns is None:  # Python 3.11 computes one cached property at a time
            self._columns = self._read()
        return self._columns

    @columns.setter
    def columns(self, changed: dict[str, Any]) -> None:
        self._columns = changed

    @abstractmethod
    def _read(self) -> dict[str, Any]:
        """The columns of numbers."""

    @abstractmethod
    def texts(self, title: str) -> Any:
        """The cells below a title, as a column of texts; None if there is no such column."""

    def untold(self, title: str) -> Sequence[int]:
        """The places of the records whose text below a title needs a reading of its own."""
        return ()

    def values(self, title: str) -> Any:
        """The cells below a title as an array of pyarrow if the file has typed columns, else as a
        list of texts; None if there is no such column.
        """
        return self.texts(title)

    def json(self, title: str) -> Any:
        """The cells below a title as a column of JSON texts; None if there is no such column."""
        texts = self.texts(title)
        return None if texts is None else each_text(texts, NUMBER.pattern, json_cell)

    @property
    def inputs(self) -> frozenset[str] | None:
        """The inputs that objects give which need no reading of their own; None in a table, whose
        header says it.
        """
        return None

    @abstractmethod
    def row(self, place: int) -> Row:
        """The record at an index in the block."""

    @property
    def odd(self) -> Sequence[int]:
        """The places of the rows that need a reading of their own."""
        import numpy as np

        found: list[int] = np.flatnonzero(self.unread([*self.columns])).tolist()
        return found

    def unread(self, names: Sequence[str]) -> Any:
        """True at the rows in which a column of these names needs a reading of its own."""
        import numpy as np

        found = np.zeros(self.count, np.bool_)
        for name in names:
            column = np.isnan(self.columns[name])
            found |= column.any(axis=tuple(range(1, column.ndim)))
        return found

    def has_quoted(self, names: Collection[str]) -> bool:
        """True if values of these inputs may be in quotes."""
        return False


class LineBlock(Block):
    """Lines of a table.

    Args:
        name: Their file.
        header: Their header.
        lines: The lines, plain ones.
        number: The first record's number.
        line: The first record's line in the file.
        names: The columns of numbers.
        titles: The columns of texts.
    """

    def __init__(
        self,
        name: str,
        header: Header,
        lines: bytes,
        number: int,
        line: int,
        names: Collection[str],
        titles: Collection[str],
    ) -> None:
        super().__init__(name, number, line, line_count(lines))
        self.header = header
        self._lines, self._names = lines, names
        self._titles = {title: header.places[title] for title in titles if title in header.places}
        self._texts: dict[str, Any] = {}

    def texts(self, title: str) -> Any:
        assert self.columns is not None, "they are read together"
        return self._texts.get(title)

    def values(self, title: str) -> Any:
        texts = self.texts(title)
        return None if texts is None else [*texts_of(texts)]

    def _read(self) -> dict[str, Any]:
        """The columns of numbers; those of texts are read with them."""
        header = self.header
        wanted = {name: header.columns[name] for name in self._names}
        places = [place for column in wanted.values() for place in column.cells]
        numbers, texts = columns_of(
            *(self._lines, self.count, len(header.names), places, [*self._titles.values()]),
            *(header.delimiter, header.dialect),
        )
        self._texts = dict(zip(self._titles, texts, strict=True))
        return header.arranged(wanted, numbers)

    @cached_property
    def records(self) -> list[Record]:
        """All records, split into cells."""
        text = self._lines.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        return [
            record_of(self.name, number, line, self.header.delimiter)
            for number, line in enumerate(lines, self.line)
        ]

    def row(self, place: int) -> Row:
        return Row(self.number + place, self.records[place], self.header, self.header.dialect)

    def has_quoted(self, names: Collection[str]) -> bool:
        if b'"' not in self._lines:
            return False
        quoted = quoted_places(self._lines, self.header.delimiter, len(self.header.names))
        return any(place in quoted for n in names for place in self.header.columns[n].cells)
