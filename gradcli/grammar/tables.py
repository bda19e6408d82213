"""The parser's tables, as build.py made them from grad.lark."""

from __future__ import annotations

import re
from functools import cache
from typing import TypeAlias

from gradcli.grammar.automaton import CONTENT
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
    operators = sorted(CONTENT["operators"], key=len, reverse=True)
    patterns = [*CONTENT["patterns"], ("OPERATOR", "|".join(map(re.escape, operators)))]
    return Tables(
        pattern=re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns)),
        fixed={**CONTENT["operators"], **CONTENT["keywords"]},
        ignored=frozenset(CONTENT["ignored"]),
        reserved=frozenset(CONTENT["reserved"]),
        rules=CONTENT["rules"],
        states=CONTENT["states"],
        starts=CONTENT["starts"],
    )
