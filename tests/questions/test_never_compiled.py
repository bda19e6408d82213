"""`--compile never` makes no code, whatever is asked, and `always` asks no interpreter."""

import numpy as np
import pytest

from gradcli.program import Options, load
from gradcli.questions.coded.compiled import Compiled

TEXT = ["-e", "input x = 1.5", "-e", "x ** 3"]
COMMANDS = {
    "run": [],
    "grad": [],
    "jvp": ["--tangent", "x=1"],
    "vjp": [],
    "jacobian": [],
    "hessian": [],
    "hvp": ["--tangent", "x=1"],
    "gradcheck": [],
    "plot": ["--over", "x=0:1:9"],
}
ROWS = [name for name in COMMANDS if name != "plot"]


@pytest.fixture
def made(monkeypatch):
    """The questions that code is made of."""
    found, make = [], Compiled.__init__

    def noted(self, *given):
        found.append(self)
        make(self, *given)

    monkeypatch.setattr(Compiled, "__init__", noted)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_code_is_made_if_it_is_asked_for_and_never_else(cli, made, command):
    line = [command, *TEXT, *COMMANDS[command]]
    status, expected, _ = cli(*line, "--compile", "never")
    assert (status, made) == (0, [])
    assert cli(*line, "--compile", "always")[:2] == (0, expected)
    assert made


@pytest.mark.parametrize("command", ROWS)
def test_rows_are_answered_by_code_if_it_is_asked_for_and_never_else(cli, made, command):
    line = [command, *TEXT, *COMMANDS[command], "--rows", "-"]
    stdin = "x\n" + "".join(f"{k}.5\n" for k in range(40))
    status, expected, _ = cli(*line, "--compile", "never", stdin=stdin)
    assert (status, made) == (0, [])
    assert cli(*line, "--compile", "never", "--jobs", "2", stdin=stdin)[:2] == (0, expected)
    assert made == []
    assert cli(*line, "--compile", "always", stdin=stdin)[:2] == (0, expected)
    assert made


GIVEN = {
    "floats": [k / 4 for k in range(70)],
    "ints": [*range(70)],
    "truths": [k % 3 == 0 for k in range(70)],
    "ints and floats": [*range(69), 0.5],
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("make", [list, np.array])
def test_an_array_of_another_kind_is_to_code_what_it_is_to_a_run(made, given, make):
    program = load("input v: float[70]\n(v * v).sum() + v[3]")
    never, always = (
        program.grad(v=make(GIVEN[given]), options=Options(compile=compiled))
        for compiled in ("never", "always")
    )
    assert made
    assert always.value == never.value
    assert np.array_equal(always.grad["v"], never.grad["v"])
