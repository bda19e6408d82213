"""Make automaton.py from grad.lark: `python -m gradcli.grammar.syntax.build`.

The tables are Lark's own LALR tables, renumbered so that the file depends on the grammar alone:
states in the order in which the parser can first reach them, rules and symbols by name.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Rule, Terminal
from lark.lexer import TerminalDef
from lark.parser_frontends import ParsingFrontend
from lark.parsers.lalr_analysis import IntParseTable, Shift

HERE = Path(__file__).parent.parent
GRAMMAR = HERE / "grad.lark"
TABLES = HERE / "automaton.py"
STARTS = ("module", "expression")

_HEAD = '''"""The parser's tables: `python -m gradcli.grammar.syntax.build` writes them from grad.lark."""

from typing import Any

'''

_RESERVED = re.compile(r"\(\?!\(\?:([\w|]+)\)\\b\)")


@cache
def grammar(*, strict: bool = False) -> Lark:
    """The grammar as Lark reads it. Strict also refuses terminals that collide."""
    text = GRAMMAR.read_text("utf-8")
    return Lark(
        text,
        parser="lalr",
        lexer="basic",
        start=list(STARTS),
        strict=strict,
        propagate_positions=True,
        maybe_placeholders=True,
    )


def tables() -> str:
    """The text of automaton.py: a module, as Python reads its own faster than any other text."""
    lark = grammar()
    rules, numbers = _rules(lark.rules)
    states, starts = _states(_parse_table(lark), numbers)
    content = {**_lexer(lark), "rules": rules, "states": states, "starts": starts}
    lines = "".join(f"{key!r}: {_lines(value)},\n" for key, value in content.items())
    return f"{_HEAD}CONTENT: dict[str, Any] = {{\n{lines}}}\n"


def _lines(value: Any) -> str:
    """One row of a list a line, so that a change reads well."""
    if isinstance(value, list):
        return "[\n" + "".join(f"{row!r},\n" for row in value) + "]"
    return repr(value)


def _parse_table(lark: Lark) -> IntParseTable:
    frontend = lark.parser
    assert isinstance(frontend, ParsingFrontend)
    table = frontend.parser._parse_table
    assert isinstance(table, IntParseTable)
    return table


def _lexer(lark: Lark) -> dict[str, Any]:
    """Patterns in the order in which they are tried, and the fixed texts of tokens.

    Words and operators are looked up in a dict rather than tried one by one, so NAME loses the
    part that refuses reserved words; they are listed instead.
    """
    ordered = sorted(lark.terminals, key=_lark_order)
    patterns = {t.name: t.pattern.value for t in ordered if t.pattern.type == "re"}
    fixed = {t.pattern.value: t.name for t in ordered if t.pattern.type == "str"}
    reserved = _RESERVED.match(patterns["NAME"])
    assert reserved is not None, "NAME must begin by refusing the reserved words"
    patterns["NAME"] = patterns["NAME"][reserved.end() :]
    return {
        "patterns": [[name, pattern] for name, pattern in patterns.items()],
        "ignored": sorted(lark.ignore_tokens),
        "operators": {text: fixed[text] for text in sorted(fixed) if not text.isalpha()},
        "keywords": {text: fixed[text] for text in sorted(fixed) if text.isalpha()},
        "reserved": sorted(set(reserved[1].split("|")) - set(fixed)),
    }


def _lark_order(terminal: TerminalDef) -> tuple[int, int, int, str]:
    pattern = terminal.pattern
    return (-terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name)


def _rules(rules: list[Rule]) -> tuple[list[list[Any]], dict[Rule, int]]:
    """What to do at each reduction, and the number of each rule.

    A row is: nonterminal, number of symbols, name of the method of transform.py that makes the
    node ("" for none), whether its one part is the whole (else, without a method, the list of its
    parts is spliced into the rule around), and which symbols are kept: null for all as they are,
    else for each one its index, whether it is a list of parts to splice in, and how many absent
    optional parts stand before it; a last entry with index -1 has the absent ones at the end.
    """
    ordered = sorted(rules, key=lambda r: (r.origin.name, r.order))
    rows = [_rule(rule) for rule in ordered]
    return rows, {rule: number for number, rule in enumerate(ordered)}


def _rule(rule: Rule) -> list[Any]:
    name = str(rule.origin.name)
    inline = name.startswith("_")
    may_be_single = rule.options.expand1 and not rule.alias
    absent = list(rule.options.empty_indices) or [False] * len(rule.expansion)
    keep: list[list[Any]] = []
    nones = 0
    kept = rule.options.keep_all_tokens
    position = 0
    for empty in absent:
        if empty:
            nones += 1
            continue
        symbol = rule.expansion[position]
        if kept or not (isinstance(symbol, Terminal) and symbol.filter_out):
            splice = not symbol.is_term and symbol.name.startswith("_")
            keep.append([position, splice, nones])
            nones = 0
        position += 1
    if nones:
        keep.append([-1, False, nones])
    single = may_be_single and len(keep) == 1
    assert not (single and keep[0][1:] != [False, 0]), f"{rule} may stand for several parts"
    whole = [[i, False, 0] for i in range(len(rule.expansion))]
    method = "" if inline or single else str(rule.alias or name)
    return [name, len(rule.expansion), method, single, None if keep == whole else keep]


def _states(table: IntParseTable, numbers: dict[Rule, int]) -> tuple[list[Any], dict[str, int]]:
    """Rows of the automaton, and the state in which each start symbol begins.

    A row is: the reduction to make for a token that is not listed (null for none), the actions by
    terminal, the next states by nonterminal. An action is a state to shift to, or `-1 - rule`;
    to shift the end of the text is to accept it.
    """
    names = {rule.origin.name for rule in numbers}
    order = [table.start_states[start] for start in STARTS]
    rows = []
    for state in order:  # grows while it is read
        entries = table.states[state]
        actions: dict[str, int] = {}
        goto: dict[str, int] = {}
        for symbol in sorted(entries):
            action, argument = entries[symbol]
            if action is Shift:
                if argument not in order:
                    order.append(argument)
                (goto if symbol in names else actions)[symbol] = order.index(argument)
            else:
                actions[symbol] = -1 - numbers[argument]
        if state in table.end_states.values():
            actions["$END"] = order.index(state)
        rows.append([*_with_default(actions), goto])
    return rows, {start: order.index(table.start_states[start]) for start in STARTS}


def _with_default(actions: dict[str, int]) -> tuple[int | None, dict[str, int]]:
    """The commonest reduction as the default. An error is still found before the next shift."""
    reductions = Counter(action for action in actions.values() if action < 0)
    if not reductions:
        return None, actions
    default = min(reductions, key=lambda action: (-reductions[action], action))
    return default, {name: action for name, action in actions.items() if action != default}


if __name__ == "__main__":
    TABLES.write_text(tables(), "utf-8")
