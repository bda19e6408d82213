"""Values written in JSON."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from gradcli.formats.texts.number import WORDS, TooLarge, real, whole
from gradcli.formats.texts.refusal import first_names, refused
from gradcli.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from json import JSONDecoder

_WORDS = ("NaN", "Infinity", "-Infinity")
_SHOWN = 20  # digits shown in a message
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w.+-]+')  # a string or a number


@cache
def json_reader() -> Callable[[bytes], Any]:
    """The fastest reader of JSON that is installed. orjson refuses what it reads in another way
    than Python, but for ints of more than 64 bits, which it may read as floats.
    """
    from importlib.util import find_spec

    if find_spec("orjson") is None:
        from json import loads

        return loads
    import orjson

    loads_of_orjson: Callable[[bytes], Any] = orjson.loads
    return loads_of_orjson


def json_value(source: Source) -> Any:
    """A JSON value; the texts "NaN", "Infinity" and "-Infinity" count as numbers.

    Raises:
        InputError: Where it is broken, or if an object has a key twice.
    """
    from json import JSONDecodeError

    text = source.text
    try:
        return _numbered(_decoder().decode(text))
    except JSONDecodeError as error:
        end = len(text.rstrip())
        place = min(error.pos, max(end - 1, 0))
        reason = "it ends too early" if error.pos >= end else _reason(error.msg)
        raise refused(f"this is not valid JSON: {reason}", source, Span(place, place + 1)) from None
    except TooLarge as error:
        digits = str(error)
        shown = digits if len(digits) < _SHOWN else f"{digits[:_SHOWN]}..."
        span = next((Span(*t.span()) for t in _TOKEN.finditer(text) if t[0] == digits), None)
        raise refused(f"`{shown}` is too large for a float", source, span) from None
    except _Twice as error:
        message = f"`{source.name}` has an object with two keys `{error}`"
        raise refused(message, help="give each value its own name") from None
    except RecursionError:
        raise refused(f"the JSON in `{source.name}` nests too deeply") from None


@cache
def _decoder() -> JSONDecoder:
    """The JSON decoder, made once for all rows."""
    from json import JSONDecoder

    return JSONDecoder(parse_int=whole, parse_float=real, object_pairs_hook=_object)


class _Twice(ValueError):
    """An object has this key twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for i, name in enumerate(names) if name in names[:i]))
    return found


def _reason(message: str) -> str:
    """An error of Python's JSON reader in the style of other messages."""
    text = message.removesuffix(" at").removesuffix(" starting").replace("'", "`")
    return text[:1].lower() + text[1:]


def _numbered(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbered(v) for v in value]
    if isinstance(value, dict):
        return {k: _numbered(v) for k, v in value.items()}
    if isinstance(value, str) and value in _WORDS:
        return WORDS[value]
    return value


def printed_values(found: dict[str, Any]) -> dict[str, Any] | None:
    """The values by name in gradcli's own JSON: a run's `values`, or a derivative's `output` and
    `value`; None for any other object.
    """
    if not str(found.get("schema", "")).startswith("gradcli."):
        return None
    values = found.get("values")
    if not isinstance(values, dict):
        output, value = found.get("output"), found.get("value")
        if isinstance(output, dict) and isinstance(value, dict):  # several results
            values = value
        elif isinstance(output, str) and "value" in found:
            values = {output: value}
        else:
            return None
    return {name: value for name, value in values.items() if value is not None}


def inside(name: str, value: Any, way: str) -> Any:
    """The part of a JSON value at a path of keys and indices, separated by dots.

    Raises:
        InputError: If one of them is not there.
    """
    gone: list[str] = []
    for key in way.split("."):
        at = f"`{name}:{'.'.join(gone)}`" if gone else f"`{name}`"
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict):
            have = first_names(value) or "nothing"
            raise refused(f"{at} has no `{key}`", help=f"it has {have}")
        else:
            what = f"a list of {len(value)}" if isinstance(value, list) else "no object"
            raise refused(f"{at} has no `{key}`: it is {what}")
        gone.append(key)
    return value
