"""The commands `minimize` and `root`: reports, forms, rows, refusals."""

import json
import sys

import pytest

pytest.importorskip("scipy")

VALLEY = ("minimize", "(1 - x) ** 2 + 100 * (y - x ** 2) ** 2", "x=-1.2", "y=1")


def test_the_report(cli):
    status, out, err = cli("minimize", "(x - a) ** 2 + 1", "x=5", "a=2", "--wrt", "x",
                           "--sensitivity", "a", "-f", "human")  # fmt: skip
    assert (status, err) == (0, "")
    assert out == (
        "result = 1\n"
        "\n"
        "name  value  gradient  start\n"
        "x     2      0         5\n"
        "\n"
        "minimum: the gradient is zero within rounding (4 evaluations)\n"
        "\n"
        "d x / d a = 1\n"
    )


def test_forms_for_pipes(cli):
    found = json.loads(cli(*VALLEY, "--json")[1])
    assert (found["values"], found["kind"]) == ({"x": 1.0, "y": 1.0}, "minimum")
    assert found["hessian"]["x"]["y"] == pytest.approx(-400.0)
    assert cli(*VALLEY, "-r")[1] == "1.0\n1.0\n"
    plain = dict(line.split("\t") for line in cli(*VALLEY)[1].splitlines())
    assert plain["values.x"] == "1.0"
    assert (plain["converged"], plain["reason"]) == ("true", '""')


DECAY = ("fit", "a * exp(-k * t)", "a=2", "k=0.1", "--observed", "y", "--rows", "-")
WITHOUT_END = {  # the command line, and the reason
    "a start that is nan": (("minimize", "x ** 2", "x=nan"), "the start is not finite"),
    "no lower bound": (("minimize", "x ** 3", "x=1"), "unbounded below"),
    "evaluations": (
        ("minimize", "x ** 4 + x", "x=3", "--max-evaluations", "2"),
        "no end within 2 evaluations",
    ),
    "no zero": (("root", "x ** 2 + 1", "x=1"), "no root found"),
    "no bracket": (("root", "x ** 2 + 1", "x=1", "--between", "0:2"), "no bracket"),
    "a fit": ((*DECAY, "--max-evaluations", "2"), "no end within 2 evaluations"),
}


@pytest.mark.parametrize("form", ["plain", "csv", "tsv", "md", "human"])
@pytest.mark.parametrize(("line", "reason"), WITHOUT_END.values(), ids=WITHOUT_END)
def test_each_form_tells_once_why_nothing_is_found(line, reason, form, cli):
    status, out, err = cli(*line, "-f", form, stdin="t,y\n1,1.9\n2,1.4\n3,1.2\n")
    assert (status, out.count(reason), err.count(reason)) == (1, 1, 1)


@pytest.mark.parametrize(("line", "reason"), WITHOUT_END.values(), ids=WITHOUT_END)
def test_raw_values_have_the_reason_beside_them(line, reason, cli):
    status, out, err = cli(*line, "--raw", stdin="t,y\n1,1.9\n2,1.4\n3,1.2\n")
    assert (status, out.count(reason), err.count(reason)) == (1, 0, 1)
    found = json.loads(cli(*line, "--json", stdin="t,y\n1,1.9\n2,1.4\n3,1.2\n")[1])
    assert reason in found["reason"]


def test_an_answer_is_input_for_other_commands(cli, tmp_path):
    file = tmp_path / "m.json"
    assert cli(*VALLEY, "-o", str(file))[0] == 0
    assert cli("run", "x + y", "-i", str(file))[1] == "2.0\n"


def test_what_fails_has_status_1(cli):
    status, out, err = cli("minimize", "x * 2", "x=1", "-q")
    assert (status, err) == (1, "")
    assert "converged\tfalse" in out
    assert "(1 evaluation)" in cli("minimize", "x * x", "x=nan", "-q", "-f", "human")[1]
    status, out, err = cli("root", "x ** 2 + 1", "x=1")
    assert (status, "warning[not-found]: no root found" in err) == (1, True)


