"""A trace for pipes."""

import csv
import io
import json

BOOK = ("trace", "log(x1) * x2", "x1=2", "x2=[1, 2]", "--cotangent", "1")


def test_json(cli):
    status, out, err = cli(*BOOK, "--json")
    found = json.loads(out)
    assert (status, err, found["schema"], found["output"]) == (0, "", "gradcli.trace/1", "result")
    assert [row["id"] for row in found["rows"]] == ["x1", "x2", "v1", "v2"]
    assert list(found["rows"][2]) == [
        *("id", "variable", "expression", "line", "value", "partials", "adjoint", "around"),
    ]
    assert found["rows"][3]["partials"] == {"v1": [1.0, 2.0], "x2": [0.6931471805599453] * 2}


def test_tables_have_the_same_rows(cli):
    objects = json.loads(cli(*BOOK, "--json")[1])["rows"]
    records = list(csv.DictReader(io.StringIO(cli(*BOOK, "-f", "csv")[1])))
    plain = [line.split("\t") for line in cli(*BOOK)[1].splitlines()]
    assert [list(record.values()) for record in records] == plain
    for row, record in zip(objects, records, strict=True):
        assert json.loads(record["value"]) == row["value"]
        assert json.loads(record["partials"] or "{}") == row["partials"]
        assert json.loads(record["adjoint"]) == row["adjoint"]
    lines = cli(*BOOK, "-f", "md")[1].splitlines()
    assert lines[0] == "|  | expression | line | value | partials | adjoint |"
    assert [line.split(" | ")[0][2:] for line in lines[2:]] == [row["id"] for row in objects]


def test_a_pipe_gets_every_turn_and_a_person_those_that_tell_the_most(cli):
    asked = ("trace", "-e", "y = x", "-e", "for i in range(100): y = y * 1.01", "-e", "y", "x=1")
    assert len(cli(*asked)[1].splitlines()) == 101
    shown = cli(*asked, "-f", "human")[1]
    assert "… 95 more turns of the loop at line 2: 95 operations\n" in shown
    assert "turn 50 of" in cli(*asked, "-f", "human", "--all")[1]


def test_modes_exclude_what_they_have_no_use_for(cli):
    for option in (("--tangent", "x1=1", "--mode", "reverse"), ("--mode", "forward")):
        status, out, err = cli(*BOOK, *option)
        assert (status, out) == (2, ""), err
        assert "exclude each other" in err
