"""Every place where the compiler gives up, and every cache with a key, stands in the table
bail_outs.toml with a test that reaches it, or without one: of these there are to be no more.
"""

import ast
from collections import defaultdict
from contextlib import suppress

import pytest
from support.checks.bail_outs import bail_outs, keyed_caches, reached, table
from support.processes.house import ROOT, nodes
from support.programs.bail_out_programs import HEAD, PROGRAMS

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load

PLACES = {"bail_outs": bail_outs, "caches": keyed_caches}
UNREACHED = {"bail_outs": 49, "caches": 3}
"""How many places no test reaches: less each time that one gets a test."""
PROGRAM, REASON = "program: ", "none: "
"""What stands before the name of a program of bail_out_programs.py, and before the reason why there
is no test, in the place of a test.
"""


@pytest.mark.parametrize("kind", PLACES)
def test_every_place_is_listed(kind):
    found, listed = {place.name for place in PLACES[kind]()}, table()[kind].keys()
    assert not found - listed, f"name a test for each in bail_outs.toml: {sorted(found - listed)}"
    assert not listed - found, f"these are there no more: {sorted(listed - found)}"


@pytest.mark.parametrize("kind", PLACES)
def test_no_more_places_are_reached_by_no_test(kind):
    unreached = [name for name, test in table()[kind].items() if not test]
    assert len(unreached) == UNREACHED[kind], "a new place gets a test; a new test lowers the count"


@pytest.mark.parametrize("kind", PLACES)
def test_the_tests_that_are_named_exist(kind):
    others = (PROGRAM, REASON)
    for test in sorted({v for v in table()[kind].values() if v and not v.startswith(others)}):
        file, _, name = test.partition("::")
        tree = nodes((ROOT / file).read_text("utf-8"))
        assert any(isinstance(n, ast.FunctionDef) and n.name == name for n in tree), test


def asked_of(name):
    """The places that a question about a program reaches."""
    asked, text = PROGRAMS[name]
    question, *more = asked.split()
    options = {"options": Options(compile="always", grad_fn=False)}
    with reached() as found, suppress(GradError):
        getattr(load(HEAD + text), question)({}, **options, **dict(x.split("=") for x in more))
    return found


def test_programs_reach_their_places(monkeypatch):
    named = defaultdict(set)
    for place, test in table()["bail_outs"].items():
        if test.startswith(PROGRAM):
            named[test.removeprefix(PROGRAM)].add(place)
    assert named.keys() == PROGRAMS.keys(), "a program that no place names, or the other way round"
    missed = {}
    for name in PROGRAMS:
        found = asked_of(name)
        if not backends.has_machine_code():
            found |= {place for place in named[name] if place.startswith("engine/compile/llvm/")}
        if more := named[name] - found:
            missed[name] = more
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)  # tensors as single numbers
    still = {name: more for name, more in missed.items() if more - asked_of(name)}
    assert not still, still