@pytest.mark.parametrize("line", [VALLEY, ("root", "x ** 2 - 2", "x=1")])
@pytest.mark.parametrize("form", ["npz", "npy", "parquet", "arrow"])
def test_files_hold_the_answer(line, form, cli, tmp_path):
    import numpy as np

    file = tmp_path / f"m.{form}"
    if form in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    status, _, err = cli(*line, "-o", str(file))
    found = json.loads(cli(*line, "--json")[1])["values"]
    if form == "npy" and len(found) > 1:
        assert (status, "holds one array" in err) == (2, True)
    elif form == "npy":
        assert np.load(file) == found["x"]
    elif form == "npz":
        with np.load(file) as arrays:
            assert {name: float(arrays[f"values.{name}"]) for name in found} == found
    else:
        import pyarrow.ipc
        import pyarrow.parquet

        read = pyarrow.parquet.read_table
        table = read(file) if form == "parquet" else pyarrow.ipc.open_file(file).read_all()
        assert table.to_pydict()["values.x"] == [found["x"]]


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("name", ["minimize", "root"])
def test_an_interrupt_has_status_130(name, rows, cli, monkeypatch):
    from gradcli.questions.solving import minimize, root

    module, taken = {"minimize": minimize, "root": root}[name], []
    ask = module._Function.__call__

    def stopped(self, point):
        taken.append(point)
        if len(taken) == 4:
            raise KeyboardInterrupt
        return ask(self, point)

    monkeypatch.setattr(module._Function, "__call__", stopped)
    line = (name, "x ** 4 - a * x", "x=3", "--wrt", "x", "--json")
    if rows:
        assert cli(*line, "--rows", "-", stdin="a\n2\n3\n")[:2] == (130, "")
    else:
        status, out, _ = cli(*line, "a=2")
        assert status == 130
        found = json.loads(out)
        assert (found["converged"], found["reason"]) == (False, "interrupted")


def test_rows_are_problems(cli):
    table = "a\n1\n2\n4\n"
    asked = ("root", "x ** 2 - a", "x=1", "--wrt", "x", "--rows", "-", "--sensitivity", "a")
    status, out, err = cli(*asked, stdin=table)
    assert (status, err) == (0, "")
    head, *rows = (line.split(",") for line in out.splitlines())
    at = head.index("values.x")
    assert [float(row[at]) for row in rows] == pytest.approx([1.0, 2**0.5, 2.0])
    by = head.index("sensitivity.x.a")
    assert [float(row[by]) for row in rows] == pytest.approx([0.5, 0.5 / 2**0.5, 0.25])


def test_warm_rows_begin_at_the_last_answer(cli):
    table = "a\n" + "".join(f"{2 + k / 100}\n" for k in range(10))
    asked = ("root", "x ** 2 - a", "x=50", "--wrt", "x", "--rows", "-")
    counts = []
    for more in ((), ("--warm",)):
        head, *rows = (line.split(",") for line in cli(*asked, *more, stdin=table)[1].splitlines())
        counts.append(sum(int(row[head.index("evaluations")]) for row in rows))
    assert counts[1] < counts[0]


def test_rows_without_an_answer_are_counted(cli):
    asked = ("minimize", "exp(x) - a * x", "x=1", "--wrt", "x", "--rows", "-")
    status, out, err = cli(*asked, stdin="a\n1\n-1\n2\n")
    assert (status, len(out.splitlines())) == (1, 4)
    assert "nothing is found in 1 row: 1" in err


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        (["minimize", "x * 2", "x=1", "--warm"], 2, "`--warm` needs `--rows`"),
        (["minimize", "x * 2", "x=1", "--bounds", "x"], 2, "is not NAME=LOW:HIGH"),
        (["root", "x * 2", "x=1", "--between", "3"], 2, "is not LOW:HIGH"),
        (["root", "x * 2", "x=1", "--between", "3:1"], 2, "goes from 3 to 1"),
        (["root", "x * 2", "x=1", "--between", "nan:1"], 2, "not a finite number"),
        (["minimize", "x * 2"], 4, "input `x` has no value"),
        (["minimize", "x * y", "x=1", "y=nan"], 1, "the start is not finite"),
        (["root", "stack([x, y])", "x=1", "y=2", "--wrt", "x"], 4, "2 results cannot tell 1"),
    ],
)
def test_what_is_refused(asked, status, said, cli):
    found, out, err = cli(*asked)
    assert (found, said in err) == (status, True), (found, out, err)


@pytest.mark.parametrize("name", ["minimize", "root"])
def test_without_scipy_the_extra_is_named(name, cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    status, _, err = cli(name, "x ** 2 - 2", "x=1")
    assert status == 2
    assert f"`{name}` needs SciPy" in err
    assert "pip install 'gradcli[fit]'" in err
