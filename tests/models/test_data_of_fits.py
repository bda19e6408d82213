"""Data that do not fit into memory, and data sets of unequal length that share parameters."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gradcli.errors import GradError, LimitError
from gradcli.formats.files.stored import _PIECE, Stored
from gradcli.program import fit, load
from gradcli.questions.fitting import fit as fitting

DECAY = load("param a = 2.0\nparam k = 0.5\ninput t: float\na * exp(-k * t)")
NLL = load(
    "param a = 2.0\nparam k = 0.5\ninput t: float\ninput y: float\n(y - a * exp(-k * t)) ** 2 * 50"
)
BOTH = load(
    "param a = 1.0\nparam c = 1.0\nparam k = 0.5\ninput t: float\n"
    "left = a * exp(-k * t)\nmade = c * (1 - exp(-k * t))"
)
KINDS = {
    "plain": (DECAY, {"observed": ["y"]}),
    "expression": (DECAY, {"observed": ["log(exp(y))"], "sigma": "s * 2"}),
    "weights": (DECAY, {"observed": ["y"], "weights": "w"}),
    "hessian": (DECAY, {"observed": ["y"], "hessian": True}),
    "robust": (DECAY, {"observed": ["y"], "loss": "huber"}),
    "likelihood": (NLL, {"likelihood": True}),
    "several": (BOTH, {"of": ["left", "made"], "observed": ["y", "z"]}),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with some columns; `z` is missing in each third record."""
    rng, path = np.random.default_rng(2), tmp_path_factory.mktemp("data") / "d.csv"
    lines = ["t,y,z,s,w"]
    for k, t in enumerate(rng.uniform(0, 5, 900)):
        y, z = 3 * np.exp(-0.7 * t) + 0.1 * rng.standard_normal(2)
        z = "" if k % 3 == 0 else f"{2 - z / 2:.6f}"
        lines.append(f"{t:.6f},{y:.6f},{z},{0.1 + k % 5 / 50},{k % 7}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_files_give_the_same_digits(kind, table, monkeypatch):
    program, asked = KINDS[kind]
    wanted = fit(program, table, **asked)
    monkeypatch.setattr(fitting, "_LEAST", 0)
    monkeypatch.setattr(fitting, "_PART", 10**18)  # no column may stand in memory
    made, cut, begun = [], Stored.__getitem__, Stored.__init__

    def counted(self, key):
        found = cut(self, key)
        assert np.ndim(found) == 0 or len(found) <= _PIECE
        return found

    monkeypatch.setattr(Stored, "__init__", lambda self, *a: begun(made.append(self) or self, *a))
    monkeypatch.setattr(Stored, "__getitem__", counted)
    monkeypatch.setattr(Stored, "__array__", None)  # nobody takes a whole column
    found = fit(program, table, **asked)
    assert len(made) >= 2
    assert (found.estimates, found.figures) == (wanted.estimates, wanted.figures)


def test_all_records_at_once_are_in_memory(table, monkeypatch):
    monkeypatch.setattr(fitting, "_LEAST", 0)
    monkeypatch.setattr(fitting, "_PART", 10**18)
    monkeypatch.setattr(Stored, "__init__", None)
    found = fit(DECAY, table, observed=["y"], predict=["t"])
    assert len(found.predicted["fitted"]) == 900


# a new process counts what the one had that started it, so a small one stands between
PEAK = """
import resource, subprocess, sys
found = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True)
print(found.stdout.split()[1], resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.long
def test_memory_does_not_grow_with_the_records(tmp_path):
    rng, most = np.random.default_rng(3), []
    for count in (400_000, 4_000_000):
        t = rng.uniform(0, 5, count)
        rows = np.stack([t, 3 * np.exp(-0.7 * t) + 0.1 * rng.standard_normal(count)], 1)
        file = str(tmp_path / "d.csv")
        np.savetxt(file, rows, "%.8g", ",", header="t,y", comments="")
        line = ["gradcli", "fit", "a * exp(-k * t)", "a=2", "k=1", "--rows", file]
        line += ["--observed", "y", "--max-memory", "150MB"]
        command = [sys.executable, "-c", PEAK, sys.executable, "-m", *line]
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        estimate, peak = map(float, out.split())
        assert estimate == pytest.approx(3.0, abs=0.01)
        most.append(peak)
    assert most[1] < 1.1 * most[0], most


# --- data sets of unequal length -----------------------------------------------------------------

T1, T2 = np.arange(10.0), np.arange(0.5, 6.0, 0.5)
Y1 = 3 * np.exp(-0.4 * T1) + 0.02 * np.sin(9 * T1)
Y2 = 2 * (1 - np.exp(-0.4 * T2)) + 0.02 * np.cos(9 * T2)
ASKED = ("--of", "left,made", "--observed", "y1,y2")


def texts(*columns):
    return "".join(
        ",".join("" if np.isnan(x) else repr(float(x)) for x in row) + "\n"
        for row in zip(*columns, strict=True)
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files of unequal length, and one with all their records."""
    monkeypatch.chdir(tmp_path)
    none1, none2 = np.full(10, np.nan), np.full(11, np.nan)
    (tmp_path / "1.csv").write_text("t,y1\n" + texts(T1, Y1))
    (tmp_path / "2.csv").write_text("y2,t\n" + texts(Y2, T2))
    whole = texts(T1, Y1, none1) + texts(T2, none2, Y2)
    (tmp_path / "both.csv").write_text("t,y1,y2\n" + whole)
    records = [{"t": t, "y1": y, "y2": None} for t, y in zip(T1, Y1, strict=True)]
    records += [{"t": t, "y2": y} for t, y in zip(T2, Y2, strict=True)]
    (tmp_path / "both.ndjson").write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "m.grad").write_text(BOTH.source.text)
    return tmp_path


