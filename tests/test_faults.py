"""The faults that `python tests/faults.py` plants can all be planted."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from faults import ROOT, Fault, faults

FAULTS = faults()


@cache
def statements(text):
    """Those at the top level, of a text of which several faults are."""
    return ast.parse(text).body


def changed(text, other):
    """Whether two texts are different programs: by the top-level statements about the first line
    in which they differ, and what stands in the place of these.
    """
    lines, others = text.rstrip().splitlines(), other.rstrip().splitlines()
    pairs = enumerate(zip(lines, others, strict=False), 1)
    line = next((number for number, (a, b) in pairs if a != b), len(lines) + 1)
    about = [n for n in statements(text) if n.lineno <= line <= (n.end_lineno or 0)]
    if not about:  # it stands between statements
        return [*map(ast.dump, ast.parse(text).body)] != [*map(ast.dump, ast.parse(other).body)]
    end = len(others) - (len(lines) - about[-1].end_lineno)
    found = ast.parse("\n".join(others[about[0].lineno - 1 : end])).body
    return [*map(ast.dump, about)] != [*map(ast.dump, found)]


@pytest.mark.parametrize(
    ("other", "different"),
    [("a = 1\nb = 3\n", True), ("a = 1\nb = 2  # two\n", False), ("a = 1\nb = 2\nc = 3\n", True)],
)
def test_a_change_is_one_of_the_program(other, different):
    assert changed("a = 1\nb = 2\n\n", other) == different


def test_their_texts_stand_in_their_files_once():
    texts = [(fault, (ROOT / fault.file).read_text("utf-8")) for fault in FAULTS]
    same = [fault.name for fault, text in texts if not changed(text, fault.planted(text))]
    assert not same, f"these change nothing: {same}"


def test_the_tests_that_should_see_them_exist():
    assert [fault.name for fault in FAULTS if not fault.tests] == []
    named = {test.partition("::")[0] for fault in FAULTS for test in fault.tests}
    assert [test for test in named if not (ROOT / test).exists()] == []


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
