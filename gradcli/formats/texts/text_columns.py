"""The lines of a table from its columns: made for all rows at once by pyarrow if it is installed.

A column is an array of numbers, a range, a list of texts, or an array of texts of pyarrow without
nulls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import repeat
from typing import Any

from gradcli.formats.texts.delimited import record
from gradcli.formats.texts.float_texts import records, text_array, texts, written

_FEW = 100  # rows; so few are faster one by one
_USUAL = r"^[ !#-\[\]-~]*$"  # what JSON puts between quotes as it is


def texts_of(column: Any) -> Sequence[str]:
    """The texts of a column."""
    if isinstance(column, list):
        return column
    if isinstance(column, range):
        return [*map(str, column)]
    if hasattr(column, "dtype"):
        return texts(column)
    found: list[str] = column.to_pylist()
    return found


def lines(columns: Sequence[Any], delimiter: str) -> bytes:
    """The records of a table, one a line. A text is quoted as in RFC 4180 if it needs quotes."""
    if all(map(_is_float, columns)):
        return records(columns, delimiter)
    count = len(columns[0])
    if not _is_long(count):
        rows = zip(*map(texts_of, columns), strict=True)
        return encoded("".join([record(row, delimiter) for row in rows]))
    parts: list[Any] = []
    start = 0
    while start < len(columns):
        end = start
        while end < len(columns) and _is_float(columns[end]):
            end += 1
        is_last = max(end, start + 1) == len(columns)
        if start < end:
            parts.append(_numbers(columns[start:end], delimiter, "\n" if is_last else delimiter))
        else:
            quoted = _quoted(columns[start], delimiter)
            parts += [quoted, "\n" if is_last else delimiter]
        start = max(end, start + 1)
    return together(parts, count)


def together(parts: Sequence[Any], count: int) -> bytes:
    """The parts of each row one after the other, for all rows.

    Args:
        parts: Columns, or texts that are the same in all rows.
        count: The number of rows.
    """
    if not _is_long(count):
        rows = (repeat(p, count) if isinstance(p, str) else texts_of(p) for p in parts)
        return encoded("".join(map("".join, zip(*rows, strict=True))))
    import pyarrow
    from pyarrow import compute

    kind = pyarrow.large_binary() if any(map(_is_large, parts)) else pyarrow.binary()
    arrays = [
        pyarrow.scalar(encoded(p), kind) if isinstance(p, str) else _array(p).cast(kind)
        for p in parts
    ]
    found = compute.binary_join_element_wise(*arrays, pyarrow.scalar(b"", kind))
    return b"".join(map(_bytes_of, _chunks(found)))


def encoded(text: str) -> bytes:
    """A text as it is written: with escapes for the names of files that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace")


def _is_long(count: int) -> bool:
    return count > _FEW and find_spec("pyarrow") is not None


def _is_float(column: Any) -> bool:
    return hasattr(column, "dtype") and column.dtype.kind == "f"


def _is_large(part: Any) -> bool:
    """True for a part with more text than the usual arrays of pyarrow can hold."""
    return getattr(part, "nbytes", 0) > 2**26


def _chunks(found: Any) -> list[Any]:
    return found.chunks if hasattr(found, "chunks") else [found]


def _array(column: Any) -> Any:
    """A column as an array of texts of pyarrow."""
    import pyarrow

    if isinstance(column, list):
        return pyarrow.array([*map(encoded, column)], "binary")
    if isinstance(column, range):
        return pyarrow.array(column).cast("string")
    return text_array(column) if hasattr(column, "dtype") else column


def _numbers(columns: Sequence[Any], delimiter: str, end: str) -> Any:
    """The records of some columns of floats as texts, with an ending each."""
    import numpy as np
    import pyarrow

    signs, ends = written(columns, delimiter)
    signs[ends] = ord(end)
    return _cut(pyarrow, signs, np.append(0, ends + 1))


def _cut(pyarrow: Any, text: Any, offsets: Any) -> Any:
    """The pieces of a text between offsets."""
    import numpy as np

    at = pyarrow.py_buffer(np.asarray(offsets, np.int32))
    return pyarrow.Array.from_buffers(
        pyarrow.binary(), len(offsets) - 1, [None, at, pyarrow.py_buffer(text)]
    )


def _quoted(column: Any, delimiter: str) -> Any:
    """The texts, with quotes where a table needs them."""
    import pyarrow
    from pyarrow import compute

    texts = _array(column)
    content = _bytes_of(texts)
    if not any(sign in content for sign in (b'"', b"\n", b"\r", delimiter.encode())):
        return texts
    texts = texts.cast(pyarrow.large_binary())
    needs = compute.match_substring_regex(texts, f'["\\r\\n{re.escape(delimiter)}]')
    sign, nothing = (pyarrow.scalar(x, texts.type) for x in (b'"', b""))
    doubled = compute.replace_substring(texts, b'"', b'""')
    quoted = compute.binary_join_element_wise(sign, doubled, sign, nothing)
    return compute.if_else(needs, quoted, texts)


def _bytes_of(texts: Any) -> bytes:
    """All texts of an array, one after the other."""
    import numpy as np

    _, offsets, content = texts.buffers()
    size = np.int64 if str(texts.type).startswith("large_") else np.int32
    at = np.frombuffer(offsets, size)
    if content is None:
        return b""
    found: bytes = content[int(at[texts.offset]) : int(at[texts.offset + len(texts)])].to_pybytes()
    return found


def each_text(column: Any, plain: str, make: Callable[[str], str]) -> Any:
    """A column of texts, each made of one of a column.

    Args:
        column: The column.
        plain: A pattern of the texts that stay as they are, the same for Python and RE2.
        make: Makes the text; one of printable ASCII without quotes and backslashes is put between
            quotes.
    """
    if isinstance(column, list) or not _is_long(len(column)):
        return [*map(make, texts_of(column))]
    import pyarrow
    from pyarrow import compute

    texts = _array(column)
    stays = compute.match_substring_regex(texts, f"^(?:{plain})$")
    usual = compute.match_substring_regex(texts, _USUAL)
    sign, nothing = (pyarrow.scalar(x, texts.type) for x in ('"', ""))
    quoted = compute.binary_join_element_wise(sign, texts, sign, nothing)
    found = compute.if_else(stays, texts, quoted)
    others = compute.invert(compute.or_(stays, usual))
    made = [*map(make, texts.filter(others).to_pylist())]
    return compute.replace_with_mask(found, others, pyarrow.array(made, texts.type))
