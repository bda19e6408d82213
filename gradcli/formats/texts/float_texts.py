"""The texts of many floats as `repr` writes them, by orjson if it is installed.

orjson writes the same digits, and the same text from 1e-4 to 1e16; `repr` writes the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from gradcli.formats.texts import machine_texts

_LEAST, _MOST = 1e-4, 1e16  # `repr` writes no exponent between them
_COMMA, _LINE_END = ord(","), ord("\n")
_FEW = 100  # few numbers are faster one by one
_MANY = 2**15  # numbers in a block of a table for which it pays to make machine code


def texts(column: Any) -> list[str]:
    """The texts of an array of floats, ints or bools for a table."""
    if column.dtype.kind == "f" and len(column) > _FEW:
        return str(records([column], ","), "ascii").splitlines()
    found = [repr(x) for x in column.tolist()]
    return [x.lower() for x in found] if column.dtype.kind == "b" else found


def text_array(column: Any) -> Any:
    """The texts of an array of floats, ints or bools for a table, as an array of pyarrow."""
    import numpy as np
    import pyarrow

    if column.dtype.kind != "f":
        return pyarrow.array(column).cast(pyarrow.string())
    found = written([column], ",")
    offsets = np.zeros(2 * len(column) + 1, np.int32)  # of the texts and of the line ends
    offsets[1::2], offsets[2::2] = found.ends, found.ends + 1
    pieces = pyarrow.Array.from_buffers(
        *(pyarrow.binary(), 2 * len(column)),
        [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(found.signs)],
    )
    return pieces.take(pyarrow.array(np.arange(0, 2 * len(column), 2)))


def records(columns: Sequence[Any], delimiter: str) -> bytes:
    """The records of a table of arrays, one a line."""
    if len(columns) * len(columns[0]) <= _FEW or any(c.dtype.kind != "f" for c in columns):
        lines = map(delimiter.join, zip(*map(texts, columns), strict=True))
        return "".join([f"{line}\n" for line in lines]).encode()
    found: bytes = written(columns, delimiter).signs.tobytes()
    return found


class Written(NamedTuple):
    """The records of a table of floats.

    Fields:
        signs: Their text, as an array of bytes.
        ends: The places of the line ends in it.
    """

    signs: Any
    ends: Any


def written(columns: Sequence[Any], delimiter: str) -> Written:
    """The records of a table of arrays of floats, one a line."""
    import numpy as np

    rows = np.column_stack(columns)
    if rows.size >= _MANY and machine_texts.is_there():
        return Written(*machine_texts.lines(rows, delimiter))
    if find_spec("orjson") is None:
        from gradcli.formats.texts.shortest import delimited

        return _of_text(delimited(rows, delimiter.encode()))
    sizes = np.abs(rows)
    is_usual = (sizes >= _LEAST) & (sizes < _MOST) | (rows == 0.0)
    if is_usual.all():
        return _usual(rows, delimiter)
    pieces, start = [], 0
    for place in np.flatnonzero(~is_usual.all(axis=1)).tolist():
        pieces.append(_usual(rows[start:place], delimiter).signs.tobytes())
        pieces.append(delimiter.join(map(float.__repr__, rows[place].tolist())).encode() + b"\n")
        start = place + 1
    pieces.append(_usual(rows[start:], delimiter).signs.tobytes())
    return _of_text(b"".join(pieces))


def _of_text(text: bytes) -> Written:
    import numpy as np

    signs = np.frombuffer(bytearray(text), np.uint8)
    return Written(signs, np.flatnonzero(signs == _LINE_END))


def _usual(rows: Any, delimiter: str) -> Written:
    """The records of rows whose numbers orjson writes like `repr`."""
    import numpy as np
    import orjson

    if not len(rows):
        return _of_text(b"")
    json = orjson.dumps(rows.ravel(), option=orjson.OPT_SERIALIZE_NUMPY)
    signs = np.frombuffer(json, np.uint8)[1:].copy()  # without the bracket before the first number
    signs[-1] = _COMMA
    commas = np.flatnonzero(signs == _COMMA)
    if delimiter != ",":
        signs[commas] = ord(delimiter)
    ends = commas[rows.shape[1] - 1 :: rows.shape[1]]
    signs[ends] = _LINE_END
    return Written(signs, ends)


def repeated(text: str, count: int) -> Any:
    """A column that repeats one text; an array of floats if it is the text of one."""
    import numpy as np

    try:
        number = float(text)
    except ValueError:
        return [text] * count
    return np.full(count, number) if repr(number) == text else [text] * count
