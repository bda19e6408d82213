"""Write Parquet and Arrow files: tables with typed columns, written batch by batch."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from gradcli.errors import Diagnostic, UsageError
from gradcli.formats.files.arrow import HELP
from gradcli.formats.files.columns import value_of_cell
from gradcli.formats.texts.delimited import are_columns
from gradcli.formats.texts.layouts import Layout
from gradcli.formats.texts.literal import plain_value
from gradcli.results import Value

_ELEMENT = re.compile(r"(.*?)((?:\.(?:0|[1-9]\d{0,8}))*)", re.DOTALL)  # `grad.w.0`
_INT = r"^-?(0|[1-9][0-9]{0,17})$"
_FLOAT = r"^-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"
_GROUP = 2**17  # rows that are written together
_CELLS = 2**12  # rows of single cells that become arrays together
_SOME = 2**14  # rows that tell whether a column may repeat


def table_file(form: str, values: Mapping[str, Value]) -> bytes:
    """Values by name as a file, with a record for each element if all have one first size, else one
    record.

    Raises:
        UsageError: If pyarrow is not installed, or a column has no type.
    """
    pyarrow = _pyarrow(form)
    parts = {name: plain_value(value) for name, value in values.items()}
    if not are_columns(parts.values()):
        parts = {name: [value] for name, value in parts.items()}
    try:
        table = pyarrow.table({name: pyarrow.array(column) for name, column in parts.items()})
    except pyarrow.ArrowException as error:
        raise _no_form(form, str(error)) from None
    file = _File(form, table)
    file.write(table)
    return file.end()


class ArrowColumns(Layout):
    """Writes a file with a column for each name; `w.0`, `w.1`, ... become one column of vectors.

    Arrays keep their types. Texts become numbers if all of a column are; they wait for the last
    row, and all columns wait with them.

    Args:
        form: "parquet" or "arrow".
    """

    def __init__(self, form: str) -> None:
        _pyarrow(form)
        self._form = form
        self._columns: list[_Column] = []
        self._names: list[str] = []
        self._file: _File | None = None

    def head(self, names: Sequence[str]) -> str:
        self._names = [*names]
        self._columns = [_Column() for _ in names]
        return ""

    def record(self, texts: Sequence[Any]) -> str:
        for column, cell in zip(self._columns, texts, strict=True):
            column.add(cell)
        return ""

    def records(self, columns: Sequence[Any]) -> bytes:
        for column, several in zip(self._columns, columns, strict=True):
            column.extend(several)
        if len(self._columns[0]) < _GROUP or any(c.type is None for c in self._columns):
            return b""
        return self._flushed()

    def end(self) -> bytes:
        written = self._flushed()
        assert self._file is not None, "there are columns"
        return written + self._file.end()

    def _flushed(self) -> bytes:
        """Write all rows that wait: the bytes of the file that are complete by now."""
        pyarrow = _pyarrow(self._form)
        try:
            found = [column.taken() for column in self._columns]
        except (pyarrow.ArrowException, ValueError, OverflowError) as error:
            raise _no_form(self._form, str(error)) from None
        table = _grouped(dict(zip(self._names, found, strict=True)))
        if self._file is None:
            self._file = _File(self._form, table)
        for start in range(0, len(table), _GROUP):
            self._file.write(table.slice(start, _GROUP))
        return self._file.taken()


class _Column:
    """The values of a column that wait to be written.

    Fields:
        type: Its type; None as long as it has cells alone, whose texts may be numbers.
    """

    def __init__(self) -> None:
        self.type: Any = None
        self._chunks: list[Any] = []  # arrays of the type, and lists of an array of texts
        self._cells: list[str] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, cell: Any) -> None:
        """Add a cell: a text, or an array of one value."""
        if not isinstance(cell, str):
            self.extend(cell)
            return
        self._cells.append(cell)
        self._count += 1
        if len(self._cells) >= _CELLS:
            self._close()

    def extend(self, several: Any) -> None:
        """Add a list of cells, a range, or an array of NumPy or pyarrow."""
        import pyarrow

        self._count += len(several)
        if isinstance(several, list):
            self._cells += several
            return
        self._close()
        array = several if isinstance(several, pyarrow.Array) else pyarrow.array(several)
        self.type = self.type or array.type
        self._chunks.append(array)

    def _close(self) -> None:
        if self._cells:
            self._chunks.append([_texts(self._cells)])
            self._cells = []

    def taken(self) -> Any:
        """All that waits, as one array."""
        import pyarrow

        self._close()
        chunks, self._chunks, self._count = self._chunks, [], 0
        if self.type is None and chunks:
            found = _inferred(pyarrow.concat_arrays([texts for (texts,) in chunks]))
            self.type = found.type
            return found
        kind = self.type or pyarrow.null()
        arrays = [_numbers(c[0], kind) if isinstance(c, list) else _cast(c, kind) for c in chunks]
        return pyarrow.concat_arrays(arrays or [pyarrow.array([], kind)])


def _cast(array: Any, kind: Any) -> Any:
    """An array as one of a type; `cast` would load all of pyarrow's functions, in 0.1 s."""
    return array if array.type == kind else array.cast(kind)


