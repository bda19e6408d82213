"""A question at every row of a table: columns in, columns of the same kind out."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, UsageError
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.questions.asked.request import Options

Columns: TypeAlias = Mapping[str, Any]
"""Arrays by name, of one length; further axes are those of a row's tensor."""

_FIRST, _MOST = 16, 1 << 16  # rows that are answered together: at first, and at most


class Asked(Record):
    """A question for every row.

    Fields:
        program: The program.
        name: The question: a method of the program.
        inputs: Values that are the same for all rows.
        options: How to run.
        arguments: What else the method is asked.
    """

    __slots__ = ("program", "name", "inputs", "options", "arguments")
    program: Any  # which imports this module
    name: str
    inputs: Mapping[str, Any]
    options: Options
    arguments: Mapping[str, Any]

    def of(self, row: Mapping[str, Any]) -> Any:
        """The answer at one row."""
        values = {**self.inputs, **row}
        return getattr(self.program, self.name)(values, options=self.options, **self.arguments)


def answered(asked: Asked, table: Any) -> Any:
    """The answers at all rows of a table, as a table of the same kind; those of a file as arrays by
    name.

    Raises:
        InputError: If the table is of no kind that is known, or its columns differ in length.
        GradError: As of the question, with the number of the row.
    """
    known, made = _opened(table, asked.program.inputs)
    if not known:
        names = ", ".join(asked.program.inputs) or "none"
        message = "no column of the table is an input of the program"
        raise InputError(Diagnostic("unknown-input", message, help=f"the inputs are: {names}"))
    lengths = {name: len(column) for name, column in known.items()}
    count = next(iter(lengths.values()))
    if {*lengths.values()} != {count}:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(Diagnostic("shape-mismatch", f"the columns differ in length: {said}"))
    return made(_together(asked, known, count))


def _together(asked: Asked, columns: Columns, count: int) -> dict[str, Data]:
    """The columns of the answers, in the order and under the names of the command's CSV."""
    blocks: list[_Answers] = []
    start, size = 0, _FIRST
    while start < count:
        end = min(start + size, count)
        blocks.append(_block(asked, {n: c[start:end] for n, c in columns.items()}, start))
        start, size = end, min(2 * size, _MOST)
    names = blocks[0].names if blocks else []
    for block in blocks:
        if block.names != names:
            raise _other_columns(block.start, names, block.names)
    return {name: np.concatenate([b.columns[k] for b in blocks]) for k, name in enumerate(names)}


class _Answers(Record):
    """The columns of the answers at some rows, from the row `start` on."""

    __slots__ = ("start", "names", "columns")
    start: int
    names: list[str]
    columns: list[Data]


def _block(asked: Asked, columns: Columns, start: int) -> _Answers:
    """The answers at some rows: by code, as far as it has them."""
    count = len(next(iter(columns.values())))
    sample = {**asked.inputs, **_row(columns, 0)}
    many = asked.program.many(asked.name, sample, options=asked.options, **asked.arguments)
    numbers = {n: floats(column) for n, column in columns.items()}
    found = None
    if many is not None and all(column is not None for column in numbers.values()):
        found = many.arrays(numbers)
    if many is None or found is None:
        each = [_fields(_at(asked, _row(columns, k), start + k)) for k in range(count)]
        return _stacked(each, start)
    results, left = found
    # two answers that differ only in their numbers tell where each of these stands
    one, other = (_fields(many.result(_numbered(many, part))) for part in (0.25, 0.5))
    names = [*one]
    made: list[Data] = []
    for a, b in zip(one.values(), other.values(), strict=True):
        is_known = repr(a) == repr(b)
        made.append(np.full(count, a) if is_known else results[int(a)].copy())
    for k in left:
        answer = _fields(_at(asked, _row(columns, k), start + k))
        if [*answer] != names:
            raise _other_columns(start + k, names, [*answer])
        made = [
            _with(column, k, value) for column, value in zip(made, answer.values(), strict=True)
        ]
    return _Answers(start, names, made)


