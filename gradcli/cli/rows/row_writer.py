"""Writes the answers of `--rows` as lines of a table, of JSON or of bare numbers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gradcli.cli.terminal.failures import usage
from gradcli.errors import Diagnostic, GradError, InputError
from gradcli.formats.texts.delimited import cells, header
from gradcli.formats.texts.json_text import diagnostic_json, json_object
from gradcli.formats.texts.layouts import LAYOUTS, Layout
from gradcli.formats.texts.literal import numbers, quote
from gradcli.formats.texts.text_columns import texts_of, together
from gradcli.formats.writers.forms import ValueParts

if TYPE_CHECKING:
    from gradcli.render.records import Padded

_SHOWN = 4  # columns named in a message


Written: TypeAlias = "Layout | Padded"
"""Writes a table."""

Kept: TypeAlias = list[Any] | dict[str, str]
"""The kept columns of a row: its cells or values, or JSON by name."""


class Said(NamedTuple):
    """The columns, cells and JSON of an answer, as far as its form needs them."""

    columns: list[str]
    cells: list[str]
    json: dict[str, str]

    @classmethod
    def of(cls, parts: ValueParts, kind: str) -> Said:
        """The texts of an answer with these parts."""
        if kind == "ndjson":
            return cls([], [], parts.json())
        if kind == "raw":
            return cls([], [text for v in parts.found().values() for text in numbers(v)], {})
        found = parts.found() if kind == "npy" else parts.fields()
        return cls(header(found), cells(found), {})


class Answer(NamedTuple):
    """The answer to a row, or its error.

    Fields:
        number: The row's number, from 0.
        line: Its line in the file.
        kept: Its kept columns.
        columns: The names of the columns of the answer.
        cells: Their texts.
        json: The JSON fields of the answer, in that form instead of cells.
        warnings: The warnings.
        right: False if a check of the row failed.
        diagnostics: The row's errors.
        status: The exit status of the errors; 0 without any.
    """

    number: int
    line: int
    kept: Kept
    columns: list[str]
    cells: list[str]
    json: dict[str, str]
    warnings: tuple[Diagnostic, ...]
    right: bool
    diagnostics: tuple[Diagnostic, ...]
    status: int


class Together(NamedTuple):
    """The answers to rows without errors.

    Fields:
        numbers: The numbers of the rows, from 0: a range or an array.
        lines: Their lines in the file, likewise.
        kept: The kept columns of texts.
        columns: The names of the columns of the answers.
        cells: These columns: arrays of numbers or columns of texts.
        warnings: The warnings of each answer.
    """

    numbers: Any
    lines: Any
    kept: list[Any]
    columns: list[str]
    cells: list[Any]
    warnings: tuple[Diagnostic, ...]

    @property
    def number(self) -> int:
        """The number of the first row."""
        return int(self.numbers[0])

    @property
    def line(self) -> int:
        """The line of the first row."""
        return int(self.lines[0])

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.numbers)

    def apart(self) -> Iterator[Answer]:
        """The answers one by one."""
        texts = [[*zip(*map(texts_of, part), strict=True)] for part in (self.kept, self.cells)]
        for i in range(self.size):
            kept, cells = ([*rows[i]] if rows else [] for rows in texts)
            number, line = int(self.numbers[i]), int(self.lines[i])
            yield Answer(*(number, line, kept, self.columns, cells, {}, self.warnings, True, (), 0))


class Text(NamedTuple):
    """The written answers to rows without errors.

    Fields:
        number: The number of the first row, from 0.
        line: Its line in the file.
        size: The number of rows.
        text: Their lines of output.
        warnings: The warnings of each answer.
    """

    number: int
    line: int
    size: int
    text: str | bytes
    warnings: tuple[Diagnostic, ...]


def refused(number: int, line: int, kept: Kept, error: GradError) -> Answer:
    """The answer to a bad row: its error."""
    told = tuple(error.diagnostics)
    return Answer(number, line, kept, [], [], {}, (), True, told, error.status)


class RowWriter:
    """Writes answers as they come; the first good one makes the header.

    Args:
        write: Takes the texts.
        kind: "csv", "tsv", "md", "human", "npy", "npz", "ndjson" or "raw".
        on_error: "stop", "skip", "record" or "ignore".
        kept: The names of the kept columns.
        precision: Significant digits for people.
        flat: True if kept columns stand beside the fields of JSON.
    """

    def __init__(
        self,
        write: Callable[[str | bytes], None],
        kind: str,
        on_error: str,
        kept: Sequence[str],
        precision: int,
        *,
        flat: bool,
    ) -> None:
        self._write = write
        self._kind = kind
        self._layout = _layout(kind, precision)
        self._kept = list(kept)
        self._flat = flat
        self._numbered = on_error != "stop"
        self._recorded = on_error == "record"
        self._columns: list[str] | None = None
        self._waiting: list[Answer] = []

    def fitted(self, found: Answer | Together | Text) -> Iterator[Answer | Together | Text]:
        """The answers, with an error in place of each whose columns are not those of the header.
        The first good answer makes the header.
        """
        if isinstance(found, Answer):
            yield self._fitted(found)
        elif isinstance(found, Text) or self._layout is None or found.columns == self._columns:
            yield found
        else:
            yield from map(self._fitted, found.apart())

    def _fitted(self, answer: Answer) -> Answer:
        if answer.status or self._layout is None:
            return answer
        if self._columns is None:
            self._head(answer.columns, self._layout)
        if answer.columns == self._columns:
            return answer
        diagnostic = Diagnostic(
            "bad-input",
            f"the result has the columns {_listed(answer.columns)}, and the first one "
            f"{_listed(self._columns or [])}",
            help="write JSON lines with `-f ndjson`, where rows may differ",
        )
        return refused(answer.number, answer.line, answer.kept, InputError(diagnostic))

    def write_together(self, found: Together | Text) -> None:
        """Write answers that `fitted` has passed."""
        self._write(found.text if isinstance(found, Text) else self._lines(found))

    def text_of(self, found: Together) -> Together | Text:
        """The answers as written lines if the form is text and the header is written, else
        unchanged.
        """
        is_text = self._kind == "raw" or (self._kind in LAYOUTS and found.columns == self._columns)
        if not is_text:
            return found
        return Text(found.number, found.line, found.size, self._lines(found), found.warnings)

    def _lines(self, found: Together) -> bytes:
        if self._layout is None:
            from gradcli.formats.texts.float_texts import records

            return records(found.cells, "\n")
        assert isinstance(self._layout, Layout), "people see rows one by one"
        lead = [found.numbers] if self._numbered else []
        last = [[""] * found.size] if self._recorded else []
        return self._layout.records([*lead, *found.kept, *found.cells, *last])

    def write(self, answer: Answer) -> None:
        """Write one answer that `fitted` has passed."""
        if answer.status and not self._recorded:
            return
        if self._kind == "ndjson":
            self._write(_json_line(answer, flat=self._flat))
        elif self._layout is None:
            self._write("".join(f"{text}\n" for text in answer.cells))
        elif answer.status and self._columns is None:
            self._waiting.append(answer)  # its empty fields depend on the header
        else:
            self._record(answer, self._layout)

    def end(self) -> None:
        """Write the answers that waited for a header, and the end of the table."""
        if self._layout is None:
            return
        if self._waiting:
            self._head([], self._layout)
        last = self._layout.end()
        if last:
            self._write(last)

    def _head(self, columns: list[str], layout: Written) -> None:
        self._columns = columns
        lead = ["row"] if self._numbered else []
        last = ["error"] if self._recorded else []
        added = dict.fromkeys((*lead, *last), "--on-error adds")
        added |= dict.fromkeys(self._kept, "--keep takes")
        names = frozenset(columns)
        for own, why in added.items():
            if own in names:
                message = f"the result is called `{own}`, as the column that {why}"
                raise usage(message, "write JSON lines with `-f ndjson`, or rename it")
        self._write(layout.head([*lead, *self._kept, *columns, *last]))
        for answer in self._waiting:
            self._record(answer, layout)
        self._waiting = []

    def _record(self, answer: Answer, layout: Written) -> None:
        lead = [str(answer.number)] if self._numbered else []
        cells = [""] * len(self._columns or []) if answer.status else answer.cells
        error = [str(answer.diagnostics[0]) if answer.status else ""]
        texts = [*lead, *answer.kept, *cells, *(error if self._recorded else [])]
        self._write(layout.record(texts))


def _layout(kind: str, precision: int) -> Written | None:
    """The layout of a table; None for a form without one."""
    if kind == "human":
        from gradcli.render.records import Padded

        return Padded(precision)
    if kind in ("npy", "npz"):
        from gradcli.formats.files.columns import Columns, Matrix

        return Columns() if kind == "npz" else Matrix()
    if kind in ("parquet", "arrow"):
        from gradcli.formats.files.arrow_tables import ArrowColumns

        return ArrowColumns(kind)
    return LAYOUTS[kind]() if kind in LAYOUTS else None


def check_flat(kept: Iterable[str], fields: Container[str]) -> None:
    """Refuse kept columns beside fields of the same name.

    Raises:
        UsageError: If there is one.
    """
    for name in kept:
        if name == "row" or name in fields:
            message = f"`{name}` is a kept column and a field of each result"
            raise usage(message, "without `--flat` kept columns have an object of their own")


def json_line(number: int, kept: Kept, told: str, *, flat: bool) -> str:
    """The JSON line of a row, with an object for its answer or its error. `flat` puts the kept
    columns beside the fields of the object.
    """
    lead = {"row": str(number)}
    if isinstance(kept, dict) and kept:
        lead |= kept if flat else {"kept": json_object(kept)}
    return f"{json_object(lead)[:-1]},{told[1:]}\n"


def json_lines(numbers: Any, kept: Mapping[str, Any], told: Sequence[Any], *, flat: bool) -> bytes:
    """The JSON lines of rows.

    Args:
        numbers: The numbers of the rows: a range or an array.
        kept: The kept columns by name, as columns of JSON texts.
        told: The object of an answer, in parts: columns, and texts that all rows share.
        flat: True if the kept columns stand beside the fields of the object.
    """
    parts: list[Any] = ['{"row":', numbers]
    sign = "," if flat else ',"kept":{'
    for name, column in kept.items():
        parts += [f"{sign}{quote(name)}:", column]
        sign = ","
    first, *rest = told
    opened = first[1:] if isinstance(first, str) else [text[1:] for text in first]
    return together([*parts, "}," if kept and not flat else ",", opened, *rest, "\n"], len(numbers))


def _json_line(answer: Answer, *, flat: bool) -> str:
    told = {"error": diagnostic_json(answer.diagnostics[0])} if answer.status else answer.json
    if flat:
        check_flat(answer.kept, told)
    return json_line(answer.number, answer.kept, json_object(told), flat=flat)


def _listed(columns: list[str]) -> str:
    names = ", ".join(columns[:_SHOWN])
    return f"{names}, ... ({len(columns)})" if len(columns) > _SHOWN else names or "none"
