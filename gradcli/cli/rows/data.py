"""The records of --rows as the data of a fit, and files of its predictions and picture."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.cli.line.output import Target
from gradcli.cli.terminal.failures import usage
from gradcli.formats.files.places import is_url
from gradcli.formats.readers.chosen import ChosenRows
from gradcli.formats.readers.parts import chosen_part, parts_of
from gradcli.formats.readers.whole_table import read_whole
from gradcli.formats.texts.layouts import LAYOUTS
from gradcli.formats.texts.text_columns import encoded
from gradcli.views import FitGroups

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.formats.readers.chosen import Choice
    from gradcli.formats.readers.parts import Part
    from gradcli.formats.readers.rows import Rows
    from gradcli.views import FitResult

    Away: TypeAlias = Callable[
        [Sequence[Part], Choice | None, Sequence[str], Sequence[Collection[str]]], Any
    ]


class Data:
    """The records of a command line, in parts: its files, or what `--part-size` makes of them.

    Args:
        batch: The records.
        size: About how many bytes a part has, where a file can be cut; None for whole files.
        away: Has workers read the parts, given these, what judges the records, the names of columns
            and groups of them as of `read_whole`; None if this process reads them.

    Fields:
        name: Their name in messages.
        names: Their columns, as names of inputs.
        titles: The same as written.

    Raises:
        UsageError: If standard input is to have parts.
        InputError: If a file cannot be read.
    """

    def __init__(self, batch: Batch, size: int | None = None, away: Away | None = None) -> None:
        rows = batch.rows
        self.name = rows.name
        self._batch, self._away = batch, away
        self._choice = rows.choice if isinstance(rows, ChosenRows) else None
        self._parts: list[Part] = []
        self._streams: list[Rows] = []
        if size is None and away is None and not all(map(_is_read_again, batch.files)):
            self._streams = rows.apart()
        elif "-" in batch.files:
            raise usage("standard input has no parts", "name a file in `--rows`")
        else:
            self._parts = [*parts_of(batch.files, batch.dialect, size, counted=False)]
        heads = self._streams or (self._opened(part) for part in self._parts if not part.number)
        names: dict[str, None] = {}
        titles: dict[str, None] = {}
        for head in heads:
            names.update(dict.fromkeys(head.names))
            titles.update(dict.fromkeys(head.titles))
        self.names: Sequence[str] = [*names]
        self.titles: Sequence[str] = [*titles]

    def _opened(self, part: Part) -> Rows:
        return chosen_part(part, self._batch.dialect, self._choice)

    def read(
        self,
        names: Sequence[str],
        titles: Sequence[str],
        either: Sequence[Collection[str]] = (),
        most: int | None = None,
    ) -> Any:
        """The records: a `Whole`, or what the workers have. Arguments as of `read_whole`."""
        skips = self._batch.on_error != "stop"
        if self._away is None:
            tables = self._streams or map(self._opened, self._parts)
            return read_whole(tables, names, titles, skips=skips, either=either, most=most)
        return self._away(self._parts, self._choice, names, either)


def _is_read_again(name: str) -> bool:
    """True if a file can be read a second time: not a pipe."""
    return is_url(name) or os.path.isfile(name)


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
