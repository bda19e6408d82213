"""The table of the operations that have source code: C has the interpreter's values and gradients."""

import pytest
from support.checks import exported_ops
from support.checks.amounts import chunks
from support.checks.exported_c import CC
from support.programs.array_programs import every_sample

LINES = [
    line
    for line in exported_ops.PAGE.read_text("utf-8").splitlines(keepends=True)
    if line.startswith("| `")
]
MOST = 8  # units in the last place, by NumPy's functions and its order of addition


@pytest.mark.skipif(CC is None, reason="there is no C compiler")
@pytest.mark.parametrize("first", chunks(few=6, many=len(LINES), size=6))
def test_c_has_the_numbers_of_gradcli_and_the_table_is_current(first):
    wanted = LINES[first : first + 6]
    found = exported_ops.cases({line.split("`")[1] for line in wanted})
    assert [*exported_ops.rows(found)] == wanted
    for case in found:
        if case.unit is not None:
            assert case.difference <= (0 if case.is_of_numbers else MOST), case.text


def test_each_operation_stands_in_it():
    named = {line.split("`")[1] for line in LINES}
    assert named <= {name for name, *_ in every_sample()}
    written = sum(int(line.split(" | ")[2]) for line in LINES)
    programs = sum(int(line.split(" | ")[1]) for line in LINES)
    assert written > 0.75 * programs
