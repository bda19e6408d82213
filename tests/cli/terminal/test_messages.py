"""How errors and warnings are written: how many, how wide, in which form."""

import json

import pytest

from gradcli.cli.terminal import messages

SEVEN = "\n".join(f"x{n} = = {n}" for n in range(7))
SEVEN_NAMES = "\n".join(f"sinn{n}(1)" for n in range(7))


@pytest.mark.parametrize("program", [SEVEN, SEVEN_NAMES], ids=["syntax", "names"])
def test_five_errors_are_shown_and_the_others_counted(program, cli):
    status, out, err = cli("run", "-e", program)
    places = [line.split(":")[1] for line in err.splitlines() if line.startswith("<expr>")]
    assert (status, out) == (3, "")
    assert places == ["1", "2", "3", "4", "5"]
    assert err.endswith("\n\nand 2 more errors\n")


@pytest.mark.parametrize(("lines", "end"), [(5, None), (6, "and 1 more error")])
def test_errors_are_counted_from_the_sixth_on(lines, end, cli):
    _, _, err = cli("run", "-e", "\n".join(SEVEN.splitlines()[:lines]))
    assert err.count("error[") == 5
    assert (err.splitlines()[-1] if " more error" in err else None) == end


@pytest.mark.parametrize("program", [SEVEN, SEVEN_NAMES], ids=["syntax", "names"])
def test_other_forms_have_all_errors(program, cli):
    _, _, concise = cli("run", "-e", program, "--diagnostics", "concise")
    _, _, lines = cli("run", "-e", program, "--diagnostics", "json")
    found = [json.loads(line) for line in lines.splitlines()]
    assert [f["line"] for f in found] == list(range(1, 8))
    assert concise.splitlines() == [
        f"{f['file']}:{f['line']}:{f['column']}: error[{f['code']}]: {f['message']}" for f in found
    ]


def test_a_terminal_has_its_width(cli, monkeypatch):
    monkeypatch.setattr(messages, "width", lambda stream: 40)
    _, _, err = cli("run", "-e", "x = 1\nf(x) = x ** 2 + 3")
    assert max(map(len, err.splitlines())) <= 40
    assert err.splitlines()[1].startswith("    ")
    assert err.splitlines()[-2].startswith("          ")
