"""Rows of Parquet and Arrow files."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from gradcli.formats.files.arrow import cells, floats_of, json_column, opened, text_column
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.float_columns import certain
from gradcli.formats.readers.rows import Rows
from gradcli.formats.readers.table import Header, Record
from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.dialect import Dialect

_FEW = 16  # records that are turned into texts together


class ArrowRows(Rows):
    """The records of a Parquet or Arrow file, as texts like a CSV's; the first has the line 1.

    Args:
        name: The file.
        dialect: How its columns are named.
        groups: The row groups to read; None for all.
    """

    def __init__(self, name: str, dialect: Dialect, groups: Sequence[int] | None = None) -> None:
        self.name, self.form, self.at_once = name, "csv", True
        self._dialect = dialect
        self._file = opened(name, groups=groups)
        self._table = Header(self._file.names, ",", None, dialect)
        self.names = tuple(self._table.columns)
        self.titles = self._table.titles
        self.count = self._first_number = 0
        self._batches: Iterator[Any] | None = None
        self._rest: Any = None  # of the current batch
        self._waiting: deque[Row] = deque()

    def take(self, names: Collection[str], titles: Collection[str]) -> None:
        columns = [self._table.columns[name] for name in names if name in self._table.columns]
        places = {place for column in columns for place in column.cells}
        places.update(self._table.places[t] for t in titles if t in self._table.places)
        picked = [self.titles[place] for place in sorted(places)]
        self._table = Header(picked, ",", None, self._dialect)

    @property
    def at_hand(self) -> bool:
        return True

    def begin(self, number: int, over: int = 0) -> None:
        self.count = self._first_number = number

    def share(self) -> float | None:
        done = self.count - self._first_number
        return done / self._file.count if self._file.count else None

    def check(self, names: frozenset[str]) -> None:
        self._table.check(names)

    def __iter__(self) -> Iterator[Row]:
        while self._waiting or (rest := self._next()) is not None:
            if not self._waiting:
                few = ArrowBlock(self.name, self._table, rest.slice(0, _FEW), self.count, ())
                self._waiting.extend(map(few.row, range(few.count)))
                self._rest = rest.slice(_FEW)
            self.count += 1
            yield self._waiting.popleft()

    def block(
        self, names: Collection[str], most: int, titles: Collection[str] = ()
    ) -> Block | None:
        rest = None if self._waiting else self._next()
        if rest is None:
            return None
        found = ArrowBlock(self.name, self._table, rest, self.count, names)
        self.count += found.count
        self._rest = None
        return found

    def _next(self) -> Any:
        """The rest of the current batch, or the next batch; None after the last."""
        if self._batches is None:
            self._batches = self._file.batches(self._table.titles)
        while self._rest is None or not self._rest.num_rows:
            self._rest = next(self._batches, None)
            if self._rest is None:
                return None
        return self._rest


class ArrowBlock(Block):
    """Records of a Parquet or Arrow file.

    Args:
        name: The file.
        header: Its columns.
        batch: The records, as a record batch.
        number: The first record's number.
        names: The columns of numbers.
    """

    def __init__(
        self, name: str, header: Header, batch: Any, number: int, names: Collection[str]
    ) -> None:
        super().__init__(name, number, number + 1, batch.num_rows)
        self._header, self._batch, self._names = header, batch, names

    def _read(self) -> dict[str, Any]:
        wanted = {name: self._header.columns[name] for name in self._names}
        found = (self._floats(place) for column in wanted.values() for place in column.cells)
        return self._header.arranged(wanted, found)

    def texts(self, title: str) -> Any:
        values = self.values(title)
        return None if values is None else text_column(self.name, title, values)

    def values(self, title: str) -> Any:
        return self._batch.column(title) if title in self._header.places else None

    def json(self, title: str) -> Any:
        values = self.values(title)
        return None if values is None else json_column(self.name, title, values)

    def row(self, place: int) -> Row:
        header = self._header
        return Row(
            *(self.number + place, self._records[place], header, header.dialect),
            partial(self._value, place),
        )

    def _value(self, place: int, title: str) -> Any:
        values = self.values(title)
        return None if values is None else values.slice(place, 1)

    @cached_property
    def _records(self) -> list[Record]:
        """The records as texts."""
        return [
            Record(self.name, number, record(texts, ","), [*texts], None)
            for number, texts in enumerate(
                zip(*cells(self.name, self._batch), strict=True), self.line
            )
        ]

    def _floats(self, place: int) -> Any:
        """A column as floats, with nan for a value that needs a reading of its own."""
        import numpy as np

        array = floats_of(self._batch.column(self._header.titles[place]))
        return np.full(self.count, np.nan) if array is None else certain(array)
