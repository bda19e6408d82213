"""Tables of Python as the data of a fit."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError
from gradcli.formats.readers.rows import open_rows
from gradcli.formats.readers.whole_table import Whole, read_whole
from gradcli.formats.texts.dialect import USUAL
from gradcli.questions.fitting.asked import Table
from gradcli.questions.table import columns_of


class _Arrays:
    """A table whose columns are there."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self.name = "the table"
        self.names: Sequence[str] = [*columns]
        self._columns = columns

    def read(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]] = (),
        most: int | None = None,
    ) -> Whole:
        """The records with these columns. They are in memory already, so `most` says nothing.

        Raises:
            InputError: If they differ in length, or a number is not finite.
        """
        found = {name: np.asarray(self._columns[name], np.float64) for name in names}
        counts = {name: len(column) for name, column in found.items()}
        if len({*counts.values()}) > 1:
            said = ", ".join(f"{name} {count}" for name, count in counts.items())
            text = f"the columns differ in length: {said}"
            raise InputError(Diagnostic("shape-mismatch", text))
        for name, column in found.items():
            if not (np.isfinite(column) | (np.isnan(column) if either else False)).all():
                place = int(np.argmin(np.isfinite(column.reshape(len(column), -1)).all(axis=1)))
                text = f"`{name}` is not finite in row {place}, counted from 0"
                raise InputError(Diagnostic("bad-input", text))
        count = next(iter(counts.values()), 0)
        texts = {title: [str(x) for x in self._columns[title]] for title in titles}
        parts = [(self.name, count)]
        return Whole(self.name, found, texts, np.arange(count), 0, None, None, parts)


class _File:
    """A table in a file."""

    def __init__(self, path: str) -> None:
        self._rows = open_rows(path, None, USUAL)
        self.name = path
        self.names: Sequence[str] = self._rows.names

    def read(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]] = (),
        most: int | None = None,
    ) -> Whole:
        """The records with these columns. Arguments and errors as of `read_whole`."""
        return read_whole([self._rows], names, titles, skips=False, either=either, most=most)


def opened(table: Any) -> Table:
    """The data of a fit from a table of any kind that `Program.rows` takes."""
    if hasattr(table, "names") and hasattr(table, "read"):
        found: Table = table
        return found
    if isinstance(table, (str, os.PathLike)):
        return _File(os.fspath(table))
    return _Arrays(columns_of(table))
