"""Every kind of nesting, around the depth at which it is refused, from a stack that is deep already."""

import sys

import pytest
from support.programs.nestings import BLOCKS, CLOSED, NAMES, deepest, nested

from gradcli.errors import ProgramError
from gradcli.grammar.syntax import build
from gradcli.grammar.syntax.parser import LEVELS
from gradcli.program import is_same, load
from gradcli.source import Source


def outcome(name, depth):
    """What becomes of a program that is nested so deep: the code of its refusal, or None."""
    try:
        load(nested(name, depth))
    except ProgramError as error:
        return error.diagnostics[0].code
    return None


def below(calls, what):
    return what() if calls <= 0 else below(calls - 1, what)


def frames():
    frame, found = sys._getframe(), 0
    while frame is not None:
        frame, found = frame.f_back, found + 1
    return found


@pytest.mark.parametrize("name", NAMES)
def test_nesting_is_read_or_refused_however_deep_the_caller(name):
    """The stack below leaves a hundred calls of Python's thousand."""
    last, most = (
        deepest(name),
        400 if "functions in" in name or name in {**CLOSED, **BLOCKS} else 2000,
    )
    left = sys.getrecursionlimit() - frames() - 100
    usual = outcome(name, 2)
    assert usual != "nested-too-deep"
    for depth in (most,) if last is None else (last // 2, last - 1, last):
        assert below(left, lambda depth=depth: outcome(name, depth)) in (usual, None), depth
    for depth in () if last is None else (last + 1, last + 2, most):
        assert below(left, lambda depth=depth: outcome(name, depth)) == "nested-too-deep", depth


@pytest.mark.parametrize("name", ["sums on the left", "branches", "contexts", "lines"])
@pytest.mark.parametrize("behind", ["", "\nmissing(1)"])
def test_texts_of_any_depth_are_compared(name, behind):
    """Also those that are refused, whose syntax trees are compared."""
    one, other = (Source("t", nested(name, 3000) + behind + more) for more in ("", "\n0"))
    assert is_same(one, one)
    assert not is_same(one, other)


def test_no_rule_of_the_grammar_nests_without_a_level():
    """What makes a node and may stand in itself counts, so that the parser bounds every tree."""
    inside = {}
    for rule in build.grammar().rules:
        method = build._rule(rule)[2]
        parts = {symbol.name for symbol in rule.expansion if not symbol.is_term}
        inside.setdefault(rule.origin.name, []).append((method, parts))

    def within(pending):
        """What can stand in rules without a level in between."""
        found = set()
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += [p for m, parts in inside[name] if m not in LEVELS for p in parts]
        return found

    free = {
        method
        for name, ways in inside.items()
        for method, parts in ways
        if method and method not in LEVELS and name in within([*parts])
    }
    assert not free
    assert {"call", "list_display", "if_else", "block", "binary"} < LEVELS.keys()
