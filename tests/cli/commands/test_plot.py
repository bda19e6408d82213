"""`gradcli plot` at the command line: its numbers, and what it refuses."""

import json

import pytest


def test_numbers_need_no_extra(cli):
    asked = ("plot", "x ** 2", "--over", "x=0:2:3")
    assert cli(*asked, "-f", "csv") == (
        0,
        "x,result,grad.x\n0.0,0.0,0.0\n1.0,1.0,2.0\n2.0,4.0,4.0\n",
        "",
    )
    assert cli(*asked)[1] == "x\t[0.0,1.0,2.0]\nresult\t[0.0,1.0,4.0]\ngrad.x\t[0.0,2.0,4.0]\n"
    assert cli(*asked, "-r")[1] == "0.0\n2.0\n4.0\n"


def test_several_results(cli):
    status, out, _ = cli(
        "plot", "a = 2 * x; b = -x", "--over", "x=0:1:2", "--of", "a,b", "-f", "csv"
    )
    assert (status, out) == (
        0,
        "x,a,b,grad.a.x,grad.b.x\n0.0,0.0,-0.0,2.0,-1.0\n1.0,2.0,-1.0,2.0,-1.0\n",
    )


def test_json_has_the_kinks(cli):
    found = json.loads(cli("plot", "abs(x)", "--over", "x=-pi:pi:4", "--json")[1])
    assert (found["schema"], found["over"], len(found["points"])) == ("gradcli.plot/1", "x", 4)
    (curve,) = found["curves"]
    assert curve["grad"] == [-1.0, -1.0, 1.0, 1.0]
    assert curve["kinks"] == [{"at": 0.0, "left": -1.0, "right": 1.0, "jump": None}]


@pytest.mark.parametrize(
    ("over", "status", "said"),
    [
        ([], 2, "no input to go over"),
        (["--over", "x"], 2, "`x` in --over is not a range"),
        (["--over", "x=1:0"], 2, "goes from 1 to 0"),
        (["--over", "x=0:1:1"], 2, "`1` in --over is not a number of points"),
        (["--over", "x=0:inf"], 2, "`inf` in --over is not a finite number"),
        (["--over", "x=0:q"], 4, "`q` has no value here"),
        (["--over", "y=0:1"], 4, "no input `y` to go over"),
        (["--over", "x=0:1", "x=2"], 2, "`x` is given by x=2, and --over gives it, too"),
    ],
)
def test_ranges_that_are_none_are_refused(cli, over, status, said):
    found = cli("plot", "x ** 2", *over, "-f", "csv")
    assert (found[0], found[1]) == (status, ""), found
    assert said in found[2]


def test_a_picture_goes_into_a_file(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("gradcli.render.figure.picture", lambda result, form: form.encode())
    for form in ("svg", "png", "pdf"):
        path = tmp_path / f"p.{form}"
        assert cli("plot", "x ** 2", "--over", "x=0:1:3", "-o", path) == (0, "", "")
        assert path.read_text() == form
    assert cli("plot", "x ** 2", "--over", "x=0:1:3", "-f", "svg") == (0, "svg", "")


@pytest.mark.parametrize(("form", "package"), [("human", "plotille"), ("svg", "matplotlib")])
def test_without_the_extra_the_message_tells_it(cli, form, package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    status, out, err = cli("plot", "x ** 2", "--over", "x=0:1", "-f", form)
    assert (status, out) == (2, "")
    assert f"needs the package `{package}`" in err
    assert "pip install 'gradcli[plot]'" in err


def test_a_program_is_asked_within_its_limits(cli):
    text = "y = x\nwhile True: y = y + 1\ny"
    status, out, err = cli("plot", "-e", text, "--over", "x=0:1", "--max-steps", "100")
    assert (status, out) == (6, "")
    assert "error[step-limit]" in err
    assert "note: at x = 0.0" in err
