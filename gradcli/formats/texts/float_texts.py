"""The texts of many floats as `repr` writes them, by orjson if it is installed.

orjson writes the same digits, and the same text from 1e-4 to 1e16; `repr` writes the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

_LEAST, _MOST = 1e-4, 1e16  # `repr` writes no exponent between them
_FEW = 100  # few numbers are faster one by one


def texts(column: Any) -> list[str]:
    """The texts of an array of floats, ints or bools for a table."""
    if column.dtype.kind == "f" and len(column) > _FEW:
        return records([column], ",").splitlines()
    found = [repr(x) for x in column.tolist()]
    return [x.lower() for x in found] if column.dtype.kind == "b" else found


def text_array(column: Any) -> Any:
    """The texts of an array of floats, ints or bools for a table, as an array of pyarrow."""
    import numpy as np
    import pyarrow

    if column.dtype.kind != "f":
        return pyarrow.array(column).cast(pyarrow.string())
    text = np.frombuffer(records([column], ",").encode(), np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    offsets = np.zeros(2 * len(column) + 1, np.int32)  # of the texts and of the line ends
    offsets[1::2], offsets[2::2] = ends, ends + 1
    pieces = pyarrow.Array.from_buffers(
        *(pyarrow.binary(), 2 * len(column)),
        [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(text)],
    )
    return pieces.take(pyarrow.array(np.arange(0, 2 * len(column), 2)))


def records(columns: Sequence[Any], delimiter: str) -> str:
    """The records of a table of arrays, one a line."""
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
    """A column that repeats one text; an array of floats if it is the text of one."""
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
    """A mask of the rows whose numbers orjson writes like `repr`."""
    import orjson

    if not len(rows):
        return b""
    json: bytes = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    return json[2:-2].replace(b"],[", b"\n") + b"\n"
