"""The dialect of a table: separator, decimal sign, and names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.record import Record


class Dialect(Record):
    """The dialect of a table, as given by options.

    Fields:
        columns: The names of its columns; None if its header has them.
        renamed: The input that a column or key of another name gives.
        missing: Texts of cells, without blanks around them, that stand for nan.
        separator: The text between cells; None if the suffix or the header decides.
        decimal: The decimal sign.
    """

    __slots__ = ("columns", "renamed", "missing", "separator", "decimal")
    columns: Sequence[str] | None
    renamed: Mapping[str, str]
    missing: frozenset[str]
    separator: str | None
    decimal: str

    @property
    def has_plain_numbers(self) -> bool:
        """True if cells are written as gradcli writes numbers."""
        return not self.missing and self.decimal == "."

    def name(self, column: str) -> str:
        """The input that a column or key gives."""
        return self.renamed.get(column, column)


USUAL = Dialect(None, {}, frozenset(), None, ".")
"""The dialect of a table without options."""
