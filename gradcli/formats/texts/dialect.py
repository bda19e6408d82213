"""The dialect of a table: separator, decimal sign, and names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.record import Record


class Dialect(Record):
    """The dialect of a table, as options describe it.

    Fields:
        columns: The names of its columns; None where a header tells them.
        renamed: Names of inputs by those of columns, or of keys, that give them.
        missing: Cells that stand for nan, without the blanks about them.
        separator: What stands between cells; None for what the suffix or the header tells.
        decimal: What stands before decimals.
    """

    __slots__ = ("columns", "renamed", "missing", "separator", "decimal")
    columns: Sequence[str] | None
    renamed: Mapping[str, str]
    missing: frozenset[str]
    separator: str | None
    decimal: str

    @property
    def has_plain_numbers(self) -> bool:
        """Whether every cell is a number as gradcli writes it."""
        return not self.missing and self.decimal == "."

    def name(self, column: str) -> str:
        """The input that a column or key gives, or its own name."""
        return self.renamed.get(column, column)


USUAL = Dialect(None, {}, frozenset(), None, ".")
"""The dialect of a table without options."""
