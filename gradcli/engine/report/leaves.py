"""Names of a program's tensors: those at top level, and the paths of those in what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.objects import Object


def tensor_names(values: Mapping[str, Any]) -> dict[int, str]:
    """The name of each tensor that a top-level name holds, by its id; of one in an object, such as
    a module, or in a list or dictionary the path: `net.0.weight`, `params['w']`. Of several, the
    first top-level name, else the first path in the order of `named_parameters`.

    Args:
        values: Top-level names and their values.
    """
    found: dict[int, str] = {}
    for name, value in values.items():
        if isinstance(value, Tensor):
            found.setdefault(id(value), name)
    met: set[int] = set()
    stack = [(name, value) for name, value in values.items() if _holds(value)][::-1]
    while stack:
        path, value = stack.pop()
        if id(value) in met:
            continue
        met.add(id(value))
        parts = _parts(path, value)
        for name, part in parts:
            if isinstance(part, Tensor):
                found.setdefault(id(part), name)
        stack += [(name, part) for name, part in reversed(parts) if _holds(part)]
    return found


def _holds(value: Any) -> bool:
    return isinstance(value, (Object, list, tuple, dict))


def _parts(path: str, value: Any) -> list[tuple[str, Any]]:
    """What an object, a list or a dictionary holds, each with its path."""
    if isinstance(value, Object):
        return [(f"{path}.{name}", part) for name, part in value.__dict__.items()]
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [(f"{path}[{key!r}]", part) for key, part in pairs]
