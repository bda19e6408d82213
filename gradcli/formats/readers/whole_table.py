"""Read all records of a table at once: some columns as numbers, others as texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

from gradcli.errors import Diagnostic, InputError
from gradcli.formats.readers.kept import Kept
from gradcli.formats.readers.rows import Row, Rows, Wanted
from gradcli.formats.texts.refusal import refused
from gradcli.record import Record
from gradcli.source import Span

_AHEAD = 1 << 22  # bytes of a block
_FEW = 200  # records that are read one by one, without the packages that read blocks


class Whole(Record):
    """The records of a table.

    Fields:
        name: The table's name in messages.
        columns: Arrays of numbers by name, with the records first.
        texts: Cells by the titles of columns.
        lines: The line of each record in its file.
        left: The lines of records that were left out, with the reason.
    """

    __slots__ = ("name", "columns", "texts", "lines", "left")
    name: str
    columns: dict[str, Any]
    texts: dict[str, list[str]]
    lines: Any
    left: list[tuple[int, Diagnostic]]

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self.lines)

    def chosen(self, places: Any) -> Whole:
        """Some of the records, by a mask or by their numbers."""
        import numpy as np

        numbers = np.flatnonzero(places) if places.dtype == np.bool_ else places
        return Whole(
            self.name,
            {name: column[numbers] for name, column in self.columns.items()},
            {name: [cells[k] for k in numbers] for name, cells in self.texts.items()},
            self.lines[numbers],
            self.left,
        )

    def place(self, number: int) -> str:
        """Where a record stands, for messages."""
        return f"`{self.name}`, line {int(self.lines[number])}"


def read_whole(rows: Rows, names: Sequence[str], titles: Sequence[str], *, skips: bool) -> Whole:
    """All records of a table.

    Args:
        rows: The table, of which nothing has been read.
        names: The inputs whose columns are numbers.
        titles: The columns that are kept as texts.
        skips: True if a bad record is left out, False if it is an error.

    Raises:
        InputError: At the first bad record, or if a column is missing.
    """
    import numpy as np

    rows.check(frozenset(names))
    kept = Kept(rows, titles)
    wanted = Wanted(frozenset(names), ())
    pieces: list[dict[str, Any]] = []
    cells: list[list[str]] = [[] for _ in titles]
    lines: list[Any] = []
    left: list[tuple[int, Diagnostic]] = []

    def one(row: Row) -> dict[str, Any] | None:
        try:
            found = _numbers(wanted.of(row), names, row)
        except InputError as error:
            if not skips:
                raise
            left.append((row.line, error.diagnostics[0]))
            return None
        return found

    def take(row: Row) -> None:
        found = one(row)
        if found is None:
            return
        pieces.append({name: np.asarray(x, np.float64)[None] for name, x in found.items()})
        lines.append(np.array([row.line]))
        for column, cell in zip(cells, kept.cells(row), strict=True):
            column.append(cell)

    reading = iter(rows)
    while True:
        few = len(lines) + len(left) < _FEW
        block = None if few or not names else rows.block(names, _AHEAD)
        if block is None:
            row = next(reading, None)
            if row is None:
                break
            take(row)
            continue
        odd = np.zeros(block.count, np.bool_)
        for column in block.columns.values():
            odd |= np.isnan(column.reshape(block.count, -1)).any(axis=1)
        fine = ~odd
        if odd.any():
            block.columns = {name: column.copy() for name, column in block.columns.items()}
        for place in np.flatnonzero(odd):
            found = one(block.row(int(place)))
            if found is not None:
                fine[place] = True
                for name, value in found.items():
                    block.columns[name][place] = value
        pieces.append({name: block.columns[name][fine] for name in names})
        lines.append(block.line + np.flatnonzero(fine))
        if titles:
            for column, more in zip(cells, kept.columns(block), strict=True):
                column += [cell for cell, is_fine in zip(more, fine, strict=True) if is_fine]
    columns = {name: _joined([piece[name] for piece in pieces], name) for name in names}
    texts = dict(zip(titles, cells, strict=True))
    every = np.concatenate(lines) if lines else np.zeros(0, np.int64)
    return Whole(rows.name, columns, texts, every, left)


def _numbers(found: dict[str, Any], names: Collection[str], row: Row) -> dict[str, Any]:
    """The values of a row, all of them there and none of them nan.

    Raises:
        InputError: At what is not.
    """
    for name in names:
        if name not in found:
            raise _refused(row, f"this row has no `{name}`", None)
        if not _is_known(found[name]):
            help = "`--on-error skip` leaves such records out, and counts them"
            raise _refused(row, f"`{name}` is not finite here", help)
    return {name: _plain(found[name]) for name in names}


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
    from math import isfinite

    if isinstance(value, list):
        return all(map(_is_known, value))
    return isfinite(_plain(value))


def _joined(pieces: list[Any], name: str) -> Any:
    import numpy as np

    if not pieces:
        return np.zeros(0)
    shapes = {piece.shape[1:] for piece in pieces}
    if len(shapes) > 1:
        sizes = " and ".join(str(prod(shape)) for shape in sorted(shapes))
        raise refused(f"the records have {sizes} elements of `{name}`")
    return np.concatenate(pieces)
