"""The condition of `--where`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.cli.line.arguments import split_files
from gradcli.cli.line.inputs import constants
from gradcli.cli.line.records import Batch, dialect_of
from gradcli.errors import Diagnostic, UsageError, nearest
from gradcli.formats.readers.chosen import ChosenRows

if TYPE_CHECKING:
    from gradcli.cli.line.options import Line
    from gradcli.limits import Limits


def chosen(line: Line, text: str, batch: Batch, limits: Limits) -> Batch:
    """Those of some records for which an expression is true. It may also read the inputs that
    NAME=VALUE gives. The limits are those of a record.

    Raises:
        ProgramError: If it is no expression.
        UsageError: If it reads a name that is no column.
    """
    from gradcli import program

    rows = batch.rows
    _, texts = split_files(line.arguments or ())
    condition = program.condition(text, {*rows.names, *texts})
    names = [*condition.numbers, *condition.texts]
    given = constants({n: t for n, t in texts.items() if n in names and n not in rows.names})
    if rows.form != "ndjson":  # whose objects may each have other keys
        for name in names:
            if name not in rows.names and name not in given:
                message = f"--where reads `{name}`, which is no column of the data"
                help = nearest(name, rows.names) or f"the columns are {', '.join(rows.names)}"
                raise UsageError(Diagnostic("unknown-name", message, help=help))
    compile = "never" if line.compile == "never" else "auto"  # always is asked of the program alone
    options = program.Options(limits=limits, compile=compile, seed=line.seed)
    choice = condition.choice(rows, dialect_of(line), given, options)
    found = ChosenRows(rows, choice)
    return Batch(
        found,
        batch.kept,
        batch.on_error,
        batch.jobs,
        batch.precision,
        batch.flat,
        batch.files,
        batch.dialect,
    )
