"""Answers a table part by part: into the files of a folder, or by the workers of a cluster."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.line.arguments import part_size
from gradcli.cli.line.options import FIELDS, Line
from gradcli.cli.line.output import Target
from gradcli.cli.line.query import Question
from gradcli.cli.line.records import Batch, row_form
from gradcli.cli.parts.lock import locked
from gradcli.cli.parts.manifest import Manifest, digest, earlier_parts
from gradcli.cli.parts.names import outputs_of
from gradcli.cli.parts.task import Job, Piece, Report, answer_part
from gradcli.cli.rows.rows import left_out, not_right, wanted
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.progress import Bar, Share, progress
from gradcli.cli.terminal.terminal import print_message, write_output
from gradcli.errors import Diagnostic, UsageError, counted
from gradcli.formats.files.compressed import bare_name
from gradcli.formats.files.places import is_folder, make_folder
from gradcli.formats.readers.chosen import ChosenRows
from gradcli.formats.readers.parts import parts_of
from gradcli.formats.texts.literal import literal

if TYPE_CHECKING:
    from gradcli.cli.watch.table import Table

_STREAMED = ("csv", "tsv", "ndjson", "raw")  # forms whose parts can follow each other
_HEADED = ("csv", "tsv")
_OWN = {  # options that do not decide the answers
    *("arguments", "expression", "values_file", "output", "jobs", "quiet", "verbose", "color"),
    *("diagnostics", "cluster", "restart", "dry_run", "form", "json", "raw"),
    *("max_steps", "time_limit", "max_memory", "max_depth", "safe", "rows"),
}


class Work:
    """The parts of a table and what is asked of them.

    Args:
        question: What is asked of each row.
        line: The command line.
        asked: The rows.
        target: Where the answers go.
        telling: Where messages go.
    """

    def __init__(
        self, question: Question, line: Line, asked: Batch, target: Target, telling: Telling
    ) -> None:
        if "-" in asked.files:
            raise usage("standard input has no parts", "name a file in `--rows`")
        question.program.check_given(question.inputs)
        wanted(question, asked.rows)  # a fault that all parts have
        self.line, self.telling, self._asked, self._question = line, telling, asked, question
        self.folder = target.path if target.path is not None and is_folder(target.path) else None
        self.target = target
        self.form = _form(target, asked, in_folder=self.folder is not None)
        if self.folder is None and self.form not in _STREAMED:
            raise usage(f"{self.form} from a cluster needs a folder", "as in -o FOLDER/")
        is_numbered = self.form == "ndjson" or line.on_error != "stop"
        draws = line.seed is not None or "seed" in question.program.source.text
        size = part_size(line.part_size)
        known = {} if self.folder is None or line.restart else earlier_parts(self.folder)
        counted = is_numbered or draws
        self.parts = [*parts_of(asked.files, asked.dialect, size, counted=counted, known=known)]
        self.outputs = outputs_of(self.parts, self.form)
        inputs = {os.path.realpath(part.name) for part in self.parts}
        mine = [] if self.folder is None else [os.path.join(self.folder, n) for n in self.outputs]
        if clash := [name for name in mine if os.path.realpath(name) in inputs]:
            raise usage(f"`{clash[0]}` would replace a file of `--rows`", "name another folder")
        if self.folder is not None and _has_rows(self.folder, line):
            message = f"`{self.folder}` has the rows, so that results there would be read as rows"
            raise usage(message, "name another folder; it may be in this one")

    def job(self, run: str, jobs: int) -> Job:
        """What a worker is asked."""
        asked, rows = self._asked, self._asked.rows
        return Job(
            *(self._question, asked.kept, asked.on_error, jobs, asked.precision, asked.flat),
            *(asked.dialect, self.form, self.folder, run),
            *(self.parts[0].name, rows.titles, rows.form, len(asked.files) == 1),
            *(rows.choice if isinstance(rows, ChosenRows) else None,),
            os.getcwd(),
        )

    def asked(self) -> dict[str, Any]:
        """What decides the answers, for the manifest."""
        from hashlib import sha256

        source, line = self._question.program.source, self.line
        text = source.text
        options = {
            name: getattr(line, name)
            for name in sorted(line.takes)
            if name not in _OWN and getattr(line, name) != FIELDS[name].default
        }
        given = {
            name: digest(literal(value.value)) for name, value in self._question.inputs.items()
        }
        name = self._question.query.name
        hashed = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        program = {"name": source.name, "text": text, "sha256": hashed}
        return {
            "program": program,
            "inputs": given,
            "options": {"question": name, "format": self.form, **options},
        }

    @property
    def stops(self) -> bool:
        """True if the first bad row ends all."""
        return self.line.on_error == "stop"


def answer_parts(work: Work, table: Table | None) -> None:
    """Answer all parts of a table.

    Raises:
        typer.Exit: With the status of the first part that has one.
    """
    if work.folder is None:
        with closing(_runner(work, table)) as found:
            _stream(work, found)
        return
    manifest = Manifest(work.folder, work.asked(), work.parts, work.outputs)
    if work.line.dry_run:
        if not work.line.restart:
            manifest.take_up()
        write_output(_plan(work, manifest))
        return
    try:
        make_folder(work.folder)
    except OSError as error:
        raise unwritable(f"`{work.folder}`", error.strerror or str(error)) from None
    run = os.urandom(8).hex()
    with locked(work.folder, run):
        if work.line.restart:
            manifest.restart()
        manifest.take_up()
        manifest.clean()
        manifest.write("running")
        _fill(work, manifest, run, table)


class _Course:
    """What has become of parts so far, and what was told."""

    def __init__(self, telling: Telling) -> None:
        self.telling = telling
        self.told: set[str] = set()
        self.status = self.rows = self.left_out = 0
        self.first_left, self.wrong = "", list[int]()

    def take(self, report: Report) -> None:
        """Tell what a worker has handed back."""
        if report.printed:
            print_message(report.printed)
        for diagnostic in report.told:
            if diagnostic.severity == "error":
                self.telling.report([diagnostic])
            elif diagnostic.code not in self.told:
                self.told.add(diagnostic.code)
                self.telling.warn([diagnostic])
        if report.more:
            print_message(f"and {report.more:,} more messages of this part\n")
        self.status = self.status or report.status
        self.rows += report.rows
        self.left_out += report.left_out
        self.first_left = self.first_left or report.first_left
        self.wrong += report.wrong

    def close(self, line: Line, asked: str) -> int:
        """Tell how all ended: the exit status."""
        if self.left_out:
            self.telling.warn([left_out(self.left_out, self.rows, self.first_left)])
        if self.wrong and not self.telling.quiet:
            self.telling.report([not_right(sorted(self.wrong), asked)])
        return 1 if self.wrong and line.on_error == "ignore" else self.status


def _fill(work: Work, manifest: Manifest, run: str, table: Table | None) -> None:
    """Answer the parts that are missing in a folder."""
    pieces = [*zip(range(len(work.parts)), work.parts, work.outputs, strict=True)]
    todo = [piece for piece in pieces if piece[0] not in manifest.done]
    passed = len(pieces) - len(todo)
    if passed:
        text = f"{passed:,} of {counted(len(pieces), 'part')} are done already"
        work.telling.warn([Diagnostic("parts-done", text, severity="note")])
    course = _Course(work.telling)
    status = "failed"
    try:
        with closing(_runner(work, table, run, todo, course)) as found:
            for k, report in found:
                course.take(report)
                manifest.note(k, report)
                if not report.is_done and (work.stops or report.status == UsageError.status):
                    break
        status = "done" if len(manifest.done) == len(pieces) else "failed"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        manifest.clean()  # of workers that were lost
        manifest.write(status)
        if status != "done":
            _tell_rest(work, manifest)
    ended = course.close(work.line, work.asked()["options"]["question"])
    if work.line.on_error == "ignore" and status == "done" and not course.wrong:
        ended = 0
    if ended:
        raise typer.Exit(ended)


def _tell_rest(work: Work, manifest: Manifest) -> None:
    """Tell how much is done, and how to go on."""
    rows = sum(part.get("rows", 0) for part in manifest.done.values())
    message = (
        f"{len(manifest.done):,} of {counted(len(work.parts), 'part')} are done in "
        f"`{work.folder}`, with {rows:,} {'row' if rows == 1 else 'rows'}"
    )
    help = "the same command goes on with the others"
    work.telling.warn([Diagnostic("parts-done", message, help=help, severity="note")])


def _runner(
    work: Work,
    table: Table | None,
    run: str = "",
    todo: Sequence[Piece] | None = None,
    course: _Course | None = None,
) -> Generator[tuple[int, Report], None, None]:
    """The reports on parts, from this process or from a cluster; with a bar."""
    if todo is None:
        todo = [*zip(range(len(work.parts)), work.parts, work.outputs, strict=True)]
    if not todo:
        return
    done = len(work.parts) - len(todo)
    with ExitStack() as stack:
        bar = stack.enter_context(progress("parts", work.telling))
        if work.line.cluster is None:
            assert course is not None, "without a cluster there is a folder"
            yield from _here(work, work.job(run, work._asked.jobs), todo, course, bar, table)
            return
        from gradcli.cli.parts.cluster import joined
        from gradcli.cli.parts.worker import reports

        tasks = stack.enter_context(joined(work.line.cluster, work.telling))
        rows = 0
        for k, report in reports(tasks, work.job(run, 1), todo):
            done, rows = done + 1, rows + report.rows
            share = done / len(work.parts)
            bar.entitle(f"{done:,} of {len(work.parts):,} parts, rows")
            bar.advance(rows, None, lambda share=share: share)  # type: ignore[misc]  # bound now
            if report.told or report.printed:
                bar.clear()
            yield k, report


def _here(
    work: Work,
    job: Job,
    todo: Iterable[Piece],
    course: _Course,
    bar: Bar,
    table: Table | None,
) -> Iterator[tuple[int, Report]]:
    """Answer parts in this process, one after the other."""
    count = len(work.parts)
    for k, part, output in todo:
        bar.entitle(f"{k + 1:,} of {count:,} parts, rows")
        within = _Within(bar, k, count)
        yield k, answer_part(job, part, output, work.telling, course.told, within, table)


class _Within(Bar):
    """The bar of a part within that of all."""

    def __init__(self, bar: Bar, k: int, count: int) -> None:
        self._bar, self._k, self._count = bar, k, count

    def advance(self, done: int, total: int | None, share: Share = lambda: None) -> None:
        self._bar.advance(done, total, lambda: (self._k + (share() or 0.0)) / self._count)

    def clear(self) -> None:
        self._bar.clear()


# one stream ---------------------------------------------------------------------------------------


def _stream(work: Work, found: Iterator[tuple[int, Report]]) -> None:
    """Write the answers of all parts one after the other."""
    course = _Course(work.telling)
    waiting: dict[int, Report] = {}
    following, is_begun = 0, False
    target = Target(work.form, work.target.path, work.target.color)
    with target.stream() as write:
        for k, report in found:
            waiting[k] = report
            while (report_of := waiting.pop(following, None)) is not None:
                course.take(report_of)
                content = report_of.content  # up to a row that ends all, as in one process
                write((_bare(content, work.form) if is_begun else content).decode())
                if not report_of.is_done and (work.stops or report_of.status == UsageError.status):
                    raise typer.Exit(report_of.status)
                following, is_begun = following + 1, is_begun or bool(content)
    ended = course.close(work.line, work.asked()["options"]["question"])
    if ended and not (work.line.on_error == "ignore" and not course.wrong):
        raise typer.Exit(ended)


def _bare(content: bytes, form: str) -> bytes:
    """The answers of a part without their header."""
    if form not in _HEADED:
        return content
    end = content.find(b"\n") + 1
    while content.count(b'"', 0, end) % 2:
        end = content.find(b"\n", end) + 1
    return content[end:]


# the plan -----------------------------------------------------------------------------------------


def _plan(work: Work, manifest: Manifest) -> str:
    """The parts with their sizes, and what is done, as lines of TSV."""
    lines = ["part\trows\tbytes\toutput\tstatus"]
    for k, (part, output) in enumerate(zip(work.parts, work.outputs, strict=True)):
        rows = "" if part.rows is None else part.rows
        status = "done" if k in manifest.done else "waiting"
        lines.append(f"{part.title}\t{rows}\t{part.bytes}\t{output}\t{status}")
    known = [part.rows for part in work.parts if part.rows is not None]
    rows = sum(known) if len(known) == len(work.parts) else ""
    done = f"{len(manifest.done)} done, {len(work.parts) - len(manifest.done)} waiting"
    parts = counted(len(work.parts), "part")
    lines.append(f"{parts}\t{rows}\t{sum(part.bytes for part in work.parts)}\t\t{done}")
    return "".join(f"{line}\n" for line in lines)


def _form(target: Target, asked: Batch, *, in_folder: bool) -> str:
    """The form of the answers: by default that of the rows.

    Raises:
        UsageError: If rows cannot have it.
    """
    if target.form != "auto" or not in_folder:
        form = row_form(target, asked)
        return asked.rows.form if form == "human" and target.form == "auto" else form
    suffix = os.path.splitext(bare_name(asked.files[0]))[1].lower()
    return {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow"}.get(
        suffix, asked.rows.form
    )


def _has_rows(folder: str, line: Line) -> bool:
    """True if --rows names this folder."""
    return os.path.realpath(folder) in [os.path.realpath(name) for name in line.rows or ()]
