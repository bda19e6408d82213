"""Values as literals such as `[1.3333333333333333,2.0]`, in the spelling of JSON or of scripts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gradcli.results import Value


class _Punctuation(str):
    """A finished piece of text among values that are still to be written."""

    __slots__ = ()


_COMMA = _Punctuation(",")
_CLOSE = _Punctuation("]")
_END = _Punctuation("}")
_MOST_TOGETHER = 2**16
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_JSON_NAMES = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}


def literal(value: Value, *, json: bool = False) -> str:
    """A value on one line, without spaces. Floats read back to the same bits.

    Args:
        value: A value that a program computed.
        json: True to write nan and infinities as JSON strings, not as nan, inf, -inf.
    """
    parts: list[str] = []
    todo = [value]
    while todo:  # no recursion: a program can nest lists to any depth
        item = todo.pop()
        if type(item) is _Punctuation:
            parts.append(item)
            continue
        if _is_large(item):
            parts.append(f"[{','.join([_inner(part, item.ndim, json) for part in _split(item)])}]")
            continue
        item = plain_value(item)
        if isinstance(item, (list, tuple)):
            if _all_finite(item):
                parts.append(f"[{','.join(map(float.__repr__, item))}]")
                continue
            parts.append("[")
            todo.append(_CLOSE)
            for index in range(len(item) - 1, -1, -1):
                todo.append(item[index])
                if index:
                    todo.append(_COMMA)
        elif isinstance(item, dict):
            parts.append("{")
            todo.append(_END)
            for index, (key, inner) in enumerate(reversed(item.items())):
                if index:
                    todo.append(_COMMA)
                todo += [inner, _Punctuation(f"{quote(key)}:")]
        else:
            parts.append(_scalar(item, json))
    return "".join(parts)


def numbers(value: Value) -> Iterator[str]:
    """The numbers in a value in row-major order, as texts; a string is left as it is."""
    todo = [value]
    while todo:
        item = todo.pop()
        item = _split(item) if _is_large(item) else plain_value(item)
        if isinstance(item, (list, tuple)):
            todo.extend(reversed(item))
        elif isinstance(item, dict):
            todo.extend(reversed(item.values()))
        elif isinstance(item, str):
            yield item
        elif item is not None:
            yield _scalar(item, json=False)


def _is_large(value: Any) -> bool:
    """True for an array to write part by part. As Python numbers with their texts it would take 15
    times its memory, and NumPy cannot be interrupted while it makes them.
    """
    return hasattr(value, "dtype") and value.size > _MOST_TOGETHER


def _split(array: Any) -> list[Any]:
    """A large array as blocks of rows, or as single rows if these are large themselves."""
    count = _MOST_TOGETHER * len(array) // array.size
    if count == 0:
        return list(array)
    return [array[start : start + count] for start in range(0, len(array), count)]


def _inner(part: Any, ndim: int, json: bool) -> str:
    """The text of an array's part, without the brackets of the array of `ndim` dimensions."""
    text = literal(part, json=json)
    return text if part.ndim < ndim else text[1:-1]


def quote(text: str) -> str:
    """A JSON string, with escapes for characters that are not printable."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_escape, text))}"'


def plain_value(value: Value) -> Any:
    """A NumPy array or scalar as Python numbers in lists, anything else as it is.

    A float32 or float16 becomes the double with the same shortest text.
    """
    if not hasattr(value, "dtype"):
        return value
    if value.dtype.name in ("float32", "float16"):
        import numpy as np

        shortest = [float(str(x)) for x in np.ravel(value)]
        return np.array(shortest, dtype=np.float64).reshape(value.shape).tolist()
    return value.tolist()


def _all_finite(items: list[Any] | tuple[Any, ...]) -> bool:
    return all(type(x) is float for x in items) and all(map(math.isfinite, items))


def _scalar(value: object, json: bool) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        text = float.__repr__(value)
        return _JSON_NAMES.get(text, text) if json else text
    if isinstance(value, str):
        return quote(value)
    raise TypeError(f"a {type(value).__name__} has no literal")


def _escape(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex("\n", 2).split("\n")
    return "".join(f"\\u{unit}" for unit in units)
