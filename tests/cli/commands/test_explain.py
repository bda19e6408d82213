"""`gradcli explain`, and the line of messages that leads to it."""

import pytest

from gradcli.cli.terminal import messages
from gradcli.cli.terminal.messages import report
from gradcli.codes import CODES
from gradcli.errors import Diagnostic


def test_a_code_is_explained(cli):
    status, out, err = cli("explain", "shape-mismatch")
    assert (status, err) == (0, "")
    assert out.startswith("## shape-mismatch\n\nShapes that do not fit")
    assert out.index("Wrong:") < out.index("W @ x") < out.index("Corrected:")
    assert cli("explain", "[shape-mismatch]")[1] == out


def test_all_codes_are_listed(cli):
    status, out, _ = cli("explain")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")] == list(CODES)


def test_a_code_that_is_none_is_refused_with_the_nearest(cli):
    status, out, err = cli("explain", "shape-missmatch")
    assert (status, out) == (2, "")
    assert "there is no code `shape-missmatch`" in err
    assert "did you mean `shape-mismatch`?" in err
    assert "`gradcli explain` lists them" in cli("explain", "q")[2]


@pytest.mark.parametrize(("form", "lines"), [("full", 2), ("concise", 0), ("json", 0)])
def test_a_person_is_told_where_there_is_more_once_for_a_code(form, lines, monkeypatch, capsys):
    monkeypatch.setattr(messages, "width", lambda stream: 80)
    found = [Diagnostic(code, "no") for code in ("bad-index", "bad-index", "wrong-type")]
    report(found, form=form, color="never")
    said = [line for line in capsys.readouterr().err.splitlines() if "more: gradcli" in line]
    assert said == [f"  = more: gradcli explain {c}" for c in ("bad-index", "wrong-type")][:lines]


def test_a_pipe_is_not_told(capsys):
    report([Diagnostic("bad-index", "no")], form="full", color="never")
    assert capsys.readouterr().err == "gradcli: error[bad-index]: no\n"
