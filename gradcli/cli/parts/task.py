"""Answers one part of a table: the same function in this process and in a worker of a cluster."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from gradcli import __version__
from gradcli.cli.line.output import Target
from gradcli.cli.line.query import Question
from gradcli.cli.line.records import Batch
from gradcli.cli.parts.lock import run_of
from gradcli.cli.rows.rows import Tally, write_rows
from gradcli.cli.terminal.failures import lacks_memory, out_of_memory, unwritable
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.progress import Bar
from gradcli.cli.terminal.terminal import print_message
from gradcli.errors import Diagnostic, GradError, LimitError
from gradcli.formats.files.places import joined, make_folder
from gradcli.formats.readers.chosen import ChosenRows
from gradcli.formats.readers.parts import Part, check_alike, open_part
from gradcli.formats.texts.dialect import Dialect
from gradcli.formats.writers.forms import FORMS
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.cli.watch.table import Table
    from gradcli.formats.readers.chosen import Choice
    from gradcli.formats.readers.kept import Kept
    from gradcli.formats.readers.rows import Rows

_TOLD = 100  # messages that a part hands back


class Job(Record):
    """All that a worker needs to answer the parts of a table.

    Fields:
        question: What is asked of each row.
        kept, on_error, jobs, precision, flat, dialect: As in `Batch`.
        form: The form of the answers.
        folder: Where their files go; None if each part's answers come back.
        run: The name of this run in the folder's manifest.
        first, columns, read_as: The first file, its columns, and its form.
        is_alone: True if there is no other file.
        choice: Judges which rows count; None if all do.
        at: The folder in which names of files begin.
    """

    __slots__ = (
        *("question", "kept", "on_error", "jobs", "precision", "flat", "dialect"),
        *("form", "folder", "run", "first", "columns", "read_as", "is_alone", "choice", "at"),
    )
    question: Question
    kept: Kept | None
    on_error: str
    jobs: int
    precision: int
    flat: bool
    dialect: Dialect
    form: str
    folder: str | None
    run: str
    first: str
    columns: Sequence[str]
    read_as: str
    is_alone: bool
    choice: Choice | None
    at: str

    def elsewhere(self) -> Job:
        """The same for another process, without the functions of this one."""
        question = self.question
        is_inside = FORMS[self.form].room == "inside"
        options = question.options.changed(
            echo=_nothing if is_inside else print_message,
            progress=_nothing,
            remark=_nothing,
            stuck=None,
            plots=None,
        )
        asked = question.query, options, question.program, question.inputs, question.parts
        fields = {name: getattr(self, name) for name in self._fields}
        return Job(**{**fields, "question": Question(*asked)})


def _nothing(*found: Any) -> None:
    """Take what nobody hears."""


class Report(Record):
    """What became of a part.

    Fields:
        status: The status of its first bad row, or of the error that ended it; 0 without.
        is_done: True if its answers are written.
        rows, left_out, wrong: How many rows were asked and left out, and the numbers of those whose
            check failed.
        first_left: The place of the first row that was left out.
        told, more: The first messages, and how many others there are.
        printed: What the program printed.
        content: The answers, if they come back.
        seconds: How long it took.
    """

    __slots__ = (
        *("status", "is_done", "rows", "left_out", "wrong", "first_left", "told", "more"),
        *("printed", "content", "seconds"),
    )
    status: int
    is_done: bool
    rows: int
    left_out: int
    wrong: list[int]
    first_left: str
    told: list[Diagnostic]
    more: int
    printed: str
    content: bytes
    seconds: float


Piece: TypeAlias = "tuple[int, Part, str]"
"""The number of a part, the part, and its file in the folder."""


class Heard(Telling):
    """Keeps the first messages instead of writing them."""

    __slots__ = ("more", "told")
    told: list[Diagnostic]
    more: int

    def __init__(self) -> None:
        self.quiet, self.form, self.color = True, "full", "never"
        self.told, self.more = [], 0

    def report(self, diagnostics: Any) -> None:
        for diagnostic in diagnostics:
            if len(self.told) < _TOLD:
                self.told.append(diagnostic)
            else:
                self.more += 1

    def warn(self, warnings: Any) -> None:
        self.report(warnings)


class _Here(Target):
    """A file of a folder, which is replaced only as long as the folder belongs to this run."""

    __slots__ = ("check",)
    check: Callable[[], None]

    @contextmanager
    def stream(self) -> Iterator[Callable[[str | bytes], None]]:
        with super().stream() as write:
            yield write
            self.check()


class _Back(Target):
    """Answers that are kept in memory."""

    __slots__ = ("kept",)
    kept: io.BytesIO

    @contextmanager
    def stream(self) -> Iterator[Callable[[str | bytes], None]]:
        def write(piece: str | bytes) -> None:
            is_text = isinstance(piece, str)
            self.kept.write(piece.encode("utf-8", "backslashreplace") if is_text else piece)  # type: ignore[union-attr,arg-type]  # of a text

        yield write


def answer_part(
    job: Job,
    part: Part,
    output: str,
    telling: Telling,
    told: set[str],
    bar: Bar,
    table: Table | None = None,
    *,
    forks: bool = True,
) -> Report:
    """Answer the rows of a part, and write its file.

    Args:
        job: What is asked.
        part: The part.
        output: The name of its file in the folder.
        telling: Where warnings and errors go.
        told: The codes of warnings that are not told again; grows.
        bar: Shows how many rows are done.
        table: Where a watched process tells what it does.
        forks: True if this process may be forked.
    """
    start = time.perf_counter()
    tally, status, is_done = Tally(), 0, False
    content = io.BytesIO()
    try:
        target = _target(job, output, content)
        rows = _rows(job, part)
        asked = Batch(
            *(rows, job.kept, job.on_error, job.jobs, job.precision, job.flat),
            *([part.name], job.dialect),
        )
        tally = write_rows(job.question, asked, target, telling, told, bar, table, forks=forks)
        status, is_done = tally.status, True
    except typer.Exit as ended:
        status = ended.exit_code
    except GradError as error:
        telling.report(error.diagnostics)
        status = error.status
    except Exception as error:
        if not lacks_memory(error):
            raise
        telling.report([out_of_memory()])
        status = LimitError.status
    heard = telling if isinstance(telling, Heard) else Heard()
    return Report(
        *(status, is_done, tally.count, tally.left_out, tally.wrong, tally.first_place),
        *(heard.told, heard.more, "", content.getvalue(), time.perf_counter() - start),
    )


def _rows(job: Job, part: Part) -> Rows:
    """The rows of a part that count."""
    rows = open_part(part, job.dialect)
    rows.is_alone = job.is_alone
    check_alike(rows, job.read_as, job.columns, job.first)
    return rows if job.choice is None else ChosenRows(rows, job.choice)


def _target(job: Job, output: str, content: io.BytesIO) -> Target:
    if job.folder is None:
        return _Back(job.form, None, "never", content)
    path = joined(job.folder, output.split("/"))

    def check() -> None:
        run = run_of(job.folder or "")
        if run is None:
            raise unwritable(f"`{path}`", "no run holds its folder, as this process sees it")
        if run != job.run:
            raise unwritable(f"`{path}`", "its folder belongs to a later run by now")

    check()
    try:
        make_folder(os.path.dirname(path))
    except OSError as error:
        raise unwritable(f"`{path}`", error.strerror or str(error)) from None
    return _Here(job.form, path, "never", check)


def failed(error: GradError) -> Report:
    """The report on a part that an error has ended."""
    told = [*error.diagnostics]
    return Report(error.status, False, 0, 0, [], "", told, 0, "", b"", 0.0)


def version() -> str:
    """The version of gradcli in this process."""
    return __version__
