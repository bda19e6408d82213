"""`--rows`: one question for each record, each answer out as soon as it is made."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.messages import Telling
from gradcli.cli.output import Target
from gradcli.cli.progress import progress
from gradcli.cli.records import Batch, row_form
from gradcli.cli.row_writer import Answer, RowWriter, refused
from gradcli.cli.terminal import is_terminal
from gradcli.cli.workers import workers
from gradcli.errors import Diagnostic, GradError, InputError, UsageError
from gradcli.formats.delimited import cells, header
from gradcli.formats.forms import Parts
from gradcli.formats.literal import numbers
from gradcli.formats.rows import Row, Rows, taken
from gradcli.program import Given

if TYPE_CHECKING:
    from gradcli.program import Program


def answer_rows(
    question: Callable[[Mapping[str, Given]], Any],
    program: Program,
    inputs: Mapping[str, Given],
    asked: Batch,
    parts: Callable[[Any], Parts],
    target: Target,
    telling: Telling,
) -> None:
    """Ask the question of every row, and write each answer from its parts.

    Raises:
        typer.Exit: With the status of the first bad row, its error told.
    """
    program.check_given(inputs)
    names = _check_columns(program, inputs, asked.rows)
    kind = row_form(target, asked)

    def ask(row: Row) -> Answer:
        return _asked(question, inputs, names, row, parts, kind)

    gc.enable()  # many rows make many cycles
    told: set[str] = set()
    status = 0
    # a bar among rows that scroll by would be no help
    scrolling = target.path is None and is_terminal(sys.stdout)
    with (
        target.stream() as write,
        progress("rows", telling, silent=scrolling) as bar,
        workers(ask, asked.rows, asked.jobs)
        if asked.jobs > 1
        else nullcontext(map(ask, asked.rows)) as answers,
    ):
        writer = RowWriter(write, kind, asked.on_error)
        for found in map(writer.fitted, answers):
            bar.advance(found.number + 1, None)
            if found.status:
                status = status or found.status
                if asked.on_error != "record":
                    bar.clear()
                    telling.report(found.diagnostics)
                if asked.on_error == "stop":
                    raise typer.Exit(status)
            fresh = [w for w in found.warnings if w.code not in told]
            for warning in fresh:
                told.add(warning.code)
                notes = f"first in row {found.number}, line {found.line}; later ones are not told"
                warning.notes = (*warning.notes, notes)
                bar.clear()
            telling.warn(fresh)
            writer.write(found)
        writer.end()
    if status:
        raise typer.Exit(status)


def _check_columns(program: Program, inputs: Mapping[str, Given], rows: Rows) -> frozenset[str]:
    """The columns that are inputs. Of JSON lines any input may be: each object has its own keys.

    Raises:
        InputError: If none is, or an input that must be given is missing.
    """
    if rows.form == "ndjson":
        return frozenset(program.inputs)
    names = frozenset(rows.names) & frozenset(program.inputs)
    rows.check(names)
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


def _asked(
    question: Callable[[Mapping[str, Given]], Any],
    inputs: Mapping[str, Given],
    names: frozenset[str],
    row: Row,
    parts: Callable[[Any], Parts],
    kind: str,
) -> Answer:
    origin = f"in row {row.number}"
    try:
        values = taken(row, names)
        given = {name: Given(value, f"{name} {origin}") for name, value in values.items()}
        result = question({**inputs, **given})
    except UsageError:
        raise  # whatever the row
    except GradError as error:
        return refused(row.number, row.line, error)
    columns: list[str] = []
    texts: list[str] = []
    json: dict[str, str] = {}
    if kind == "ndjson":
        json = parts(result).json()
    elif kind == "raw":
        texts = [text for value in parts(result).found().values() for text in numbers(value)]
    else:
        found = parts(result).fields()
        columns, texts = header(found), cells(found)
    return Answer(row.number, row.line, columns, texts, json, result.warnings, (), 0)
