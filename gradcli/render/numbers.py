"""Values for people: numbers at a precision, vectors on a line, matrices as aligned blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from gradcli.render.text import TIMES, bracketed, cells, shorten, visible
from gradcli.results import Value

_ROWS = 6  # rows: a longer matrix shows its first and last ones
_DEPTH = 3  # nested lists that are shown
_LINES = 32  # rows: a longer array of more than two dimensions shows its range only


def number(value: Any, precision: int) -> str:
    """A scalar for people: floats with `precision` significant digits."""
    if isinstance(value, float):
        return f"{value:.{precision}g}"
    if isinstance(value, str):
        return visible(repr(value))
    return str(value)


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of an array, or of a list of scalars or of equal rows; () for others."""
    if hasattr(value, "shape"):
        return tuple(value.shape)
    if not isinstance(value, (list, tuple)):
        return ()
    if value and all(_is_row(row) and len(row) == len(value[0]) for row in value):
        return (len(value), len(value[0]))
    return (len(value),) if all(map(_is_scalar, value)) else ()


def flat(value: Value) -> list[Any]:
    """The numbers of a value in row-major order."""
    if hasattr(value, "ravel"):
        return list(value.ravel().tolist())
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in flat(part)]
    return [value]


def element_names(name: str, shape: Sequence[int]) -> list[str]:
    """The names of the elements of a value of this shape: `x`, or `x[0]`, `x[1]`, or `x[0, 0]`."""
    places = product(*map(range, shape))
    return [f"{name}{bracketed(place)}" for place in places]


def is_number(value: Value) -> bool:
    """True for one number: not for an array with dimensions, a list, a text or None."""
    return _is_scalar(value) and not isinstance(value, str) and value is not None


def block(value: Value, precision: int, width: int) -> list[str]:
    """The lines that show a value within `width` cells."""
    if value is None:
        return [""]
    if isinstance(value, dict) and value:
        return _entries(value, precision, width)
    shape = shape_of(value)
    if not shape:
        return [shorten(_text(value, precision, 0), width)]
    if 0 in shape or (len(shape) > 2 and math.prod(shape[:-1]) > _LINES):
        return [shorten(_summary(value, shape, precision), width)]
    if len(shape) > 2:
        return _stack(value, precision, width)
    if len(shape) == 1:
        return [_vector(value, precision, width)]
    return _matrix(value, precision, width)


def align(texts: Sequence[str]) -> list[str]:
    """The texts padded to one width, with numbers aligned at their decimal points."""
    split = [_at_point(text) for text in texts]
    left = max((cells(before) for before, _ in split), default=0)
    right = max((cells(after) for _, after in split), default=0)
    return [
        " " * (left - cells(before)) + before + after + " " * (right - cells(after))
        for before, after in split
    ]


def aligned(texts: Sequence[str], values: Sequence[Value]) -> list[str]:
    """The texts of values, with those of numbers aligned at their points."""
    column = [*texts]
    rows = [i for i, value in enumerate(values) if is_number(value)]
    for i, text in zip(rows, align([column[i] for i in rows]), strict=True):
        column[i] = text
    return column


def nested(value: Value, precision: int) -> str:
    """A number, or lists of numbers in brackets, on one line."""
    if isinstance(value, list):
        return f"[{', '.join(nested(item, precision) for item in value)}]"
    return number(value, precision)


def _is_scalar(item: Value) -> bool:
    return not isinstance(item, (list, tuple, dict)) and not getattr(item, "shape", ())


def _is_row(item: Value) -> bool:
    return isinstance(item, (list, tuple)) and all(map(_is_scalar, item))


def _at_point(text: str) -> tuple[str, str]:
    """A number's text split at its point, exponent or comma."""
    if text.lstrip("-")[:1].isdigit():
        for index, character in enumerate(text):
            if character in ".e,":
                return text[:index], text[index:]
    return text, ""


