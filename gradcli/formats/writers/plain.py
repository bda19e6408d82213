"""Values as text for pipes: lines whose shape never changes."""

from __future__ import annotations

from collections.abc import Mapping

from gradcli.formats.texts.literal import literal
from gradcli.results import Value


def fields_plain(values: Mapping[str, Value]) -> str:
    """`name<TAB>value` lines."""
    return "".join(f"{name}\t{literal(value)}\n" for name, value in values.items())
