"""Columns of a table as arrays in NumPy's files, written after the last record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.formats.files.arrays import npy, npz
from gradcli.formats.texts.layouts import Layout
from gradcli.formats.texts.number import number
from gradcli.formats.texts.text_columns import texts_of


class Columns(Layout):
    """Writes an `.npz` with an array of ints, floats or texts for each column."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._columns: list[list[Any]] = []

    def head(self, names: Sequence[str]) -> str:
        self._names = [*names]
        self._columns = [[] for _ in names]
        return ""

    def record(self, texts: Sequence[str]) -> str:
        for column, text in zip(self._columns, texts, strict=True):
            column.append(value_of_cell(text))
        return ""

    def records(self, columns: Sequence[Any]) -> bytes:
        for values, column in zip(self._columns, columns, strict=True):
            if hasattr(column, "dtype"):
                values.extend(column.tolist())
            elif isinstance(column, range):
                values.extend(column)
            else:
                values.extend(map(value_of_cell, texts_of(column)))
        return b""

    def end(self) -> bytes:
        return npz(dict(zip(self._names, map(_array, self._columns), strict=True)))


class Matrix(Columns):
    """Writes an `.npy` with a row for each record, or with a vector if there is one column."""

    def end(self) -> bytes:
        import numpy as np

        if len(self._columns) == 1:
            return npy(_array(self._columns[0]))
        return npy(np.array(self._columns, np.float64).T if self._columns else np.empty((0,)))


def value_of_cell(text: str) -> Any:
    """The number in a cell, or its text: `007` counts as a name."""
    if text.isdigit() and str(int(text)) != text:
        return text
    try:
        return number(text)
    except ValueError:
        return text


def _array(values: list[Any]) -> Any:
    import numpy as np

    if any(isinstance(x, str) for x in values):
        return np.array([x if isinstance(x, str) else repr(x) for x in values])
    return np.array(values)
