"""The form of a file without a suffix, and programs that begin with a dash."""

import pytest


@pytest.mark.parametrize("form", ["json", "ndjson", "csv", "tsv", "md", "plain"])
def test_a_file_without_a_suffix_has_the_form_that_is_asked_for(cli, tmp_path, form):
    _, printed, _ = cli("grad", "-e", "x * 2", "x=3", "-f", form)
    assert cli("grad", "-e", "x * 2", "x=3", "-f", form, "-o", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out").read_text("utf-8") == printed


def test_a_file_without_a_suffix_needs_a_form(cli, tmp_path):
    status, _, err = cli("grad", "-e", "x * 2", "x=3", "-o", tmp_path / "out")
    assert (status, "give `-f`" in err) == (2, True)


@pytest.mark.parametrize(
    ("program", "result"), [("-x", "-3.0"), ("-x ** 2", "-9.0"), ("-(x + 1)", "-4.0"), ("-2", "-2")]
)
def test_a_program_behind_two_dashes_may_begin_with_one(cli, program, result):
    given = ["x=3"] if "x" in program else []
    assert cli("run", "--", program, *given) == (0, f"{result}\n", "")
