"""A question at every row of a table: what each row gives by itself, in a table of the same kind."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from support.processes.in_process import command

from gradcli.engine.compile import backends
from gradcli.errors import GradError, InputError, UsageError
from gradcli.program import Options, load

TABLE = {"x": [0.5, -1.5, 2.0, 0.0], "y": [1.0, 2.0, -0.25, 1e300], "id": ["a", "b", "c", "d"]}
PROGRAMS = {
    "numbers": "input x: float\ninput y: float\nsin(x) * y + x",
    "a vector result": "input x: float\ninput y: float\nstack([x * y, x - y])",
    "a param that is a tensor": "input x: float\ninput y: float\nparam k: float[2] = [1.0, 2.0]\n"
    "x * y * k[0] + k[1]",
    "a value that is not finite in a row": "input x: float\ninput y: float\nlog(x) * y",
    "no code": "input x: float\ninput y: float\nlen(str(x)) * y * x",
}
ASKED = {"run": {}, "grad": {"cotangent": 1.0}, "jacobian": {}}


def single(program, question, more):
    """The rows one by one, by the interpreter, with their columns as the CSV of the command."""
    rows = []
    for x, y in zip(TABLE["x"], TABLE["y"], strict=True):
        found = getattr(program, question)(x=x, y=y, options=Options(compile="never"), **more)
        fields = {} if question == "run" else getattr(found, question)
        value = found.result if question == "run" else found.value
        values = {"result": value, **{f"{question}.{n}": v for n, v in fields.items()}}
        rows.append(np.concatenate([np.ravel(v) for v in values.values()]))
    return np.array(rows)


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["auto", "never"])
def test_a_row_is_what_it_gives_by_itself(name, question, mode):
    program = load(PROGRAMS[name])
    more = ASKED[question]
    options = Options(compile=mode)
    found = program.rows(TABLE, question, options=options, **more)
    wanted = single(program, question, more)
    assert np.array([*found.values()], np.float64).T.tobytes() == wanted.tobytes(), found


def test_many_rows_are_those_of_few():
    program = load("input x: float\nparam k = 2.0\nx * exp(-k * x) if x > 0.1 else log(x)")
    x = np.random.default_rng(0).normal(size=500)
    found = program.rows({"x": x}, "grad")
    for k in (0, 15, 16, 17, 100, 499):
        one = program.grad(x=float(x[k]))
        assert (found["result"][k], found["grad.k"][k]) == pytest.approx(
            (one.value, one.grad["k"]), rel=0, abs=0, nan_ok=True
        )


def test_the_columns_are_those_of_the_command(tmp_path):
    path = tmp_path / "model.grad"
    path.write_text("input x: float\nparam k: float[2] = [1.0, 2.0]\nx * k[0] + k[1]\n")
    rows = tmp_path / "rows.csv"
    rows.write_text("x,id\n1.5,a\n2,b\n")
    found = load(path).rows(str(rows), "grad")
    _, out, _ = command("grad", path, "--rows", rows)
    header, *records = csv.reader(io.StringIO(out))
    assert [*found] == header
    assert [[float(x) for x in r] for r in records] == np.array([*found.values()]).T.tolist()


def test_a_table_of_its_kind():
    program = load("input x: float\ninput y: float\nx * y")
    frame = pd.DataFrame(TABLE, index=["p", "q", "r", "s"])
    found = program.rows(frame, "grad")
    assert type(found) is pd.DataFrame
    assert [*found.index] == ["p", "q", "r", "s"]
    assert [*found.columns] == ["result", "grad.x", "grad.y"]
    assert [*found["grad.x"]] == TABLE["y"]
    assert type(program.rows(TABLE)) is dict


def test_an_arrow_table():
    pa = pytest.importorskip("pyarrow")
    found = load("input x: float[2]\nx[0] * x[1]").rows(pa.table({"x": [[1.0, 2.0], [3.0, 4.0]]}))
    assert found.equals(pa.table({"result": [2.0, 12.0]}))


def test_tensors_and_values_that_are_the_same_for_all_rows():
    program = load("input x: float[3]\ninput k: float\n(x * k).sum()")
    found = program.rows({"x": np.arange(6.0).reshape(2, 3)}, "grad", {"k": 2.0}, wrt="x")
    assert found["result"].tolist() == [6.0, 24.0]
    assert found["grad.x.2"].tolist() == [2.0, 2.0]


def test_ints_stay_ints():
    assert load("input n: int\nn // 2").rows({"n": [5, 7, 8]})["result"].tolist() == [2, 3, 4]


@pytest.mark.skipif(not backends.has_machine_code(), reason="machine code needs the extra `fast`")
def test_rows_are_not_asked_one_by_one(monkeypatch):
    program = load("input x: float\nx * x")
    asked = []
    monkeypatch.setattr(type(program), "run", lambda *_, **__: asked.append(1))
    program.rows({"x": np.arange(1000.0)}, options=Options(compile="always"))
    assert not asked


BAD = {
    "no column is an input": ({"z": [1.0]}, InputError, "no column of the table is an input"),
    "lengths": ({"x": [1.0, 2.0], "y": [1.0]}, InputError, "x 2, y 1"),
    "a number": (3, UsageError, "a table is a data frame"),
    "no such file": ("nothing.csv", InputError, "cannot read `nothing.csv`"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_is_told(name):
    table, kind, says = BAD[name]
    with pytest.raises(kind, match=says):
        load("input x: float\ninput y: float\nx * y").rows(table)


def test_a_row_that_fails_is_told_by_its_number():
    program = load("input x: float\nassert x < 2, 'too large'\nx")
    with pytest.raises(GradError) as caught:
        program.rows({"x": [1.0, 1.5, 3.5]})
    assert caught.value.diagnostics[0].notes[-1] == "in row 2 of the table, counted from 0"
    with pytest.raises(UsageError, match="`plot` is no question for rows"):
        program.rows({"x": [1.0]}, "plot")


def test_rows_of_other_columns_are_refused():
    program = load("input x: float\nif x > 1:\n    y = [x, x]\nelse:\n    y = x\ny")
    with pytest.raises(GradError, match="row 1 has other columns"):
        program.rows({"x": [0.5, 1.5]})


@pytest.mark.parametrize("question", ["run", "grad", "jacobian", "hessian", "graph"])
def test_a_result_as_a_dictionary_and_as_json(question, tmp_path):
    path = tmp_path / "f.grad"
    path.write_text("param x = 2.0\nx * x\n")
    found = getattr(load(path), question)()
    assert json.loads(found.to_json()) == json.loads(command(question, path, "-f", "json")[1])
    made = found.to_dict()
    assert json.loads(json.dumps(made)) == made
    if question == "grad":
        assert made["grad"] == {"x": 4.0}
        assert made["value"] == 4.0
