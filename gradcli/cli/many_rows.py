"""The answers to many rows at once, where code has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradcli.cli.query import Question
from gradcli.cli.records import Batch
from gradcli.cli.row_writer import Answer, Kept, Said, Together
from gradcli.errors import GradError
from gradcli.formats.float_texts import repeated
from gradcli.formats.literal import numbers
from gradcli.formats.rows import Block, Row, Rows, Wanted

if TYPE_CHECKING:
    from gradcli.program import Many

_FIRST, _MOST = 16, 4096  # rows that are asked together
_LEAST_BYTES, _MOST_BYTES = 2**10, 2**20  # of a block of rows
_AHEAD = 4  # blocks that a thread gets before their answers are written
_LONG = 0.2  # seconds after which people want to see something
_BY_ROW = ("human", "ndjson")  # forms of which each row is written by itself


def takes_code(question: Question, wanted: Wanted, row: Row) -> bool:
    """Whether code can answer rows such as this one; it is made."""
    given = {name: given.value for name, given in question.inputs.items()} | _values(wanted, row)
    now = question.options.changed(compile="always")
    return question.options.compile != "never" and question.query.many(given, now) is not None


def many_rows(
    question: Question,
    asked: Batch,
    rows: Iterator[Row],
    wanted: Wanted,
    kind: str,
    ask: Callable[[Row], Answer],
) -> Iterator[Answer | Together]:
    """The answers to all rows, by code as soon as there is any, in several threads if so many jobs
    are asked for; else `ask` gives them. No row that is there waits for one that is not.
    """
    same = {name: given.value for name, given in question.inputs.items()}
    count, size, layout, failed = _FIRST, _LEAST_BYTES, None, None
    while failed is None:
        if layout is not None and kind not in _BY_ROW:
            start = perf_counter()
            done = 0
            for block, found in _found(layout.many, asked, wanted, size):
                done += 1
                yield from _answers(layout, block, found, asked, ask)
            if done:
                is_short = perf_counter() - start < _LONG * done
                size = min(2 * size, _MOST_BYTES) if is_short else max(size // 2, _LEAST_BYTES)
                continue
        together, failed = _taken(asked.rows, rows, count)
        if not together:
            break
        values = [_values(wanted, row) for row in together[:1]]
        many = question.query.many({**same, **values[0]}, question.options)
        if many is None:
            yield from map(ask, together)
            continue
        layout = layout or _Layout(question, many, kind)
        values += [_values(wanted, row) for row in together[1:]]
        found = many.numbers([{**same, **own} for own in values])
        for row, made in zip(together, found, strict=True):
            if made is None or (row.header is None and wanted.left) or wanted.quoted(row):
                yield ask(row)
            else:
                yield layout.answer(row, asked.kept_of(row, kind), made)
        count = min(2 * count, _MOST)
    if failed is not None:
        raise failed


def _found(many: Many, asked: Batch, wanted: Wanted, size: int) -> Iterator[tuple[Block, Any]]:
    """The next blocks of rows with the numbers of their answers: one, or some for each of several
    threads.
    """
    first = asked.rows.block(wanted.names, size)
    if first is None:
        return
    if asked.jobs == 1:
        yield first, many.arrays(first.columns)
        return
    with ThreadPoolExecutor(asked.jobs) as pool:
        blocks = chain([first], iter(partial(asked.rows.block, wanted.names, size), None))
        begun = [
            (block, pool.submit(many.arrays, block.columns))
            for block in islice(blocks, _AHEAD * asked.jobs)
        ]
        for block, future in begun:
            yield block, future.result()


def _answers(
    layout: _Layout, block: Block, found: Any, asked: Batch, ask: Callable[[Row], Answer]
) -> Iterator[Answer | Together]:
    """The answers to the rows of a block: together, but for those that have to be asked by
    themselves.
    """
    if found is None:
        yield from (ask(block.row(place)) for place in range(block.count))
        return
    results, left = found
    kept = asked.kept_together(block)
    start = 0
    for place in (*left, block.count):
        if start < place:
            yield layout.together(block, kept, results, slice(start, place))
        if place < block.count:
            yield ask(block.row(place))
        start = place + 1


class _Layout:
    """Where the numbers of an answer stand in what is written of it."""

    def __init__(self, question: Question, many: Many, kind: str) -> None:
        # two answers that differ in each of their numbers, and in nothing else
        one, other = (many.result([i + part for i in range(many.width)]) for part in (0.25, 0.75))
        said = Said.of(question.parts(one), kind)
        texts = zip(said.cells, Said.of(question.parts(other), kind).cells, strict=True)
        self.many = many
        self._columns, self._warnings = said.columns, one.warnings
        self._places: list[Any] = [a if a == b else int(float(a)) for a, b in texts]
        self._question, self._kind = question, kind

    def answer(self, row: Row, kept: Kept, made: Sequence[Any]) -> Answer:
        """What is written of an answer that is made of these numbers."""
        texts = [at if type(at) is str else _text(made[at]) for at in self._places]
        json: dict[str, str] = {}
        if self._kind == "ndjson":
            json = Said.of(self._question.parts(self.many.result(made)), self._kind).json
        return Answer(
            *(row.number, row.line, kept, self._columns, texts, json, self._warnings, True, (), 0)
        )

    def together(
        self, block: Block, kept: list[list[str]], results: Sequence[Any], part: slice
    ) -> Together:
        """What is written of the answers to a part of a block that are made of these numbers."""
        count = part.stop - part.start
        cells = [
            repeated(at, count) if type(at) is str else results[at][part] for at in self._places
        ]
        return Together(
            block.number + part.start,
            block.line + part.start,
            count,
            [column[part] for column in kept],
            self._columns,
            cells,
            self._warnings,
        )


def _text(x: Any) -> str:
    return float.__repr__(x) if type(x) is float else "".join(numbers(x))


def _taken(source: Rows, rows: Iterator[Row], count: int) -> tuple[list[Row], Exception | None]:
    """The next rows: one, and as many more as are there, up to so many; and what has ended them."""
    found: list[Row] = []
    try:
        for row in rows:
            found.append(row)
            if len(found) == count or not source.at_hand:
                break
    except (GradError, OSError) as error:
        return found, error
    return found, None


def _values(wanted: Wanted, row: Row) -> dict[str, Any]:
    """The values of the inputs in a row; none of a broken one."""
    try:
        return wanted.of(row)
    except GradError:
        return {}
