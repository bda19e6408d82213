"""`--where`: an expression over the columns of records that tells which of them count."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import GradError, InputError
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.chosen import Chosen
from gradcli.formats.readers.kept import text_below
from gradcli.formats.readers.rows import Rows, check_row, numbers_of
from gradcli.formats.texts.dialect import Dialect
from gradcli.formats.texts.refusal import refused
from gradcli.formats.texts.text_columns import texts_of
from gradcli.questions.asked.request import Options
from gradcli.questions.program import Program
from gradcli.record import Record
from gradcli.source import Span

_MOST = 2**16  # combinations of texts whose answers are kept

FALSE, TRUE, OPEN = 0, 1, 2
"""Answers for a record; `OPEN` leaves it to the whole expression."""


class Asked(Record):
    """How a condition is asked.

    Fields:
        given: Values of names that are no columns.
        titles: The column of each text.
        options: Options of the runs.
    """

    __slots__ = ("given", "titles", "options")
    given: Mapping[str, Given]
    titles: Mapping[str, str]
    options: Options


class Condition(ABC):
    """A condition on records.

    Fields:
        numbers: The names that it reads as numbers.
        texts: The names that it reads as texts.
    """

    numbers: Sequence[str]
    texts: Sequence[str]

    @abstractmethod
    def is_true(self, row: Row, asked: Asked) -> bool:
        """True if it holds for a record.

        Raises:
            GradError: If that cannot be told.
        """

    @abstractmethod
    def among(self, block: Block, asked: Asked) -> Data:
        """The answer for each record of a block: `FALSE`, `TRUE`, or `OPEN` for one to be asked by
        itself.
        """

    def choice(
        self, rows: Rows, dialect: Dialect, given: Mapping[str, Given], options: Options
    ) -> Where:
        """The choice of records for which it is true. Arguments as of `Where`."""
        return Where(self, rows, dialect, given, options)


class Joined(Condition):
    """Conditions with `and` or `or` between them: the first that decides is the last one asked."""

    def __init__(self, op: str, parts: Sequence[Condition]) -> None:
        self.numbers = [*dict.fromkeys(name for part in parts for name in part.numbers)]
        self.texts = [*dict.fromkeys(name for part in parts for name in part.texts)]
        self._decides = op == "or"
        self._parts = parts

    def is_true(self, row: Row, asked: Asked) -> bool:
        each = (part.is_true(row, asked) for part in self._parts)
        return any(each) if self._decides else all(each)

    def among(self, block: Block, asked: Asked) -> Data:
        found = [part.among(block, asked) for part in self._parts]
        goes_on = FALSE if self._decides else TRUE
        return reduce(lambda first, then: np.where(first == goes_on, then, first), found)


class Single(Condition):
    """A condition without `and` and `or` at its top.

    Args:
        program: Its program.
        as_bool: The same, with a bool as its result.
        numbers: The names that it reads as numbers.
        texts: The names that it reads as texts.
    """

    def __init__(
        self, program: Program, as_bool: Program, numbers: Sequence[str], texts: Sequence[str]
    ) -> None:
        self.numbers, self.texts = numbers, texts
        self._program, self._as_bool = program, as_bool
        self._known: dict[tuple[str, ...], int] = {}

    def is_true(self, row: Row, asked: Asked) -> bool:
        wanted = [name for name in self.numbers if name not in asked.given]
        values = numbers_of(row, wanted)
        for name in wanted:
            if name not in values:
                raise _refused(row, f"this row has no `{name}`, which `--where` reads")
        values |= {name: text_below(row, asked.titles[name]) for name in self.texts}
        named = {name: Given(x, f"{name} in row {row.number}") for name, x in values.items()}
        options = asked.options.changed(stream=row.number)
        return _truth(self._program.run(self._with(named, asked), options=options).result, row)

    def _with(self, named: Mapping[str, Given], asked: Asked) -> dict[str, Given]:
        return {**{n: asked.given[n] for n in self.numbers if n in asked.given}, **named}

    def among(self, block: Block, asked: Asked) -> Data:
        wanted = [name for name in self.numbers if name not in asked.given]
        if self.texts and not wanted:
            return self._of_texts(block, asked)
        found = np.full(block.count, OPEN, np.uint8)
        if self.texts or not wanted:
            return found
        columns = {name: block.columns[name] for name in wanted}
        odd = block.unread(wanted)
        if odd.all():
            return found
        first = int(np.argmin(odd))
        sample = {name: Given(column[first].tolist(), "") for name, column in columns.items()}
        values = {name: given.value for name, given in self._with(sample, asked).items()}
        when = "never" if asked.options.compile == "never" else "always"  # a block is long enough
        many = self._as_bool.many("run", values, options=asked.options.changed(compile=when))
        made = None if many is None or many.types[-1] is not bool else many.arrays(columns)
        if made is not None:
            results, left = made
            found[:] = results[-1]
            found[left] = found[odd] = OPEN
        return found

    def _of_texts(self, block: Block, asked: Asked) -> Data:
        """The answers to records that give texts alone: one for all that are alike."""
        titles = [asked.titles[name] for name in self.texts]
        columns = [block.texts(title) for title in titles]
        if any(column is None for column in columns):
            return np.full(block.count, OPEN, np.uint8)
        if len(self._known) > _MOST:
            self._known = {}
        known, found = self._known, np.empty(block.count, np.uint8)
        for k, texts in enumerate(zip(*map(texts_of, columns), strict=True)):
            answer = known.get(texts)
            if answer is None:
                answer = known[texts] = self._told(texts, asked)
            found[k] = answer
        for title in titles:
            found[[*block.untold(title)]] = OPEN
        return found

    def _told(self, texts: Sequence[str], asked: Asked) -> int:
        named = {n: Given(text, "") for n, text in zip(self.texts, texts, strict=True)}
        try:
            given = self._with(named, asked)
            return int(self._as_bool.run(given, options=asked.options).result)
        except GradError:
            return OPEN  # the record's own run has the message


class Where:
    """The choice of records for which a condition is true.

    Args:
        condition: The condition.
        rows: The records, with their columns.
        dialect: How they are written.
        given: Values of names that are no columns.
        options: Options of the runs.

    Fields:
        names: The columns that are read as numbers.
        titles: The columns that are read as texts, as written.
    """

    def __init__(
        self,
        condition: Condition,
        rows: Rows,
        dialect: Dialect,
        given: Mapping[str, Given],
        options: Options,
    ) -> None:
        self._condition = condition
        self.names: Collection[str] = [n for n in condition.numbers if n not in given]
        titles = {name: dialect.title(name) for name in condition.texts}
        self.titles: Collection[str] = [*titles.values()]
        self._asked = Asked(given, titles, options)

    def of(self, row: Row) -> Row | None:
        """The record if it counts, with its refusal if that cannot be told; else None."""
        try:
            check_row(row)
            return row if self._condition.is_true(row, self._asked) else None
        except GradError as error:
            return row._replace(refusal=error)

    def among(self, block: Block) -> Chosen:
        """The records of a block that count, with the refusals of those that cannot be judged."""
        found = self._condition.among(block, self._asked)
        refusals = {}
        for place in np.flatnonzero(found == OPEN).tolist():
            judged = self.of(block.row(place))
            found[place] = judged is not None
            if judged is not None and judged.refusal is not None:
                refusals[place] = judged.refusal
        return Chosen(np.flatnonzero(found), refusals)


def _truth(value: Any, row: Row) -> bool:
    """The truth of a value.

    Raises:
        InputError: If it is neither true nor false.
    """
    if np.size(value) == 1 and not isinstance(value, str) and value is not None:
        return bool(np.ravel(value)[0])
    what = "a text" if isinstance(value, str) else "nothing" if value is None else None
    message = f"`--where` gives {what or f'{np.size(value)} values'}, neither true nor false"
    raise _refused(row, message, None if what else "`.all()` or `.any()` joins them")


def _refused(row: Row, message: str, help: str | None = None) -> InputError:
    span = Span(0, len(row.record.text.rstrip()))
    return refused(message, row.record.source, span, help=help)
