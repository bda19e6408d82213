"""Values from files: JSON, CSV, text, NumPy's. Nothing in them is evaluated or unpickled."""

from __future__ import annotations

import os
import stat
from typing import IO, TYPE_CHECKING, Any

from gradcli.errors import Diagnostic, InputError
from gradcli.source import Source, Span

if TYPE_CHECKING:
    import numpy as np

SUFFIXES = (".json", ".npy", ".npz", ".csv", ".tsv", ".txt")
_LARGEST = 2**31  # bytes of a file; beyond it, it is no input but a mistake
_STREAM = 2**28  # bytes of what is no regular file: it may have no end
_WORDS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_MAGIC = b"\x93NUMPY"


def refused(message: str, *, help: str | None = None, notes: tuple[str, ...] = ()) -> InputError:
    """A file that is no input."""
    return InputError(Diagnostic("bad-input", message, notes=notes, help=help))


def split_key(name: str) -> tuple[str, str | None]:
    """File and key of `data.npz:w`: the key stands behind a suffix that takes one."""
    for suffix in (".npz", ".csv", ".tsv"):
        file, found, key = name.partition(f"{suffix}:")
        if found:
            return f"{file}{suffix}", key
    return name, None


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
        reason = getattr(error, "strerror", None) or str(error)
        text = f"cannot read `{name}`: {reason[:1].lower()}{reason[1:]}"
        raise InputError(Diagnostic("unreadable-file", text)) from None


def read_stream(name: str, file: IO[bytes], most: int = _STREAM) -> bytes:
    """The bytes of an open file, standard input for one.

    Raises:
        InputError: If there are too many.
    """
    data = file.read(most + 1)
    if len(data) > most:
        raise refused(f"`{name}` is longer than {most >> 20} MiB")
    return data


def value_of(name: str, data: bytes, key: str | None) -> Any:
    """The value that a file holds.

    Args:
        name: Its name, whose suffix tells the form; without one the bytes do.
        data: Its bytes.
        key: An array of an `.npz`, a column of a CSV.

    Raises:
        InputError: With file and line where the form is broken.
    """
    form = os.path.splitext(name)[1].lower()
    if form not in SUFFIXES:
        form = _told_by(data)
    match form:
        case ".npy":
            return _array(name, data)
        case ".npz":
            return _member(name, data, key)
        case ".json":
            return json_value(name, decoded(name, data))
        case ".csv" | ".tsv":
            columns = table(name, decoded(name, data), "\t" if form == ".tsv" else ",")
            return _column(name, columns, key)
    return _numbers(name, decoded(name, data))


def _told_by(data: bytes) -> str:
    """The form that bytes look like."""
    if data.startswith(_MAGIC):
        return ".npy"
    if data.startswith(b"PK"):
        return ".npz"
    start = data.lstrip()[:1]
    if start in (b"[", b"{", b'"') or not data.strip():
        return ".json"
    line = data.strip().split(b"\n", 1)[0]
    return ".csv" if b"," in line else ".txt"