def _texts(cells: Sequence[str]) -> Any:
    import pyarrow

    try:
        return pyarrow.array(cells, pyarrow.string())
    except UnicodeEncodeError:  # of the name of a file
        bare = [cell.encode("utf-8", "backslashreplace").decode() for cell in cells]
        return pyarrow.array(bare, pyarrow.string())


def _inferred(texts: Any) -> Any:
    """Cells as numbers if all are that are not empty, else as texts."""
    import pyarrow
    from pyarrow import compute

    for pattern, kind in ((_INT, "int64"), (_FLOAT, "float64")):
        if compute.all(compute.match_substring_regex(texts, pattern)).as_py():
            return texts.cast(kind)
    values = map(value_of_cell, texts.to_pylist())
    numbers: list[Any] = []
    for value in values:
        if isinstance(value, str) and value:
            return texts
        numbers.append(None if isinstance(value, str) else value)
    return texts if all(x is None for x in numbers) else pyarrow.array(numbers)


def _numbers(texts: Any, kind: Any) -> Any:
    """Cells as values of a type, with nulls for empty ones."""
    import pyarrow

    if pyarrow.types.is_string(kind):
        return texts
    cells = texts.to_pylist()
    return pyarrow.array([value_of_cell(cell) if cell else None for cell in cells], kind)


def _grouped(columns: Mapping[str, Any]) -> Any:
    """A table in which columns of the elements of arrays are columns of arrays."""
    import pyarrow

    found: dict[str, Any] = {}
    for name, (titles, shape) in _vectors([*columns]).items():
        parts = _alike([columns[title] for title in titles])
        if shape and parts is not None:
            found[name] = _nested(parts, shape)
        else:
            found |= {title: columns[title] for title in titles}
    return pyarrow.table(found)


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


def _alike(parts: Sequence[Any]) -> Sequence[Any] | None:
    """Columns of one type, numbers of different types as floats; None if they cannot be so."""
    kinds = {part.type for part in parts}
    if len(kinds) == 1:
        return parts
    names = {str(kind) for kind in kinds}
    return [part.cast("float64") for part in parts] if names <= {"int64", "double"} else None


def _nested(parts: Sequence[Any], shape: Sequence[int]) -> Any:
    """A column of arrays from those of their elements."""
    import numpy as np
    import pyarrow

    count = len(parts[0])
    order = np.arange(len(parts) * count).reshape(len(parts), count).T.ravel()
    found = pyarrow.concat_arrays(parts).take(pyarrow.array(order))
    for size in reversed(shape[1:]):
        found = pyarrow.ListArray.from_arrays(_steps(len(found), size), found)
    gaps = np.zeros(count, np.bool_)
    for part in parts:
        gaps |= part.is_null().to_numpy(zero_copy_only=False)
    steps = _steps(len(found), shape[0])
    return pyarrow.ListArray.from_arrays(steps, found, mask=pyarrow.array(gaps))


def _steps(count: int, size: int) -> Any:
    import numpy as np
    import pyarrow

    return pyarrow.array(np.arange(0, count + 1, size), pyarrow.int32())


class _Pieces(io.RawIOBase):
    """A file of which pieces are taken as they are written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self._size += len(self._pieces[-1])
        return len(self._pieces[-1])

    def tell(self) -> int:
        return self._size

    def taken(self) -> bytes:
        """The bytes that were written since the last call."""
        found = b"".join(self._pieces)
        self._pieces = []
        return found


class _File:
    """A Parquet or Arrow file that is written table by table.

    Args:
        form: "parquet" or "arrow".
        first: Its first table.
    """

    def __init__(self, form: str, first: Any) -> None:
        pyarrow = _pyarrow(form)
        self._pieces = _Pieces()
        if form == "parquet":
            from pyarrow import parquet

            repeated = [name for name in first.column_names if _repeats(first.column(name))]
            self._writer = parquet.ParquetWriter(
                self._pieces, first.schema, use_dictionary=repeated or False
            )
        else:
            self._writer = pyarrow.ipc.new_file(self._pieces, first.schema)

    def write(self, table: Any) -> None:
        """Add the rows of a table."""
        self._writer.write_table(table)

    def taken(self) -> bytes:
        """The bytes that are complete since the last call."""
        return self._pieces.taken()

    def end(self) -> bytes:
        """The last bytes."""
        self._writer.close()
        return self._pieces.taken()


def _repeats(column: Any) -> bool:
    """True for texts of which each comes more than once, on average: a dictionary makes the file
    smaller. For other columns it only takes time.
    """
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        return True
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return False
    first = column.slice(0, _SOME)
    if len({*first.to_pylist()}) == len(first):  # ids, most likely: no need to count them all
        return False
    from pyarrow import compute

    some = column.slice(0, _GROUP)
    return bool(2 * compute.count_distinct(some).as_py() <= len(some))


def _no_form(form: str, why: str) -> UsageError:
    return UsageError(Diagnostic("bad-format", f"this result has no {form} form: {why}"))


def _pyarrow(form: str) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        message = f"{form} files are written by pyarrow, which is not installed"
        raise UsageError(Diagnostic("missing-extra", message, help=HELP)) from None
    return pyarrow
