"""The records of `--rows` and its related options."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.arguments import jobs, split_names
from gradcli.cli.line.options import Line
from gradcli.cli.line.output import Target
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.terminal import is_terminal
from gradcli.formats.writers.forms import FORMS, alternatives, row_names
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.block import Block, Row
    from gradcli.formats.readers.kept import Kept
    from gradcli.formats.readers.rows import Rows
    from gradcli.formats.texts.dialect import Dialect


_TYPED = ("parquet", "arrow")  # forms whose columns have types


class Batch(Record):
    """The records of a run.

    Fields:
        rows, kept: The records, and their columns to keep.
        on_error: The treatment of a bad row: "stop", "skip", "record" or "ignore".
        jobs, precision: The number of jobs, and of significant digits for people.
        flat: True if kept values stand beside the others in JSON.
        files, dialect: The files of the records, and how they are written.
    """

    __slots__ = ("rows", "kept", "on_error", "jobs", "precision", "flat", "files", "dialect")
    rows: Rows
    kept: Kept | None
    on_error: str
    jobs: int
    precision: int
    flat: bool
    files: Sequence[str]
    dialect: Dialect

    def kept_of(self, row: Row, kind: str) -> list[Any] | dict[str, str]:
        """The kept columns of a row: its cells or values, or JSON by name."""
        if self.kept is None:
            return []
        if kind == "ndjson":
            return self.kept.json(row)
        return self.kept.values(row) if kind in _TYPED else self.kept.cells(row)

    def kept_together(self, block: Block, kind: str) -> dict[str, Any]:
        """The kept columns of a block by name, as columns of texts, JSON texts or values."""
        if self.kept is None:
            return {}
        kept = self.kept
        typed = kept.typed_columns if kind in _TYPED else kept.columns
        take = kept.json_columns if kind == "ndjson" else typed
        return dict(zip(kept.names, take(block), strict=True))


def batch(line: Line, files: Sequence[str]) -> Batch:
    """The records of some files.

    Raises:
        UsageError: If the options of records contradict each other or the file.
        InputError: If the file cannot be read or has no header.
    """
    from gradcli.formats.readers.read import is_arrow
    from gradcli.formats.readers.rows import open_rows

    dialect = dialect_of(line)
    stdin = None if sys.stdin is None else sys.stdin.buffer
    names = _expanded(files)

    def opened(name: str) -> Rows:
        if not is_arrow(name):
            return open_rows(name, stdin, dialect)
        from gradcli.formats.readers.arrow_rows import ArrowRows

        return ArrowRows(name, dialect)

    if len(names) == 1:
        found = opened(names[0])
    else:
        from gradcli.formats.readers.many_files import ManyFiles

        found = ManyFiles(names, opened)
    if dialect.columns and found.form == "ndjson":
        raise usage("`--columns` names the columns of a CSV; JSON objects have names")
    kept = None
    if line.flat and not line.keep:
        raise usage("`--flat` needs `--keep`", "it puts kept values beside the others")
    if line.keep:
        from gradcli.formats.readers.kept import Kept

        kept = Kept(found, split_names(line.keep, "--keep") or [])
    return Batch(
        *(found, kept, line.on_error, jobs(line.jobs), line.precision, line.flat, names, dialect)
    )


def _expanded(files: Sequence[str]) -> list[str]:
    """The files of all names, in order; a name may be a folder, or a pattern such as `*.csv`.

    Raises:
        InputError: If a folder has none.
        UsageError: If standard input is named twice.
    """
    from gradcli.formats.files.places import inside, is_folder, matching
    from gradcli.formats.texts.refusal import unreadable

    found: list[str] = []
    for name in files:
        if not is_folder(name):
            found += matching(name)
        elif several := inside(name):
            found += several
        else:
            raise unreadable(name, FileNotFoundError("no files are in it"))
    if found.count("-") > 1:
        raise usage("two `--rows -` read standard input")
    return found


def dialect_of(line: Line) -> Dialect:
    """The dialect of the rows, as given by options.

    Raises:
        UsageError: If an option is malformed.
    """
    from gradcli.formats.texts.dialect import Dialect

    names = split_names(line.columns, "--columns")
    if names and len(names) < sum(option.count(",") + 1 for option in line.columns or ()):
        raise usage("two columns of `--columns` have the same name")
    renamed = {}
    for option in line.renamed or ():
        name, equals, column = option.partition("=")
        if not (equals and column and name.isidentifier()):
            raise usage(f"`{option}` in --map is not INPUT=COLUMN", "as in --map T='Temp (C)'")
        renamed[column] = name
    missing = frozenset(text.strip() for option in line.missing or () for text in option.split(","))
    separator = _SEPARATORS.get(line.separator or "", line.separator)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise usage(f"`{line.separator}` cannot separate cells", "take one sign, or `tab`")
    return Dialect(names, renamed, missing, separator, line.decimal, _encoding(line.encoding))


def _encoding(name: str | None) -> str | None:
    """The name of an encoding; None for UTF-8.

    Raises:
        UsageError: If there is no such encoding.
    """
    if name is None:
        return None
    from gradcli.formats.readers.encoded import is_encoding

    if not is_encoding(name):
        raise usage(f"`{name}` in --encoding is no encoding", "as in --encoding latin-1 or UTF-16")
    return None if name.lower().replace("_", "-") in ("utf-8", "utf8") else name


_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}


def row_target(target: Target, asked: Batch) -> Target:
    """The target of rows, with their form decided; raises the errors of `row_form`."""
    form = row_form(target, asked)
    if asked.flat and form != "ndjson":
        raise usage("`--flat` is for JSON lines", "`-f ndjson` writes them")
    if form == target.form:
        return target
    return Target(form, target.path, target.color)


def row_form(target: Target, asked: Batch) -> str:
    """The form of rows. By default it is a table on a terminal, else the form in which they are
    read.

    Raises:
        UsageError: If rows cannot be written as the target demands.
    """
    if target.form == "auto":
        seen = target.path is None and is_terminal(sys.stdout)
        return "human" if seen else asked.rows.form
    form = FORMS[target.form].rows
    if not form:
        what = f"`{target.path}`" if target.path else f"`--format {target.form}`"
        help = f"rows are {alternatives(row_names())}"
        raise usage(f"{what} does not go with `--rows`", help)
    if form in ("raw", "npy", "npz") and asked.on_error == "record":
        what = "`--raw`" if form == "raw" else f"`{target.path}`"
        raise usage(f"{what} has no place for an error", "take `--on-error skip`, or another form")
    return form
