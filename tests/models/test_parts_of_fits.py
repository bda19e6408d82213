"""Fits over parts: the digits do not depend on who has the parts, or on when there is code."""

import json
import pickle

import numpy as np
import pytest

from gradcli.formats.readers.parts import open_part, parts_of
from gradcli.formats.readers.whole_table import read_whole
from gradcli.formats.texts.dialect import USUAL
from gradcli.program import fit
from gradcli.questions.fitting import model
from gradcli.questions.fitting import shares as rooms

from .test_data_of_fits import KINDS

COUNTS = (5, 0, 80, 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files with the columns of KINDS; `z` is missing in each third record, and one has none."""
    rng, folder = np.random.default_rng(2), tmp_path_factory.mktemp("parts")
    for number, count in enumerate(COUNTS):
        lines = ["t,y,z,s,w"]
        for k, t in enumerate(rng.uniform(0, 5, count)):
            y, z = 3 * np.exp(-0.7 * t) + 0.1 * rng.standard_normal(2)
            z = "" if k % 3 == 0 else f"{2 - z / 2:.6f}"
            lines.append(f"{t:.6f},{y:.6f},{z},{0.1 + k % 5 / 50},{k % 7 + 1}")
        (folder / f"p{number}.csv").write_text("\n".join(lines) + "\n")
    return [str(folder / f"p{number}.csv") for number in range(len(COUNTS))]


class Elsewhere:
    """Parts of which each is read by itself, and asked through pickles."""

    def __init__(self, files, names, either):
        self._parts = [*parts_of(files, USUAL, None, counted=False)]
        self._names, self._either, self._shares = names, either, {}
        self.asked = 0

    def each(self, setup, function, *more):
        for k, part in enumerate(self._parts):
            self.asked += 1
            sent, called, arguments = pickle.loads(pickle.dumps((setup, function, more)))
            if (k, setup.name) not in self._shares:
                rows = [open_part(part, USUAL)]
                data = read_whole(rows, self._names, (), skips=False, either=self._either)
                self._shares[k, setup.name] = sent.share(data)
            answer = self._shares[k, setup.name].ask(0, called, *arguments)
            yield pickle.loads(pickle.dumps(answer))

    def joined(self):
        raise AssertionError("they are elsewhere")


class Table:
    """The files, in this process or elsewhere."""

    def __init__(self, files, *, here):
        self.name, self.names = "the files", ["t", "y", "z", "s", "w"]
        self._files, self._here = files, here
        self.shares = None

    def read(self, names, titles, either=(), most=None):
        if self._here:
            rows = [
                open_part(part, USUAL) for part in parts_of(self._files, USUAL, None, counted=False)
            ]
            return read_whole(rows, names, titles, skips=False, either=either, most=most)
        self.shares = Elsewhere(self._files, names, either)
        return self.shares


def figures(found):
    return found.estimates, found.figures, found.covariance, found.records, found.compared


SOME = [k if k in ("robust", "several") else pytest.param(k, marks=pytest.mark.long) for k in KINDS]


@pytest.mark.parametrize("kind", SOME)
def test_parts_that_are_elsewhere_give_the_same_digits(kind, files):
    program, asked = KINDS[kind]
    one = fit(program, Table(files, here=True), **asked)
    table = Table(files, here=False)
    assert figures(fit(program, table, **asked)) == figures(one)
    assert table.shares.asked >= 4 * len(files)


@pytest.mark.parametrize("kind", ["likelihood", "hessian"])
def test_digits_do_not_depend_on_when_there_is_code(kind, files, monkeypatch):
    program, asked = KINDS[kind]
    found = []
    for few in (7, 10_000):
        monkeypatch.setattr(model, "_FEW", few)
        found.append(figures(fit(program, Table(files, here=True), **asked)))
    assert found[0] == found[1]


def test_cut_files_are_fitted_in_parts(cli, files, monkeypatch):
    asked = []
    ask = rooms.Share.ask
    monkeypatch.setattr(rooms.Share, "ask", lambda *a: asked.append(a[1]) or ask(*a))
    line = (
        "fit",
        "a * exp(-k * t)",
        "a=2",
        "k=0.5",
        "--rows",
        files[2],
        "--observed",
        "y",
        "--json",
    )
    whole = json.loads(cli(*line)[1])
    assert {*asked} == {0}
    parts = json.loads(cli(*line, "--part-size", "300")[1])
    assert len({*asked}) > 5
    assert parts["values"] == pytest.approx(whole["values"], rel=1e-9)
    assert parts["records"] == whole["records"]


def test_a_place_names_its_file(cli, tmp_path):
    (tmp_path / "a.csv").write_text("t,y\n0,2\n1,1\n2,0.6\n")
    (tmp_path / "b.csv").write_text("t,y\n3,0.2\n4,oops\n5,0.1\n")
    line = ("fit", "a * exp(-k * t)", "a=2", "k=0.5", "--rows", str(tmp_path / "*.csv"))
    _, _, err = cli(*line, "--observed", "y", "--on-error", "skip")
    assert f"1 of 6 rows left out, the first at line 3 of `{tmp_path / 'b.csv'}`" in err
    _, _, err = cli(*line, "--observed", "1 / (t - 3)", "--on-error", "skip")
    assert f"is not finite at `{tmp_path / 'b.csv'}`, line 2: inf" in err


@pytest.mark.parametrize(("indent", "more"), [(None, ()), (1, ("--where", "t > 3"))])
def test_a_place_in_an_array_is_a_line_of_its_file(cli, tmp_path, indent, more):
    records = [{"t": k, "y": 2.0**-k} for k in range(600)]
    records[500]["y"] = "oops"
    text = json.dumps(records, indent=indent)
    lines = {k: 1 + text[: text.index(f'"t": {k},')].count("\n") - bool(indent) for k in (500, 577)}
    file = tmp_path / "a.json"
    file.write_text(text)
    line = ("fit", "a * exp(-k * t)", "a=2", "k=0.5", "--rows", str(file), "--on-error", "skip")
    _, _, err = cli(*line, "--observed", "y", *more)
    assert f"rows left out, the first at line {lines[500]}\n" in err
    _, _, err = cli(*line, "--observed", "1 / (t - 577)", *more)
    assert f"is not finite at `{file}`, line {lines[577]}: inf" in err


def test_parts_of_other_shapes_are_refused(cli, tmp_path):
    (tmp_path / "a.ndjson").write_text('{"x": [1, 2], "y": 1}\n{"x": [1, 3], "y": 2}\n')
    (tmp_path / "b.ndjson").write_text('{"x": [1, 2, 3], "y": 1}\n')
    status, _, err = cli(
        *("fit", "sum(x) * a", "a=1", "--rows", str(tmp_path / "*.ndjson"), "--observed", "y")
    )
    assert (status, "2 and 3 elements of `x`" in err) == (4, True)


def test_whole_columns_are_those_of_all_files(cli, tmp_path):
    text = "param a = 1.0\ninput t: float[n]\na * t * sum(t)"
    (tmp_path / "m.grad").write_text(text)
    (tmp_path / "a.csv").write_text("t,y\n1,8\n1,8\n")
    (tmp_path / "b.csv").write_text("t,y\n1,8\n1,8\n")
    line = ("fit", str(tmp_path / "m.grad"), "--rows", str(tmp_path / "*.csv"), "--observed", "y")
    status, out, err = cli(*line, "--json")
    assert (status, json.loads(out)["values"]) == (0, {"a": pytest.approx(2.0)}), err


def test_predictions_and_their_fit_have_the_digits_of_the_fit_alone(cli, files, tmp_path):
    line = ("fit", "a * exp(-k * t)", "a=2", "k=0.5", "--observed", "y", "--json")
    line += tuple(part for name in files for part in ("--rows", name))
    alone = cli(*line)[1]
    assert cli(*line, "--predict", str(tmp_path / "p.csv"))[1] == alone
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 1 + sum(COUNTS)
