"""`--rows`: one question for each record, each answer out as soon as it is made."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gradcli.cli.failures import usage
from gradcli.cli.messages import report
from gradcli.cli.output import Target
from gradcli.cli.progress import progress
from gradcli.cli.records import Batch
from gradcli.cli.terminal import is_terminal, write_output
from gradcli.errors import Diagnostic, GradError, InputError

if TYPE_CHECKING:
    from gradcli.formats.rows import Row, Rows
    from gradcli.program import Given, Program

_TOGETHER = 64  # rows that a worker gets at a time


class Form(NamedTuple):
    """How results are written: their named values, or their JSON fields, or their numbers."""

    fields: Callable[[Any], dict[str, Any]]
    json: Callable[[Any], dict[str, str]]
    numbers: Callable[[Any], Iterable[Any]]


class Answer(NamedTuple):
    """What came of a row: the texts of its columns and cells or its JSON fields, its warnings, or
    the diagnostics and the status of its error.
    """

    number: int
    columns: list[str]
    cells: list[str]
    json: dict[str, str]
    warnings: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    status: int


def answer_rows(
    question: Callable[[Mapping[str, Given]], Any],
    program: Program,
    inputs: Mapping[str, Given],
    asked: Batch,
    form: Form,
    target: Target,
    *,
    quiet: bool,
    diagnostics: str,
    color: str,
) -> None:
    """Ask the question of every row.

    Raises:
        typer.Exit: With the status of the first bad row, its error told.
    """
    names = _check_columns(program, inputs, asked.rows)
    kind = _kind(target, asked.rows.form)

    def ask(row: Row) -> Answer:
        return _asked(question, inputs, names, row, form, kind)

    gc.enable()  # many rows make many cycles
    written = _Writer(kind, asked.on_error, target)
    told: set[str] = set()
    status = 0
    # a bar among rows that scroll by would be no help
    with progress("rows", quiet=quiet or (target.path is None and is_terminal(sys.stdout))) as go:
        for found in _answers(ask, asked):
            go(found.number + 1, None)
            if found.status:
                status = status or found.status
                if asked.on_error != "record":
                    report(found.diagnostics, form=diagnostics, color=color)
                if asked.on_error == "stop":
                    break
            fresh = [w for w in found.warnings if w.code not in told]
            told.update(w.code for w in fresh)
            if fresh and not quiet:
                report(fresh, form=diagnostics, color=color)
            written.row(found)
    written.end()
    if status:
        raise typer.Exit(status)


def _check_columns(program: Program, inputs: Mapping[str, Given], rows: Rows) -> frozenset[str]:
    """The columns that are inputs.

    Raises:
        InputError: If none is, or an input that must be given is missing.
    """
    names = frozenset(rows.names) & frozenset(program.inputs)
    have = ", ".join(rows.names) or "none"
    if not names:
        wanted = ", ".join(program.inputs) or "no inputs"
        message = f"no column of `{rows.name}` is an input of the program"
        notes = (f"the columns are {have}", f"the program has {wanted}")
        raise InputError(Diagnostic("unknown-input", message, notes=notes))
    missing = [n for n in program.required if n not in names and n not in inputs]
    if missing:
        message = f"`{rows.name}` has no column `{missing[0]}`, which the program needs"
        help = f"add {missing[0]}=VALUE for all rows"
        raise InputError(
            Diagnostic("missing-input", message, notes=(f"the columns are {have}",), help=help)
        )
    return names


def _kind(target: Target, form: str) -> str:
    if target.form == "auto":
        return form
    if target.form not in ("csv", "tsv", "json", "ndjson", "raw"):
        what = f"`{target.path}`" if target.path else f"`--format {target.form}`"
        raise usage(f"{what} does not go with `--rows`", "rows are csv, tsv, json or raw")
    return "ndjson" if target.form == "json" else target.form


def _asked(
    question: Callable[[Mapping[str, Given]], Any],
    inputs: Mapping[str, Given],
    names: frozenset[str],
    row: Row,
    form: Form,
    kind: str,
) -> Answer:
    from gradcli.formats.delimited import cells, header
    from gradcli.formats.literal import numbers
    from gradcli.formats.rows import taken
    from gradcli.program import Given

    origin = f"in row {row.number}"
    try:
        values = taken(row, names)
        given = {name: Given(value, f"{name} {origin}") for name, value in values.items()}
        result = question({**inputs, **given})
    except GradError as error:
        for diagnostic in error.diagnostics:
            diagnostic.notes = (*diagnostic.notes, f"in row {row.number}, line {row.line}")
        return Answer(row.number, [], [], {}, (), tuple(error.diagnostics), error.status)
    if kind == "ndjson":
        return Answer(row.number, [], [], form.json(result), result.warnings, (), 0)
    if kind == "raw":
        texts = [text for value in form.numbers(result) for text in numbers(value)]
        return Answer(row.number, [], texts, {}, result.warnings, (), 0)
    found = form.fields(result)
    return Answer(row.number, header(found), cells(found), {}, result.warnings, (), 0)


def _answers(ask: Callable[[Row], Answer], asked: Batch) -> Iterator[Answer]:
    """The answers in the order of the rows, from so many processes."""
    if asked.jobs == 1:
        return map(ask, asked.rows)
    return _from_workers(ask, asked)


def _from_workers(ask: Callable[[Row], Answer], asked: Batch) -> Iterator[Answer]:
    from multiprocessing import get_all_start_methods, get_context

    if "fork" not in get_all_start_methods():
        raise usage("`--jobs` needs a system that can fork processes")
    with get_context("fork").Pool(asked.jobs, _start, (ask,)) as pool:
        for answers in pool.imap(_several, _chunks(asked.rows)):
            yield from answers


class _Worker:
    """What a forked process asks; a function of the program cannot be sent to it."""

    ask: Callable[[Row], Answer]


def _start(ask: Callable[[Row], Answer]) -> None:
    """Begin a worker. Interrupts are left to the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Worker.ask = staticmethod(ask)


