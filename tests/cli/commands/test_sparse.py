"""`gradcli jacobian --sparse` and `hessian --sparse`."""

import json

import numpy as np
import pytest

STENCIL = ("jacobian", "x[1:] - 2 * x[:-1]", "x=[1, 2, 4]", "--sparse")
LOCAL = ("hessian", "sum((x[1:] - x[:-1]) ** 2 * k)", "x=[1, 2, 4]", "k=2", "--sparse")


def test_json_has_the_entries_by_name(cli):
    status, out, err = cli(*STENCIL, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    block = {"shape": [2, 3], "row": [0, 0, 1, 1], "col": [0, 1, 1, 2]}
    assert found["jacobian"] == {"x": {**block, "data": [-2.0, 1.0, -2.0, 1.0]}}
    assert (found["mode"], found["products"], found["dense"]) == ("reverse", 2, [])


def test_second_derivatives_stand_by_two_names(cli):
    found = json.loads(cli(*LOCAL, "--json")[1])
    assert found["grad"] == {"x": [-4.0, -4.0, 8.0], "k": 5.0}
    shapes = {n: {m: b["shape"] for m, b in row.items()} for n, row in found["hessian"].items()}
    assert shapes == {"x": {"x": [3, 3], "k": [3, 1]}, "k": {"x": [1, 3], "k": [1, 1]}}
    assert found["hessian"]["k"]["k"]["data"] == []


def test_tables_have_a_record_for_each_entry(cli):
    assert cli(*STENCIL, "-f", "csv")[1].splitlines() == [
        "input,row,col,data",
        *("x,0,0,-2.0", "x,0,1,1.0", "x,1,1,-2.0", "x,1,2,1.0"),
    ]
    head, first, *_ = cli(*LOCAL, "-f", "tsv")[1].splitlines()
    assert (head, first) == ("input\tother\trow\tcol\tdata", "x\tx\t0\t0\t4.0")
    assert cli(*STENCIL, "-r")[1].split() == ["-2.0", "1.0", "-2.0", "1.0"]
    assert cli(*STENCIL, "-f", "plain")[1].splitlines() == [
        "result\t[0.0,0.0]",
        *("jacobian.x\t0\t0\t-2.0", "jacobian.x\t0\t1\t1.0"),
        *("jacobian.x\t1\t1\t-2.0", "jacobian.x\t1\t2\t1.0"),
    ]


def test_a_person_sees_how_many_entries_there_are_and_the_first_of_them(cli):
    given = "x=[" + ",".join(map(str, range(30))) + "]"
    out = cli("jacobian", "x[1:] * x[:-1]", given, "--sparse", "-f", "human")[1]
    assert "jacobian.x: 29 x 30, 58 entries (6.67 %)" in out
    assert "... 38 more; `-o FILE.csv` or `-o FILE.npz` writes all" in out
    assert "by 2 products in reverse mode" in out
    assert len(out.splitlines()) == 27
    out = cli("jacobian", "x[x > 1]", "x=[2, 3]", "--sparse", "-f", "human")[1]
    assert "counted as dense: the program: an item is taken by a value" in out


@pytest.mark.parametrize("command", [STENCIL, LOCAL])
def test_scipy_loads_the_file(cli, tmp_path, command):
    sparse = pytest.importorskip("scipy.sparse")
    path = tmp_path / "m.npz"
    assert cli(*command, "-o", str(path))[0] == 0
    found = sparse.load_npz(path)
    asked = [x for x in command if x != "--sparse"]
    dense = json.loads(cli(*asked, "--json")[1])[command[0]]
    if command is STENCIL:
        expected = np.array(dense["x"])
    else:
        rows = [
            np.column_stack([np.reshape(row["x"], (-1, 3)), np.reshape(row["k"], (-1, 1))])
            for row in dense.values()
        ]
        expected = np.concatenate(rows)
    assert isinstance(found, sparse.coo_array)
    assert (found.toarray() == expected).all()
    assert (np.diff(found.row) >= 0).all()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["-o", "a.npy"], "`--sparse` does not go with npy output"),
        (["-o", "a.parquet"], "`--sparse` does not go with parquet output"),
        (["--diagonal"], "`--sparse` and `--diagonal` exclude each other"),
        (["--mode", "forward"], "sparse second derivatives are found in reverse mode, not forward"),
        (["--rows", "a.csv"], "`--sparse` does not go with --rows"),
        (["--of", "a,b"], "`--sparse` takes one result"),
        (["-f", "table"], "`table` is not one of"),
    ],
)
def test_what_it_does_not_go_with_is_said(cli, tmp_path, monkeypatch, more, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x\n1\n")
    status, out, err = cli("hessian", "sum(x ** 2)", "x=[1, 2]", "--sparse", *more)
    assert (status, out) == (2, "")
    assert says in err


def test_a_note_tells_of_code(cli):
    status, _, err = cli(*STENCIL, "--compile", "always", "-v")
    assert status == 0
    assert "note[code-made]: made" in err
