"""Results as named values: the one form that lines, tables, CSV and arrays are made of."""

from __future__ import annotations

from typing import Any

from gradcli.results import Derivative, RunResult, Several, Value


def fields(result: RunResult | Derivative | Several) -> dict[str, Value]:
    """The result's value by its name, then the derivatives: `loss`, `grad.w`, `hessian.w.b`."""
    if isinstance(result, RunResult):
        return {} if result.result is None else _named(result.output, result.result)
    found = result.value if isinstance(result, Several) else {result.output: result.value}
    for name, value in _values(result).items():
        found.update(_named(name, value))
    return found


def derivative(result: Derivative | Several) -> dict[str, Value]:
    """What the command was asked for, by name."""
    return _named(*list(_values(result).items())[-1])


def _values(result: Derivative | Several) -> dict[str, Any]:
    """The answer without its texts."""
    return {name: v for name, v in result.answer.items() if name != "mode"}


def _named(name: str, value: Any) -> dict[str, Value]:
    """Values by one name, made of those by which they are found."""
    if not isinstance(value, dict):
        return {name: value}
    found: dict[str, Value] = {}
    for inner, part in value.items():
        found.update(_named(f"{name}.{inner}", part))
    return found
