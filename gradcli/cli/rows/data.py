"""The records of --rows as the data of a fit, and the file of its predictions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.output import Target
from gradcli.cli.terminal.failures import usage
from gradcli.formats.readers.whole_table import read_whole
from gradcli.formats.texts.layouts import LAYOUTS

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.formats.readers.whole_table import Whole


class Data:
    """The records of a command line.

    Args:
        batch: The records.

    Fields:
        name: Their name in messages.
        names: Their columns, as names of inputs.
        titles: The same as written.
    """

    def __init__(self, batch: Batch) -> None:
        self.name = batch.rows.name
        self.names: Sequence[str] = batch.rows.names
        self.titles: Sequence[str] = batch.rows.titles
        self._batch = batch

    def read(self, names: Sequence[str], titles: Sequence[str]) -> Whole:
        """The records, with some columns as numbers and others as texts."""
        skips = self._batch.on_error != "stop"
        return read_whole(self._batch.rows, names, titles, skips=skips)


class Predictions:
    """A file for the records with what a fitted model predicts for them: CSV, TSV or Markdown.

    Args:
        path: Its path.
        color: When messages have colours.

    Raises:
        UsageError: If its suffix is not known.
    """

    def __init__(self, path: str, color: str) -> None:
        form = {".csv": "csv", ".tsv": "tsv", ".md": "md"}.get(os.path.splitext(path)[1].lower())
        if form is None:
            help = "known suffixes are .csv, .tsv and .md"
            raise usage(f"`{path}` in --predict is no table", help)
        self._target = Target(form, path, color)

    def write(self, tables: Sequence[Mapping[str, Any]]) -> None:
        """Write tables of the same columns, one below the other."""
        layout = LAYOUTS[self._target.form]()
        head = layout.head([*tables[0]]) if tables else ""
        self._target.write(head + "".join(layout.records([*t.values()]) for t in tables))
