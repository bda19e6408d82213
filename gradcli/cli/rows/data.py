"""The records of --rows as the data of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradcli.formats.readers.whole_table import read_whole

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.formats.readers.whole_table import Whole


class Data:
    """The records of a command line.

    Args:
        batch: The records.
        titles: The columns that are kept as texts.

    Fields:
        name: Their name in messages.
        names: Their columns.
    """

    def __init__(self, batch: Batch, titles: Sequence[str] = ()) -> None:
        self.name = batch.rows.name
        self.names: Sequence[str] = batch.rows.names
        self._batch, self._titles = batch, titles

    def read(self, names: Sequence[str]) -> Whole:
        """The records with these columns as numbers."""
        skips = self._batch.on_error != "stop"
        return read_whole(self._batch.rows, names, self._titles, skips=skips)
