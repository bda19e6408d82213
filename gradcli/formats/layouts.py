"""How a table is written: as CSV or TSV, or in Markdown. A layout takes the names of the columns
first, then record after record, so that a table need not be at hand whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.formats.delimited import record


class Layout:
    """How one table is written."""

    def head(self, names: Sequence[str]) -> str:
        """What stands above the records."""
        return self.record(names)

    def record(self, texts: Sequence[str]) -> str:
        """One record; numbers as they read back."""
        raise NotImplementedError

    def end(self) -> bytes:
        """What is written behind the last record."""
        return b""


class _Csv(Layout):
    def record(self, texts: Sequence[str]) -> str:
        return record(texts, ",")


class _Tsv(Layout):
    def record(self, texts: Sequence[str]) -> str:
        return record(texts, "\t")


class _Markdown(Layout):
    """A table as GitHub's Markdown has it, numbers at the right."""

    def head(self, names: Sequence[str]) -> str:
        return f"{self.record(names)}|{'---:|' * len(names)}\n"

    def record(self, texts: Sequence[str]) -> str:
        shown = [" ".join(text.replace("|", "\\|").split()) for text in texts]
        return f"| {' | '.join(shown)} |\n"


LAYOUTS: dict[str, type[Layout]] = {"csv": _Csv, "tsv": _Tsv, "md": _Markdown}
"""By the name of the form."""
