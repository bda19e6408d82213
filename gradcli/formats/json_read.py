"""JSON from outside: as Python's json reads it, with the numbers that JSON cannot write."""

from __future__ import annotations

from gradcli.results import Value

_NOT_FINITE = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


def json_value(text: str) -> Value:
    """The value of a JSON text; the strings "NaN", "Infinity" and "-Infinity" are numbers.

    Raises:
        ValueError: If the text is not JSON, with the place in the message.
    """
    import json

    try:
        return _numbers(json.loads(text))
    except RecursionError:
        raise ValueError("brackets nested too deep") from None


def _numbers(value: Value) -> Value:
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    return value
