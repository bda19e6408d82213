"""`--of a,b`: one question about several results, of one run."""

import json

import numpy as np
import pytest

PROGRAM = "print(x); a = x * y; b = [x ** 2, y * normal((1,))[0]]; c = x ** 3"
GIVEN = ["-e", PROGRAM, "x=2", "y=3", "--seed", "1"]
QUESTIONS = {
    "grad": ["a,c"],
    "vjp": ["a,c"],
    "jvp": ["a,b,c", "--tangent", "x=1"],
    "jacobian": ["b,a"],
    "hessian": ["c,a"],
    "hvp": ["a,c", "--tangent", "x=1"],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_result_has_the_answer_that_it_has_alone(cli, question):
    of, *more = QUESTIONS[question]
    names = of.split(",")
    status, out, err = cli(question, *GIVEN, "--of", of, *more, "--json", "-q")
    assert (status, err) == (0, "2.0\n")
    found = json.loads(out)
    assert list(found["output"].items()) == [(name, name) for name in names]
    assert found.pop("schema") == f"gradcli.{question}/1"
    for name in names:
        alone = json.loads(cli(question, *GIVEN, "--of", name, *more, "--json", "-q")[1])
        for field in {*found} - {"warnings"}:
            assert found[field][name] == alone[field]


def test_all_forms_have_the_results_and_then_their_derivatives(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["grad", "-e", "a = x * y; b = x + y", "x=2", "y=3", "--of", "a", "--of", "b"]
    assert cli(*asked)[1] == (
        "a\t6.0\nb\t5.0\ngrad.a.x\t3.0\ngrad.a.y\t2.0\ngrad.b.x\t1.0\ngrad.b.y\t1.0\n"
    )
    table = "a,b,grad.a.x,grad.a.y,grad.b.x,grad.b.y\n6.0,5.0,3.0,2.0,1.0,1.0\n"
    assert cli(*asked, "-f", "csv")[1] == table
    assert cli(*asked, "-r")[1] == "3.0\n2.0\n1.0\n1.0\n"
    assert cli(*asked, "-f", "human")[1] == (
        "a = 6\n\nname  value  gradient\nx     2      3\ny     3      2\n\n"
        "b = 5\n\nname  value  gradient\nx     2      1\ny     3      1\n"
    )
    cli(*asked, "-o", "out.npz")
    assert ",".join(np.load("out.npz")) == table.partition("\n")[0]
    rows = ["grad", *asked[1:3], "--of", "a,b", "--rows", "-"]
    assert cli(*rows, stdin="x,y\n2,3\n2,3\n")[1] == table + table.partition("\n")[2]
    lines = cli(*rows, stdin='{"x": 2, "y": 3}\n')[1]
    assert json.loads(lines)["grad"] == {"a": {"x": 3.0, "y": 2.0}, "b": {"x": 1.0, "y": 1.0}}
    printed = cli(*asked, "--json")[1]
    again = cli(
        "run", "-e", "input a = 0.0", "-e", "input b = 0.0", "-e", "a - b", "-i", "-", stdin=printed
    )
    assert again == (0, "1.0\n", "")


def test_the_program_runs_once_and_says_what_it_says_once(cli):
    _, out, err = cli("grad", *GIVEN, "--of", "a,c")
    assert (out.count("a\t6.0\n"), err.splitlines()[0], err.count("2.0\n")) == (1, "2.0", 1)
    assert err.count("`c` does not depend on `y`") == 1


@pytest.mark.parametrize(
    ("more", "status", "told"),
    [
        (["--of", "a,zz"], 2, "--of names `zz`, which the program does not have"),
        (["--of", "a,c", "--compile", "always"], 3, "not compiled: several results"),
        (["--of", "a,c", "--kinks"], 2, "`--kinks` does not go with several results"),
        (["--of", "a,,c"], 2, "an empty name in --of"),
    ],
)
def test_what_cannot_be_asked_of_several_results(cli, more, status, told):
    found = cli("grad", *GIVEN, *more)
    assert (found[0], found[1], told in found[2]) == (status, "", True)
