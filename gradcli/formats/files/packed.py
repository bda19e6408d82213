"""Arrays in JSON as base64 of little-endian doubles: `{"base64": "AAAAAAAA8D8=", "shape": [1]}`."""

from __future__ import annotations

from base64 import b64decode, b64encode
from math import prod
from typing import Any

from gradcli.errors import counted
from gradcli.formats.texts.refusal import refused

_FIELDS = {"base64", "shape"}
_MOST_AXES = 64  # that NumPy can have
_WORD = 8  # bytes of a double


def is_packed(value: Any) -> bool:
    """True for an object that is meant as an array."""
    return isinstance(value, dict) and "base64" in value


def unpacked(name: str, value: dict[str, Any]) -> Any:
    """The array of an object with `base64` and `shape`; without a shape it is a vector.

    Args:
        name: What has the value, for messages.
        value: The object.

    Raises:
        InputError: If it is no array.
    """
    import numpy as np

    extra = value.keys() - _FIELDS
    if extra:
        known = "an array has the fields `base64` and `shape`"
        raise refused(f"the array of {name} has a field `{min(extra)}`", help=known)
    try:
        data = b64decode(value["base64"], validate=True)
    except (TypeError, ValueError):
        raise refused(f"`base64` of {name} is no base64 text") from None
    if len(data) % _WORD:
        reason = f"it has {counted(len(data), 'byte')}, and a double has {_WORD}"
        raise refused(f"`base64` of {name} does not hold doubles: {reason}")
    shape = value.get("shape", [len(data) // _WORD])
    if type(shape) is not list or any(type(size) is not int or size < 0 for size in shape):
        raise refused(f"`shape` of {name} is no list of sizes", help='as in `"shape": [2, 3]`')
    if prod(shape) * _WORD != len(data) or len(shape) > _MOST_AXES:
        count = counted(len(data) // _WORD, "double")
        raise refused(f"{name} has {count}, and the shape {shape} takes {prod(shape):,}")
    return np.frombuffer(data, "<f8").astype(np.float64).reshape(shape)


def packed(value: Any) -> Any:
    """A value with objects in place of its arrays of floats; arrays of ints and bools become lists,
    since doubles do not hold all ints.
    """
    if isinstance(value, dict):
        return {name: packed(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(part) for part in value]
    if getattr(value, "ndim", 0) == 0 or value.dtype.kind != "f":
        return value
    text = b64encode(value.astype("<f8").tobytes()).decode("ascii")
    return {"base64": text, "shape": [*value.shape]}
