"""A back end that fails never ends a run: the next one or the interpreter answers, and says so."""

import re

import pytest

from gradcli.engine.compile import backends
from gradcli.engine.compile.python.code import Code as PythonCode
from gradcli.program import Options, load
from gradcli.questions import jit
from gradcli.questions.coded import compiled
from gradcli.questions.jit import Jit

LOOP = "input x = 0.5\ny = x\nfor i in range(7):\n    y = sin(y) + x\ny"


def _fails(*_, **__):
    raise RuntimeError("a planted failure\nwith more lines")


class _Fails:
    """Stands for a class that fails when it is called."""

    def __new__(cls, *_):
        _fails()


def _no_machine_code(monkeypatch):
    pytest.importorskip("llvmlite")
    from gradcli.engine.compile.llvm import code

    monkeypatch.setattr(code, "Machine", _Fails)


def _no_code(monkeypatch):
    if backends.has_machine_code():
        _no_machine_code(monkeypatch)
    monkeypatch.setattr("gradcli.engine.compile.python.code._Writer", _Fails)


def _no_runs(monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    monkeypatch.setattr(PythonCode, "call", _fails)
    monkeypatch.setattr(PythonCode, "rows", _fails)


def _no_lowering(monkeypatch):
    monkeypatch.setattr(compiled, "coded", _fails)


PLANTED = {
    "machine code": (_no_machine_code, "made Python code, because machine code failed"),
    "all code": (_no_code, "not compiled: Python code failed"),
    "each run": (_no_runs, "not compiled: running Python code failed"),
    "lowering": (_no_lowering, "not compiled: making code failed"),
}


@pytest.fixture(params=PLANTED)
def says(request, monkeypatch):
    """Plants a failure, and gives what is said of it."""
    plant, said = PLANTED[request.param]
    plant(monkeypatch)
    return said


@pytest.fixture
def falls_back(monkeypatch):
    """Lets the next back end answer, as for users."""
    monkeypatch.setattr(backends, "failures_are_errors", False)


QUESTIONS = {
    "run": {},
    "grad": {},
    "jvp": {"tangents": {"x": 1.0}},
    "hessian": {},
    "gradcheck": {},
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_next_back_end_answers(question, says, falls_back, monkeypatch):
    monkeypatch.setattr(Jit, "_worth", -1.0)
    monkeypatch.setattr(jit, "_ROWS", 0)
    monkeypatch.setattr(jit, "_RUNS", 0)
    remarks = []

    def answered(when):
        options = Options(compile=when, remark=remarks.append)
        return repr(getattr(load(LOOP), question)(options=options, **QUESTIONS[question]))

    assert answered("auto") == answered("never")
    said = f"{says} (RuntimeError: a planted failure)"
    assert any(said in remark.message for remark in remarks)


def test_tests_see_a_failure(says):
    with pytest.raises(RuntimeError, match="a planted failure"):
        load(LOOP).run(options=Options(compile="always"))


@pytest.mark.parametrize("form", ["csv", "json"])
def test_rows_go_on_where_code_fails_in_mid_file(cli, form, says, falls_back, monkeypatch):
    monkeypatch.setattr(Jit, "_worth", -1.0)
    monkeypatch.setattr(jit, "_ROWS", 2)
    rows = "".join(["x\n", *(f"{k / 8}\n" for k in range(40))])
    line = ["grad", *("-e", LOOP), *("--rows", "-", "-f", form)]
    expected = cli(*line, "--compile", "never", stdin=rows)
    assert cli(*line, stdin=rows) == expected
    assert expected[0] == 0
    assert len(expected[1].splitlines()) == 40 + (form == "csv")
    status, answers, told = cli(*line, "-v", stdin=rows)
    assert (status, answers) == expected[:2]
    notes = re.findall(rf"note.*{says} \(RuntimeError: a planted failure\)", told)
    assert len(notes) == 1  # for all rows


def test_code_that_cannot_be_made_is_an_error_only_if_it_is_asked_for(cli, falls_back, monkeypatch):
    _no_code(monkeypatch)
    status, _, told = cli("run", "-e", LOOP, "--compile", "always")
    assert status == 3
    assert "error[not-compilable]: not compiled: Python code failed" in told
    assert cli("run", "-e", LOOP)[0] == 0


def test_a_run_that_fails_prints_each_line_once(falls_back, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    run = PythonCode.call

    def fails(self, inputs, control):
        run(self, inputs, control)
        _fails()

    monkeypatch.setattr(PythonCode, "call", fails)
    printed = []
    options = Options(compile="always", echo=printed.append)
    load(f"{LOOP}\nprint('y', y)\ny").run(options=options)
    assert len(printed) == 1


def test_a_program_fails_as_it_does(says, falls_back, cli):
    line = ["run", "-e", LOOP, "-e", "assert y < 0, 'too large'"]
    assert cli(*line) == cli(*line, "--compile", "never")
