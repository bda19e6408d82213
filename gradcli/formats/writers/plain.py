"""Results as text for pipes: lines whose shape never changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradcli.formats.texts.literal import literal
from gradcli.results import Kinked, RunResult, Value


def run_plain(result: RunResult) -> str:
    """The result alone, as a literal; nothing where the program ends in no value."""
    return "" if result.result is None else f"{literal(result.result)}\n"


def fields_plain(values: Mapping[str, Value]) -> str:
    """`name<TAB>value` lines."""
    return "".join(f"{name}\t{literal(value)}\n" for name, value in values.items())


def kinks_plain(kinks: Sequence[Kinked]) -> str:
    """`kink`, operation, line, argument, index, the value there, the slopes to either side and the
    chosen one, between tabs.
    """
    rows = (
        ("kink", k.op, str(k.line), k.argument, *(literal(getattr(k, n)) for n in _OF_KINKS))
        for k in kinks
    )
    return "".join(f"{chr(9).join(row)}\n" for row in rows)


_OF_KINKS = ("index", "at", "left", "right", "chosen")
