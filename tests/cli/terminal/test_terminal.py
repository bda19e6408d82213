"""What may stand in names and values, and what of it reaches a terminal."""

import io
import sys

import pytest

from gradcli.__main__ import _run

TRICKS = r"\x1b[31m \u202e \x9b2J \r \x07 \x00 \U000e0041"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Runs a command line whose output and messages both go to one terminal; gives the text."""

    def run(*arguments, stdin=b""):
        screen = Terminal()
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, screen)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        _run([*arguments, *(() if "--color" in arguments else ("--color", "never"))])
        return screen.getvalue()

    return run


SAYS = f'y = "{TRICKS}"'
DATA = TRICKS.encode().decode("unicode_escape").replace("\0", "").replace("\r", "")
COMMANDS = {
    "the result": ["run", "-e", SAYS, "-e", "y"],
    "a name": ["run", "-e", SAYS, "--show", "y"],
    "what it prints": ["run", "-e", SAYS, "-e", "print(y)"],
    "what it prints beside a derivative": ["grad", "-e", SAYS, "-e", "print(y)", "-e", "x ** 2", "x=1"],
    "raw": ["run", "-e", SAYS, "-e", "y", "-r"],
    "csv": ["run", "-e", SAYS, "-e", "y", "-f", "csv"],
    "json": ["run", "-e", SAYS, "-e", "y", "--json"],
    "plain": ["run", "-e", SAYS, "-e", "y", "-f", "plain"],
    "an assertion": ["run", "-e", SAYS, "-e", "assert False, y"],
    "a key that is not there": ["run", "-e", f"d = {{'{TRICKS}': 1}}", "-e", f"d['b{TRICKS}']"],
    "an expression": ["graph", "-e", f"x * {{'{DATA}': 2.0}}['{DATA}']", "x=1"],
    "a step": ["trace", "-e", f"x * {{'{DATA}': 2.0}}['{DATA}']", "x=1"],
    "a file": ["run", f"{DATA}.grad"],
    "a file of data": ["run", "-e", "x", f"x=@{DATA}.csv"],
    "an output": ["run", "-e", "1", "-o", f"none/{DATA}.json"],
    "a value": ["run", "-e", "x", f"x='{DATA}'"],
    "an option": ["run", f"--{DATA}"],
    "a command": [DATA],
    "a name of --show": ["run", "-e", "1", "--show", DATA],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_commands_a_terminal(name, terminal):
    text = terminal(*COMMANDS[name])
    assert "31m" in text, text
    assert all(c.isprintable() or c in "\n\t" for c in text), repr(text)


@pytest.mark.parametrize(
    "command", ["run", "grad", "hessian", "graph", "gradcheck", "trace", "ops"]
)
def test_colours_reach_a_terminal(command, terminal):
    asked = ["exp"] if command == "ops" else ["y = x ** 2 + z; y", "x=2"]
    text = terminal(command, *asked, *([] if command == "ops" else ["z=1"]), "--color", "always")
    assert "\x1b[" in text, text
    assert "x1b" not in text, text


@pytest.mark.parametrize("kind", ["csv", "json", "ndjson"])
def test_nothing_in_data_commands_a_terminal(kind, terminal):
    forms = {"csv": f"{DATA}\n1\n", "json": "{%s: 1}", "ndjson": "{%s: 1}\n"}
    quoted = '"' + "".join(f"\\u{ord(c):04x}" if ord(c) < 32 else c for c in DATA) + '"'
    text = forms[kind].replace("%s", quoted)
    how = ["-i", "-"] if kind == "json" else ["--rows", "-"]
    shown = terminal("run", "-e", "x", *how, stdin=text.encode())
    assert "31m" in shown, shown
    assert all(c.isprintable() or c in "\n\t" for c in shown), repr(shown)


def test_rows_on_a_terminal_are_a_table(terminal):
    stdin = f"x,id,x2\n1,{DATA},5\n2.5e-300,b,-7\noops,c,1\n".encode()
    command = ["grad", "x ** 2 / 3 + x2", "--wrt", "x", "--rows", "-", "--keep", "id,x2"]
    shown = terminal(*command, "--on-error", "record", stdin=stdin)
    assert all(c.isprintable() or c in "\n\t" for c in shown), repr(shown)
    head, first, second, third = shown.splitlines()
    assert head.split() == ["row", "id", "x2", "result", "grad.x", "error"]
    assert second.split() == ["1", "b", "-7", "-7", "1.66667e-300"]
    for name in ("result", "grad.x"):  # numbers end where their names do
        assert second[: head.index(name) + len(name)][-1].isdigit(), shown
    assert third.endswith("`oops` in column `x` is not a number")
    assert "31m" in first
    digits = terminal(*command, "--precision", "12", "--on-error", "skip", stdin=stdin)
    assert "0.666666666667" in digits
    assert "0.6666666666666666" in terminal(
        *command, "-f", "csv", "--on-error", "skip", stdin=stdin
    )


def test_a_pipe_gets_what_is_printed(cli):
    assert cli("run", "-e", r'print("\x1b[31m")')[1] == "\x1b[31m\n"


def test_a_line_end_in_a_name_begins_no_line(terminal):
    text = terminal("run", "-e", "x", "-i", "-", stdin=rb'{"a\nerror: b": 1}')
    assert "\nerror" not in text.replace(" ", "")
