"""The texts of many floats, which are those that `repr` gives: by orjson where it is installed.

orjson writes the same digits, and numbers from 1e-4 up to 1e16 in the same way; `repr` the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

_LEAST, _MOST = 1e-4, 1e16  # between which `repr` writes no exponent
_FEW = 100  # numbers that are soon written one by one


def texts(column: Any) -> list[str]:
    """The texts of an array of floats, ints or bools as tables have them."""
    if column.dtype.kind == "f" and len(column) > _FEW:
        return records([column], ",").splitlines()
    found = [repr(x) for x in column.tolist()]
    return [x.lower() for x in found] if column.dtype.kind == "b" else found


def records(columns: Sequence[Any], delimiter: str) -> str:
    """The records of a table of arrays, a line each."""
    if len(columns) * len(columns[0]) <= _FEW or any(c.dtype.kind != "f" for c in columns):
        written = map(delimiter.join, zip(*map(texts, columns), strict=True))
        return "".join([f"{line}\n" for line in written])
    import numpy as np

    rows = np.column_stack(columns)
    if find_spec("orjson") is not None:
        text = _records(rows).decode()
        return text if delimiter == "," else text.replace(",", delimiter)
    from gradcli.formats.texts.shortest import delimited

    return delimited(rows, delimiter.encode()).decode()


def repeated(text: str, count: int) -> Any:
    """A column of one text; an array where that is the text of a float."""
    import numpy as np

    try:
        number = float(text)
    except ValueError:
        return [text] * count
    return np.full(count, number) if repr(number) == text else [text] * count


def _records(rows: Any) -> bytes:
    import numpy as np

    sizes = np.abs(rows)
    is_usual = (sizes >= _LEAST) & (sizes < _MOST) | (rows == 0.0)
    pieces, start = [], 0
    for place in np.flatnonzero(~is_usual.all(axis=1)).tolist():
        pieces.append(_usual(rows[start:place]))
        pieces.append(",".join(map(float.__repr__, rows[place].tolist())).encode() + b"\n")
        start = place + 1
    pieces.append(_usual(rows[start:]))
    return b"".join(pieces)


def _usual(rows: Any) -> bytes:
    """Rows of numbers that orjson writes as `repr` does."""
    import orjson

    if not len(rows):
        return b""
    json: bytes = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    return json[2:-2].replace(b"],[", b"\n") + b"\n"
