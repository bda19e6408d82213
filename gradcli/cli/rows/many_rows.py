"""Answers many rows at once with compiled code, as far as it applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from gradcli.cli.line.query import Question
from gradcli.cli.line.records import Batch
from gradcli.cli.rows.row_layout import RowLayout
from gradcli.cli.rows.row_writer import Answer, Text, Together
from gradcli.cli.rows.workers import can_fork
from gradcli.errors import GradError
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.rows import Rows, Wanted

if TYPE_CHECKING:
    from gradcli.program import Many

_FIRST, _MOST = 16, 4096  # rows that are answered together: at first, and at most
_LEAST_BYTES, _MOST_BYTES = 2**10, 2**20  # of a block of rows
_LONG = 0.2  # seconds after which people expect output
_WORTH = 0.05  # seconds of work on blocks after which more processes pay


def takes_code(question: Question, wanted: Wanted, row: Row) -> bool:
    """True if code can answer rows like this one; compiles it."""
    values = _values(wanted, row)
    if question.options.compile == "never" or not values:
        return False
    given = {name: given.value for name, given in question.inputs.items()} | values
    now = question.options.changed(compile="always")
    return question.query.many(given, now) is not None


Piece: TypeAlias = "Answer | Together | Text | Row"
"""A part of the answers to a block: those to several rows, or a row left to the interpreter."""

_Pieces: TypeAlias = Callable[[Block], "list[Piece]"]


class Done(NamedTuple):
    """The answers to a block, and the seconds that they took."""

    pieces: list[Piece]
    took: float


class Sharing(Protocol):
    """Starts threads, or processes with `apart`, that apply a function to blocks, and yields the
    results in order.
    """

    def __call__(
        self, work: Callable[[Block], Done], *, apart: bool
    ) -> Callable[[Iterable[Block]], Iterator[Done]]: ...


def many_rows(
    question: Question,
    asked: Batch,
    rows: Iterator[Row],
    wanted: Wanted,
    kind: str,
    ask: Callable[[Row], Answer],
    share: Sharing,
) -> Iterator[Answer | Together | Text]:
    """The answers to all rows. Compiled code gives them as soon as there is any, several processes
    share long work if --jobs allows it, and `ask` answers the remaining rows. No available row
    waits for one that has not arrived.
    """
    same = {name: given.value for name, given in question.inputs.items()}
    count, layout, failed = _FIRST, None, None
    flat = asked.kept.names if asked.kept and asked.flat else ()
    pace, shared = _Pace(), None
    while failed is None:
        if layout is not None and kind != "human":  # people see each row as it comes
            work = partial(_timed, partial(_pieces, layout, asked, wanted, same, kind))
            apart = not layout.many.is_free
            pays = asked.jobs > 1 and pace.spent > _WORTH
            if shared is None and pays and (can_fork() or not apart):
                shared = share(work, apart=apart)
            blocks = iter(partial(_block, asked, layout.names, pace), None)
            done = map(work, islice(blocks, 1)) if shared is None else shared(blocks)
            before = pace.count
            for pieces, took in done:
                pace.add(took)
                for piece in pieces:
                    yield ask(piece) if isinstance(piece, Row) else piece
            if pace.count > before:
                continue
        together, failed = _taken(asked.rows, rows, count)
        if not together:
            break
        sample = next(filter(None, (_values(wanted, row) for row in together)), None)
        many = None if sample is None else question.query.many(same | sample, question.options)
        if many is None:
            yield from map(ask, together)
            continue
        names = frozenset(sample or ())
        layout = layout or RowLayout(question, many, kind, names, flat)
        for found in _each(layout, many, names, asked, wanted, same, kind, together):
            yield ask(found) if isinstance(found, Row) else found
        count = min(2 * count, _MOST)
    if failed is not None:
        raise failed


class _Pace:
    """The size of blocks: twice as large each time as long as they are quick.

    Fields:
        size: The most bytes of the next block.
        count: The number of blocks that were answered.
        spent: The seconds that all took.
    """

    def __init__(self) -> None:
        self.size = _LEAST_BYTES
        self.count = 0
        self.spent = 0.0

    def add(self, took: float) -> None:
        """Count a block that took so many seconds."""
        self.count += 1
        self.spent += took
        size = 2 * self.size if took < _LONG else self.size // 2
        self.size = min(max(size, _LEAST_BYTES), _MOST_BYTES)


def _timed(pieces: _Pieces, block: Block) -> Done:
    start = perf_counter()
    found = pieces(block)
    return Done(found, perf_counter() - start)


def _block(asked: Batch, names: frozenset[str], pace: _Pace) -> Block | None:
    titles = asked.kept.names if asked.kept else ()
    return asked.rows.block(names, pace.size, titles)


def _pieces(
    layout: RowLayout,
    asked: Batch,
    wanted: Wanted,
    same: Mapping[str, Any],
    kind: str,
    block: Block,
) -> list[Piece]:
    """The answers to the rows of a block, and the rows that the interpreter has to answer."""
    many, odd = layout.many, block.odd
    if _needs_look(wanted, layout.names, block, odd):
        odd = range(block.count)
    found = None if len(odd) == block.count else many.arrays(block.columns)
    results, left = found or ([], range(block.count))
    alone: dict[int, Piece] = {place: block.row(place) for place in left}
    strange = sorted({*odd} & {*left})
    rows = [block.row(place) for place in strange]
    given = _each(layout, many, layout.names, asked, wanted, same, kind, rows)
    alone.update(zip(strange, given, strict=True))
    kept = asked.kept_together(block, kind) if len(left) < block.count else {}
    pieces: list[Piece] = []
    start = 0
    for place in (*left, block.count):
        if start < place:
            pieces.append(layout.together(block, kept, results, slice(start, place)))
        if place < block.count:
            pieces.append(alone[place])
        start = place + 1
    return pieces


def _needs_look(wanted: Wanted, names: frozenset[str], block: Block, odd: Sequence[int]) -> bool:
    """True if rows of a block may need a note or give other inputs, so that each is read."""
    if block.inputs is None:
        return not wanted.noted and block.has_quoted(names)
    if block.inputs & wanted.names != names:
        return True
    left = {*odd}
    first = next((k for k in range(block.count) if k not in left), None)
    return first is not None and not _values(wanted, block.row(first))  # its keys are checked


def _each(
    layout: RowLayout,
    many: Many,
    names: frozenset[str],
    asked: Batch,
    wanted: Wanted,
    same: Mapping[str, Any],
    kind: str,
    rows: Sequence[Row],
) -> Iterator[Answer | Text | Row]:
    """The answers to rows that are read one by one, and those left to the interpreter."""
    if not rows:
        return
    values = [_values(wanted, row) for row in rows]
    found = many.numbers([{**same, **own} for own in values])
    for row, own, made in zip(rows, values, found, strict=True):
        is_other = own.keys() != names or (row.header is None and not own.keys() >= {*wanted.left})
        if made is None or is_other or wanted.quoted(row):
            yield row
        else:
            yield layout.answer(row, asked.kept_of(row, kind), made)


def _taken(source: Rows, rows: Iterator[Row], count: int) -> tuple[list[Row], Exception | None]:
    """At least one row and all that are available, up to `count`; and the error that ended them."""
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
    """The values of the inputs in a row; empty for a broken row."""
    try:
        return wanted.of(row)
    except GradError:
        return {}
