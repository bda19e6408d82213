"""What the bar of `--rows` counts, when it is silent, and what comes before other output."""

from contextlib import contextmanager

import pytest

from gradcli.cli.rows import many_rows, rows
from gradcli.cli.terminal.progress import Bar

SQUARE = ["grad", "-e", "x ** 2"]


@pytest.fixture
def shown(monkeypatch):
    """The calls that the bar gets, and how it was made."""
    seen = []

    class Noted(Bar):
        def advance(self, done, total, share):
            seen.append(("advance", done, total, share()))

        def clear(self):
            seen.append(("clear",))

    @contextmanager
    def noted(title, telling, *, silent):
        seen.append((title, silent))
        yield Noted()

    monkeypatch.setattr(rows, "progress", noted)
    return seen


def advances(shown):
    return [call[1] for call in shown if call[0] == "advance"]


@pytest.mark.parametrize("compiled", ["always", "never"])
def test_a_bar_counts_the_rows_that_are_answered(cli, shown, monkeypatch, tmp_path, compiled):
    monkeypatch.setattr(many_rows, "_LEAST_BYTES", 100)
    file = tmp_path / "x.csv"
    file.write_text("x\n" + "".join(f"{k}.5\n" for k in range(200)))
    asked = [*SQUARE, "--rows", str(file), "--compile", compiled]
    assert cli(*asked)[0] == 0
    counts = advances(shown)
    assert counts[:16] == [*range(1, 17)]
    assert counts == sorted({*counts})
    assert counts[-1] == 200
    assert len(counts) == 200 if compiled == "never" else 16 < len(counts) < 100
    assert {call[2] for call in shown if call[0] == "advance"} == {None}
    assert shown[-1][3] == 1.0


@pytest.mark.parametrize("policy", ["stop", "skip", "ignore", "record"])
def test_a_bar_counts_bad_rows_and_makes_way_for_their_errors(cli, shown, policy):
    cli(*SQUARE, "--rows", "-", "--on-error", policy, "--compile", "never", stdin="x\n1\nq\n3\n")
    told = [call[:2] for call in shown[1:]]
    gone = [("clear",)] if policy != "record" else []
    after = [("advance", 3)] if policy != "stop" else []
    assert told == [("advance", 1), ("advance", 2), *gone, *after]


def test_a_bar_makes_way_for_a_warning_once(cli, shown):
    program = ["run", "-e", "log(x)", "--rows", "-", "--compile", "never"]
    _, _, err = cli(*program, stdin="x\n1\n0\n0\n")
    assert [call[:2] for call in shown[1:]] == [("advance", 1), ("clear",), *advanced(2, 3)]
    assert err.count("warning[non-finite]") == 1


def advanced(*counts):
    return [("advance", count) for count in counts]


@pytest.mark.parametrize(
    ("on_terminal", "into_file", "silent"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_a_bar_is_silent_where_rows_scroll_by(
    cli, shown, monkeypatch, tmp_path, on_terminal, into_file, silent
):
    monkeypatch.setattr(rows, "is_terminal", lambda stream: on_terminal)
    into = ["-o", str(tmp_path / "out.csv")] if into_file else []
    assert cli(*SQUARE, "--rows", "-", *into, stdin="x\n1\n")[0] == 0
    assert shown[0] == ("rows", silent)


OWN = """\
class F(Function):
    def forward(ctx, a, b):
        return a * b
    def backward(ctx, g):
        return g
assert x > 0, "too small"
F.apply(x, x)"""


def test_a_wrong_rule_is_told_once_and_every_other_error_each_time(cli):
    _, _, err = cli(
        "grad", "-e", OWN, "--rows", "-", "--on-error", "skip", stdin="x\n1\n-1\n2\n-1\n3\n"
    )
    assert err.count("error[wrong-rule]") == 1
    assert err.count(": too small\n") == 2
    assert "in row 0, line 2" in err
    assert "5 of 5 rows left out, the first at line 2" in err


@pytest.mark.parametrize(("count", "more"), [(20, ""), (21, ", ...")])
def test_failed_checks_are_listed_by_row_up_to_the_twentieth(count, more):
    (said,) = [rows.not_right(range(count), "gradcheck").message]
    numbers = ", ".join(map(str, range(20)))
    assert said == f"checks fail in {count} rows: {numbers}{more}"
