"""Results as tables: a column for each number, named after its field and index: `grad.w.0`.

Vectors of one length become columns, with a record for each of their elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.formats.texts.literal import numbers, plain_value
from gradcli.results import Value

DELIMITERS = {"csv": ",", "tsv": "\t"}


def table(values: Mapping[str, Value]) -> Iterator[list[str]]:
    """The header, then the records: one for each element if all values have one first size, else
    one.
    """
    parts = {name: plain_value(value) for name, value in values.items()}
    rows = [dict(values)]
    if are_columns(parts.values()):
        rows = [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
    yield header(rows[0])
    yield from map(cells, rows)


def are_columns(values: Iterable[Any]) -> bool:
    """True if all values are lists or tuples of one positive length."""
    sizes = {len(v) if isinstance(v, (list, tuple)) else 0 for v in values}
    return len(sizes) == 1 and max(sizes) > 0


def header(values: Mapping[str, Value]) -> list[str]:
    """The names of the columns."""
    names: list[str] = []
    for name, value in values.items():
        if type(value) is float:  # most values
            names.append(name)
        else:
            names += _columns(name, value)
    return names


def cells(values: Mapping[str, Value]) -> list[str]:
    """The record's texts: floats that read back to the same bits, nan, inf, -inf; None is empty."""
    texts: list[str] = []
    for value in values.values():
        if type(value) is float:  # most values
            texts.append(float.__repr__(value))
        else:
            texts += _texts(value)
    return texts


def record(texts: Sequence[str], delimiter: str) -> str:
    """One line. A text with the delimiter, a quote or a line end is quoted as in RFC 4180."""
    line = delimiter.join(texts)
    if '"' in line or "\n" in line or "\r" in line or line.count(delimiter) >= len(texts):
        line = delimiter.join(_quoted(text, delimiter) for text in texts)
    return f"{line}\n"


def _quoted(text: str, delimiter: str) -> str:
    if delimiter in text or '"' in text or "\n" in text or "\r" in text:
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text


def _columns(name: str, value: Value) -> Iterator[str]:
    item = plain_value(value)
    if not isinstance(item, (list, tuple, dict)):
        yield name
        return
    for index, part in item.items() if isinstance(item, dict) else enumerate(item):
        yield from _columns(f"{name}.{index}", part)


def _texts(value: Value) -> Iterator[str]:
    item = plain_value(value)
    if isinstance(item, (list, tuple, dict)):
        for part in item.values() if isinstance(item, dict) else item:
            yield from _texts(part)
    elif item is None:
        yield ""
    else:
        yield from numbers(item)
