"""Layouts of tables: CSV, TSV and Markdown.

A layout takes the header first, then record after record, so that no table has to fit in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.text_columns import encoded, lines, texts_of


class Layout:
    """Writes one table."""

    def head(self, names: Sequence[str]) -> str:
        """The text above the records."""
        return self.record(names)

    def record(self, texts: Sequence[Any]) -> str:
        """One record, of texts with numbers as they read back; a file with types also takes arrays
        of one value.
        """
        raise NotImplementedError

    def records(self, columns: Sequence[Any]) -> bytes:
        """Many records, given as columns: arrays of numbers, lists of texts or arrays of texts."""
        raise NotImplementedError

    def end(self) -> bytes:
        """The bytes after the last record."""
        return b""


class TextLayout(Layout):
    """Writes a table of text."""

    def records(self, columns: Sequence[Any]) -> bytes:
        rows = zip(*map(texts_of, columns), strict=True)
        return encoded("".join(map(self.record, rows)))


class _Delimited(TextLayout):
    delimiter: str

    def record(self, texts: Sequence[str]) -> str:
        return record(texts, self.delimiter)

    def records(self, columns: Sequence[Any]) -> bytes:
        return lines(columns, self.delimiter)


class _Csv(_Delimited):
    delimiter = ","


class _Tsv(_Delimited):
    delimiter = "\t"


class _Markdown(TextLayout):
    """A table in GitHub's Markdown, with numbers on the right."""

    def head(self, names: Sequence[str]) -> str:
        return f"{self.record(names)}|{'---:|' * len(names)}\n"

    def record(self, texts: Sequence[str]) -> str:
        shown = [" ".join(text.replace("|", "\\|").split()) for text in texts]
        return f"| {' | '.join(shown)} |\n"


LAYOUTS: dict[str, type[TextLayout]] = {"csv": _Csv, "tsv": _Tsv, "md": _Markdown}
"""By the name of the form."""
