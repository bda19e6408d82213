"""The answers to many rows at once, where code has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from gradcli.cli.query import Question
from gradcli.cli.records import Batch
from gradcli.cli.row_writer import Answer, Kept, Said
from gradcli.errors import GradError
from gradcli.formats.literal import numbers
from gradcli.formats.rows import Row, Wanted

if TYPE_CHECKING:
    from gradcli.program import Many

_FIRST, _MOST = 16, 4096  # rows that are asked together


def many_rows(
    question: Question, asked: Batch, wanted: Wanted, kind: str, ask: Callable[[Row], Answer]
) -> Iterator[Answer]:
    """The answers to all rows, by code as soon as there is any, and as long as no row is waited
    for; else `ask` gives them.
    """
    if not asked.rows.at_once:
        yield from map(ask, asked.rows)
        return
    rows = iter(asked.rows)
    same = {name: given.value for name, given in question.inputs.items()}
    count, layout, failed = _FIRST, None, None
    while failed is None:
        together, failed = _taken(rows, count)
        if not together:
            break
        values = [_values(wanted, row) for row in together[:1]]
        many = question.query.many({**same, **values[0]}, question.options)
        if many is None:
            yield from map(ask, together)
        else:
            layout = layout or _Layout(question, many, kind)
            values += [_values(wanted, row) for row in together[1:]]
            found = many.numbers([{**same, **own} for own in values])
            for row, made in zip(together, found, strict=True):
                if made is None or (row.header is None and wanted.left):
                    yield ask(row)
                else:
                    yield layout.answer(row, asked.kept_of(row, kind), made)
        count = min(2 * count, _MOST)
    if failed is not None:
        raise failed


class _Layout:
    """Where the numbers of an answer stand in what is written of it."""

    def __init__(self, question: Question, many: Many, kind: str) -> None:
        # two answers that differ in each of their numbers, and in nothing else
        one, other = (many.result([i + part for i in range(many.width)]) for part in (0.25, 0.75))
        said = Said.of(question.parts(one), kind)
        texts = zip(said.cells, Said.of(question.parts(other), kind).cells, strict=True)
        self._columns, self._warnings = said.columns, one.warnings
        self._places: list[Any] = [a if a == b else int(float(a)) for a, b in texts]
        self._question, self._many, self._kind = question, many, kind

    def answer(self, row: Row, kept: Kept, made: Sequence[Any]) -> Answer:
        """What is written of an answer that is made of these numbers."""
        texts = [at if type(at) is str else _text(made[at]) for at in self._places]
        json: dict[str, str] = {}
        if self._kind == "ndjson":
            json = Said.of(self._question.parts(self._many.result(made)), self._kind).json
        return Answer(
            *(row.number, row.line, kept, self._columns, texts, json, self._warnings, True, (), 0)
        )


def _text(x: Any) -> str:
    return float.__repr__(x) if type(x) is float else "".join(numbers(x))


def _taken(rows: Iterator[Row], count: int) -> tuple[list[Row], Exception | None]:
    """The next rows, as many as asked for or as there are, and what has ended them."""
    found: list[Row] = []
    try:
        for row in islice(rows, count):
            found.append(row)
    except (GradError, OSError) as error:
        return found, error
    return found, None


def _values(wanted: Wanted, row: Row) -> dict[str, Any]:
    """The values of the inputs in a row; none of a broken one."""
    try:
        return wanted.of(row)
    except GradError:
        return {}
