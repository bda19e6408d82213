"""Some of the records of a file, chosen by their values: `--where`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from gradcli.errors import Diagnostic, GradError
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.rows import Rows


class Chosen(NamedTuple):
    """The records of a block that count.

    Fields:
        places: Their indices in the block, as an array.
        refusals: The errors of those that cannot be judged, by index.
    """

    places: Any
    refusals: dict[int, GradError]


class Choice(Protocol):
    """Judges records.

    Fields:
        names: The inputs whose columns it reads as numbers.
        titles: The columns that it reads as texts.
    """

    names: Collection[str]
    titles: Collection[str]

    def of(self, row: Row) -> Row | None:
        """The record if it counts, with its refusal if it cannot be judged; else None."""

    def among(self, block: Block) -> Chosen:
        """The records of a block that count, or cannot be judged."""


class ChosenRows(Rows):
    """The records of a file that count. They keep their numbers.

    Args:
        rows: All records.
        choice: Judges them.
    """

    def __init__(self, rows: Rows, choice: Choice) -> None:
        self._every, self.choice = rows, choice
        self.name, self.form, self.at_once = rows.name, rows.form, rows.at_once
        self.names, self.titles = rows.names, rows.titles
        self.is_numbered = rows.is_numbered

    @property
    def every(self) -> Rows:
        return self._every

    @property
    def count(self) -> int:  # type: ignore[override]  # counted there
        """How many records have been read, chosen or not."""
        return self.every.count

    def lines_of(self, lines: Sequence[int]) -> Sequence[int]:
        return self.every.lines_of(lines)

    def place(self, number: int, line: int) -> str:
        return self.every.place(number, line)

    def locate(self, said: Diagnostic) -> None:
        self.every.locate(said)

    def share(self) -> float | None:
        return self.every.share()

    def check(self, names: frozenset[str]) -> None:
        self.every.check(names.union(self.choice.names) & {*self.names})

    def take(self, names: Collection[str], titles: Collection[str]) -> None:
        self.every.take({*names, *self.choice.names}, {*titles, *self.choice.titles})

    def apart(self) -> list[Rows]:
        return [ChosenRows(rows, self.choice) for rows in self.every.apart()]

    def judged(self, rows: Iterator[Row]) -> Iterator[Row]:
        return filter(None, map(self.choice.of, rows))

    def __iter__(self) -> Iterator[Row]:
        return self.judged(iter(self.every))

    @property
    def at_hand(self) -> bool:
        return self.every.at_hand

    def block(
        self, names: Collection[str], most: int, titles: Collection[str] = ()
    ) -> Block | None:
        numbers = {*names, *self.choice.names}
        texts = [*dict.fromkeys((*titles, *self.choice.titles))]
        found = self.every.block(numbers, most, texts)
        return None if found is None else ChosenBlock(found, self.choice, names)


class ChosenBlock(Block):
    """The records of a block that count. They are judged when they are first asked for, in the
    thread that needs them.

    Args:
        block: All records.
        choice: Judges them.
        names: The columns of numbers.
    """

    def __init__(self, block: Block, choice: Choice, names: Collection[str]) -> None:
        self._block, self._choice, self._names = block, choice, names
        self.name = block.name
        self._columns = None
        self._found: Chosen | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: the records judged, without the condition's program."""
        return {**self.__dict__, "_found": self._chosen, "_choice": None}

    @property
    def _chosen(self) -> Chosen:
        if self._found is None:  # Python 3.11 computes one cached property at a time
            self._found = self._choice.among(self._block)
        return self._found

    @property
    def count(self) -> int:  # type: ignore[override]  # once they are judged
        """How many there are."""
        return len(self._chosen.places)

    @property
    def numbers(self) -> Any:
        return self._block.numbers[0] + self._chosen.places

    @property
    def lines(self) -> Any:
        return self._block.lines[0] + self._chosen.places

    def shift(self, before: int) -> None:
        self._block.shift(before)

    def _read(self) -> dict[str, Any]:
        import numpy as np

        places, refusals = self._chosen
        found = {name: self._block.columns[name][places] for name in self._names}
        for column in found.values():
            column[np.isin(places, [*refusals])] = np.nan  # to be read alone, and refused
        return found

    def texts(self, title: str) -> Any:
        return self._among(self._block.texts(title))

    def values(self, title: str) -> Any:
        return self._among(self._block.values(title))

    def json(self, title: str) -> Any:
        return self._among(self._block.json(title))

    def _among(self, column: Any) -> Any:
        places = self._chosen.places
        if column is None:
            return None
        return [column[k] for k in places] if isinstance(column, list) else column.take(places)

    @property
    def inputs(self) -> frozenset[str] | None:
        return self._block.inputs

    def row(self, place: int) -> Row:
        at = int(self._chosen.places[place])
        return self._block.row(at)._replace(refusal=self._chosen.refusals.get(at))

    def has_quoted(self, names: Collection[str]) -> bool:
        return self._block.has_quoted(names)
