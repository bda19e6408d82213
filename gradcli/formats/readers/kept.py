"""Columns of rows that are copied to the results: `--keep`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.formats.readers.rows import Block, Row, Rows, written_object
from gradcli.formats.texts.literal import quote

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")  # a number in JSON


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
        cells = dict(zip(row.header.titles, row.record.cells, strict=False))
        return [cells.get(n, row.record.name if n == FILE else "") for n in self.names]

    def columns(self, block: Block) -> list[list[str]]:
        """The kept columns of a block, as a list of texts each."""
        places = {title: place for place, title in enumerate(block.header.titles)}
        return [
            [record.cells[places[name]] for record in block.records]
            if name in places
            else [block.name] * block.count
            for name in self.names
        ]

    def json(self, row: Row) -> dict[str, str]:
        """The kept cells of a row as JSON by name; cells that read as numbers become numbers."""
        if row.header is None:
            return {n: _json(v) for n, v in zip(self.names, self._of_object(row), strict=True)}
        cells = zip(self.names, self.cells(row), strict=True)
        return {n: text if _NUMBER.fullmatch(text) else quote(text) for n, text in cells}

    def _of_object(self, row: Row) -> list[Any]:
        found = written_object(row.record.text)
        return [found.get(n, row.record.name if n == FILE else None) for n in self.names]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
