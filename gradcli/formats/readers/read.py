"""Read values from files: JSON, CSV, text, NumPy's. Nothing in them is evaluated or unpickled."""

from __future__ import annotations

import os
import re
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Collection
from functools import partial
from io import StringIO
from typing import IO, Any, NamedTuple

from gradcli.formats.files.arrays import MAGIC, npz_names, read_npy, read_npz
from gradcli.formats.readers.json_values import inside, json_value, printed_values
from gradcli.formats.readers.table import Column, Header, Lines, Record, header_of, no_number, told
from gradcli.formats.texts.delimited import DELIMITERS
from gradcli.formats.texts.number import TooLarge, number
from gradcli.formats.texts.refusal import check_text, no_input, refused, unreadable
from gradcli.formats.texts.spelling import check_spelling
from gradcli.source import Source, Span, bytes_of

ARROW = (".parquet", ".arrow", ".feather")  # Feather is the Arrow format on disk
SUFFIXES = (".json", ".npy", ".npz", ".csv", ".tsv", ".txt", *ARROW)
_KEYED = (".npz", ".csv", ".tsv", ".json", *ARROW)
_LARGEST = 2**31  # bytes: a larger regular file is taken for a mistake
_STREAM = 2**28  # bytes of a pipe or device, which may never end


def split_key(name: str) -> tuple[str, str | None]:
    """File and key of `data.npz:w`. Only some suffixes take a key.

    Raises:
        InputError: If the file's name is empty, or the suffix takes no key.
    """
    if not name:
        help = "write NAME=@FILE, or NAME=@- for standard input"
        raise refused("a file's name is missing behind `@`", help=help)
    for suffix in _KEYED:
        file, found, key = name.partition(f"{suffix}:")
        if found:
            return f"{file}{suffix}", key
    for suffix in SUFFIXES:
        file, found, key = name.partition(f"{suffix}:")
        if found and not os.path.exists(name):
            help = f"write @{file}{suffix}"
            raise refused(f"`{suffix}` takes no key, and `{key}` is one", help=help)
    return name, None


def is_arrow(name: str) -> bool:
    """True if a file's suffix is one of Parquet or Arrow files."""
    return os.path.splitext(name)[1].lower() in ARROW


