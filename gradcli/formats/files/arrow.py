"""Parquet and Arrow files: tables with typed columns of numbers, texts or vectors."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeVar

from gradcli.errors import Diagnostic, InputError, UsageError
from gradcli.formats.files.columns import Columns
from gradcli.formats.texts.delimited import are_columns
from gradcli.formats.texts.literal import literal, plain_value
from gradcli.formats.texts.refusal import refused, unreadable
from gradcli.results import Value

Found = TypeVar("Found")

_ELEMENT = re.compile(r"(.*?)((?:\.(?:0|[1-9]\d{0,8}))*)", re.DOTALL)  # `grad.w.0`
_HELP = "`pip install 'gradcli[fast]'` installs pyarrow"


# --- reading ------------------------------------------------------------------------------------


def batches(name: str, data: bytes | None = None) -> tuple[list[str], int, Iterator[Any]]:
    """The names of the columns, the number of records, and the record batches of a file, read from
    `data` if that is given.

    Raises:
        InputError: If it cannot be read, or pyarrow is not installed.
    """

    def opened() -> tuple[list[str], int, Iterator[Any]]:
        source = name if data is None else io.BytesIO(data)
        if name.lower().endswith(".parquet"):
            from pyarrow import parquet

            file = parquet.ParquetFile(source)
            return file.schema_arrow.names, file.metadata.num_rows, file.iter_batches()
        from pyarrow import ipc

        reader = ipc.open_file(source)
        count = reader.num_record_batches
        parts = (reader.get_batch(k) for k in range(count))
        sizes = sum(reader.get_batch(k).num_rows for k in range(count))
        return reader.schema.names, sizes, parts

    names, count, parts = _tried(name, opened)
    return names, count, _valid(name, parts)


def _valid(name: str, parts: Iterator[Any]) -> Iterator[Any]:
    """Record batches whose offsets and texts are sound: pyarrow reads others out of bounds."""

    def following() -> Any:
        batch = next(parts, None)
        for column in () if batch is None else batch.columns:
            column.validate(full=True)
        return batch

    while (batch := _tried(name, following)) is not None:
        yield batch


def read_table(name: str, data: bytes) -> Any:
    """The pyarrow table of a file with these bytes.

    Raises:
        InputError: If it cannot be read, or pyarrow is not installed.
    """

    def whole() -> Any:
        import pyarrow

        names, _, parts = batches(name, data)
        found = [*parts]
        return pyarrow.Table.from_batches(found) if found else pyarrow.table({n: [] for n in names})

    return _tried(name, whole)


def value_of(name: str, data: bytes, key: str | None) -> Any:
    """A column of a file with these bytes, or all columns: a vector if there is one, else a matrix.

    Raises:
        InputError: If there is no such column, or anything but numbers in it.
    """
    import numpy as np

    table = read_table(name, data)
    if key is not None or table.num_columns == 1:
        return column_value(name, table, key or table.column_names[0])
    found = [column_value(name, table, other) for other in table.column_names]
    if any(column.ndim > 1 for column in found):
        help = f"name a column: @{name}:{table.column_names[0]}"
        raise refused(f"`{name}` has columns of vectors, which are no matrix", help=help)
    return np.stack(found, -1) if found else np.zeros((0, 0))


def column_value(name: str, table: Any, key: str) -> Any:
    """A column of a table as an array whose first dimension is the records.

    Raises:
        InputError: If there is none, or anything but numbers in it.
    """
    import numpy as np

    if key not in table.column_names:
        help = f"it has {', '.join(table.column_names)}"
        raise refused(f"`{name}` has no column `{key}`", help=help)
    found = arrays_of(table.column(key))
    if found is None:
        values = _plain(name, key, table.column(key))
        try:
            found = np.array(values)
        except ValueError:
            raise refused(f"the lists in column `{key}` of `{name}` differ in length") from None
        if found.dtype.kind not in "fiub":
            what = "empty cells" if None in values else f"no numbers but {table.column(key).type}"
            raise refused(f"column `{key}` of `{name}` holds {what}")
    return found


def arrays_of(column: Any) -> Any:
    """A column of numbers, or of vectors of one length, as an array; None for any other column."""
    from pyarrow import types

    kind, sizes = column.type, [len(column)]
    parts = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    while types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind):
        inner = parts.flatten()
        if parts.null_count or not len(parts) or len(inner) % len(parts):
            return None
        size = len(inner) // len(parts)
        if not types.is_fixed_size_list(kind) and any(len(x) != size for x in parts):
            return None
        sizes.append(size)
        parts, kind = inner, kind.value_type
    if parts.null_count or not (types.is_floating(kind) or types.is_integer(kind)):
        return None
    return parts.to_numpy(zero_copy_only=False).reshape(sizes)


def cells(name: str, batch: Any) -> list[list[str]]:
    """The columns of a record batch as texts of a CSV's cells.

    Raises:
        InputError: If a value cannot be one of Python's, such as a date after the year 9999.
    """
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return [[_cell(value) for value in _plain(name, key, column)] for key, column in columns]


def _plain(name: str, key: str, column: Any) -> list[Any]:
    """The values of a column as Python's."""
    try:
        found: list[Any] = column.to_pylist()
    except _faults() as error:
        message = f"column `{key}` of `{name}` has a value that cannot be read: {error}"
        raise refused(message) from None
    return found


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (bool, int, float, list)):
        return literal(value)
    return str(value)


