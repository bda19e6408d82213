"""Layouts of tables: CSV, TSV and Markdown.

A layout takes the header first, then record after record, so that no table has to fit in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.formats.texts.delimited import record


class Layout:
    """Writes one table."""

    def head(self, names: Sequence[str]) -> str:
        """The text above the records."""
        return self.record(names)

    def record(self, texts: Sequence[str]) -> str:
        """One record; numbers as they read back."""
        raise NotImplementedError

    def records(self, columns: Sequence[Any]) -> str:
        """Many records, given as columns: lists of texts or arrays of numbers."""
        return "".join(map(self.record, zip(*map(texts_of, columns), strict=True)))

    def end(self) -> bytes:
        """The bytes after the last record."""
        return b""


def texts_of(column: Any) -> Sequence[str]:
    """The texts of a column."""
    if isinstance(column, list):
        return column
    from gradcli.formats.texts.float_texts import texts

    return texts(column)


class _Delimited(Layout):
    delimiter: str

    def record(self, texts: Sequence[str]) -> str:
        return record(texts, self.delimiter)

    def records(self, columns: Sequence[Any]) -> str:
        if any(isinstance(column, list) for column in columns):
            return super().records(columns)
        from gradcli.formats.texts.float_texts import records

        return records(columns, self.delimiter)


class _Csv(_Delimited):
    delimiter = ","


class _Tsv(_Delimited):
    delimiter = "\t"


class _Markdown(Layout):
    """A table in GitHub's Markdown, with numbers on the right."""

    def head(self, names: Sequence[str]) -> str:
        return f"{self.record(names)}|{'---:|' * len(names)}\n"

    def record(self, texts: Sequence[str]) -> str:
        shown = [" ".join(text.replace("|", "\\|").split()) for text in texts]
        return f"| {' | '.join(shown)} |\n"


LAYOUTS: dict[str, type[Layout]] = {"csv": _Csv, "tsv": _Tsv, "md": _Markdown}
"""By the name of the form."""
