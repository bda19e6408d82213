"""Read Parquet and Arrow files: tables with typed columns of numbers, texts or vectors."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from gradcli.errors import Diagnostic, InputError
from gradcli.formats.files.places import is_url, open_url
from gradcli.formats.texts.float_texts import text_array
from gradcli.formats.texts.json_text import NUMBER, json_cell, nested
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.texts.refusal import refused, unreadable
from gradcli.formats.texts.text_columns import each_text, texts_of
from gradcli.record import Record

Found = TypeVar("Found")

_ELEMENT = re.compile(r"(.*?)((?:\.(?:0|[1-9]\d{0,8}))*)", re.DOTALL)  # `grad.w.0`
_BUFFER = 2**20  # bytes of a column that are read at once
_NONE = "a^"  # a pattern that no text has
_EXACT = 2.0**53  # ints below it are exact as floats
HELP = "`pip install 'gradcli[fast]'` installs pyarrow"


class Opened(Record):
    """An open file.

    Fields:
        names: The names of its columns.
        count: The number of records, near enough for a progress bar.
        batches: Gives the record batches, with the columns of some names.
    """

    __slots__ = ("names", "count", "batches")
    names: list[str]
    count: int
    batches: Callable[[Sequence[str]], Iterator[Any]]


def opened(name: str, data: bytes | None = None, groups: Sequence[int] | None = None) -> Opened:
    """A Parquet or Arrow file, read from `data` if that is given; some row groups of it if they are
    named.

    Raises:
        InputError: If it cannot be read, or pyarrow is not installed; also from its batches.
    """
    is_parquet = name.lower().endswith(".parquet")

    def look() -> _File:
        source = (open_url(name) if is_url(name) else name) if data is None else io.BytesIO(data)
        return _parquet(source, groups) if is_parquet else _arrow(source)

    names, count, batches = _tried(name, look)

    def parts(picked: Sequence[str]) -> Iterator[Any]:
        return _valid(name, _tried(name, lambda: batches([*picked])))

    return Opened(names, count, parts)


_File: TypeAlias = "tuple[list[str], int, Callable[[list[str]], Iterator[Any]]]"


def _parquet(source: Any, groups: Sequence[int] | None) -> _File:
    from pyarrow import parquet

    # pyarrow keeps what it has read ahead until the end: nothing of a file here, which costs no
    # time; no more than a row group of others, where each reading costs some
    ahead: dict[str, Any] = {"pre_buffer": True}
    if isinstance(source, str):
        ahead = {"pre_buffer": False, "buffer_size": _BUFFER}
    file = parquet.ParquetFile(source, **ahead)
    names = file.schema_arrow.names
    chosen = [*range(file.num_row_groups)] if groups is None else [*groups]
    together = [chosen] if isinstance(source, str) else [[k] for k in chosen]

    def batches(picked: list[str]) -> Iterator[Any]:
        columns = None if [*picked] == names else picked
        for several in together:
            yield from file.iter_batches(row_groups=several, columns=columns, use_threads=False)

    return names, sum(file.metadata.row_group(k).num_rows for k in chosen), batches


def _arrow(source: Any) -> _File:
    from pyarrow import ipc

    reader = ipc.open_file(source)
    parts = range(reader.num_record_batches)
    about = len(parts) * reader.get_batch(0).num_rows if parts else 0  # as if all had one size

    def batches(picked: list[str]) -> Iterator[Any]:
        return (reader.get_batch(k).select(picked) for k in parts)

    return reader.schema.names, about, batches


def row_counts(name: str) -> list[tuple[int, int]]:
    """The rows and bytes of each row group of a Parquet file, or of each batch of an Arrow file
    with the bytes 0. Errors as of `opened`.
    """

    def look() -> list[tuple[int, int]]:
        source = open_url(name) if is_url(name) else name
        if name.lower().endswith(".parquet"):
            from pyarrow import parquet

            about = parquet.ParquetFile(source).metadata
            groups = [about.row_group(k) for k in range(about.num_row_groups)]
            return [(group.num_rows, group.total_byte_size) for group in groups]
        from pyarrow import ipc

        reader = ipc.open_file(source)
        return [(reader.get_batch(k).num_rows, 0) for k in range(reader.num_record_batches)]

    return _tried(name, look)


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

        file = opened(name, data)
        found = [*file.batches(file.names)]
        if found:
            return pyarrow.Table.from_batches(found)
        return pyarrow.table({name: [] for name in file.names})

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


def floats_of(column: Any) -> Any:
    """A column of numbers or of vectors of one length as an array of floats, with nan for nulls and
    for ints that no float is; None for any other column.
    """
    import numpy as np
    from pyarrow import types

    if column.null_count and (types.is_floating(column.type) or types.is_integer(column.type)):
        array = column.cast("float64", safe=False).fill_null(np.nan).to_numpy()
    else:
        array = arrays_of(column)
    if array is None:
        return None
    if array.dtype.kind != "f" or types.is_integer(column.type):
        array = np.where(np.abs(array) < _EXACT, array, np.nan)
    return array.astype(np.float64, copy=False)


def text_column(name: str, key: str, column: Any) -> Any:
    """A column as the texts of a CSV's cells, in an array of pyarrow or a list. Errors as of
    `cells`.
    """
    import pyarrow
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_string(kind) or types.is_integer(kind) or types.is_boolean(kind):
        return column.cast(pyarrow.string()).fill_null("")
    if types.is_floating(kind):
        array = column.cast("float64").fill_null(0.0).to_numpy()
        texts = text_array(array).cast(pyarrow.string())
        return compute.if_else(column.is_valid(), texts, "") if column.null_count else texts
    return [_cell(value) for value in _plain(name, key, column)]


def json_column(name: str, key: str, column: Any) -> Any:
    """A column as JSON texts, in an array of pyarrow or a list: texts stay texts, vectors are
    arrays, a missing value is null. Errors as of `cells`.
    """
    import pyarrow
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_nested(column.type):
        return [nested(value, _json) for value in _plain(name, key, column)]
    texts = text_column(name, key, column)
    if types.is_string(column.type) or types.is_large_string(column.type):
        found = each_text(texts, _NONE, quote)
    elif types.is_boolean(column.type):
        found = texts
    else:
        found = each_text(texts, NUMBER.pattern, json_cell)
    if not column.null_count:
        return found
    found = pyarrow.array([*texts_of(found)], pyarrow.string())
    return compute.if_else(column.is_valid(), found, "null")


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


def _json(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float)):
        return literal(value, json=True)
    return quote(_cell(value))


def _tried(name: str, look: Callable[[], Found]) -> Found:
    try:
        faults = _faults()
    except ImportError:
        message = f"`{name}` is read by pyarrow, which is not installed"
        raise InputError(Diagnostic("missing-extra", message, help=HELP)) from None
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
