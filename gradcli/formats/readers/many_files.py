"""Rows of several files as one sequence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence

from gradcli.errors import Diagnostic
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.parts import check_alike
from gradcli.formats.readers.rows import Rows


class ManyFiles(Rows):
    """The records of several files, numbered through. Each file is opened when it is reached.

    Args:
        names: The files, two or more.
        opened: Opens one of them.
    """

    def __init__(self, names: Sequence[str], opened: Callable[[str], Rows]) -> None:
        self._names, self._opened = names, opened
        self._file = self._first_file = first = opened(names[0])
        self._done = self._before = 0
        self._firsts = [0]  # the number of the first record of each file that was reached
        self.form, self.names, self.titles = first.form, first.names, first.titles
        *before, last = names if len(names) < _NAMED else (names[0], f"{len(names) - 1} more")
        self.name = f"{', '.join(before)} and {last}"
        self.at_once = "-" not in names and first.at_once
        self._wanted: frozenset[str] = frozenset()
        self._rows = iter(first)
        self._waiting: Row | None = None  # a record that is no part of a block
        self._taken: tuple[Collection[str], Collection[str]] | None = None

    def apart(self) -> list[Rows]:
        return [self._first_file, *map(self._opened, self._names[1:])]

    def place(self, number: int, line: int) -> str:
        file = self._names[bisect_right(self._firsts, number) - 1]
        return f"line {line} of `{'<stdin>' if file == '-' else file}`"

    def locate(self, said: Diagnostic) -> None:
        self._file.locate(said)

    def share(self) -> float | None:
        """The share that has been read, as if all files were equally long; None if unknown."""
        share = self._file.share()
        return None if share is None else (self._done + share) / len(self._names)

    def check(self, names: frozenset[str]) -> None:
        self._wanted = names
        self._first_file.check(names)

    def take(self, names: Collection[str], titles: Collection[str]) -> None:
        self._taken = names, titles
        self._first_file.take(names, titles)

    def __iter__(self) -> Iterator[Row]:
        while (row := self._next()) is not None:
            yield row

    @property
    def at_hand(self) -> bool:
        return self._waiting is not None or self._file.at_hand

    def block(
        self, names: Collection[str], most: int, titles: Collection[str] = ()
    ) -> Block | None:
        while self._waiting is None:
            found = self._file.block(names, most, titles)
            if found is not None:
                found.shift(self._before)
                return found
            if self.form == "ndjson":  # messages show what its reader knows
                break
            self._waiting = self._following()
            if self._waiting is None and not self._advances():
                break
        return None

    def _next(self) -> Row | None:
        """The next record, which may be that of another file; None after the last."""
        row, self._waiting = self._waiting, None
        while row is None:
            row = self._following()
            if row is None and not self._advances():
                break
        return row

    def _following(self) -> Row | None:
        """The next record of this file; None after its last."""
        row = next(self._rows, None)
        return None if row is None else row._replace(number=self._before + row.number)

    def _advances(self) -> bool:
        """Open the next file; False if there is none.

        Raises:
            InputError: If it cannot be read, or is not like the first one.
        """
        if self._done + 1 == len(self._names):
            return False
        self._before += self._file.count
        self._done += 1
        self._file = self._opened(self._names[self._done])
        self._firsts.append(self._before)
        self._hold(self._file)
        if self._taken is not None:
            self._file.take(*self._taken)
        self._rows = iter(self._file)
        return True

    def _hold(self, other: Rows) -> None:
        """Check that a file has the first one's form and columns.

        Raises:
            InputError: If it does not.
        """
        first = self._first_file
        check_alike(other, first.form, first.titles, first.name)
        other.check(self._wanted)


_NAMED = 4
