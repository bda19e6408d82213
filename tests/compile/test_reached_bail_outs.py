"""Every place where the compiler gives up, and every cache with a key, stands in the table
bail_outs.toml with a test that reaches it, or without one: of these there are to be no more.
"""

import ast

import pytest
from support.checks.bail_outs import bail_outs, keyed_caches, table
from support.processes.house import ROOT, nodes

PLACES = {"bail_outs": bail_outs(), "caches": keyed_caches()}
UNREACHED = {"bail_outs": 210, "caches": 9}
"""How many places no test reaches: less each time that one gets a test."""


@pytest.mark.parametrize("kind", PLACES)
def test_every_place_is_listed(kind):
    found, listed = {place.name for place in PLACES[kind]}, table()[kind].keys()
    assert not found - listed, f"name a test for each in bail_outs.toml: {sorted(found - listed)}"
    assert not listed - found, f"these are there no more: {sorted(listed - found)}"


@pytest.mark.parametrize("kind", PLACES)
def test_no_more_places_are_reached_by_no_test(kind):
    unreached = [name for name, test in table()[kind].items() if not test]
    assert len(unreached) == UNREACHED[kind], "a new place gets a test; a new test lowers the count"


@pytest.mark.parametrize("kind", PLACES)
def test_the_tests_that_are_named_exist(kind):
    for test in sorted({*table()[kind].values()} - {""}):
        file, _, name = test.partition("::")
        tree = nodes((ROOT / file).read_text("utf-8"))
        assert any(isinstance(n, ast.FunctionDef) and n.name == name for n in tree), test
