"""Read all records of a table at once: some columns as numbers, others as texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from math import isfinite, nan, prod
from typing import Any

import numpy as np

from gradcli.errors import Diagnostic, InputError, listed
from gradcli.formats.files.stored import Growing, pieces
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.kept import Kept
from gradcli.formats.readers.rows import Rows, Wanted, written_object
from gradcli.formats.texts.refusal import first_names, refused
from gradcli.formats.texts.text_columns import texts_of
from gradcli.record import Record
from gradcli.source import Span

_AHEAD = 1 << 22  # bytes of a block
_FEW = 200  # records that are read one by one, without the packages that read blocks


class Whole(Record):
    """The records of a table.

    Fields:
        name: The table's name in messages.
        columns: Arrays of numbers by name, with the records first; `Stored` ones if they are long.
        texts: Cells by the titles of columns.
        lines: The line of each record in its file.
        left_out: How many records were left out.
        first_left: The file and the line of the first of them, with the reason; None if there is
            none.
        most: The most bytes of a column in memory; None for any number.
        parts: The file of each part, with the number of records through its end.
    """

    __slots__ = ("name", "columns", "texts", "lines", "left_out", "first_left", "most", "parts")
    name: str
    columns: dict[str, Any]
    texts: dict[str, list[str]]
    lines: Any
    left_out: int
    first_left: tuple[str, int, Diagnostic] | None
    most: int | None
    parts: Sequence[tuple[str, int]]

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.lines)

    def chosen(self, places: Any) -> Whole:
        """Some of the records, by their numbers in order."""
        ends = np.searchsorted(places, [end for _, end in self.parts]).tolist()
        return self._changed(
            columns={name: column[places] for name, column in self.columns.items()},
            texts={name: [cells[k] for k in places] for name, cells in self.texts.items()},
            lines=self.lines[places],
            parts=[(name, end) for (name, _), end in zip(self.parts, ends, strict=True)],
        )

    def known(self, names: Sequence[str]) -> Whole:
        """The records in which no number of these columns is missing, without their texts."""
        wanted = [self.columns[name] for name in names]
        if not wanted or all(complete(*parts).all() for parts in pieces(*wanted)):
            return self
        grown = {name: Growing(self.most, name) for name in self.columns}
        lines, parts = Growing(self.most, "line"), []
        first = 0
        for part, end in self.parts:
            for one, *several in pieces(self.lines, *self.columns.values(), part=slice(first, end)):
                named = dict(zip(self.columns, several, strict=True))
                chosen = complete(*(named[name] for name in names))
                lines.append(one[chosen])
                for name, column in named.items():
                    grown[name].append(column[chosen])
            parts.append((part, lines.count))
            first = end
        columns = {name: column.done() for name, column in grown.items()}
        return self._changed(columns=columns, texts={}, lines=lines.done(), parts=parts)

    def joined(self) -> Whole:
        """The same records as one part."""
        return self._changed(parts=[(self.name, self.count)])

    def _changed(self, **fields: Any) -> Whole:
        return Whole(**{name: getattr(self, name) for name in self._fields} | fields)

    def place(self, number: int) -> str:
        """Where a record stands, for messages."""
        ends = [end for _, end in self.parts]
        return f"`{self.parts[bisect_right(ends, number)][0]}`, line {int(self.lines[number])}"


def complete(*columns: Any) -> Any:
    """True at the records in which no number of these columns is missing."""
    found = np.ones(len(columns[0]), np.bool_)
    for column in columns:
        found &= ~np.isnan(column.reshape(len(column), -1)).any(axis=1)
    return found


def read_whole(
    tables: Iterable[Rows],
    names: Sequence[str],
    titles: Sequence[str],
    *,
    skips: bool,
    either: Sequence[Collection[str]] = (),
    most: int | None = None,
) -> Whole:
    """All records of some tables.

    Args:
        tables: The tables, of which nothing has been read; each is a part.
        names: The inputs whose columns are numbers.
        titles: The columns that are kept as texts.
        skips: True if a bad record is left out, False if it is an error.
        either: Groups of inputs of which each record has at least one; other inputs may be missing,
            and are nan there. If there are none, each record has all inputs.
        most: The most bytes of a column in memory; None for any number.

    Raises:
        InputError: At the first bad record, or if a column is missing.
    """
    reading = _Reading(names, titles, either, skips=skips, most=most)
    for rows in tables:
        reading.take(rows)
    return reading.done()


class _Reading:
    """Columns that grow. Arguments as of `read_whole`."""

    def __init__(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]],
        *,
        skips: bool,
        most: int | None,
    ) -> None:
        self._names, self._titles, self._either = names, titles, either
        self._skips, self._most = skips, most
        self._columns = {name: Growing(most, name) for name in names}
        self._lines = Growing(most, "line")
        self._cells: list[list[str]] = [[] for _ in titles]
        self._count = 0
        self._left_out = 0
        self._rows: Rows
        self._first_left: tuple[str, int, Diagnostic] | None = None
        self._parts: list[tuple[str, int]] = []

    def take(self, rows: Rows) -> None:
        """Read a table. Errors as of `read_whole`."""
        self._read(rows)
        self._parts.append((rows.name, self._lines.count))

    def _read(self, rows: Rows) -> None:
        names = self._present(rows)
        self._rows = rows
        rows.check(frozenset(names))
        kept = Kept(rows, self._titles)
        reading = iter(rows)
        while True:
            few = not names or self._count < _FEW
            block = None if few else rows.block(names, _AHEAD, self._titles)
            if block is not None and len(block.odd) == block.count:  # of lists, perhaps
                for place in range(block.count):
                    self._take(block.row(place), kept)
                continue
            if block is not None:
                fine = self._fine(block)
                columns = {name: column[fine] for name, column in block.columns.items()}
                cells = map(texts_of, kept.columns(block))
                self._append(columns, np.asarray(block.lines)[fine])
                self._keep(
                    [[c for c, is_fine in zip(one, fine, strict=True) if is_fine] for one in cells]
                )
                continue
            row = next(reading, None)
            if row is None:
                return
            self._count += 1
            self._take(row, kept)

    def _take(self, row: Row, kept: Kept) -> None:
        found = self._one(row)
        if found is not None:
            columns = {name: np.asarray(x, np.float64)[None] for name, x in found.items()}
            self._append(columns, np.array([row.line]))
            self._keep([[cell] for cell in kept.cells(row)])

    def _present(self, rows: Rows) -> list[str]:
        """The names that a table has.

        Raises:
            InputError: If it has to have others.
        """
        if rows.form == "ndjson":
            return [*self._names]
        absent = [name for name in self._names if name not in rows.names]
        if absent and not self._either:
            others = first_names(rows.titles) or "none"
            raise refused(f"`{rows.name}` has no column {listed(absent)}; it has {others}")
        return [name for name in self._names if name not in absent]

    def done(self) -> Whole:
        """All that was read."""
        name = " and ".join(dict.fromkeys(name for name, _ in self._parts))
        columns = {name: column.done() for name, column in self._columns.items()}
        texts = dict(zip(self._titles, self._cells, strict=True))
        return Whole(
            *(name, columns, texts, self._lines.done(), self._left_out, self._first_left),
            *(self._most, self._parts),
        )

    def _append(self, columns: dict[str, Any], lines: Any) -> None:
        for name, grown in self._columns.items():
            column = columns.get(name)
            grown.append(np.full(len(lines), np.nan) if column is None else column)
        self._lines.append(np.asarray(self._rows.lines_of(lines)))

    def _keep(self, several: Sequence[Sequence[str]]) -> None:
        for kept, more in zip(self._cells, several, strict=True):
            kept.extend(more)

    def _fine(self, block: Block) -> Any:
        """True at the records of a block that count. Those with a nan are read by themselves."""
        odd = block.odd
        if odd:
            block.columns = {name: column.copy() for name, column in block.columns.items()}
        fine = np.ones(block.count, np.bool_)
        fine[odd] = False
        for place in odd:
            found = self._one(block.row(place))
            if found is not None:
                fine[place] = True
                for name, column in block.columns.items():
                    column[place] = _of_shape(column.shape[1:], found[name], name)
        return fine

    def _one(self, row: Row) -> dict[str, Any] | None:
        """The values of a record; None if it is left out."""
        try:
            return self._numbers(row)
        except InputError as error:
            for said in error.diagnostics:
                self._rows.locate(said)
            if not self._skips:
                raise
            self._left_out += 1
            if self._first_left is None:
                (line,) = self._rows.lines_of([row.line])
                self._first_left = self._rows.name, line, error.diagnostics[0]
            return None

    def _numbers(self, row: Row) -> dict[str, Any]:
        """The values of a row, nan where they may be missing.

        Raises:
            InputError: At what is no finite number.
        """
        blank = _blank(row, self._names) if self._either else set()
        found = Wanted(frozenset(self._names) - blank, ()).of(row)
        for name in self._names:
            if name in blank:
                found[name] = nan
            elif name not in found:
                raise _refused(row, f"this row has no `{name}`", None)
            elif self._either and found[name] != found[name]:
                blank.add(name)
            elif not _is_known(found[name]):
                help = "`--on-error skip` leaves such records out, and counts them"
                raise _refused(row, f"`{name}` is not finite here", help)
        if self._either and all(blank.intersection(group) for group in self._either):
            names = listed([name for group in self._either for name in group])
            help = "`--on-error skip` leaves such records out, and counts them"
            raise _refused(row, f"this row has none of {names}", help)
        return {name: _plain(found[name]) for name in self._names}


def _of_shape(shape: tuple[int, ...], value: Any, name: str) -> Any:
    """A value of that shape.

    Raises:
        InputError: If it has another.
    """
    if np.shape(value) != shape:
        sizes = " and ".join(map(str, sorted((np.size(value), prod(shape)))))
        raise refused(f"the records have {sizes} elements of `{name}`")
    return value


def _blank(row: Row, names: Sequence[str]) -> set[str]:
    """The names for which a row has an empty cell, null, or nothing."""
    if row.header is None:
        written = written_object(row.record.text)
        known = {row.dialect.name(key) for key, value in written.items() if value is not None}
        return {name for name in names if name not in known}
    cells, columns = row.record.cells, row.header.columns
    return {
        name
        for name in names
        if name not in columns
        or not any(cells[place].strip() for place in columns[name].cells if place < len(cells))
    }


def _refused(row: Row, message: str, help: str | None) -> InputError:
    record = row.record
    return refused(message, record.source, Span(0, len(record.text.rstrip())), help=help)


def _plain(value: Any) -> Any:
    """A value whose words for numbers, as JSON has them, are numbers."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else value


def _is_known(value: Any) -> bool:
    """True for a finite number, or a list of them."""
    if isinstance(value, list):
        return all(map(_is_known, value))
    return isfinite(_plain(value))
