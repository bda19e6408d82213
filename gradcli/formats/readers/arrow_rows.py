"""Rows of Parquet and Arrow files."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from functools import partial
from typing import Any

from gradcli.formats.files.arrow import arrays_of, batches, cells
from gradcli.formats.readers.float_columns import certain
from gradcli.formats.readers.rows import Block, Row, Rows
from gradcli.formats.readers.table import Header, Record
from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.dialect import Dialect

_EXACT = 2**53  # ints below it are exact as floats
_FEW = 16  # records that are turned into texts together


class ArrowRows(Rows):
    """The records of a Parquet or Arrow file, as texts like a CSV's; the first has the line 1."""

    def __init__(self, name: str, dialect: Dialect) -> None:
        self.name, self.form, self.at_once = name, "csv", True
        names, self._total, self._batches = batches(name)
        self._table = Header(names, ",", None, dialect)
        self.names = tuple(self._table.columns)
        self.titles = self._table.titles
        self.count = 0
        self._rest: Any = None  # of the current batch
        self._waiting: deque[Record] = deque()

    @property
    def at_hand(self) -> bool:
        return True

    def share(self) -> float | None:
        return self.count / self._total if self._total else None

    def check(self, names: frozenset[str]) -> None:
        self._table.check(names)

    def __iter__(self) -> Iterator[Row]:
        while self._waiting or (rest := self._next()) is not None:
            if not self._waiting:
                first = rest.slice(0, _FEW)
                self._waiting.extend(_records(self.name, first, self.count + 1))
                self._rest = rest.slice(_FEW)
            self.count += 1
            found = self._waiting.popleft()
            yield Row(self.count - 1, found, self._table, self._table.dialect)

    def block(self, names: Collection[str], most: int) -> Block | None:
        rest = None if self._waiting else self._next()
        columns = None if rest is None else self._columns(rest, names)
        if rest is None or columns is None:
            return None
        records = partial(_records, self.name, rest, self.count + 1)
        found = Block(
            self.name, self._table, columns, self.count, self.count + 1, rest.num_rows, records
        )
        self.count += rest.num_rows
        self._rest = None
        return found

    def _next(self) -> Any:
        """The rest of the current batch, or the next batch; None after the last."""
        while self._rest is None or not self._rest.num_rows:
            self._rest = next(self._batches, None)
            if self._rest is None:
                return None
        return self._rest

    def _columns(self, batch: Any, names: Collection[str]) -> dict[str, Any] | None:
        """Columns as float arrays, with nan for a value that needs a reading of its own; None if a
        column is not purely numbers.
        """
        import numpy as np

        found = {}
        for name in names:
            places, shape = self._table.columns[name]
            arrays = []
            for place in places:
                array = arrays_of(batch.column(place))
                if array is None:
                    return None
                if array.dtype.kind != "f":
                    array = np.where(np.abs(array) < _EXACT, array, np.nan)
                arrays.append(certain(array.astype(np.float64)))
            found[name] = (
                arrays[0] if shape is None else np.stack(arrays, -1).reshape(len(arrays[0]), *shape)
            )
        return found


def _records(name: str, batch: Any, line: int) -> list[Record]:
    """The records of a batch as texts."""
    return [
        Record(name, number, record(texts, ","), [*texts], None)
        for number, texts in enumerate(zip(*cells(name, batch), strict=True), line)
    ]
