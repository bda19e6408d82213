"""What people are shown: digits, dtypes, colours, places."""

import json

import numpy as np
import pytest
from support.pages import schemas

from gradcli.formats.writers.forms import VIEWS, format_names

OTHERS = {"html", "parquet", "arrow"}  # of a program with cells, and no text
MACHINE = [["-f", form] for form in format_names(VIEWS["run"].forms)[2:] if form not in OTHERS]


@pytest.mark.parametrize("form", [[], ["--raw"], ["-o", "x.npz"], *MACHINE])
def test_precision_holds_or_is_refused(cli, form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "0.667" in cli("run", "-e", "2 / 3", "--precision", "3", "-f", "human")[1]
    status, out, err = cli("run", "-e", "2 / 3", "--precision", "3", *form)
    assert (status, out) == (2, "")
    assert err.startswith("gradcli: error[usage]: `--precision` does not go with")


def test_a_run_shows_dtypes(cli):
    text = "a = 3; b = ones(2, dtype=torch.float32); c = a > 2; d = [1, 2.5]; s = 'w'; e = [[1], 2]"
    shown = cli("run", "-e", text, "-f", "human")[1]
    assert [line[13:20].strip() for line in shown.splitlines()] == [
        *("dtype", "int64", "float32", "bool", "float64", "", "")
    ]


@pytest.mark.parametrize("command", ["run", "grad"])
def test_a_list_that_is_no_tensor_is_told_where_it_stands(cli, command):
    status, out, err = cli(command, "-e", "x = 1.0", "-e", "[x, ones(2)]")
    assert (status, out) == (5, "")
    assert err.startswith(
        "<expr>:2:1: error[ragged-list]: a list becomes a tensor only if its rows are of one shape, "
        "got a number and a tensor of shape [2]\n"
    )


def test_an_unknown_choice_of_colours_in_the_environment_is_refused(cli, monkeypatch):
    monkeypatch.setenv("GRADCLI_COLOR", "blue")
    status, out, err = cli("run", "-e", "x + 1", "x=1")
    assert (status, out) == (2, "")
    assert err.startswith(
        "gradcli: error[usage]: `GRADCLI_COLOR=blue` is not a choice of colours\n"
    )


DICTIONARY = '{"w": ones(1, 2), "b": 0.5, (1, 2): [None, {3: "a"}]}'


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("plain", '{"w":[[1.0,1.0]],"b":0.5,"(1, 2)":[null,{"3":"a"}]}\n'),
        (
            "csv",
            'result.w.0.0,result.w.0.1,result.b,"result.(1, 2).0","result.(1, 2).1.3"\n'
            "1.0,1.0,0.5,,a\n",
        ),
        (
            "human",
            "result = {'w': [[1, 1]],\n          'b': 0.5,\n"
            "          '(1, 2)': [None, {'3': 'a'}]}\n",
        ),
    ],
)
def test_a_dictionary_is_a_result(cli, form, shown):
    assert cli("run", "-e", DICTIONARY, "-f", form) == (0, shown, "")


def test_a_dictionary_is_written_to_files_and_for_rows(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("run", "-e", "{'a': x, 'b': [x, 2 * x]}", "x=1", "-o", "r.npz")[0] == 0
    with np.load("r.npz") as found:
        assert {name: found[name].tolist() for name in found} == {
            "result.a": 1.0,
            "result.b": [1.0, 2.0],
        }
    (tmp_path / "p.csv").write_text("x\n1\n2\n")
    rows = cli("run", "-e", "{'a': x, 'b': [x, 2 * x]}", "--rows", "p.csv", "-f", "csv")[1]
    assert rows == "result.a,result.b.0,result.b.1\n1.0,1.0,2.0\n2.0,2.0,4.0\n"
    fields = json.loads(cli("run", "-e", "d = {1: {}}", "-e", "d", "-f", "json")[1])
    assert (fields["result"], fields["values"]) == ({"1": {}}, {"d": {"1": {}}})
    schemas.hold(fields)
