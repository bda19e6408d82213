"""Numbers from outside at the ends of their range."""

import numpy as np
import pytest
from support.programs.given_inputs import GOLDEN, outcomes

from gradcli.engine.run.execution.inputs import KINDS
from gradcli.errors import InputError
from gradcli.program import load

TOP, BOTTOM = 2**63 - 1, -(2**63)


@pytest.mark.parametrize("value", [BOTTOM, BOTTOM + 1, TOP, float(BOTTOM), np.int64(BOTTOM)])
def test_the_smallest_and_the_largest_int_are_taken(value):
    assert load("input n: int\nn").run(n=value).result == int(value)
    assert load("input n: int[1]\nn").run(n=[int(value)]).result.tolist() == [int(value)]


@pytest.mark.parametrize(
    "value",
    [
        [np.int64(1), np.int32(2)],
        (np.float32(1.0), 2),
        [np.array(1), np.uint8(2)],
        [1, np.float64(2.0)],
    ],
    ids=str,
)
def test_a_list_may_hold_the_numbers_of_numpy(value):
    assert load("input x: float[2]\nx").run(x=value).result.tolist() == [1.0, 2.0]
    assert load("x = [5.0, 5.0]\nx").run(x=value).result.tolist() == [1.0, 2.0]
    assert load("input x: float[2, 2]\nx").run(x=[list(value), np.ones(2)]).result.tolist()[0] == [
        1,
        2,
    ]


@pytest.mark.parametrize("value", [BOTTOM - 1, TOP + 1, float(TOP + 1)])
def test_an_int_beyond_them_is_refused(value):
    with pytest.raises(InputError):
        load("input n: int\nn").run(n=value)


def test_the_smallest_int_is_computed_and_written():
    assert load("-9223372036854775807 - 1").run().result == BOTTOM
    assert load("x = [-9223372036854775807 - 1]\nsum(x)").run().result == BOTTOM


@pytest.mark.parametrize("kind", ["float", "int", "bool"])
@pytest.mark.parametrize(
    ("sizes", "empty"), [("0", "[]"), ("n", "[]"), ("...", "[]"), ("2, 0", "[[], []]")]
)
def test_a_list_of_no_numbers_is_a_default_of_any_kind(kind, sizes, empty):
    program = load(f"input x: {kind}[{sizes}] = {empty}\ny = x")
    dtype = KINDS[kind]
    assert program.run().values["y"].dtype == dtype
    assert dtype in program.listing()


def test_every_kind_of_value_for_every_declaration_gives_what_the_golden_file_says():
    wanted = GOLDEN.read_text("utf-8").splitlines()
    assert [*outcomes()] == wanted, "`python tests given_inputs` writes it anew"
