"""A complete trace for pipes: one operation a line, tables, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.forms import Parts
from gradcli.results import Value
from gradcli.views import TraceGap, TraceResult, TraceRow

_COLUMNS = (
    *("id", "variable", "expression", "line", "value", "partials", "adjoint", "tangent", "around"),
)
_DERIVATIVES = _COLUMNS.index("adjoint")


class TraceParts(Parts):
    """A record for each input and operation."""

    result: TraceResult

    def json(self) -> dict[str, str]:
        result = self.result
        return {
            "schema": quote("gradcli.trace/1"),
            **fields_json(result, ("output", "value")),
            "rows": array(_row(row, result) for row in _operations(result)),
            "warnings": array(map(warning_json, result.warnings)),
        }

    def records(self) -> Iterator[Sequence[str]]:
        """The header and the records; values are written as in JSON."""
        yield _COLUMNS
        yield from _records(self.result)

    def lines(self) -> str:
        """The records separated by tabs, without the header."""
        return "".join(f"{chr(9).join(row)}\n" for row in _records(self.result))


def _operations(result: TraceResult) -> Iterator[TraceRow]:
    return (row for row in result.rows if not isinstance(row, TraceGap))


def _row(row: TraceRow, result: TraceResult) -> str:
    return json_object(fields_json(row, (*_COLUMNS[:_DERIVATIVES], *result.columns, "around")))


def _records(result: TraceResult) -> Iterator[list[str]]:
    for row in _operations(result):
        yield [
            row.id,
            row.variable,
            row.expression,
            str(row.line),
            _literal(row.value),
            literal(row.partials, json=True) if row.partials else "",
            _literal(row.adjoint),
            _literal(row.tangent),
            "; ".join(row.around),
        ]


def _literal(value: Value) -> str:
    return "" if value is None else literal(value)
