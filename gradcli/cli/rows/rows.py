"""`--rows`: ask one question of each record, and write each answer at once."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.line.output import Target
from gradcli.cli.line.query import Question
from gradcli.cli.line.records import Batch, row_target
from gradcli.cli.rows.many_rows import Done, many_rows, takes_code
from gradcli.cli.rows.row_writer import Answer, Kept, RowWriter, Said, Text, Together, refused
from gradcli.cli.rows.threads import threads
from gradcli.cli.rows.workers import Watch, can_fork, workers
from gradcli.cli.terminal.failures import bug, lacks_memory, out_of_memory
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.progress import Bar, progress
from gradcli.cli.terminal.terminal import is_terminal
from gradcli.errors import (
    Diagnostic,
    GradError,
    InputError,
    LimitError,
    UsageError,
    counted,
    listed,
)
from gradcli.formats.readers.block import Block, Row
from gradcli.formats.readers.rows import Rows, Wanted
from gradcli.formats.texts.refusal import first_names
from gradcli.formats.texts.spelling import check_spelling
from gradcli.program import Given, Limits

if TYPE_CHECKING:
    from gradcli.cli.watch.table import Table
    from gradcli.program import Options


class Tally:
    """What became of rows.

    Fields:
        status: The status of the first bad row; 0 if there is none.
        count: How many rows there were.
        left_out, first_left: How many were left out, and the line of the first of these.
        first_place: Where this one stands, for messages.
        wrong: The numbers of those whose check failed, or whose search found nothing.
    """

    def __init__(self) -> None:
        self.status = self.count = self.left_out = self.first_left = 0
        self.first_place = ""
        self.wrong: list[int] = []


def answer_rows(
    question: Question, asked: Batch, target: Target, telling: Telling, table: Table | None = None
) -> None:
    """Ask the question of every row, and write each answer. A watched process has a table.

    Raises:
        typer.Exit: With the status of the first bad row, whose error is written.
    """
    # a bar among rows that scroll by would not help
    scrolling = target.path is None and is_terminal(sys.stdout)
    with progress("rows", telling, silent=scrolling) as bar:
        tally = write_rows(question, asked, target, telling, set(), bar, table)
    status = tally.status
    if tally.left_out:
        telling.warn([left_out(tally.left_out, tally.count, tally.first_place)])
    if asked.on_error == "ignore":
        status = 0
    if tally.wrong:
        status = status or 1
        if not telling.quiet:
            telling.report([not_right(tally.wrong, question.query.name)])
    if status:
        raise typer.Exit(status)


def write_rows(
    question: Question,
    asked: Batch,
    target: Target,
    telling: Telling,
    told: set[str],
    bar: Bar,
    table: Table | None = None,
    *,
    forks: bool = True,
) -> Tally:
    """Ask the question of every row, write each answer, and tell the errors of rows.

    Args:
        question: The question.
        asked: The rows.
        target: Where the answers go.
        telling: Where warnings and errors go.
        told: The codes of warnings that are not told again; grows.
        bar: Shows how many rows are done.
        table: Where a watched process tells what it does.
        forks: True if this process may be forked.

    Raises:
        typer.Exit: With the status of a bad row that ends the work, whose error is told.
    """
    question.program.check_given(question.inputs)
    given = wanted(question, asked.rows)
    target = row_target(target, asked)
    kind = target.form
    tally = Tally()
    met: set[str] = set()  # codes of warnings in this process: only the first of each is explained

    def ask(row: Row, leave: Callable[[Answer], None]) -> Answer:
        kept = asked.kept_of(row, kind)
        explain = kind == "ndjson" or "non-finite" not in met or question.options.check_nan
        options = question.options.changed(
            stream=row.number,
            explain=explain,
            stuck=lambda error: leave(refused(row.number, row.line, kept, error)),
        )
        try:
            place = f"row {row.number}"
            if not asked.rows.is_numbered:
                place = asked.rows.place(row.number, row.line)
            found = _asked(question, options, given, row, kept, kind, place)
            met.update(w.code for w in found.warnings)
            return found
        except (UsageError, OSError):
            raise  # not specific to the row
        except GradError as error:
            return refused(row.number, row.line, kept, error)
        except Exception as error:
            if lacks_memory(error):
                return refused(row.number, row.line, kept, LimitError(out_of_memory()))
            if asked.on_error == "stop":
                raise
            return refused(row.number, row.line, kept, GradError(bug(error)))

    def judge_and_ask(row: Row, leave: Callable[[Answer], None]) -> Answer | None:
        judged = next(asked.rows.judged(iter([row])), None)
        return None if judged is None else ask(judged, leave)

    def killed(row: Row, error: LimitError) -> Answer:
        return refused(row.number, row.line, asked.kept_of(row, kind), error)

    asked.rows.take(given.names, asked.kept.names if asked.kept else ())
    gc.enable()  # many rows make many reference cycles
    if given.left and asked.rows.form != "ndjson" and "input-at-default" not in told:
        told.add("input-at-default")
        telling.warn([_at_default(f"`{asked.rows.name}`", given.left)])
    rows = iter(asked.rows.every)
    beside = forks and _may_get_stuck(question.options.limits) and can_fork()
    if asked.jobs > 1 and not beside:
        first = [*islice(rows, 1)]
        rows = chain(first, rows)
        beside = not (first and takes_code(question, given, first[0]))
    with target.stream() as write, ExitStack() as processes:
        kept = asked.kept.names if asked.kept else ()
        writer = RowWriter(write, kind, asked.on_error, kept, asked.precision, flat=asked.flat)
        answers: Iterator[Answer | Together | Text]
        if beside:
            watch = None if table is None else Watch(table, question.options.limits, killed)
            shared = processes.enter_context(workers(judge_and_ask, asked.jobs, watch=watch))
            answers = filter(None, shared(rows))
        else:
            alone = partial(ask, leave=_end(telling, asked.rows))
            share = partial(_shared, processes, writer, asked.jobs)
            judged = asked.rows.judged(rows)
            answers = many_rows(question, asked, judged, given, kind, alone, share)
        for found in chain.from_iterable(map(writer.fitted, answers)):
            fresh = [w for w in found.warnings if w.code not in told]
            for warning in fresh:
                told.add(warning.code)
                where = f"first in {_place(found, asked.rows)}; later ones are not shown"
                warning.notes = (*warning.notes, where)
                bar.clear()
            if fresh:
                telling.warn(fresh)
            if not isinstance(found, Answer):
                tally.count += found.size
                bar.advance(tally.count, None, asked.rows.share)
                writer.write_together(found)
                continue
            tally.count += 1
            bar.advance(tally.count, None, asked.rows.share)
            if found.status:
                _add_place(found, asked.rows)
                tally.status = tally.status or found.status
                if asked.on_error in ("skip", "ignore"):
                    tally.left_out += 1
                    tally.first_left = tally.first_left or found.line
                    place = asked.rows.place(found.number, found.line)
                    tally.first_place = tally.first_place or place
                if asked.on_error != "record":
                    bar.clear()
                    telling.report(_not_told(found.diagnostics, told))
                if asked.on_error == "stop":
                    raise typer.Exit(found.status)
            if not found.right:
                tally.wrong.append(found.number)
                tally.status = tally.status or 1
            writer.write(found)
        writer.end()
    return tally


def _shared(
    processes: ExitStack,
    writer: RowWriter,
    jobs: int,
    work: Callable[[Block], Done],
    *,
    apart: bool,
) -> Callable[[Iterable[Block]], Iterator[Done]]:
    """Threads that answer and write blocks, or processes if the code would hold Python's lock. They
    end with the stack.
    """

    def written(block: Block, leave: object = None) -> Done:
        found = work(block)
        pieces = [writer.text_of(p) if isinstance(p, Together) else p for p in found.pieces]
        return found._replace(pieces=pieces)

    if apart:
        return processes.enter_context(workers(written, jobs, 1))
    return processes.enter_context(threads(written, jobs))


def _may_get_stuck(limits: Limits) -> bool:
    """True if a row may reach a limit in a call that cannot be stopped. It then runs in a process
    of its own, so that the others go on.
    """
    return limits.seconds is not None or type(limits.memory) is int


def _place(found: Answer | Together | Text, rows: Rows) -> str:
    place = rows.place(found.number, found.line)
    return f"row {found.number}, {place}" if rows.is_numbered else place


def _add_place(found: Answer, rows: Rows) -> None:
    """Add to the errors of a row where it stands."""
    for diagnostic in found.diagnostics:
        rows.locate(diagnostic)
        diagnostic.notes = (*diagnostic.notes, f"in {_place(found, rows)}")


def _end(telling: Telling, rows: Rows) -> Callable[[Answer], None]:
    """A function that ends the process with the answer to a row that cannot be stopped."""

    def end(found: Answer) -> None:
        _add_place(found, rows)
        telling.report(found.diagnostics)
        os._exit(found.status)

    return end


def left_out(some: int, count: int, first: str) -> Diagnostic:
    """The warning that some of the rows were left out, the first of them at a place."""
    rows = f"{some:,} of {count:,} rows left out, the first at {first}"
    return Diagnostic("rows-left-out", rows, severity="warning")


def not_right(rows: Sequence[int], asked: str) -> Diagnostic:
    """The error that checks of some rows failed, or that searches found nothing."""
    numbers = ", ".join(map(str, rows[:_LISTED])) + (", ..." if len(rows) > _LISTED else "")
    if asked != "gradcheck":
        message = f"nothing is found in {counted(len(rows), 'row')}: {numbers}"
        return Diagnostic("not-found", message)
    return Diagnostic("wrong-derivative", f"checks fail in {counted(len(rows), 'row')}: {numbers}")


_LISTED = 20


def _not_told(errors: Sequence[Diagnostic], told: set[str]) -> list[Diagnostic]:
    """The errors of a row, without those of an own rule that an earlier row had."""
    left = []
    for error in errors:
        of_rule = error.code == "wrong-rule"
        if not (of_rule and error.message in told):
            left.append(error)
        if of_rule:
            told.add(error.message)
    return left


def wanted(question: Question, rows: Rows) -> Wanted:
    """The inputs that rows give. JSON lines may give any, since each object has its own keys.

    Raises:
        InputError: If no column is an input, a required input is missing, or a column seems to be a
            misspelt input.
    """
    program, inputs = question.program, question.inputs
    left = [name for name in program.optional if name not in inputs]
    if rows.form == "ndjson":
        return Wanted(frozenset(program.inputs), tuple(left))
    names = frozenset(rows.names) & frozenset(program.inputs)
    rows.check(names)
    have = first_names(rows.names) or "none"
    if not names:
        wanted = first_names(program.inputs) or "no inputs"
        message = f"no column of `{rows.name}` is an input of the program"
        notes = (f"the columns are {have}", f"the program has {wanted}")
        alike = [(n, c) for n in program.inputs for c in rows.names if n.lower() == c.lower()]
        pair = "{}={}".format(*alike[0]) if alike else "NAME=COLUMN"
        help = f"`--map {pair}` takes a column of another name" if program.inputs else None
        raise InputError(Diagnostic("unknown-input", message, notes=notes, help=help))
    missing = [n for n in program.required if n not in names and n not in inputs]
    if missing:
        noun = "column" if len(missing) == 1 else "columns"
        message = f"`{rows.name}` has no {noun} {listed(missing)}, which the program needs"
        help = f"add {' '.join(f'{name}=VALUE' for name in missing)} for all rows"
        raise InputError(
            Diagnostic("missing-input", message, notes=(f"the columns are {have}",), help=help)
        )
    left = [name for name in left if name not in names]
    check_spelling(f"`{rows.name}`", rows.names, program.inputs, left)
    return Wanted(names, tuple(left))


def _in_quotes(names: Sequence[str]) -> Diagnostic:
    """The note that some numbers are in quotes."""
    message = f"numbers of {listed(list(dict.fromkeys(names)))} are in quotes and count as numbers"
    return Diagnostic("numbers-in-quotes", message, severity="note")


def _at_default(what: str, names: Sequence[str]) -> Diagnostic:
    """The warning that rows leave some inputs at their defaults."""
    listed = ", ".join(f"`{name}`" for name in names)
    rest = "it keeps its default" if len(names) == 1 else "they keep their defaults"
    help = f"{names[0]}=VALUE gives what is the same for all rows"
    message = f"{what} has no {listed}: {rest}"
    return Diagnostic("input-at-default", message, help=help, severity="warning")


def _asked(
    question: Question,
    options: Options,
    wanted: Wanted,
    row: Row,
    kept: Kept,
    kind: str,
    place: str,
) -> Answer:
    values = wanted.of(row)
    given = {name: Given(value, f"{name} in {place}") for name, value in values.items()}

    def answer() -> tuple[Any, Said]:
        result = question.query({**question.inputs, **given}, options)
        if getattr(result, "reason", None) == "interrupted":
            raise KeyboardInterrupt  # a search has caught it to tell its best point
        return result, Said.of(question.parts(result), kind)

    result, said = question.program.within(options, answer)
    left = [name for name in wanted.left if name not in values] if row.header is None else []
    warnings = (_at_default("this row", left), *result.warnings) if left else result.warnings
    if quoted := wanted.quoted(row):
        wanted.noted = True
        warnings = (_in_quotes(quoted), *warnings)
    right = result.right is not False
    return Answer(
        row.number, row.line, kept, said.columns, said.cells, said.json, warnings, right, (), 0
    )