def _several(rows: Sequence[Row]) -> list[Answer]:
    return [_Worker.ask(row) for row in rows]


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    walking = iter(rows)
    while chunk := list(islice(walking, _TOGETHER)):
        yield chunk


class _Writer:
    """Writes answers as they come: a header when the first good one tells the columns."""

    def __init__(self, kind: str, on_error: str, target: Target) -> None:
        self._kind = kind
        self._numbered = on_error != "stop"
        self._recorded = on_error == "record"
        self._columns: list[str] | None = None
        self._waiting: list[Answer] = []
        self._target = target
        self._kept: list[str] = []

    def row(self, answer: Answer) -> None:
        """Write one answer."""
        if answer.status and not self._recorded:
            return
        if self._kind == "ndjson":
            self._write(_json_line(answer))
        elif self._kind == "raw":
            self._write("".join(f"{text}\n" for text in answer.cells))
        elif answer.status and self._columns is None:
            self._waiting.append(answer)  # its empty fields are not known yet
        else:
            self._record(answer)

    def end(self) -> None:
        """Write what waited for a header, and the file."""
        if self._waiting:
            self._head([])
        if self._target.path is not None:
            self._target.write("".join(self._kept))

    def _head(self, columns: list[str]) -> None:
        self._columns = columns
        lead = ["row"] if self._numbered else []
        self._line([*lead, *columns, *(["error"] if self._recorded else [])])
        for answer in self._waiting:
            self._record(answer)
        self._waiting = []

    def _record(self, answer: Answer) -> None:
        if self._columns is None:
            self._head(answer.columns)
        assert self._columns is not None
        if not answer.status and answer.columns != self._columns:
            raise InputError(
                Diagnostic(
                    "bad-input",
                    f"row {answer.number} has {len(answer.columns)} result columns, and the first "
                    f"has {len(self._columns)}",
                    help="write JSON lines with `-f ndjson`, where rows may differ",
                )
            )
        lead = [str(answer.number)] if self._numbered else []
        cells = [""] * len(self._columns) if answer.status else answer.cells
        error = [answer.diagnostics[0].message if answer.status else ""]
        self._line([*lead, *cells, *(error if self._recorded else [])])

    def _line(self, texts: list[str]) -> None:
        from gradcli.formats.delimited import DELIMITERS, record

        self._write(record(texts, DELIMITERS[self._kind]))

    def _write(self, text: str) -> None:
        if self._target.path is None:
            write_output(text)
        else:
            self._kept.append(text)


def _json_line(answer: Answer) -> str:
    from gradcli.formats.json_text import diagnostic_json, json_object

    lead = {"row": str(answer.number)}
    if answer.status:
        return f"{json_object({**lead, 'error': diagnostic_json(answer.diagnostics[0])})}\n"
    return f"{json_object({**lead, **answer.json})}\n"
