"""Columns of rows that are copied to the results: `--keep`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.json_block import json_text, text_of
from gradcli.formats.readers.rows import Rows, written_object
from gradcli.formats.texts.dialect import NOTHING, inside
from gradcli.formats.texts.json_text import json_cell


def text_below(row: Row, title: str) -> str:
    """The text of a row below a title; "" for a missing one."""
    if row.header is None:
        value = inside(written_object(row.record.text), title)
        return "" if value is NOTHING else text_of(value)
    at = row.header.places.get(title)
    return "" if at is None else row.record.cells[at]


FILE = "FILE"
"""Keeps the name of a row's file, unless a column has this name."""


class Kept:
    """Columns of a table, or keys of objects, that are copied to the results.

    Fields:
        names: Their names, in order.
    """

    def __init__(self, rows: Rows, asked: Sequence[str]) -> None:
        every = asked == ["all"]
        for name in () if every or rows.form == "ndjson" else asked:
            if name not in rows.titles and name != FILE:
                message = f"`{rows.name}` has no column `{name}` to keep"
                help = nearest(name, rows.titles) or f"it has {', '.join(rows.titles)}"
                raise InputError(Diagnostic("bad-input", message, help=help))
        self.names = tuple(rows.titles) if every else tuple(asked)

    def cells(self, row: Row) -> list[str]:
        """The kept cells of a row, as texts; "" for a missing one."""
        if row.header is None:
            return [*map(text_of, self._of_object(row))]
        cells, places = row.record.cells, row.header.places
        found = [(n, places.get(n, len(cells))) for n in self.names]
        other = {FILE: row.record.name}
        return [cells[at] if at < len(cells) else other.get(n, "") for n, at in found]

    def columns(self, block: Block) -> list[Any]:
        """The kept columns of a block, as columns of texts."""
        return self._found(block, block.texts)

    def values(self, row: Row) -> list[Any]:
        """The kept values of a row for a file with types: texts, or values of its own file."""
        texts = self.cells(row)
        if row.value is None:
            return texts
        own = map(row.value, self.names)
        return [text if v is None else v for v, text in zip(own, texts, strict=True)]

    def typed_columns(self, block: Block) -> list[Any]:
        """The kept columns of a block for a file with types: texts, or arrays of its own file."""
        return self._found(block, block.values)

    def _found(self, block: Block, take: Callable[[str], Any]) -> list[Any]:
        found = map(take, self.names)
        other = {FILE: block.name}
        return [
            [other.get(name, "")] * block.count if column is None else column
            for name, column in zip(self.names, found, strict=True)
        ]

    def json(self, row: Row) -> dict[str, str]:
        """The kept cells of a row as JSON by name; cells that read as numbers become numbers."""
        if row.header is None:
            return {n: json_text(v) for n, v in zip(self.names, self._of_object(row), strict=True)}
        return {
            name: self._json(row, name, text)
            for name, text in zip(self.names, self.cells(row), strict=True)
        }

    def _json(self, row: Row, name: str, text: str) -> str:
        value = None if row.value is None else row.value(name)
        if value is None:
            return json_cell(text)
        from gradcli.formats.files.arrow import json_column

        return str(json_column(row.record.name, name, value)[0])

    def json_columns(self, block: Block) -> list[Any]:
        """The kept columns of a block as columns of JSON texts."""
        file = json_cell(block.name) if block.inputs is None else json_text(block.name)
        other = {FILE: file}
        found = map(block.json, self.names)
        return [
            [other.get(name, "null")] * block.count if column is None else column
            for name, column in zip(self.names, found, strict=True)
        ]

    def _of_object(self, row: Row) -> list[Any]:
        found = written_object(row.record.text)
        other = {FILE: row.record.name}
        values = [inside(found, name) for name in self.names]
        return [
            other.get(name) if value is NOTHING else value
            for name, value in zip(self.names, values, strict=True)
        ]
