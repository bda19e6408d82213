"""Columns of a block of lines: numbers and texts, by pyarrow if it is installed, else by NumPy.

Anything unusual is left to the reader of single cells, so that both give the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from gradcli.formats.texts.dialect import Dialect

_NARROW = 16  # cells in a record for each one that is read, beyond which they are cut out first
_LINE_END = ord("\n")
_NUMBER = r"^[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*$"

Read: TypeAlias = "tuple[list[Any], list[Any]]"
"""Columns of numbers and of texts."""


def columns_of(
    lines: bytes,
    count: int,
    width: int,
    numbers: Sequence[int],
    texts: Sequence[int],
    delimiter: str,
    dialect: Dialect,
) -> Read:
    """Some columns of plain lines: arrays of numbers, with nan for a cell that needs a reading of
    its own, and columns of texts. If a line has another number of cells, all numbers are nan and no
    text is right.

    Args:
        lines: Whole lines, as `plain_lines` demands.
        count: The number of lines.
        width: The number of cells in a record.
        numbers: Indices of columns of numbers.
        texts: Indices of columns of texts.
        delimiter: The text between cells.
        dialect: How numbers are written.
    """
    wanted = sorted({*numbers, *texts})
    if len(wanted) * _NARROW < width and b'"' not in lines:
        cut = _cut_out(lines, width, wanted, delimiter)
        if cut is None:
            return _nothing(count, numbers, texts)
        at = {place: k for k, place in enumerate(wanted)}
        numbers, texts = [at[p] for p in numbers], [at[p] for p in texts]
        lines, width = cut, len(wanted)
    by = _by_arrow if find_spec("pyarrow") is not None else _by_numpy
    found = by(lines, width, numbers, texts, delimiter, dialect)
    if found is None or any(len(column) != count for part in found for column in part):
        return _nothing(count, numbers, texts)
    return [certain(column) for column in found[0]], found[1]


def _nothing(count: int, numbers: Sequence[int], texts: Sequence[int]) -> Read:
    import numpy as np

    return [np.full(count, np.nan) for _ in numbers], [[""] * count for _ in texts]


def certain(column: Any) -> Any:
    """A column with nan for numbers that may differ from their cells: `-0` is an int, `1e999` too
    large.
    """
    import numpy as np

    is_odd = ~np.isfinite(column) | ((column == 0.0) & np.signbit(column))
    return np.where(is_odd, np.nan, column) if is_odd.any() else column


def _cut_out(lines: bytes, width: int, wanted: Sequence[int], delimiter: str) -> bytes | None:
    """The lines with these cells alone; None if one has another number of cells."""
    ends = _ends(lines, width, delimiter)
    if ends is None:
        return None
    sign = delimiter.encode()
    before, pieces = -1, []
    for row in ends:
        cells = [lines[(row[place - 1] if place else before) + 1 : row[place]] for place in wanted]
        pieces.append(sign.join(cells))
        before = row[-1]
    return b"\n".join(pieces) + b"\n"


def _ends(lines: bytes, width: int, delimiter: str) -> Any:
    """Where the cells of lines without quotes end, a row for each line; None if a line has another
    number of cells than `width`.
    """
    import numpy as np

    signs = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8)
    ends = np.flatnonzero((signs == ord(delimiter)) | (signs == _LINE_END))
    if len(ends) % width:
        return None
    found = ends.reshape(-1, width)
    count = int((signs == _LINE_END).sum())
    return found if count == len(found) and (signs[found[:, -1]] == _LINE_END).all() else None


def _by_arrow(
    lines: bytes,
    width: int,
    numbers: Sequence[int],
    texts: Sequence[int],
    delimiter: str,
    dialect: Dialect,
) -> Read | None:
    import pyarrow
    from pyarrow import csv

    names = [str(place) for place in range(width)]
    picked = [f"{place}" for place in dict.fromkeys([*numbers, *texts])]

    def read(types: dict[str, Any]) -> Any:
        return csv.read_csv(
            pyarrow.py_buffer(lines),
            csv.ReadOptions(use_threads=False, block_size=len(lines) + 1, column_names=names),
            csv.ParseOptions(
                delimiter=delimiter,
                quote_char=b'"' in lines and '"',
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                column_types=types,
                include_columns=picked,
                null_values=sorted(dialect.missing),
                decimal_point=dialect.decimal,
            ),
        )

    text, number = pyarrow.string(), pyarrow.float64()
    both = {*numbers} & {*texts}
    try:
        if both:
            raise pyarrow.ArrowInvalid("a column of texts and numbers")
        types = {f"{p}": text for p in texts} | {f"{p}": number for p in numbers}
        found = read(types)
        columns = [found.column(f"{p}").to_numpy() for p in numbers]
    except pyarrow.ArrowInvalid:  # some cell is no number, or a line has more cells
        try:
            found = read(dict.fromkeys(picked, text))
        except pyarrow.ArrowInvalid:
            return None
        columns = [_numbers_in(found.column(f"{p}"), dialect) for p in numbers]
    return columns, [found.column(f"{p}").combine_chunks() for p in texts]


def _numbers_in(cells: Any, dialect: Dialect) -> Any:
    """The numbers in cells, with nan for all others."""
    from pyarrow import compute

    if dialect.decimal != ".":
        cells = compute.replace_substring(cells, dialect.decimal, ".", max_replacements=1)
    is_number = compute.match_substring_regex(cells, _NUMBER)
    trimmed = compute.utf8_trim_whitespace(compute.if_else(is_number, cells, None))
    return trimmed.cast("float64").to_numpy()


def _by_numpy(
    lines: bytes,
    width: int,
    numbers: Sequence[int],
    texts: Sequence[int],
    delimiter: str,
    dialect: Dialect,
) -> Read | None:
    cells = _cells(lines, width, delimiter)
    if cells is None:
        return None
    return [_column(cells(p), dialect) for p in numbers], [cells(p) for p in texts]


def _cells(lines: bytes, width: int, delimiter: str) -> Callable[[int], list[str]] | None:
    """A function that gives the cells of a column; None if a line has another number of cells."""
    text = lines.decode().replace("\r\n", "\n").removesuffix("\n")
    if '"' in text:
        import csv

        records = [*csv.reader(text.split("\n"), delimiter=delimiter)]
        if any(len(record) != width for record in records):
            return None
        return lambda place: [record[place] for record in records]
    if _ends(lines, width, delimiter) is None:
        return None
    every = text.replace("\n", delimiter).split(delimiter)
    return lambda place: every[place::width]


def _column(cells: list[str], dialect: Dialect) -> Any:
    """The numbers in cells, with nan for all others."""
    import numpy as np

    if dialect.decimal != ".":
        cells = [cell.replace(dialect.decimal, ".", 1) for cell in cells]
    if not dialect.missing:
        found = _numbers(",".join([*cells, ""]), len(cells))
        if found is not None:
            return found
    fits = re.compile(_NUMBER, re.ASCII).match
    missing = dialect.missing
    return np.array([float(c) if fits(c) and c.strip() not in missing else np.nan for c in cells])


def _numbers(text: str, count: int) -> Any:
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
