"""Values and diagnostics as JSON: one object, one line, keys in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradcli.errors import Diagnostic
from gradcli.formats.texts.literal import literal, quote
from gradcli.source import Source, Span

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
"""A number in JSON."""


def json_cell(text: str) -> str:
    """The cell of a table as JSON: a number, or a string."""
    return text if NUMBER.fullmatch(text) else quote(text)


def nested(value: Any, text: Callable[[Any], str]) -> str:
    """A value as JSON: lists and dictionaries as such, all else as a function writes it."""
    if isinstance(value, (list, tuple)):
        return array(nested(item, text) for item in value)
    if isinstance(value, dict):
        return json_object({key: nested(item, text) for key, item in value.items()})
    return text(value)


def diagnostic_json(diagnostic: Diagnostic) -> str:
    """A diagnostic as a one-line JSON object; the place's fields are null if there is none."""
    labels = [
        json_object({**_range(diagnostic.source, label.span), "text": quote(label.text)})
        for label in diagnostic.labels
    ]
    if diagnostic.label:
        main = _range(diagnostic.source, diagnostic.span)
        labels.insert(0, json_object({**main, "text": quote(diagnostic.label)}))
    source = diagnostic.source
    return json_object(
        {
            **fields_json(diagnostic, ("severity", "code", "message")),
            "file": literal(source.name if source and diagnostic.span else None),
            **_cell(diagnostic),
            **_range(source, diagnostic.span),
            "labels": array(labels),
            **fields_json(diagnostic, ("notes", "help")),
        }
    )


def warning_json(diagnostic: Diagnostic) -> str:
    """A warning in the JSON of a result: code, message and place."""
    _, line, column = diagnostic.place or (None, None, None)
    source = diagnostic.source if line is not None else None
    place = {"line": literal(line), "column": literal(column)}
    file = {"file": literal(None if source is None else source.name), **_cell(diagnostic)}
    return json_object({**fields_json(diagnostic, ("code", "message")), **file, **place})


def _cell(diagnostic: Diagnostic) -> dict[str, str]:
    """The number of the cell of a notebook in which the place is, if it is in one."""
    source, span = diagnostic.source, diagnostic.span
    cell = source.cell(span.start) if source and span else None
    return {"cell": literal(cell.number)} if cell is not None and cell.name else {}


def _range(source: Source | None, span: Span | None) -> dict[str, str]:
    start = source.told(span.start) if source and span else (None, None)
    end = source.told(span.end) if source and span else (None, None)
    names = ("line", "column", "end_line", "end_column")
    return dict(zip(names, map(literal, (*start, *end)), strict=True))


def fields_json(record: object, names: Iterable[str]) -> dict[str, str]:
    """Some fields of a record as JSON texts, by name."""
    return {name: literal(getattr(record, name), json=True) for name in names}


def json_object(fields: Mapping[str, str]) -> str:
    """A JSON object of fields that are JSON texts already."""
    return f"{{{','.join(f'{quote(name)}:{text}' for name, text in fields.items())}}}"


def array(texts: Iterable[str]) -> str:
    """A JSON array of elements that are JSON texts already."""
    return f"[{','.join(texts)}]"