def indicated():
    """The same fit by an indicator column."""
    text = "param a = 1.0\nparam c = 1.0\nparam k = 0.5\ninput t: float\ninput first: float\n"
    text += "first * a * exp(-k * t) + (1 - first) * c * (1 - exp(-k * t))"
    table = {"t": np.r_[T1, T2], "y": np.r_[Y1, Y2], "first": np.r_[np.ones(10), np.zeros(11)]}
    return fit(load(text), table, observed=["y"])


@pytest.mark.parametrize(
    "rows",
    [
        ("--rows", "1.csv", "--rows", "2.csv"),
        ("--rows", "both.csv"),
        ("--rows", "both.ndjson"),
        ("--rows", "*.csv", "--na", "none"),
    ],
)
def test_each_result_has_the_records_in_which_it_was_observed(rows, files, cli):
    if "*.csv" in rows:
        (files / "both.csv").unlink()
    status, out, err = cli("fit", "m.grad", *rows, *ASKED, "--json")
    assert (status, err) == (0, "")
    found, wanted = json.loads(out), indicated()
    assert found["compared"] == {"left": 10, "made": 11}
    assert (found["records"], found["dof"]) == (21, 18)
    assert found["values"] == pytest.approx(wanted.values)
    assert found["error"] == pytest.approx(wanted.error)
    assert found["r_squared"] == pytest.approx(wanted.figures["r_squared"])
    report = cli("fit", "m.grad", *rows, *ASKED, "-f", "human")[1]
    assert "21 records (10 of left, 11 of made), 18 degrees of freedom\n" in report


def test_predictions_stand_where_a_result_was_observed(files, cli):
    assert cli("fit", "m.grad", "--rows", "both.csv", *ASKED, "--predict", "p.csv")[0] == 0
    lines = [line.split(",") for line in (files / "p.csv").read_text().splitlines()]
    left, made = lines[0].index("fitted.left"), lines[0].index("fitted.made")
    assert [line[left] == "nan" for line in lines[1:]] == 10 * [False] + 11 * [True]
    assert [line[made] == "nan" for line in lines[1:]] == 10 * [True] + 11 * [False]


