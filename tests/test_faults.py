"""The faults that `python tests/faults.py` plants can all be planted."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from faults import ROOT, Fault, faults

FAULTS = faults()


def changed(text, other):
    """Whether two texts are different programs: by the top-level statements about the first line
    in which they differ.
    """
    pairs = enumerate(zip(text.splitlines(), other.splitlines(), strict=False), 1)
    line = next(number for number, (a, b) in pairs if a != b)
    trees = [ast.parse(t).body for t in (text, other)]
    about = [[n for n in body if n.lineno <= line <= (n.end_lineno or 0)] for body in trees]
    return len(trees[0]) != len(trees[1]) or [*map(ast.dump, about[0])] != [
        *map(ast.dump, about[1])
    ]


@pytest.mark.parametrize(
    ("other", "different"),
    [("a = 1\nb = 3\n", True), ("a = 1\nb = 2  # two\n", False), ("a = 1\nb = 2\nc = 3\n", True)],
)
def test_a_change_is_one_of_the_program(other, different):
    assert changed("a = 1\nb = 2\n\n", other) == different


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_its_text_stands_in_its_file_once(fault):
    text = (ROOT / fault.file).read_text("utf-8")
    planted = fault.planted(text)
    assert changed(text, planted), "it changes nothing"


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
