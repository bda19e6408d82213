"""The parser's tables, which build.py makes from grad.lark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

from gradcli.made.parser_tables import CONTENT
from gradcli.record import Record

Keep: TypeAlias = tuple[tuple[int, bool, int], ...]

Rule: TypeAlias = tuple[str, int, str, bool, Keep | None]
"""What a reduction does: origin, size, method, single and keep, as build.py's `_rule` tells them.
"""


class Tables(Record):
    """Tables of the lexer and the automaton.

    Fields:
        fixed: The terminals of keywords and operators, by their texts.
        ignored: Terminals that are dropped.
        reserved: Words that cannot be names.
        rules: What each reduction does.
        states: The default action and the actions by terminal of each state.
        goto: The usual next state by nonterminal, and others by the state below.
        starts: The first state, by start symbol.
    """

    __slots__ = ("fixed", "ignored", "reserved", "rules", "states", "goto", "starts")
    fixed: dict[str, str]
    ignored: frozenset[str]
    reserved: frozenset[str]
    rules: tuple[Rule, ...]
    states: list[tuple[int | None, dict[str, int]]]
    goto: dict[str, tuple[int, dict[int, int]]]
    starts: dict[str, int]

    def following(self, below: int, symbol: str) -> int:
        """The state after a nonterminal above the state `below`."""
        usual, others = self.goto[symbol]
        return others.get(below, usual)


@cache
def load() -> Tables:
    """The tables, read once."""
    actions = map(CONTENT["actions"].__getitem__, CONTENT["places"])
    return Tables(
        fixed={**CONTENT["operators"], **CONTENT["keywords"]},
        ignored=frozenset(CONTENT["ignored"]),
        reserved=frozenset(CONTENT["reserved"]),
        rules=CONTENT["rules"],
        states=[*zip(CONTENT["defaults"], actions, strict=True)],
        goto=CONTENT["goto"],
        starts=CONTENT["starts"],
    )


def pattern(text: str) -> re.Pattern[str]:
    """A pattern that matches any token of a text; without quotes it is one that compiles faster."""
    return _with_strings() if '"' in text or "'" in text else _without_strings()


@cache
def _with_strings() -> re.Pattern[str]:
    return _compiled(CONTENT["patterns"])


@cache
def _without_strings() -> re.Pattern[str]:
    return _compiled((n, p) for n, p in CONTENT["patterns"] if n not in ("STRING", "FSTRING"))


def _compiled(patterns: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    operators = sorted(CONTENT["operators"], key=len, reverse=True)
    longer = [re.escape(text) for text in operators if len(text) > 1]
    one = "".join(text for text in operators if len(text) == 1)  # faster to compile as a class
    named = [*patterns, ("OPERATOR", "|".join([*longer, f"[{re.escape(one)}]"]))]
    return re.compile("[ \\t]*(?:" + "|".join(f"(?P<{name}>{p})" for name, p in named) + ")")
