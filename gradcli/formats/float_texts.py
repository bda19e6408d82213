"""The texts of many floats: those that `repr` gives, by orjson where it is installed.

orjson writes the same digits, and numbers from 1e-4 up to 1e16 in the same way; `repr` the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

_LEAST, _MOST = 1e-4, 1e16  # between which `repr` writes no exponent


def texts(column: Any) -> list[str]:
    """The texts of an array of floats, ints or bools as tables have them."""
    if column.dtype.kind != "f":
        found = [repr(x) for x in column.tolist()]
        return [x.lower() for x in found] if column.dtype.kind == "b" else found
    if not _has_orjson():
        return [*map(float.__repr__, column.tolist())]
    return records([column], ",").splitlines()


def records(columns: Sequence[Any], delimiter: str) -> str:
    """The records of a table of arrays, a line each."""
    if _has_orjson() and all(column.dtype.kind == "f" for column in columns):
        return _records(columns, delimiter.encode()).decode()
    written = map(delimiter.join, zip(*map(texts, columns), strict=True))
    return "".join([f"{line}\n" for line in written])


def repeated(text: str, count: int) -> Any:
    """A column of one text; an array where that is the text of a float."""
    import numpy as np

    try:
        number = float(text)
    except ValueError:
        return [text] * count
    return np.full(count, number) if repr(number) == text else [text] * count


def _has_orjson() -> bool:
    return find_spec("orjson") is not None


def _records(columns: Sequence[Any], delimiter: bytes) -> bytes:
    import numpy as np

    rows = np.column_stack(columns)
    sizes = np.abs(rows)
    is_usual = (sizes >= _LEAST) & (sizes < _MOST) | (rows == 0.0)
    odd = np.flatnonzero(~is_usual.all(axis=1)).tolist()
    pieces, start = [], 0
    for place in odd:
        pieces.append(_usual(rows[start:place]))
        pieces.append(",".join(map(float.__repr__, rows[place].tolist())).encode() + b"\n")
        start = place + 1
    pieces.append(_usual(rows[start:]))
    text = b"".join(pieces)
    return text if delimiter == b"," else text.replace(b",", delimiter)


def _usual(rows: Any) -> bytes:
    """Rows of numbers that orjson writes as `repr` does."""
    import orjson

    if not len(rows):
        return b""
    json: bytes = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    return json[2:-2].replace(b"],[", b"\n") + b"\n"