def decoded(name: str, data: bytes) -> str:
    """The text of a file.

    Raises:
        InputError: If it is no UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise refused(
            f"`{name}` is no UTF-8 text: byte {data[error.start]:#x} in line {line}"
        ) from None


# JSON ---------------------------------------------------------------------------------------------


def json_value(name: str, text: str) -> Any:
    """A JSON value; "NaN", "Infinity" and "-Infinity" as text are numbers.

    Raises:
        InputError: At the place where it is broken.
    """
    import json

    try:
        return _numbered(json.loads(text))
    except json.JSONDecodeError as error:
        place = min(error.pos, max(len(text) - 1, 0))
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        span = Span(place, place + 1)
        raise InputError(Diagnostic("bad-input", message, Source(name, text), span)) from None
    except RecursionError:
        raise refused(f"the JSON in `{name}` nests too deeply") from None


def _numbered(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbered(v) for v in value]
    if isinstance(value, dict):
        return {k: _numbered(v) for k, v in value.items()}
    if isinstance(value, str) and value in _WORDS:
        return float(_WORDS[value])
    return value


# tables -------------------------------------------------------------------------------------------


def table(name: str, text: str, delimiter: str) -> dict[str, list[float]]:
    """The columns of a CSV with a header; without one they are named 0, 1, ...

    Raises:
        InputError: With the line of a record that is too short or holds no number.
    """
    import csv

    lines = csv.reader(text.splitlines(), delimiter=delimiter)
    rows = [(lines.line_num, row) for row in lines if row]
    if not rows:
        raise refused(f"`{name}` is empty")
    names = [cell.strip() for cell in rows[0][1]]
    if all(map(_is_number, names)):
        names = [str(i) for i in range(len(names))]
    else:
        rows = rows[1:]
    columns: dict[str, list[float]] = {column: [] for column in names}
    for line, row in rows:
        if len(row) != len(names):
            raise refused(
                f"`{name}`, line {line}: {len(row)} cells, and the header has {len(names)}"
            )
        for column, cell in zip(names, row, strict=True):
            columns[column].append(number(name, line, cell, column))
    return columns


def number(name: str, line: int, cell: str, column: str | None = None) -> float:
    """The number in a cell.

    Raises:
        InputError: With its place.
    """
    text = cell.strip()
    try:
        if "_" in text:  # which Python takes for a number
            raise ValueError
        return float(_WORDS.get(text, text))
    except ValueError:
        where = f" in column `{column}`" if column else ""
        raise refused(f"`{name}`, line {line}: `{text[:40]}`{where} is no number") from None


def _is_number(text: str) -> bool:
    try:
        float(_WORDS.get(text, text))
    except ValueError:
        return False
    return True


def _column(name: str, columns: dict[str, list[float]], key: str | None) -> Any:
    if key is None:
        found = list(columns.values())
        return found[0] if len(found) == 1 else [list(row) for row in zip(*found, strict=True)]
    if key not in columns:
        raise refused(f"`{name}` has no column `{key}`", help=f"it has {', '.join(columns)}")
    return columns[key]


def _numbers(name: str, text: str) -> Any:
    """Numbers between blanks: one, a vector, or a matrix of several lines with several each."""
    rows = [
        [number(name, line, word) for word in row.split()]
        for line, row in enumerate(text.splitlines(), 1)
        if row.strip() and not row.lstrip().startswith("#")
    ]
    if not rows:
        raise refused(f"`{name}` holds no number")
    if len(rows) == 1 and len(rows[0]) == 1:
        return rows[0][0]
    if len({len(row) for row in rows}) > 1:
        raise refused(f"`{name}` has lines of {len(rows[0])} numbers and of others")
    return rows[0] if len(rows) == 1 else [r[0] for r in rows] if len(rows[0]) == 1 else rows


# NumPy's files ------------------------------------------------------------------------------------


def _array(name: str, data: bytes) -> np.ndarray[Any, Any]:
    """The array of an `.npy`, whose header is held against what follows it."""
    import io
    from tokenize import TokenError

    import numpy as np

    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise refused(f"`{name}` is an .npy of version {version[0]}.{version[1]}, not 1 or 2")
        shape, fortran, dtype = reader(file)
    except (ValueError, SyntaxError, EOFError, TokenError) as error:
        raise refused(f"`{name}` is no .npy: {str(error)[:80]}") from None
    if dtype.hasobject:
        raise refused(f"`{name}` holds pickled objects, which are not read")
    if dtype.kind not in "fiub":
        raise refused(f"`{name}` holds {dtype}, not numbers")
    rest = data[file.tell() :]
    count = 1
    for n in shape:
        count *= n
    if count * dtype.itemsize != len(rest):
        raise refused(
            f"`{name}` is cut short or broken: its header tells of {count * dtype.itemsize} bytes, "
            f"and {len(rest)} follow"
        )
    flat = np.frombuffer(rest, dtype)
    return flat.reshape(shape, order="F" if fortran else "C").copy()


def _member(name: str, data: bytes, key: str | None) -> np.ndarray[Any, Any]:
    import io
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [n.removesuffix(".npy") for n in archive.namelist()]
            if key is None and len(names) == 1:
                key = names[0]
            if key is None or key not in names:
                what = "needs a key" if key is None else f"has no array `{key}`"
                raise refused(
                    f"`{name}` {what}", help=f"write @{name}:KEY, of {', '.join(names) or 'none'}"
                )
            info = archive.getinfo(f"{key}.npy")
            if info.file_size > _LARGEST:
                raise refused(f"`{key}` in `{name}` is {info.file_size} bytes long")
            return _array(f"{name}:{key}", archive.read(info))
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise refused(f"`{name}` is no .npz: {error}") from None


# objects of values --------------------------------------------------------------------------------


def inputs_of(name: str, data: bytes) -> tuple[dict[str, Any], bool]:
    """The values by name that `-i` gives: a JSON object, a CSV whose columns are vectors, or what
    another gradcli printed; and whether it is that.

    Raises:
        InputError: If the file is neither.
    """
    form = os.path.splitext(name)[1].lower()
    text = decoded(name, data)
    if form in (".csv", ".tsv") or (form != ".json" and not text.lstrip().startswith(("{", "["))):
        return dict(table(name, text, "\t" if form == ".tsv" else ",")), False
    found = json_value(name, text)
    if not isinstance(found, dict):
        raise refused(f"`{name}` must be a JSON object of values, it is no object")
    if str(found.get("schema", "")).startswith("gradcli."):
        if not isinstance(found.get("values"), dict):
            raise refused(
                f"`{name}` is the {found['schema']} of gradcli, which has no `values`",
                help="`gradcli run --json` prints them",
            )
        return {k: v for k, v in found["values"].items() if v is not None}, True
    return found, False
