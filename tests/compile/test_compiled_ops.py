"""The table of the operations that compile: what stands in it is measured again."""

import pytest
from support.checks import compiled_ops
from support.checks.amounts import chunks
from support.programs.array_programs import samples

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import load

LINES = [
    line
    for line in compiled_ops.PAGE.read_text().splitlines(keepends=True)
    if line.startswith("| `")
]


@pytest.mark.parametrize("first", chunks(few=3, many=len(LINES), size=3))
def test_the_table_is_current(first):
    wanted = LINES[first : first + 3]
    names = {line.split("`")[1] for line in wanted}
    assert list(compiled_ops.rows(names)) == wanted


def test_each_operation_stands_in_it():
    first = {name: text for name, text, *_ in samples()}
    assert {line.split("`")[1] for line in LINES} == {n for n in first if is_loaded(first[n])}


def is_loaded(text):
    try:
        load(text)
    except GradError:
        return False
    return True


def test_no_operation_differs():
    assert {line.split(" | ")[3] for line in LINES} == {"0"}


@pytest.mark.parametrize(
    ("run", "code", "units"),
    [("a=1.0", "a=1.0", 0), ("a=1.0", "a=1.0000000000000002", 1), ("a=1.0", "b=1.0", float("inf"))],
)
def test_differences_are_measured(run, code, units):
    assert compiled_ops.difference(run, code) == units


def test_what_is_refused_says_why(monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    (line,) = compiled_ops.rows({"unique"})
    assert "known only at run time" in line
