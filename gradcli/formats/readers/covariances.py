"""Read a covariance matrix: JSON by names, or a CSV whose header has the names."""

from __future__ import annotations

import os
from typing import Any

from gradcli.formats.readers.json_values import json_value
from gradcli.formats.readers.read import decoded, read_bytes
from gradcli.formats.texts.number import number
from gradcli.formats.texts.refusal import refused
from gradcli.source import Source


def covariances(name: str) -> tuple[Any, Any]:
    """The covariances in a file by two names, and the degrees of freedom that it has for them, or
    None.

    Raises:
        InputError: If the file cannot be read, or is no table of numbers.
    """
    source = decoded(name, read_bytes(name))
    is_json = os.path.splitext(name)[1].lower() == ".json" or source.text.lstrip()[:1] == "{"
    if not is_json:
        return _table(source), None
    found = json_value(source)
    if isinstance(found, dict) and isinstance(found.get("covariance"), dict):
        return found["covariance"], found.get("dof")
    return found, None


def _table(source: Source) -> dict[str, dict[str, float]]:
    """The matrix of a CSV; its rows may begin with their names."""
    lines = [line for line in source.text.splitlines() if line.strip()]
    if not lines:
        raise refused(f"`{source.name}` is empty")
    mark = "\t" if "\t" in lines[0] else ","
    head, *rows = [[_bare(cell) for cell in line.split(mark)] for line in lines]
    are_named = sorted(row[0] for row in rows) == sorted(head[1:])
    names = head[1:] if are_named else head
    if len(rows) != len(names):
        message = f"`{source.name}` has {len(names)} columns and {len(rows)} rows"
        raise refused(message, help="a header with the names, then a row for each of them")
    found: dict[str, dict[str, float]] = {}
    for k, row in enumerate(rows):
        cells = row[1:] if are_named else row
        label = row[0] if are_named else names[k]
        if len(cells) != len(names) or label not in names:
            raise refused(f"row {k + 1} of `{source.name}` is not one of a square table")
        found[label] = {n: _number(c, source.name) for n, c in zip(names, cells, strict=True)}
    return found


def _bare(cell: str) -> str:
    return cell.strip().strip('"')


def _number(cell: str, name: str) -> float:
    try:
        return float(number(cell))
    except ValueError:
        raise refused(f"`{cell}` in `{name}` is no number") from None
