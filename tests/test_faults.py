"""The faults that `python tests/faults.py` plants can all be planted, and its mutants are what they
should be.
"""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from faults import ROOT, Fault, faults
from support.checks.mutants import differs, draw, mutants, room
from support.checks.reach import at_import

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


MADE = {  # the mutants of a text, by kind and new line
    "if a < b <= c: f()": [
        ("condition", "if not (a < b <= c): f()"),
        ("comparison", "if a <= b <= c: f()"),
        ("comparison", "if a < b < c: f()"),
    ],
    "r = a is not None": [("comparison", "r = a is None")],
    "r = a  in b": [("comparison", "r = a  not in b")],
    "r = a and (b or c)": [("boolean", "r = a or (b or c)"), ("boolean", "r = a and (b and c)")],
    "r = (a) - (b) ** c": [
        ("arithmetic", "r = (a) + (b) ** c"),
        ("arithmetic", "r = (a) - (b) * c"),
    ],
    "r //= b": [("arithmetic", "r /= b")],
    "r = 'a' + b + f'{1 + 2}'": [],
    "f(2, 0.5, 0.0, True)": [
        ("constant", "f(3, 0.5, 0.0, True)"),
        ("constant", "f(2, 1.0, 0.0, True)"),
        ("constant", "f(2, 0.5, 1.0, True)"),
        ("constant", "f(2, 0.5, 0.0, False)"),
    ],
    "r = a if not b else c": [("condition", "r = a if ( b) else c")],
    "r = [a for a in b if a]": [("condition", "r = [a for a in b if not (a)]")],
    "while True: f()": [("constant", "while False: f()")],
    "if TYPE_CHECKING: a = 1 + 1": [],
    "T: TypeAlias = a | b": [],
    "a: int | None = b": [],
    "def f(a: int | None) -> b | None: g(a)": [
        ("deletion", "def f(a: int | None) -> b | None: pass")
    ],
    "def f(a): 'It adds 1 + 1.'": [],
    "def f(a): a.b = c; a = 'd'; e = a": [
        ("deletion", "def f(a): pass; a = 'd'; e = a"),
        ("deletion", "def f(a): a.b = c; pass; e = a"),
    ],
    "def f(): raise E(1 + 1)": [("deletion", "def f(): pass")],
    "op(samples=(1, 2), known=bad(3), least=sample(4))": [],
}


@pytest.mark.parametrize("text", MADE)
def test_mutants_are_small_changes_of_what_runs(text):
    found = [(m.kind, m.planted(text)) for m in mutants("a.py", text)]
    assert sorted(found) == sorted(MADE[text])
    assert [new for _, new in found if not differs(text, new)] == []


def test_a_mutant_leaves_all_other_lines_where_they_are():
    text = "def f(é):\n    'é'; g(\n        é\n    )\n    return é\n"
    planted = [m.planted(text) for m in mutants("a.py", text)]
    assert planted == [
        "def f(é):\n    'é'; pass\n\n\n    return é\n",
        "def f(é):\n    'é'; g(\n        é\n    )\n    pass\n",
    ]


def test_a_mutant_names_the_lines_that_run_it():
    text = "if (a\n    < b):\n    c = 1\nelse:\n    c = (2,\n        3)\n"
    lines = {m.planted(text): (m.first, m.last) for m in mutants("a.py", text)}
    assert lines == {
        text.replace("a\n    < b", "not (a\n    < b)"): (1, 2),
        text.replace("<", "<="): (1, 2),
        text.replace("1", "2"): (3, 3),
        text.replace("2", "3"): (5, 6),
        text.replace("3", "4"): (5, 6),
    }


@pytest.mark.parametrize(
    ("text", "other", "different"),
    [
        ("a = 1", "a =   1", False),
        ("a = 1", "a = 1.0", True),
        ("a = 0.0", "a = -0.0", True),
        ("def f(): return 1", "def f(): return 2", True),
        ("a = 1", "a = ", False),
    ],
)
def test_a_mutant_that_is_the_same_code_is_none(text, other, different):
    assert differs(text, other) == different


def test_mutants_are_drawn_by_a_seed_in_proportion_to_lines():
    wanted = ["run", "values"]
    drawn = draw(ROOT, wanted, 20, 1)
    assert drawn == draw(ROOT, wanted, 20, 1) != draw(ROOT, wanted, 20, 2)
    counts = Counter(room(m.file) for m in drawn)
    assert counts.total() == 20
    assert counts["run"] > 4 * counts["values"] > 0


AT_IMPORT = """LEAST = 3

class A:
    MOST = 4

    def f(self, x=5):
        y = 6

        def g(z=7):
            return 8
        return g

if LEAST:
    LEAST = 9
"""


def test_lines_that_run_at_import_stand_in_no_function():
    lines = [k for k, line in enumerate(AT_IMPORT.splitlines(), 1) if line.strip()]
    inside = [7, 9, 10, 11]
    assert [k for k in lines if not at_import(AT_IMPORT, k)] == inside
