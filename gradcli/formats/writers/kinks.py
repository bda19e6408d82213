"""Operations evaluated at a kink, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.formats.texts.json_text import array, fields_json, json_object
from gradcli.formats.texts.literal import literal
from gradcli.results import Kinked

_PLAIN = ("index", "at", "left", "right", "chosen")


def kinks_plain(kinks: Sequence[Kinked]) -> str:
    """Lines of `kink`, operation, line, argument, index, its value, the slopes on either side and
    the chosen one, separated by tabs.
    """
    rows = (
        ("kink", k.op, str(k.line), k.argument, *(literal(getattr(k, n)) for n in _PLAIN))
        for k in kinks
    )
    return "".join(f"{chr(9).join(row)}\n" for row in rows)


def kinks_json(kinks: Sequence[Kinked] | None) -> dict[str, str]:
    """The JSON field of the kinks, if they were asked for."""
    if kinks is None:
        return {}
    return {"kinks": array(json_object(fields_json(k, k._fields)) for k in kinks)}
