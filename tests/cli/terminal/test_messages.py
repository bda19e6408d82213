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


FORMS = {"full": "\n  1 | x +\n", "concise": "<expr>:1:", "json": '{"severity":'}
LINES = [
    ([], "full"),
    *((["--diagnostics", form], form) for form in FORMS),
    *(([f"--diagnostics={form}"], form) for form in FORMS),
    (["--diagnostics", "json", "--diagnostics=concise"], "concise"),
    (["--diagnostics=concise", "--diagnostics", "json"], "json"),
    (["--", "--diagnostics", "json"], "full"),
    (["--diagnostics", "concise", "--", "--diagnostics=json"], "concise"),
    (["--diagnostics", "json", "--none"], "json"),
    (["--none", "--diagnostics"], "full"),
    (["--diagnostics=none"], "full"),
    (["--diagnostics", "json", "--diagnostics=none"], "json"),
]


@pytest.mark.parametrize(("options", "form"), LINES)
def test_the_form_of_messages_is_read_even_from_a_line_that_cannot_be(cli, options, form):
    status, out, err = cli("run", "-e", "x +", *options)
    assert status in (2, 3)
    assert out == ""
    is_json, is_concise = err.startswith("{"), err.count("\n") == 1 and not err.startswith("{")
    assert (is_json, is_concise) == (form == "json", form == "concise"), err
    assert messages.option_value(["run", *options], "--diagnostics", tuple(FORMS)) == form


def test_a_blank_line_stands_between_errors_and_nowhere_else(cli):
    _, _, err = cli("run", "-e", SEVEN_NAMES, "--color", "never")
    each = err.removesuffix("\nand 2 more errors\n").split("\n\n")
    assert len(each) == 5
    assert all(text.startswith(f"<expr>:{n}:1: error[") for n, text in enumerate(each, 1))
    assert cli("run", "-e", "1 + 1")[2] == ""
    _, _, err = cli("run", "-e", SEVEN_NAMES, "--diagnostics", "concise")
    assert "\n\n" not in err
