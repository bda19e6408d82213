"""Columns of numbers that are longer than memory should hold: in a temporary file without a name.

A search over many records reads them again and again, part by part. What was read from a pipe or
from text is kept as plain floats, so that it is read and parsed once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from gradcli.errors import Diagnostic, LimitError
from gradcli.formats.texts.refusal import refused

_PIECE = 1 << 16  # records that are read together
_SOME = 1 << 18  # bytes that are written together
_OBJECT = 128  # bytes that an array takes beside its numbers


class Stored:
    """A column in a temporary file, which ends with it. Slices and single records are arrays.

    Fields:
        shape: The number of records, then the shape of one.
        dtype: The kind of its numbers.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # open as long as this
        self.shape, self.dtype = (0, *shape), np.dtype(dtype)
        self._size = self.dtype.itemsize * prod(shape)

    @property
    def ndim(self) -> int:
        """The number of axes, that of the records included."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def append(self, more: Any) -> None:
        """Add some records.

        Raises:
            LimitError: If there is no room.
        """
        left = np.ascontiguousarray(more, self.dtype).reshape(-1).view(np.uint8).data
        try:
            self._file.seek(0, 2)
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            where = tempfile.gettempdir()
            text = f"the data fit neither in memory nor in `{where}`: {error.strerror}"
            help = "the variable TMPDIR names another folder, `--max-memory` allows more memory"
            raise LimitError(Diagnostic("memory-limit", text, help=help)) from None
        self.shape = (self.shape[0] + len(more), *self.shape[1:])

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            return self[int(key) : int(key) + 1][0]
        start, stop, _ = key.indices(len(self))
        found = np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        left = found.reshape(-1).view(np.uint8).data
        self._file.seek(start * self._size)
        while left:
            count = self._file.readinto(left)
            assert count, "it was written there"
            left = left[count:]
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        found = self[:]
        return found if dtype is None else found.astype(dtype)


class Growing:
    """A column that is made piece by piece: an array, or `Stored` once it is longer.

    Args:
        most: The most bytes in memory; None for any number.
        name: Its name in messages.

    Fields:
        shape: The shape of a record; None as long as there is none.
        count: How many records there are.
    """

    def __init__(self, most: int | None, name: str) -> None:
        self.count = 0
        self._most, self._bytes, self._name = most, 0, name
        self._pieces: list[Any] = []
        self._stored: Stored | None = None
        self.shape: tuple[int, ...] | None = None

    def append(self, piece: Any) -> None:
        """Add some records.

        Raises:
            LimitError: If there is no room for them.
            InputError: If they have another shape than those before.
        """
        shape = piece.shape[1:]
        if self.shape is None:
            self.shape = shape
        elif shape != self.shape:
            sizes = " and ".join(map(str, sorted((prod(shape), prod(self.shape)))))
            raise refused(f"the records have {sizes} elements of `{self._name}`")
        self._pieces.append(piece)
        self.count += len(piece)
        self._bytes += piece.nbytes + _OBJECT
        if self._most is not None and self._bytes > self._most:
            self._store()

    def _store(self) -> None:
        """Move the pieces to a file, and then others as soon as there are some."""
        whole = np.concatenate(self._pieces)
        if self._stored is None:
            self._stored = Stored(whole.shape[1:], whole.dtype)
        self._stored.append(whole)
        self._pieces, self._bytes = [], 0
        self._most = min(self._most or _SOME, _SOME)

    def done(self) -> Any:
        """The column."""
        if self._stored is None:
            return np.concatenate(self._pieces) if self._pieces else np.zeros(0)
        if self._pieces:
            self._store()
        return self._stored


def pieces(*columns: Any, part: slice = slice(None)) -> Iterator[tuple[Any, ...]]:
    """A part of columns of one length, some records at a time: the same pieces of arrays as of
    `Stored` columns, so that sums have the same digits.
    """
    first, last, _ = part.indices(len(columns[0]))
    for start in range(first, last, _PIECE):
        stop = min(start + _PIECE, last)
        yield tuple(column[start:stop] for column in columns)
