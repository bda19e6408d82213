"""What a server is asked to serve: programs, values of their inputs, and how questions are run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from gradcli.cli.asking.inquiry import LOADING, limits_of
from gradcli.cli.line.arguments import split_files
from gradcli.cli.line.inputs import constants
from gradcli.cli.line.options import Line
from gradcli.cli.line.reading import program_source
from gradcli.cli.serve.service import Service
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.errors import Diagnostic
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.cli.watch.table import Table
    from gradcli.limits import Limits
    from gradcli.program import Given, Program


class Served(Record):
    """What a server serves.

    Fields:
        service: Answers questions.
        limits: The limits of each question.
        table: Where a watched process tells what it does; None for one that is not watched.
    """

    __slots__ = ("service", "limits", "table")
    service: Service
    limits: Limits
    table: Table | None


def loaded(line: Line) -> Served:
    """What a command line asks to serve, loaded.

    Raises:
        UsageError: If it names no program, or two of one name.
        ProgramError: If a program is refused.
        InputError: If a value is given for a name that no program has as an input.
    """
    from gradcli.program import Options

    files, texts = split_files(line.served or ())
    limits, table = limits_of(line), line.whole.table
    telling = Telling(line.quiet, line.diagnostics, line.color)

    def remark(said: Diagnostic) -> None:
        if line.verbose:
            said.severity = "note"
            telling.warn([said])

    within = nullcontext() if table is None else table.command.within(limits.patient(LOADING))
    with within:
        programs = _programs(files, line.expression, frozenset(texts))
    options = Options(
        seed=line.seed,
        check_nan=line.check_nan,
        limits=limits,
        verbose=line.verbose,
        compile=line.compile,
        remark=remark,
    )
    service = Service(programs, _given(constants(texts), programs), options)
    return Served(service, limits, table)


def _programs(
    files: list[str], expressions: list[str] | None, given: frozenset[str]
) -> dict[str, Program]:
    """The programs by name: that of the file, without folder and suffix."""
    from gradcli import program

    help = "standard input has the questions: name a FILE, or give -e TEXT"
    if not files and not expressions:
        raise usage("no program", help)
    if "-" in files:
        raise usage("`-` stands for standard input, which has the questions", "name a FILE")
    found: dict[str, Program] = {}
    for file in [*files, *([None] if expressions else [])]:
        expression = expressions if file is None else None
        source = program_source(file, expression, marked=False)
        name = os.path.splitext(os.path.basename(source.name))[0]
        if name in found:
            both = f"`{found[name].source.name}` and `{source.name}`"
            raise usage(f"two programs are called `{name}`: {both}", "give one another file name")
        found[name] = program.load_source(source, given)
    return found


def _given(
    values: Mapping[str, Given], programs: Mapping[str, Program]
) -> dict[str, dict[str, Given]]:
    """The values of each program's inputs."""
    every = {name for program in programs.values() for name in program.inputs}
    wrong = {name: value for name, value in values.items() if name not in every}
    if wrong:
        next(iter(programs.values())).check_given(wrong)
    return {
        name: {n: value for n, value in values.items() if n in program.inputs}
        for name, program in programs.items()
    }
