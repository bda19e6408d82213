"""The records of --rows as the data of a fit, and files of its predictions and picture."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gradcli.cli.line.output import Target
from gradcli.cli.terminal.failures import usage
from gradcli.formats.readers.whole_table import read_whole
from gradcli.formats.texts.layouts import LAYOUTS
from gradcli.formats.texts.text_columns import encoded
from gradcli.views import FitGroups

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.formats.readers.whole_table import Whole
    from gradcli.views import FitResult


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
        rows = batch.rows
        self.name = rows.name
        self._tables = rows.apart()
        self.names: Sequence[str] = [*dict.fromkeys(n for t in self._tables for n in t.names)]
        self.titles: Sequence[str] = [*dict.fromkeys(n for t in self._tables for n in t.titles)]
        self._skips = batch.on_error != "stop"

    def read(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]] = (),
        most: int | None = None,
    ) -> Whole:
        """The records. Arguments as of `read_whole`."""
        return read_whole(self._tables, names, titles, skips=self._skips, either=either, most=most)


class Predictions:
    """A file for the records with what a fitted model predicts for them: CSV, TSV or Markdown.

    Args:
        path: Its path.
        color: When messages have colours.

    Raises:
        UsageError: If its suffix is not known.
    """

    def __init__(self, path: str, color: str) -> None:
        form = {".csv": "csv", ".tsv": "tsv", ".md": "md"}.get(_suffix(path))
        if form is None:
            help = "known suffixes are .csv, .tsv and .md"
            raise usage(f"`{path}` in --predict is no table", help)
        self._target = Target(form, path, color)

    def write(self, result: FitResult | FitGroups) -> None:
        """Write the predictions of a fit, or of the fits of groups below each other."""
        if isinstance(result, FitGroups):
            every = [group.found for group in result.groups]
        else:
            every = [result]
        tables = [found.predicted or {} for found in every if found is not None]
        layout = LAYOUTS[self._target.form]()
        head = layout.head([*tables[0]]) if tables else ""
        parts = [layout.records([*t.values()]) for t in tables]
        self._target.write(b"".join([encoded(head), *parts]))


class Picture:
    """A picture of a fit in a file, or in the terminal.

    Args:
        path: Its path; `-` for the terminal.
        target: The target of the report, below which a terminal has the picture.

    Raises:
        UsageError: If the suffix is not known, or the report is not for a terminal.
    """

    def __init__(self, path: str, target: Target) -> None:
        self._in_terminal = path == "-"
        form = _suffix(path)[1:]
        if self._in_terminal and (target.path is not None or target.form not in ("human", "plain")):
            raise usage("`--plot -` draws below the report, which goes elsewhere", "name a file")
        if not self._in_terminal and form not in ("svg", "png", "pdf"):
            help = "known suffixes are .svg, .png and .pdf; - draws in the terminal"
            raise usage(f"`{path}` in --plot is no picture", help)
        self._target = target if self._in_terminal else Target(form, path, target.color)

    def write(self, result: FitResult | FitGroups) -> None:
        """Draw a fit."""
        from gradcli.render.models.figure import fit_drawing, fit_picture

        found = None if isinstance(result, FitGroups) else result.picture
        assert found is not None, "a picture was asked for"
        if self._in_terminal:
            lines = fit_drawing(found, width=self._target.width)
            self._target.write(self._target.draw([[], *lines]))
        else:
            self._target.write(fit_picture(found, self._target.form))


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
