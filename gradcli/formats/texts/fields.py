"""Values by one name each: the one form that lines, tables, CSV and arrays are made of."""

from __future__ import annotations

from typing import Any

from gradcli.results import Value


def named(name: str, value: Any) -> dict[str, Value]:
    """The values in nested dictionaries, by names such as `hessian.w.b`; another value by its
    own.
    """
    if not isinstance(value, dict):
        return {name: value}
    found: dict[str, Value] = {}
    for inner, part in value.items():
        found.update(named(f"{name}.{inner}", part))
    return found