def test_each_result_may_have_deviations_of_its_own(files, cli):
    line = ("fit", "m.grad", "--rows", "both.csv", *ASKED, "--json", "--sigma")
    found = [json.loads(cli(*line, text)[1]) for text in ("0.1,0.1", "0.1", "0.1,0.001")]
    assert found[0]["values"] == found[1]["values"]
    assert found[2]["error"]["c"] < found[0]["error"]["c"] / 10
    status, _, err = cli(*line, "1,2,3")
    assert status == 2
    assert "3 expressions in --sigma for 2 observed" in err


def test_a_model_of_the_column_has_its_own_times_for_each_result():
    text = (
        "param k = 0.3\nparam y0 = 2.0\ninput t: float[n]\n"
        "f = lambda t, y: [-k * y[0], k * y[0]]\n"
        "y = odeint(f, [y0, 0.0], t, method='rk4', steps=8)\nleft = y[:, 0]\nmade = y[:, 1]"
    )
    none3, none4 = np.full(3, np.nan), np.full(4, np.nan)
    first, second = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.5, 2.5])
    left, made = 3 * np.exp(-0.4 * first), 3 * (1 - np.exp(-0.4 * second))
    table = {"t": np.r_[first, second], "u": np.r_[left, none3], "v": np.r_[none4, made]}
    found = fit(load(text), table, of=["left", "made"], observed=["u", "v"])
    assert found.values == pytest.approx({"k": 0.4, "y0": 3.0}, rel=1e-5)
    assert found.compared == {"left": 4, "made": 3}


@pytest.mark.parametrize(
    ("data", "more", "status", "says"),
    [
        ("t,y1,y2\n0,,\n1,2,\n2,,1\n3,1,\n", (), 4, "this row has none of `y1` and `y2`"),
        ("t,y1,y2\n0,1,\n1,2,\n", (), 4, "no record has `y2`"),
        ("t,y1,y2\n0,1,x\n", (), 4, "`x`"),
        ("t,y1,y2\n,1,2\n1,2,3\n2,3,4\n", (), 4, "line 2 has no `t` beside it"),
        ("t,y1,y2\n0,inf,1\n1,2,3\n", (), 4, "not finite"),
        ("t,y1\n0,1\n", (), 2, "--observed reads `y2`, which is no column of the data"),
    ],
)
def test_what_is_missing_is_told(data, more, status, says, cli, files):
    found = cli("fit", "m.grad", "--rows", "-", *ASKED, *more, stdin=data)
    assert found[:2] == (status, "")
    assert says in found[2]


def test_a_record_without_any_is_left_out_and_counted(cli, files):
    data = (files / "both.csv").read_text() + "9,,\n"
    line = ("fit", "m.grad", "--rows", "-", *ASKED, "--json", "--on-error", "skip")
    status, out, err = cli(*line, stdin=data)
    assert status == 0
    assert json.loads(out)["left_out"] == 1
    assert "1 of 22 rows left out" in err


def test_one_observed_column_is_never_missing(cli, files):
    status, _, err = cli("fit", "m.grad", "--rows", "both.csv", "--observed", "y1")
    assert status == 4
    assert "y1" in err
    status, _, err = cli("fit", "m.grad", "--rows", "1.csv", "--rows", "2.csv", "--observed", "y1")
    assert status == 4
    assert "`2.csv` has no column `y1`; it has y2, t" in err


def test_a_model_with_fewer_values_than_records_is_refused():
    with pytest.raises(GradError, match="the model gives 9 values for 10 records"):
        fit(load("param a = 1.0\ninput t: float[n]\na * t[1:]"), {"t": T1, "y": Y1}, observed=["y"])


def test_a_full_disk_ends_a_fit(table, monkeypatch):
    def full(*_):
        raise LimitError

    monkeypatch.setattr(fitting, "_LEAST", 0)
    monkeypatch.setattr(fitting, "_PART", 10**18)
    monkeypatch.setattr(Stored, "append", full)
    with pytest.raises(LimitError):
        fit(DECAY, table, observed=["y"])
