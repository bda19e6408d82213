"""The parser's tables, as build.py made them from grad.lark."""

from __future__ import annotations

import re
from functools import cache
from os import path
from typing import Any, TypeAlias

from gradcli.record import Record

Keep: TypeAlias = list[tuple[int, bool, int]]


Rule: TypeAlias = tuple[str, int, str, bool, Keep | None]
"""What a reduction does: origin, size, method, single and keep, as build.py's `_rule` tells them.
"""


class Tables(Record):
    """Lexer and automaton. `fixed` gives keywords and operators their terminals; `states` are
    rows of default action, actions by terminal and next states by nonterminal.
    """

    __slots__ = ("pattern", "fixed", "ignored", "reserved", "rules", "states", "starts")
    pattern: re.Pattern[str]
    fixed: dict[str, str]
    ignored: frozenset[str]
    reserved: frozenset[str]
    rules: list[Rule]
    states: list[tuple[int | None, dict[str, int], dict[str, int]]]
    starts: dict[str, int]


@cache
def load() -> Tables:
    """The tables, read once."""
    import json

    with open(path.join(path.dirname(__file__), "tables.json"), encoding="utf-8") as file:
        content: dict[str, Any] = json.load(file)
    operators = sorted(content["operators"], key=len, reverse=True)
    patterns = [*content["patterns"], ("OPERATOR", "|".join(map(re.escape, operators)))]
    return Tables(
        pattern=re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns)),
        fixed={**content["operators"], **content["keywords"]},
        ignored=frozenset(content["ignored"]),
        reserved=frozenset(content["reserved"]),
        rules=content["rules"],
        states=content["states"],
        starts=content["starts"],
    )
