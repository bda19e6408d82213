"""CSV and TSV: a column for each number, named after the field and its index: `grad.w.0`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradcli.formats.literal import numbers, plain_value
from gradcli.results import Value

DELIMITERS = {"csv": ",", "tsv": "\t"}


def delimited(values: Mapping[str, Value], delimiter: str) -> str:
    """A header line and one record."""
    return record(header(values), delimiter) + record(cells(values), delimiter)


def header(values: Mapping[str, Value]) -> list[str]:
    """The names of the columns."""
    names: list[str] = []
    for name, value in values.items():
        if type(value) is float:  # most are
            names.append(name)
        else:
            names += _columns(name, value)
    return names


def cells(values: Mapping[str, Value]) -> list[str]:
    """The record's texts: floats that read back to the same bits, nan, inf, -inf; None is empty."""
    texts: list[str] = []
    for value in values.values():
        if type(value) is float:  # most are
            texts.append(float.__repr__(value))
        else:
            texts += _texts(value)
    return texts


def record(texts: Sequence[str], delimiter: str) -> str:
    """One line. A text with the delimiter, a quote or a line end in it is quoted, as RFC 4180
    has it.
    """
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
    if not isinstance(item, (list, tuple)):
        yield name
        return
    for index, part in enumerate(item):
        yield from _columns(f"{name}.{index}", part)


def _texts(value: Value) -> Iterator[str]:
    item = plain_value(value)
    if isinstance(item, (list, tuple)):
        for part in item:
            yield from _texts(part)
    elif item is None:
        yield ""
    else:
        yield from numbers(item)
