"""What people are shown: digits, dtypes, colours, places."""

import pytest

from gradcli.formats.forms import RESULTS, format_names

MACHINE = [["-f", form] for form in format_names(RESULTS)[2:]]


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
    assert err.startswith("gradcli: error[usage]: `GRADCLI_COLOR=blue` is no choice of colours\n")