def _with(column: Data, k: int, value: Any) -> Data:
    """A column with a value at a row; of another type than the others it has the type of all."""
    kind = np.result_type(column, np.asarray(value))
    found = column.astype(kind, copy=False)
    found[k] = value
    return found


def _numbered(many: Any, part: float) -> list[float]:
    return [k + part for k in range(len(many.types))]


def _stacked(each: Sequence[Mapping[str, Any]], start: int) -> _Answers:
    names = [*each[0]]
    for k, answer in enumerate(each):
        if [*answer] != names:
            raise _other_columns(start + k, names, [*answer])
    return _Answers(start, names, [np.array([answer[n] for answer in each]) for n in names])


def _other_columns(row: int, names: Iterable[str], others: Iterable[str]) -> InputError:
    message = f"row {row} has other columns than the first row"
    notes = (f"of row 0: {', '.join(names)}", f"of row {row}: {', '.join(others)}")
    return InputError(Diagnostic("shape-mismatch", message, notes=notes))


def _at(asked: Asked, row: Mapping[str, Any], number: int) -> Any:
    try:
        return asked.of(row)
    except GradError as error:
        for diagnostic in error.diagnostics[:1]:
            diagnostic.notes = (*diagnostic.notes, f"in row {number} of the table, counted from 0")
        raise


def _fields(result: Any) -> dict[str, Any]:
    """The numbers of an answer by the names of the CSV's columns."""
    from gradcli.formats.texts.delimited import header
    from gradcli.formats.writers.forms import parts_of
    from gradcli.render.looks import USUAL

    found: dict[str, Any] = {}
    for name, value in parts_of(result.view, result, USUAL).fields().items():
        numbers = np.asarray(value).ravel().tolist()
        found |= dict(zip(header({name: value}), numbers, strict=True))
    return found


def _row(columns: Columns, k: int) -> dict[str, Any]:
    return {name: _value(column[k]) for name, column in columns.items()}


def _value(x: Any) -> Any:
    return x.item() if isinstance(x, np.generic) else x


def floats(column: Any) -> Data | None:
    """A column of numbers as floats; None if it holds other things, or ints that no float is."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "fiu":
        return None
    found = column.astype(np.float64)
    is_exact = column.dtype.kind == "f" or bool(np.all(np.abs(found) < 2.0**53))
    return found if is_exact else None


# kinds of tables --------------------------------------------------------------------------------


class _Every:
    """All names."""

    def __contains__(self, name: object) -> bool:
        return True


def columns_of(table: Any) -> Columns:
    """All columns of a table. Errors as of `answered`."""
    return _opened(table, _Every())[0]


def _opened(table: Any, wanted: Container[str]) -> tuple[Columns, Callable[[dict[str, Data]], Any]]:
    """The columns of a table that are wanted, and the function that makes one of its kind."""
    if isinstance(table, (str, os.PathLike)):
        return _of_file(os.fspath(table), wanted), dict
    if isinstance(table, Mapping):
        return {n: _column(table[n]) for n in table if n in wanted}, dict
    kind, library = type(table), type(table).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(table, "column_names"):
        from gradcli.formats.files.arrow import arrays_of

        columns = {n: arrays_of(table.column(n)) for n in table.column_names if n in wanted}
        return {n: c for n, c in columns.items() if c is not None}, kind.from_pydict
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        columns = {n: _column(table[n].to_numpy()) for n in table.columns if n in wanted}
        index = {"index": table.index} if hasattr(table, "index") else {}
        return columns, lambda found: kind(found, **index)
    wish = "a table is a data frame, an Arrow table, arrays by name or a path"
    raise UsageError(Diagnostic("usage", f"{wish}, got {kind.__name__}"))


def _column(values: Any) -> Any:
    found = values if isinstance(values, np.ndarray) else np.asarray(values)
    return found if found.ndim else found.reshape(1)


def _of_file(name: str, wanted: Container[str]) -> Columns:
    from gradcli.formats.readers.read import read_bytes, values_of

    values = values_of(name, read_bytes(name))
    return {n: _column(values.get(n)) for n in values.names if n in wanted}
