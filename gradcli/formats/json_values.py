"""Values written as JSON."""

from __future__ import annotations

import re
from typing import Any

from gradcli.formats.number import WORDS, TooLarge, real, whole
from gradcli.formats.refusal import refused
from gradcli.source import Source, Span

_WORDS = ("NaN", "Infinity", "-Infinity")
_SHOWN = 20  # digits in a message


def json_value(source: Source) -> Any:
    """A JSON value; "NaN", "Infinity" and "-Infinity" as text are numbers.

    Raises:
        InputError: At the place where it is broken.
    """
    import json

    text = source.text
    try:
        return _numbered(json.loads(text, parse_int=whole, parse_float=real))
    except json.JSONDecodeError as error:
        place = min(error.pos, max(len(text.rstrip()) - 1, 0))
        message = f"this is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise refused(message, source, Span(place, place + 1)) from None
    except TooLarge as error:
        digits = str(error)
        found = re.search(rf'(?<![\w."+-]){re.escape(digits)}(?![\w.])', text)
        span = Span(*found.span()) if found else None
        shown = digits if len(digits) < _SHOWN else f"{digits[:_SHOWN]}..."
        raise refused(f"`{shown}` is too large for a float", source, span) from None
    except RecursionError:
        raise refused(f"the JSON in `{source.name}` nests too deeply") from None


def _numbered(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbered(v) for v in value]
    if isinstance(value, dict):
        return {k: _numbered(v) for k, v in value.items()}
    if isinstance(value, str) and value in _WORDS:
        return WORDS[value]
    return value


def printed_values(found: dict[str, Any]) -> dict[str, Any] | None:
    """The values by name in what gradcli printed: a run's `values`, or a derivative's `output`
    and `value`; None if this is nothing that gradcli printed with values.
    """
    if not str(found.get("schema", "")).startswith("gradcli."):
        return None
    values = found.get("values")
    if not isinstance(values, dict):
        if not isinstance(found.get("output"), str) or "value" not in found:
            return None
        values = {found["output"]: found["value"]}
    return {name: value for name, value in values.items() if value is not None}
