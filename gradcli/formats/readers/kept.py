"""Columns of rows that are copied to the results: `--keep`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.rows import Rows, written_object
from gradcli.formats.texts.literal import quote
from gradcli.formats.texts.text_columns import each_text

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)  # of JSON


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
            found = self._of_object(row)
            return [v if isinstance(v, str) else "" if v is None else _json(v) for v in found]
        cells, places = row.record.cells, row.header.places
        found = [(n, places.get(n, len(cells))) for n in self.names]
        other = {FILE: row.record.name}
        return [cells[at] if at < len(cells) else other.get(n, "") for n, at in found]

    def columns(self, block: Block) -> list[Any]:
        """The kept columns of a block, as columns of texts."""
        found = map(block.texts, self.names)
        return [[block.name] * block.count if texts is None else texts for texts in found]

    def values(self, row: Row) -> list[Any]:
        """The kept values of a row for a file with types: texts, or values of its own file."""
        texts = self.cells(row)
        if row.value is None:
            return texts
        own = map(row.value, self.names)
        return [text if v is None else v for v, text in zip(own, texts, strict=True)]

    def typed_columns(self, block: Block) -> list[Any]:
        """The kept columns of a block for a file with types: texts, or arrays of its own file."""
        found = map(block.values, self.names)
        return [[block.name] * block.count if values is None else values for values in found]

    def json(self, row: Row) -> dict[str, str]:
        """The kept cells of a row as JSON by name; cells that read as numbers become numbers."""
        if row.header is None:
            return {n: _json(v) for n, v in zip(self.names, self._of_object(row), strict=True)}
        return {n: _cell(text) for n, text in zip(self.names, self.cells(row), strict=True)}

    def json_columns(self, block: Block) -> list[Any]:
        """The kept columns of a block as columns of JSON texts."""
        return [each_text(column, _NUMBER.pattern, _cell) for column in self.columns(block)]

    def _of_object(self, row: Row) -> list[Any]:
        found = written_object(row.record.text)
        return [found.get(n, row.record.name if n == FILE else None) for n in self.names]


def _cell(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else quote(text)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