def read_bytes(name: str) -> bytes:
    """The bytes of a file.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        with open(name, "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return read_stream(name, file, _LARGEST if regular else _STREAM)
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from None


def read_stream(name: str, file: IO[bytes], most: int = _STREAM) -> bytes:
    """The bytes of an open file or of standard input.

    Raises:
        InputError: If they cannot be read, or are too many.
    """
    try:
        data = bytes_of(file, most)
    except OSError as error:
        raise unreadable(name, error) from None
    if data is None:
        raise refused(f"`{name}` is longer than {most >> 20} MiB")
    return data


def value_of(name: str, data: bytes, key: str | None) -> Any:
    """The value in a file.

    Args:
        name: Its name; the suffix decides its format, or the bytes if there is none.
        data: Its bytes.
        key: An array of an `.npz`, a column of a CSV, or a path into JSON: keys and indices,
            separated by dots.

    Raises:
        InputError: With file and line of the error.
    """
    form = os.path.splitext(name)[1].lower()
    if form not in SUFFIXES:
        form = _told_by(name, data)
    match form:
        case ".npy":
            return read_npy(name, data)
        case ".npz":
            return read_npz(name, data, key)
        case ".json":
            found = json_value(decoded(name, data))
            return found if key is None else inside(name, found, key)
        case ".parquet" | ".arrow" | ".feather":
            from gradcli.formats.files import arrow

            return arrow.value_of(name, data, key)
        case ".csv" | ".tsv":
            table = _table(decoded(name, data), form[1:])
            return table.matrix() if key is None else table.value(key)
    return _numbers(decoded(name, data))


def _told_by(name: str, data: bytes) -> str:
    """The suffix of the format that the bytes seem to have."""
    if data.startswith(MAGIC):
        return ".npy"
    if data.startswith(b"PK"):
        return ".npz"
    data = data.removeprefix(BOM_UTF8)
    if not data.strip():
        raise refused(f"`{name}` is empty")
    if data.lstrip()[:1] in (b"[", b"{", b'"'):
        return ".json"
    line = re.split(rb"[\r\n]", data.strip(), maxsplit=1)[0].decode("utf-8", "replace")
    form = told(line)
    if "," in line:
        return f".{form}"
    bare = len(data.split(None, 2)) == 1  # a header alone has no value
    return ".txt" if bare or all(map(_is_number, line.split())) else f".{form}"


def decoded(name: str, data: bytes) -> Source:
    """The text of a file.

    Raises:
        InputError: If it is not UTF-8.
    """
    check_text(name, data)
    data = data.removeprefix(BOM_UTF8)
    try:
        return Source(name, data.decode())
    except UnicodeDecodeError as error:
        source = Source(name, data.decode(errors="replace"))
        at = len(data[: error.start].decode())
        text = f"the byte {data[error.start]:#x} is not UTF-8 text"
        help = "`iconv -f LATIN1 -t UTF-8` converts a file in Latin-1"
        raise refused(text, source, Span(at, at + 1), help=help) from None


# tables -------------------------------------------------------------------------------------------


class _Table(NamedTuple):
    """A whole CSV or TSV."""

    name: str
    header: Header
    records: list[Record]

    def matrix(self) -> list[Any]:
        """All columns as a matrix with a row for each record; a vector if there is one column."""
        named = [(n, Column((i,), None)) for i, n in enumerate(self.header.names) if n]
        rows = [[self.header.value(r, n, column) for n, column in named] for r in self.records]
        return [row[0] for row in rows] if len(named) == 1 else rows

    def value(self, name: str) -> Any:
        """A column as a vector, or the columns of an array with the records first. A table of one
        record with columns `w.0`, `w.1`, ... gives single values, as gradcli prints them.

        Raises:
            InputError: If there is no such column, or no number in it.
        """
        column = self.header.column(name)
        if column is None:
            have = ", ".join(self.header.columns)
            raise refused(f"`{self.name}` has no column `{name}`", help=f"it has {have}")
        self.header.check(frozenset([name]))
        found = [self.header.value(record, name, column) for record in self.records]
        arrays = any(column.shape is not None for column in self.header.columns.values())
        return found[0] if arrays and len(found) == 1 else found


def _table(source: Source, form: str) -> _Table:
    """The table in a text; without a header its columns are named 0, 1, ...

    Raises:
        InputError: With the line of a record that is too short.
    """
    delimiter = DELIMITERS[form]
    lines = Lines(source.name, StringIO(source.text, newline=""))
    first = lines.filled()
    if first is None:
        raise refused(f"`{source.name}` is empty")
    record = lines.record(first, delimiter)
    records = []
    if all(_is_number(cell) or not cell.strip() for cell in record.cells):
        names = [str(i) if cell.strip() else "" for i, cell in enumerate(record.cells)]
        header = Header(names, delimiter, None)
        records.append(record)
    else:
        header = header_of(record, delimiter)
    while (line := lines.filled()) is not None:
        record = lines.record(line, delimiter)
        record.check()
        header.fits(record)
        records.append(record)
    return _Table(source.name, header, records)


def _is_number(text: str) -> bool:
    try:
        number(text)
    except ValueError as error:
        return isinstance(error, TooLarge)
    return True


def _numbers(source: Source) -> Any:
    """Numbers separated by blanks: a number, a vector, or a matrix with a row a line."""
    lines = Lines(source.name, StringIO(source.text, newline=""))
    rows: list[list[Any]] = []
    while (line := lines.filled()) is not None:
        if line.lstrip().startswith("#"):
            continue
        row = [_word(source.name, lines.number, line, found) for found in re.finditer(r"\S+", line)]
        rows.append(row)
        if len(row) != len(rows[0]):
            raise refused(
                f"`{source.name}` has lines of {len(rows[0])} numbers and of others",
                Source(source.name, line, lines.number),
                Span(0, len(line.rstrip())),
            )
    if not rows:
        raise refused(f"`{source.name}` holds no number")
    if len(rows) == 1:
        return rows[0][0] if len(rows[0]) == 1 else rows[0]
    return [row[0] for row in rows] if len(rows[0]) == 1 else rows


def _word(name: str, number_of_line: int, line: str, found: re.Match[str]) -> Any:
    try:
        return number(found[0])
    except ValueError as error:
        source = Source(name, line, number_of_line)
        raise no_number(found[0], "", error, source, Span(*found.span())) from None


# values by name -----------------------------------------------------------------------------------


class Values(NamedTuple):
    """Values by name, from a file.

    Fields:
        name: The file's name in messages.
        names: The names that have values.
        get: Returns the value of a name.
        declared: Names that become inputs in a program without declarations.
        strict: True if every name must be an input.
        printed: The JSON that gradcli printed, if it is that.
    """

    name: str
    names: tuple[str, ...]
    get: Callable[[str], Any]
    declared: frozenset[str]
    strict: bool
    printed: dict[str, Any] = {}  # noqa: RUF012  # nobody changes it

    def passing(self) -> Values:
        """A copy that ignores names that are not inputs."""
        return self._replace(strict=False)

    def of(self, inputs: Collection[str], left: Collection[str]) -> dict[str, Any]:
        """The values of a program's inputs; of all names, if each must be an input. Else a name
        must not be a misspelling of an input in `left`, which has no value from elsewhere.

        Raises:
            InputError: If no name is an input, or a value is broken.
        """
        known = [n for n in self.names if self.strict or n in inputs]
        if not self.strict:
            unnamed = [n for n in left if n not in self.names]
            check_spelling(f"`{self.name}`", self.names, inputs, unnamed)
        if not known and self.names:
            text = f"no name in `{self.name}` is an input of the program"
            raise no_input(text, self.names, inputs)
        return {n: self.get(n) for n in known}


def values_of(name: str, data: bytes) -> Values:
    """The values by name in a file for `-i`: a JSON object, the arrays of an `.npz`, a CSV whose
    columns are vectors, or gradcli's own output.

    Raises:
        InputError: If the file is none of these.
    """
    form = os.path.splitext(name)[1].lower()
    if form == ".npy" or data.startswith(MAGIC):
        help = f"write NAME=@{name}" if not name.startswith("<") else "write NAME=@-"
        raise refused("`-i` takes no .npy, whose array has no name", help=help)
    if form == ".npz" or data.startswith(b"PK"):
        names = npz_names(name, data)
        return Values(name, names, partial(read_npz, name, data), frozenset(names), strict=True)
    if form in ARROW:
        from gradcli.formats.files.arrow import column_value, read_table

        table = read_table(name, data)
        names = tuple(table.column_names)
        get = partial(column_value, name, table)
        return Values(name, names, get, frozenset(names), strict=False)
    source = decoded(name, data)
    start = source.text.lstrip()
    if not start and form != ".json":
        raise refused(f"`{name}` is empty")
    if form in (".csv", ".tsv") or (form != ".json" and not start.startswith(("{", "["))):
        line = re.split(r"[\r\n]", start, maxsplit=1)[0]
        table = _table(source, form[1:] if form in (".csv", ".tsv") else told(line))
        names = tuple(table.header.columns)
        return Values(name, names, table.value, frozenset(names), strict=False)
    found = json_value(source)
    if not isinstance(found, dict):
        raise refused(f"`{name}` must be a JSON object of values, it is not an object")
    printed = printed_values(found)
    if printed is not None:
        names = tuple(printed)
        return Values(name, names, printed.__getitem__, frozenset(), strict=False, printed=found)
    if str(found.get("schema", "")).startswith("gradcli."):
        raise refused(
            f"`{name}` is the {found['schema']} of gradcli, which has no `values`",
            help="`gradcli run --json` prints them",
        )
    return Values(name, tuple(found), found.__getitem__, frozenset(found), strict=True)