def _pick(count: int, room: int) -> list[int | None]:
    """Indices of the items to show in `room` places; None stands for those left out."""
    if count <= room:
        return list(range(count))
    tail = (room - 1) // 2
    head = max(room - 1 - tail, 1)
    return [*range(head), None, *range(count - tail, count)]


def _texts(row: Any, picked: Sequence[int | None], precision: int) -> list[str]:
    return ["…" if i is None else number(python_item(row[i]), precision) for i in picked]


def python_item(item: Any) -> Any:
    """An element of an array as Python's number; anything else as it is."""
    return item.item() if hasattr(item, "item") else item


def _vector(row: Any, precision: int, width: int) -> str:
    room = min(len(row), max(width // 2, 1))
    while True:
        text = f"[{', '.join(_texts(row, _pick(len(row), room), precision))}]"
        if cells(text) <= width or room == 1:
            return shorten(text, width)
        room = max(1, min(room - 1, room * width // cells(text)))


def _matrix(rows: Any, precision: int, width: int) -> list[str]:
    shown = _pick(len(rows), _ROWS)
    room = min(len(rows[0]), max(width // 2, 1))
    while True:
        picked = _pick(len(rows[0]), room)
        grid = [_texts(rows[i], picked, precision) for i in shown if i is not None]
        columns = [align([f"{text}," for text in column]) for column in zip(*grid, strict=True)]
        texts = [" ".join(row).rstrip(", ") for row in zip(*columns, strict=True)]
        longest = max(map(cells, texts)) + 4
        if longest <= width or room <= 2:
            break
        room = max(2, min(room - 1, room * width // longest))
    lines = [f" [{text}]," for text in texts]
    lines[0] = f"[{lines[0][1:]}"
    lines[-1] = f"{lines[-1][:-1]}]"
    if None in shown:
        lines.insert(shown.index(None), " …")
    return [shorten(line, width) for line in lines]


def _stack(values: Any, precision: int, width: int) -> list[str]:
    """The blocks of an array of three or more dimensions, one below the other."""
    lines = []
    for i, value in enumerate(values):
        inner = block(value, precision, width - 2)
        inner[-1] += "]" if i == len(values) - 1 else ","
        lines += [f"{'[' if i == j == 0 else ' '}{line}" for j, line in enumerate(inner)]
    return lines


def _entries(value: dict[str, Any], precision: int, width: int) -> list[str]:
    """A dictionary, one key a line."""
    lines = []
    for i, (key, item) in enumerate(value.items()):
        head = f"{'{' if i == 0 else ' '}{visible(repr(key))}: "
        room = max(width - cells(head) - 1, 1)
        first, *rest = ["None"] if item is None else block(item, precision, room)
        lines += [head + first, *(" " * cells(head) + line for line in rest)]
        lines[-1] += "}" if i == len(value) - 1 else ","
    return [shorten(line, width) for line in lines]


def _text(value: Any, precision: int, depth: int) -> str:
    """A value on one line. In an irregular list or a dictionary, scalars and short lists are
    written out and matrices shown by their shape.
    """
    if _is_scalar(value):
        return number(python_item(value), precision)
    if depth and len(shape_of(value)) > 1:
        return f"[{TIMES.join(map(str, shape_of(value)))}]"
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if depth > _DEPTH:
        return f"{opening}…{closing}"
    if isinstance(value, dict):
        few = list(value.items())[:_ROWS]
        texts = [f"{visible(repr(k))}: {_text(v, precision, depth + 1)}" for k, v in few]
    else:
        texts = [_text(item, precision, depth + 1) for item in value[:_ROWS]]
    if len(value) > _ROWS:
        texts.append(f"… {len(value) - _ROWS:,} more")
    return f"{opening}{', '.join(texts)}{closing}"


def _summary(value: Any, shape: tuple[int, ...], precision: int) -> str:
    count = math.prod(shape)
    if not count:
        return "[]"
    low, high = (number(python_item(edge), precision) for edge in (value.min(), value.max()))
    return f"{count:,} numbers, {low} to {high}"
