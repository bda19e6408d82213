"""Bounds of declarations are read and checked; bounds behind the default are refused."""

import pytest

from gradcli.errors import ProgramError
from gradcli.program import load

TAKEN = {
    "param k: float in [0, 10] = 0.1": 0.1,
    "param k: float in [-inf, inf] = 2": 2.0,
    "param k: float in [0, inf] = 0": 0.0,
    "param k: float in [-1.5, +1.5] = -1.5": -1.5,
    "input k: int in [1, 3] = 2": 2,
    "param k: float[2] in [[0, 0], [1, inf]] = [1, 5]": [1.0, 5.0],
    "param k: float[2] in [0, 10] = [1, 5]": [1.0, 5.0],
    "input k: bool = 3 in [1, 2, 3]": True,
    "input k: float = 0.5": 0.5,
}
REFUSED = {
    "param k: float = 0.1 in [0, 10]": (
        "bounds stand before the default",
        "write `param k: float in [0, 10] = 0.1`",
    ),
    "input k = 3 in [0, 10]": (
        "bounds stand before the default",
        "write `input k: float in [0, 10] = 3`",
    ),
    "param k in [0, 10] = 0.1": ("needs a type", "write `param k: float in [0, 10] = 0.1`"),
    "param k: float in [10, 0] = 0.1": ("the lower bound must be below the upper one", ""),
    "param k: float in [1, 1] = 1": ("the lower bound must be below the upper one", ""),
    "param k: float in [nan, 1] = 1": ("bounds are numbers", ""),
    "a = 1.0\nparam k: float in [a, 10] = 1": ("bounds are numbers", ""),
    "param k: float in [0, 10] = 20": ("the default of `k` is outside of its bounds", ""),
    "param k: float in [0, 10] = -1": ("the default of `k` is outside of its bounds", ""),
    "param k: float[2] in [[0, 0], [1, 0]] = [0, 0]": ("the lower bound", ""),
    "param k: float[2] in [0, 4] = [1, 5]": ("outside of its bounds", ""),
    "param k: float in [[0, 0], [1]] = 0": ("the lower bound", ""),
}


@pytest.mark.parametrize("declaration", TAKEN)
def test_a_declaration_may_have_bounds(declaration):
    program = load(f"{declaration}\nk\n")
    found = program.run().result
    wanted = TAKEN[declaration]
    assert found == wanted if not isinstance(wanted, list) else found.tolist() == wanted
    assert program.inputs == ("k",)
    assert load(f"{declaration.partition(' = ')[0]}\nk\n").required == ("k",)


@pytest.mark.parametrize("declaration", REFUSED)
def test_wrong_bounds_are_refused(declaration):
    message, help = REFUSED[declaration]
    with pytest.raises(ProgramError, match=message) as caught:
        load(f"{declaration}\nk\n")
    assert help in (caught.value.diagnostics[0].help or "")


@pytest.mark.parametrize("text", ["param k: float in [0] = 1", "param k: float in 3 = 1"])
def test_both_ends_are_written(text):
    with pytest.raises(ProgramError):
        load(f"{text}\nk\n")


WARNED = (
    "param k: float in [0, 10] = 0.1\ninput x: float[2] in [[0, 0], [1, inf]] = [0, 5]\nk * x.sum()"
)


@pytest.mark.parametrize(
    ("given", "count"),
    [({"k": 10}, 0), ({"k": 11}, 1), ({"x": [1, 9]}, 0), ({"k": -1, "x": [2, 0]}, 2)],
)
def test_a_value_outside_of_the_bounds_is_taken_with_a_warning(given, count):
    for question in ("run", "grad"):
        found = getattr(load(WARNED), question)(given)
        assert [w.code for w in found.warnings] == ["outside-bounds"] * count


def test_the_ops_program_has_the_bounds():
    assert "param k: float in [0, 10]" in load("param k: float in [0, 10] = 1\nk").listing()
