"""Results as text for pipes: lines whose shape never changes."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.formats.literal import literal
from gradcli.results import RunResult, Value


def run_plain(result: RunResult) -> str:
    """The result alone, as a literal; nothing where the program ends in no value."""
    return "" if result.result is None else f"{literal(result.result)}\n"


def fields_plain(values: Mapping[str, Value]) -> str:
    """`name<TAB>value` lines."""
    return "".join(f"{name}\t{literal(value)}\n" for name, value in values.items())
