"""Runs a command: from its options to its answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.line.arguments import jobs, split_names
from gradcli.cli.line.inputs import constant, directions, load
from gradcli.cli.line.options import FIELDS, ROWS, Line
from gradcli.cli.line.output import Target, choose, decided, look
from gradcli.cli.line.query import Query, Question, Shown
from gradcli.cli.line.reading import program_source
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.terminal import print_message
from gradcli.errors import Diagnostic, GradError
from gradcli.formats.writers.forms import FORMS
from gradcli.limits import DEFAULT, Limits, chosen
from gradcli.machine import free

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.program import Given, Options, Program
    from gradcli.results import Look


LOADING = 5.0  # seconds that a busy machine may need to import modules

_ASKED = ("of", "mode", "order", "diagonal")
"""Options that are arguments of questions as they stand."""


def ask(line: Line, name: str, *, bar: str | None = None) -> None:
    """Answer a command line with a single question. See `Inquiry.answer` for the arguments."""
    inquiry = Inquiry(line)
    inquiry.load()
    inquiry.answer(name, bar=bar)


def _as_it_is(result: Any) -> Any:
    return result


class Inquiry:
    """A command line, with its program and inputs once they are loaded.

    Fields:
        telling: Writes warnings.
        target: The target of the answer.
        names: The names of --wrt.
        shown: The names of --show.
        records: The records of --rows.
        limits: The limits of each run.
        program: The program, once it is loaded.
        inputs: The given values of inputs.

    Raises:
        UsageError: If options contradict each other.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.telling = Telling(line.quiet, line.diagnostics, line.color)
        self.target = choose(line)
        self.names = split_names(line.wrt, "--wrt")
        self.shown = split_names(line.show, "--show")
        self._by_parts = _goes_by_parts(line)
        self.limits = limits_of(line)
        self.records = _records(line, self.limits)
        self._table = line.whole.table
        self._tell_folders()

    def _tell_folders(self) -> None:
        """Tell the process that watches this one where it writes files."""
        if self._table is None:
            return
        if self.target.path is not None:
            self._table.writes_into(os.path.dirname(os.path.realpath(self.target.path)))
        if self._line.plots is not None:
            self._table.writes_into(os.path.realpath(self._line.plots))

    def settle(self) -> None:
        """Decide the form of the answer, except that of rows.

        Raises:
            UsageError: If it has no room for what is shown beside the answer.
        """
        target = decided(self.target, self._line.forms)
        _check_room(self._line, target, self.records)
        if self.records is None:
            self.target = target

    def settle_alone(self) -> None:
        """Decide the form of a single answer to all rows."""
        self.target = decided(self.target, self._line.forms)

    @property
    def row_target(self) -> Target:
        """The target of the answers to rows, with their form decided."""
        from gradcli.cli.line.records import row_target

        assert self.records is not None, "no --rows"
        return row_target(self.target, self.records)

    def load(self) -> None:
        """Load the program and the input values."""
        self.program, self.inputs = load(self._line, self.records, self._loading)

    def another(self, file: str) -> Program:
        """Another program for the same inputs and records."""
        from gradcli import program

        source = program_source(file, None, marked=self._line.cells)
        names = {*self.inputs, *(() if self.records is None else self.records.rows.names)}
        with self._loading():
            return program.load_source(source, frozenset(names))

    def _loading(self) -> AbstractContextManager[None]:
        """A block for loading the program, which has the limits of a question, and time to import
        what it needs.
        """
        return self._within(self.limits.patient(LOADING))

    def _within(self, limits: Limits) -> AbstractContextManager[None]:
        """A block for work of this process that has these limits."""
        return nullcontext() if self._table is None else self._table.command.within(limits)

    @property
    def look(self) -> Look:
        """Settings for showing the answer."""
        return look(self._line, self.target, self.program.source)

    def settings(self, echo: Callable[[str], None] = print_message, **more: Any) -> Options:
        """Options of the run."""
        from gradcli.program import Options

        line = self._line
        return Options(
            seed=line.seed,
            echo=echo,
            check_nan=line.check_nan,
            graph=line.graph,
            kinks=line.kinks,
            limits=self.limits,
            stuck=self._give_up,
            verbose=line.verbose,
            compile=line.compile,
            remark=self._remark,
            **more,
        )

    def _remark(self, said: Diagnostic) -> None:
        """Write a remark about the work, with --verbose."""
        if self._line.verbose:
            said.severity = "note"
            self.telling.warn([said])

    def _give_up(self, error: GradError) -> None:
        """End the process at a limit that is reached in a call that cannot be stopped."""
        self.telling.report(error.diagnostics)
        os._exit(error.status)

    def answer(
        self, name: str, *, bar: str | None = None, kind: type[Query] = Query, **asked: Any
    ) -> None:
        """Ask a question at the inputs, or at every row, and write the answer.

        Args:
            name: The question: a method of the program.
            bar: The noun of a progress bar, if the question may take long.
            kind: How it is asked.
            **asked: Arguments of the method that no option gives.
        """
        query = self._query(name, {**self._asked(asked), **asked}, kind)
        self.settle()
        if self.records is not None:
            self.answer_rows(query, self.settings())
            return
        if bar is None:
            finished = self._warned_of_pytorch if name in ("grad", "elasticity") else _as_it_is
            result, content = self.found(query, self.settings(), finished)
        else:
            from gradcli.cli.terminal.progress import progress

            with progress(bar, self.telling) as shown:
                result, content = self.found(query, self.settings(progress=shown.advance))
        self.write(result, content)

    def _warned_of_pytorch(self, result: Any) -> Any:
        """A gradient with warnings of the places where PyTorch gives nan, with --check-nan."""
        line, names = self._line, split_names(self._line.several, "--of") or []
        if not line.check_nan or line.kinks or len(names) > 1:
            return result
        asked = {n: v for n, v in self._asked(()).items() if n in ("wrt", "cotangent")}
        asked["of"] = next(iter(names), None)
        return result.warned(
            self.program.nan_in_pytorch(self.inputs, options=self.settings(), **asked)
        )

    def _asked(self, known: Collection[str]) -> dict[str, Any]:
        """The arguments of a question that the command's options give."""
        line = self._line
        options = {name: getattr(line, name) for name in _ASKED if name in line.takes}
        found = {name: x for name, x in options.items() if x != FIELDS[name].default}
        if "wrt" in line.takes:
            found["wrt"] = self.names
        if "tangent" in line.takes and "tangents" not in known:
            found["tangents"] = directions(line.tangent)
        if "cotangent" in line.takes and "cotangent" not in known:
            found["cotangent"] = constant(line.cotangent, "--cotangent")
        return found

    def _query(self, name: str, asked: Mapping[str, Any], kind: type[Query] = Query) -> Query:
        of = split_names(self._line.several, "--of")
        if "of" in asked:
            return kind(self.program, name, {**asked})
        if of is None or len(of) == 1:
            return Query(self.program, name, {"of": of and of[0], **asked})
        return Query(self.program, "several", {"question": name, "of": of, **asked})

    def found(
        self,
        query: Callable[[Mapping[str, Given], Options], Any],
        settings: Options,
        finished: Callable[[Any], Any] = _as_it_is,
    ) -> tuple[Any, str | bytes]:
        """The answer at the inputs and its output, both made within the limits. `finished` turns
        the answer into the result that is shown.
        """

        def answer() -> tuple[Any, str | bytes]:
            result = finished(query(self.inputs, settings))
            return result, self.target.content(result, self.look)

        with self._within(self.limits):
            return self.program.within(settings, answer)

    def write(self, result: Any, content: str | bytes) -> None:
        """Write an answer and its warnings. A negative answer exits with status 1; with -q a
        terminal then shows nothing else.
        """
        quiet = self._line.quiet and result.is_verdict
        if not (quiet and self.target.path is None and self.target.is_text):
            self.target.write(content)
        self.telling.warn(result.warnings)
        if getattr(result, "reason", None) == "interrupted":
            raise typer.Exit(130)
        if result.right is False:
            raise typer.Exit(1)

    def answer_rows(
        self, query: Query, settings: Options, finished: Callable[[Any], Any] = _as_it_is
    ) -> None:
        """Answer a question for every row; the status is 1 if one answer is negative."""
        from gradcli.cli.rows.rows import answer_rows

        parts = Shown(self.look, finished)
        assert self.records is not None, "no --rows"
        asked = Question(query, settings, self.program, self.inputs, parts)
        if self._by_parts:
            from gradcli.cli.parts.answer import Work, answer_parts

            work = Work(asked, self._line, self.records, self.target, self.telling)
            answer_parts(work, self._table)
            return
        answer_rows(asked, self.records, self.target, self.telling, self._table)


