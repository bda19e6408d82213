"""The dialect of a table: separator, decimal sign, and names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.record import Record

NOTHING: Any = object()
"""In place of a value that is not there."""


def inside(found: Mapping[str, Any], path: str) -> Any:
    """The value of a key of an object, or of an object in it whose keys have dots between them; or
    `NOTHING`.
    """
    if path in found or "." not in path:
        return found.get(path, NOTHING)
    value: Any = found
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return NOTHING
        value = value[key]
    return value


class Dialect(Record):
    """The dialect of a table, as given by options.

    Fields:
        columns: The names of its columns; None if its header has them.
        renamed: The input that a column or key of another name gives.
        missing: Texts of cells, without blanks around them, that stand for nan.
        separator: The text between cells; None if the suffix or the header decides.
        decimal: The decimal sign.
        encoding: The encoding of its text; None for UTF-8.
    """

    __slots__ = ("columns", "renamed", "missing", "separator", "decimal", "encoding")
    columns: Sequence[str] | None
    renamed: Mapping[str, str]
    missing: frozenset[str]
    separator: str | None
    decimal: str
    encoding: str | None

    @property
    def has_plain_numbers(self) -> bool:
        """True if cells are written as gradcli writes numbers."""
        return not self.missing and self.decimal == "."

    def name(self, column: str) -> str:
        """The input that a column or key gives."""
        return self.renamed.get(column, column)

    def title(self, name: str) -> str:
        """The column or key that gives an input."""
        return next((title for title, own in self.renamed.items() if own == name), name)

    def given(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The values of an object by the inputs that they give. A renamed `d.T` is a key, else the
        key `T` of the object below `d`.
        """
        given = {self.name(key): value for key, value in found.items()}
        for column, name in self.renamed.items():
            if "." in column and column not in found:
                value = inside(found, column)
                if value is not NOTHING:
                    given[name] = value
        return given


USUAL = Dialect(None, {}, frozenset(), None, ".", None)
"""The dialect of a table without options."""
