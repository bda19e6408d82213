"""What people type first: expressions without -e, wrong commands and files, help and samples."""

import json
import re
import shutil

import pytest
import typer

from gradcli.cli.app import app, commands
from gradcli.cli.line.reading import is_expression
from gradcli.cli.terminal.shipped import TOPICS, page, samples


@pytest.mark.parametrize(
    "text",
    ["x**2", "x ** 2", "sin(x)", "x/2", "x-y", "x1/x2", "2-x", "1/x", "(x+1)/2", "w@x.T", "x *",
     "x[0]", "a = 3; a * x", "x^2", "grad(f)(1.0)", "a/b + c",
     "while True: pass", "input x = 2"],
)  # fmt: skip
def test_a_text_in_the_place_of_a_file(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_expression(text)
    if "/" not in text:
        (tmp_path / text).write_text("2")
        assert not is_expression(text), "a file of that name wins"


@pytest.mark.parametrize(
    "text",
    ["f.grad", "no/f.grad", "../f", "my-model", "fits*.grad", "my model (1).grad", "1x=2", "x", "",
     "2.5", "a b", "model-v2", "no/file", ".", "a\0*b", "~/f", "data.csv"],
)  # fmt: skip
def test_a_file_that_is_not_there(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not is_expression(text)


def test_a_name_in_a_folder_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    assert not is_expression("x/2")


def test_an_expression_needs_no_option(cli):
    assert cli("grad", "x**2", "x=3") == (0, "result\t9.0\ngrad.x\t6.0\n", "")
    assert cli("run", "y = 2; y * 3") == (0, "6\n", "")
    status, _, err = cli("run", "x *", "x=1")
    assert (status, err.splitlines()[0]) == (
        3,
        "<expr>:1:4: error[syntax-error]: expected a value, got the end of the text",
    )


@pytest.mark.parametrize(
    ("arguments", "help"),
    [
        (["eval", "x"], "did you mean `run`?"),
        (["derivative"], "did you mean `grad`?"),
        (["jac"], "did you mean `jacobian`?"),
        (["jacobain"], "did you mean `jacobian`?"),
        (["f.grad"], "`gradcli run f.grad` runs it, `gradcli grad f.grad` differentiates it"),
        (["x**2"], "`gradcli run 'x**2'` runs it, `gradcli grad 'x**2'` differentiates it"),
        (["grad", "x**2", "--x", "3"], "an input is given as `x=3`"),
        (["grad", "x**2", "--x=3"], "an input is given as `x=3`"),
        (["grad", "x**2", "-x", "3"], "an input is given as `x=3`"),
        (["grad", "x**2", "--x"], "an input is given as `x=VALUE`"),
        (["grad", "x**2", "--wtr", "x"], "did you mean `--wrt`?"),
        (["ops", "--x", "3"], "try `gradcli ops --help`"),
        (["run", "coling.grad"], "did you mean `cooling.grad`?"),
        (["run", "cooling"], "did you mean `cooling.grad`?"),
        (["run", "sub/coolin.grad"], "did you mean `sub/cooling.grad`?"),
        (["run", "my-model"], "a program's text is given as -e my-model"),
        (["help", "languge"], "did you mean `language`?"),
        (["help", "gard"], "did you mean `grad`?"),
        (["samples", "coolin"], "did you mean `cooling`?"),
        (["nonsense"], "try `gradcli --help`"),
    ],
)
def test_what_was_meant(cli, arguments, help, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("cooling.grad", "sub/cooling.grad"):
        (tmp_path / name).write_text("2")
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1] == f"  = help: {help}"


def test_nothing_shows_the_help(forked):
    done = forked.run()
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Usage: gradcli [OPTIONS] COMMAND")


def test_version(cli):
    assert cli("-V") == cli("--version")


@pytest.mark.parametrize("topic", TOPICS)
def test_pages_are_those_of_the_documentation(cli, topic):
    status, out, err = cli("help", topic)
    assert (status, out, err) == (0, page(topic), "")
    assert len(out) > 100
    assert out.count("\n## ") == 0 or out.startswith("# ")


@pytest.mark.parametrize("name", commands())
def test_help_of_a_command(cli, name):
    assert cli("help", name) == cli(name, "--help")


def test_help_lists_commands_and_pages(cli):
    status, out, _ = cli("help")
    assert status == 0
    assert not [word for word in (*commands(), *TOPICS) if word not in out]


def test_a_person_reads_pages_through_a_pager(forked, tmp_path):
    import os
    import pty

    person, terminal = pty.openpty()
    environment = {**os.environ, "PAGER": "cat", "TERM": "xterm"}
    process = forked.start(["help", "exit-status"], (terminal, terminal, terminal), env=environment)
    os.close(terminal)
    assert process.wait() == 0
    shown = os.read(person, 100_000).decode()
    os.close(person)
    assert "Exit status" in shown
    assert "|---|" not in shown
    assert "130, 141" in shown


def test_samples_are_listed_shown_and_written(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = cli("samples")
    assert (status, err) == (0, "")
    assert [line.split("  ")[0].strip() for line in out.splitlines()] == list(samples())
    text = samples()["cooling"].read_text("utf-8")
    assert cli("samples", "cooling") == cli("samples", "cooling.grad") == (0, text, "")
    assert cli("samples", "cooling", "-o", ".") == (0, "cooling.grad\n", "")
    assert (tmp_path / "cooling.grad").read_text("utf-8") == text
    status, _, err = cli("samples", "-o", ".")
    assert (status, "`cooling.grad` is there already" in err) == (2, True)
    assert cli("samples", "-o", "all")[0] == 0
    assert len(list((tmp_path / "all").iterdir())) == len(samples())
    assert cli("run", "cooling.grad")[0] == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("**", ["pow"]),
        ("+", ["add", "positive"]),
        ("*=", ["mul"]),
        ("<=", ["le"]),
        ("square root", ["sqrt", "std", "matrix_norm"]),
        ("LOGS", ["logsumexp", "log_softmax", "logsigmoid", "logspace"]),
        ("torch.special.expit", ["sigmoid"]),
        ("log", ["log"]),
    ],
)
def test_operations_are_searched(cli, text, found):
    status, out, _ = cli("ops", text, "--json")
    names = [operation["name"] for operation in json.loads(out)["ops"]]
    assert (status, names[: len(found)]) == (0, found)


def test_what_no_operation_says_is_an_error(cli):
    status, out, err = cli("ops", "zzz")
    assert (status, out) == (2, "")
    assert "no operation `zzz`" in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_is_printed(forked, shell):
    done = forked.run("completion", shell)
    assert (done.returncode, done.stderr) == (0, b"")
    assert f"complete_{'powershell' if shell == 'powershell' else shell}" in done.stdout.decode()


def examples():
    """The commands that each help shows, in their order."""
    group = typer.main.get_command(app)
    context = typer.Context(group)
    for name, command in [
        ("gradcli", group),
        *((n, group.get_command(context, n)) for n in commands()),
    ]:
        yield (
            name,
            re.findall(r"^ {2,}((?:gradcli|echo|printf|if) .*)$", command.help, re.MULTILINE),
        )


NOT_RUN = {"completion", "lsp"}
"""Commands whose examples write into a person's own files, or wait for an editor."""


@pytest.mark.parametrize(("name", "lines"), [e for e in examples() if e[0] not in NOT_RUN])
def test_examples_of_the_help_work_in_an_empty_folder(name, lines, forked, tmp_path):
    assert len(lines) >= 2, name
    for line in lines:
        if "jq" in line and shutil.which("jq") is None:
            continue
        done = forked.shell(f"set -o pipefail; {line}", tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), f"{line}: {done}"


@pytest.mark.parametrize("name", ["--help", *(f"{n} --help" for n in commands())])
def test_nothing_of_the_help_is_cut(name, cli):
    status, out, err = cli(*name.split())
    assert (status, err) == (0, "")
    lines = [
        line for line in out.splitlines() if line.endswith("...") and not line.endswith("]...")
    ]
    assert not lines, out
