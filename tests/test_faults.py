"""The faults that `python tests/faults.py` plants can all be planted."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from faults import ROOT, Fault, faults

FAULTS = faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_text_stands_in_its_file_once(fault):
    text = (ROOT / fault.file).read_text("utf-8")
    planted = fault.planted(text)
    assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(text)), "it changes nothing"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_tests_that_should_see_it_exist(fault):
    assert fault.tests
    for test in fault.tests:
        assert (ROOT / test.partition("::")[0]).exists(), test


def test_names_are_unique():
    assert [name for name, count in Counter(f.name for f in FAULTS).items() if count > 1] == []


ROOMS = ["grammar", "ir", "engine/values", "engine/numerics", "engine/tape", "engine/ops",
         "engine/autodiff", "engine/run", "engine/builtins", "engine/static", "engine/gradcheck",
         "engine/report", "questions", "formats", "render", "cli"]  # fmt: skip


def test_there_are_some_in_every_room():
    files = [Path(fault.file) for fault in FAULTS]
    assert len(files) >= 40
    assert [r for r in ROOMS if not any(f.is_relative_to(f"gradcli/{r}") for f in files)] == []


@pytest.mark.parametrize("text", ["none", "a line a line"])
def test_a_text_that_stands_otherwise_is_refused(text):
    with pytest.raises(ValueError, match="stands"):
        Fault("name", "file", "a line", "another", []).planted(text)
