"""Float columns of a block of lines, by pyarrow if it is installed, else by NumPy.

Anything unusual is left to the reader of single cells, so that both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from gradcli.formats.texts.dialect import Dialect

_COMMA, _LINE_END = b",\n"


def float_columns(
    block: bytes, width: int, wanted: Sequence[int], delimiter: str, dialect: Dialect
) -> list[Any] | None:
    """Arrays of some columns, with nan for a cell that needs a reading of its own; None if all
    cells do, or a line has another number of cells.

    Args:
        block: Whole lines.
        width: Number of cells in a record.
        wanted: Indices of the columns.
        delimiter: The text between cells.
        dialect: How numbers are written.
    """
    plain = b'"' not in block and block.count(b"\r") == block.count(b"\r\n") and _is_text(block)
    if not (plain and len(delimiter.encode()) == 1):
        return None
    count = block.count(b"\n") + (not block.endswith(b"\n"))
    order = sorted(wanted)
    by = _by_arrow if find_spec("pyarrow") is not None else _by_numpy
    found = by(block, width, order, delimiter, dialect)
    if found is None or any(len(column) != count for column in found):
        return None
    return [certain(found[order.index(place)]) for place in wanted]


def certain(column: Any) -> Any:
    """A column with nan for numbers that may differ from their cells: `-0` is an int, `1e999` too
    large.
    """
    import numpy as np

    is_odd = ~np.isfinite(column) | ((column == 0.0) & np.signbit(column))
    return np.where(is_odd, np.nan, column) if is_odd.any() else column


def _is_text(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode())
    except UnicodeDecodeError:
        return False


def _by_arrow(
    block: bytes, width: int, wanted: Sequence[int], delimiter: str, dialect: Dialect
) -> list[Any] | None:
    import pyarrow
    from pyarrow import csv

    names = [str(place) for place in range(width)]
    picked = [str(place) for place in wanted]
    try:
        found = csv.read_csv(
            pyarrow.py_buffer(block),
            csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
            csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(
                column_types=dict.fromkeys(picked, pyarrow.float64()),
                include_columns=picked,
                null_values=sorted(dialect.missing),
                decimal_point=dialect.decimal,
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    return [column.to_numpy() for column in found.columns]


def _by_numpy(
    block: bytes, width: int, wanted: Sequence[int], delimiter: str, dialect: Dialect
) -> list[Any] | None:
    import numpy as np

    if not dialect.has_plain_numbers:
        return None
    lines = block.replace(b"\r\n", b"\n")
    signs = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8).copy()
    is_end = (signs == ord(delimiter)) | (signs == _LINE_END)
    ends = np.flatnonzero(is_end)
    count, rest = divmod(len(ends), width)
    if rest:
        return None
    if (signs[ends[width - 1 :: width]] != _LINE_END).any():
        return None
    signs[ends] = _COMMA
    if len(wanted) < width:
        is_wanted = np.zeros(width, np.bool_)
        is_wanted[[*wanted]] = True
        signs = signs[np.repeat(np.tile(is_wanted, count), np.diff(ends, prepend=-1))]
    found = _numbers(signs.tobytes(), count * len(wanted))
    return None if found is None else list(found.reshape(-1, len(wanted)).T)


def _numbers(text: bytes, count: int) -> Any:
    """The numbers before commas; None unless there are `count`."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # not a number, before NumPy 2.5
        try:
            found = np.fromstring(text, np.float64, sep=",")
        except (ValueError, DeprecationWarning):
            return None
    return found if len(found) == count else None