def _tried(name: str, look: Callable[[], Found]) -> Found:
    try:
        faults = _faults()
    except ImportError:
        message = f"`{name}` is read by pyarrow, which is not installed"
        raise InputError(Diagnostic("missing-extra", message, help=_HELP)) from None
    try:
        return look()
    except OSError as error:
        if error.errno is None:
            raise refused(f"`{name}` is not a valid file of its suffix") from None
        raise unreadable(name, OSError(error.errno, os.strerror(error.errno))) from None
    except faults:
        raise refused(f"`{name}` is not a valid file of its suffix") from None


def _faults() -> tuple[type[Exception], ...]:
    """What pyarrow raises for broken files: names that are not UTF-8, dates that no calendar has,
    decimal numbers of no digits, time zones that nobody knows.
    """
    import pyarrow

    return pyarrow.ArrowException, UnicodeDecodeError, ArithmeticError, KeyError, OSError


# --- writing ------------------------------------------------------------------------------------


def table_file(form: str, values: Mapping[str, Value]) -> bytes:
    """Values by name as a file, with a record for each element if all have one first size, else one
    record.

    Raises:
        UsageError: If pyarrow is not installed.
    """
    parts = {name: plain_value(value) for name, value in values.items()}
    if not are_columns(parts.values()):
        parts = {name: [value] for name, value in parts.items()}
    return _file(form, parts)


class ArrowColumns(Columns):
    """Writes a file with a column for each name; `w.0`, `w.1`, ... become one column of vectors."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._form = form
        _pyarrow(form)

    def end(self) -> bytes:
        columns = dict(zip(self._names, map(_with_gaps, self._columns), strict=True))
        found: dict[str, Any] = {}
        for name, (titles, shape) in _vectors(self._names).items():
            rows = zip(*(columns[title] for title in titles), strict=True)
            found[name] = [_nested(row, shape) for row in rows] if shape else columns[name]
        return _file(self._form, found)


def _vectors(titles: Sequence[str]) -> dict[str, tuple[list[str], tuple[int, ...]]]:
    """Titles and shape of each column; a column of arrays has the titles of its elements."""
    groups: dict[str, dict[tuple[int, ...], str]] = {}
    for title in titles:
        name, indices = _ELEMENT.fullmatch(title).groups()  # type: ignore[union-attr]  # of all
        groups.setdefault(name, {})[tuple(map(int, indices.split(".")[1:]))] = title
    found: dict[str, tuple[list[str], tuple[int, ...]]] = {}
    for name, places in groups.items():
        shape = tuple(n + 1 for n in max(places))
        if math.prod(shape) == len(places) and [*places] == [*product(*map(range, shape))]:
            found[name] = [*places.values()], shape
        else:
            found |= {title: ([title], ()) for title in places.values()}
    return found


def _with_gaps(values: list[Any]) -> list[Any]:
    """Numbers, with None in place of empty cells; a column that has texts becomes all texts."""
    texts = [x for x in values if isinstance(x, str)]
    if not any(texts):
        return (
            [None if isinstance(x, str) else x for x in values]
            if len(texts) < len(values)
            else values
        )
    return [x if isinstance(x, str) else repr(x) for x in values]


def _nested(row: Sequence[Any], shape: Sequence[int]) -> Any:
    if None in row:
        return None
    found = [*row]
    for size in reversed(shape[1:]):
        found = [found[i : i + size] for i in range(0, len(found), size)]
    return found


def _file(form: str, columns: Mapping[str, Any]) -> bytes:
    pyarrow = _pyarrow(form)
    buffer = io.BytesIO()
    try:
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
    except pyarrow.ArrowException as error:
        message = f"this result has no {form} form: {error}"
        raise UsageError(Diagnostic("bad-format", message)) from None
    if form == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, buffer)
    else:
        with pyarrow.ipc.new_file(buffer, table.schema) as writer:
            writer.write_table(table)
    return buffer.getvalue()


def _pyarrow(form: str) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        message = f"{form} files are written by pyarrow, which is not installed"
        raise UsageError(Diagnostic("missing-extra", message, help=_HELP)) from None
    return pyarrow