def _check_room(line: Line, target: Target, records: Batch | None) -> None:
    """Refuse options whose output has no place beside the answer in the target's form.

    Raises:
        UsageError: If the line has such an option.
    """
    if len(split_names(line.several, "--of") or ()) > 1:
        beside = "several results"
    elif records is not None:
        beside = "--rows"
    else:
        beside = "" if FORMS[target.form].room else f"{target.form} output"
    if line.graph and beside:
        raise usage(f"`--graph` does not go with {beside}", "`gradcli graph` draws it alone")
    if line.kinks and beside:
        raise usage(f"`--kinks` does not go with {beside}")
    if line.plots is not None and records is not None:
        raise usage("`--plots` does not go with --rows")


def _goes_by_parts(line: Line) -> bool:
    """True if the options ask for parts.

    Raises:
        UsageError: If one needs another.
    """
    if not line.rows:
        return False
    from gradcli.formats.files.places import is_folder

    to_folder = line.output is not None and is_folder(line.output)
    if not to_folder:
        for name, given in (("--restart", line.restart), ("--dry-run", line.dry_run)):
            if given:
                raise usage(f"`{name}` needs a folder", "as in -o FOLDER/")
        has_folders = "restart" in line.takes
        if line.part_size is not None and line.cluster is None and has_folders:
            raise usage("`--part-size` needs a folder", "as in -o FOLDER/")
    return to_folder or line.cluster is not None


def limits_of(line: Line) -> Limits:
    """The limits that the options and the environment set.

    Raises:
        UsageError: If one is malformed.
    """
    given = {
        "steps": line.max_steps,
        "seconds": line.time_limit,
        "memory": line.max_memory,
        "depth": line.max_depth,
    }
    try:
        found = chosen(given, os.environ, safe=line.safe)
    except ValueError as error:
        raise usage(str(error)) from None
    shared = found.among(jobs(line.jobs))
    return shared if found.memory == DEFAULT.memory else shared.measured(free())


def _records(line: Line, limits: Limits) -> Batch | None:
    """The records of the options; None without --rows.

    Raises:
        UsageError: If an option needs --rows.
        InputError: If the file cannot be read or has no header.
        ProgramError: If --where is no expression.
    """
    if not line.rows:
        told = [name for name in ROWS if getattr(line, name) != FIELDS[name].default]
        if told:
            name = (FIELDS[told[0]].names or (f"--{told[0].replace('_', '-')}",))[0]
            raise usage(f"`{name}` needs `--rows`")
        return None
    from gradcli.cli.line.records import batch

    found = batch(line, line.rows)
    if line.where is None:
        return found
    from gradcli.cli.rows.where import chosen

    return chosen(line, line.where, found, limits)
