"""`--compile never` makes no code, whatever is asked, and `always` asks no interpreter."""

import pytest

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
