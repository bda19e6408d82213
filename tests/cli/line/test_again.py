"""`--watch`: a command runs again whenever a file that it reads changes."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from gradcli.cli.line.again import changes

POSIX = pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="signals of POSIX")


def test_files_are_looked_at_until_one_changes(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1")
    second.write_text("1")
    events = [
        lambda: None,
        lambda: second.write_text("23"),  # a change, which the next look finds complete
        lambda: None,
        first.unlink,  # an editor replaces the file
        lambda: None,
        lambda: first.write_text("456"),
        lambda: None,
        lambda: first.write_text("7890"),  # three changes in succession are one
        lambda: first.write_text("78901"),
        lambda: first.write_text("789012"),
        lambda: None,
    ]
    texts = []

    def pause():
        if not events:
            raise EOFError
        events.pop(0)()

    with suppress(EOFError):
        for _ in changes([str(first), str(second)], pause):
            texts.append((first.read_text(), second.read_text()))

    assert texts == [("1", "1"), ("1", "23"), ("456", "23"), ("789012", "23")]


@pytest.mark.parametrize(
    "arguments", [["run", "-e", "1", "--watch"], ["grad", "x ** 2", "x=1", "--watch"]]
)
def test_a_program_without_a_file_cannot_change(cli, arguments):
    assert "`--watch` needs a FILE" in cli(*arguments)[2]


@POSIX
def test_a_command_runs_again_until_it_is_interrupted(tmp_path):
    program, values = tmp_path / "p.grad", tmp_path / "v.json"
    program.write_text("input x: float\nx * 2")
    values.write_text("3")
    command = [sys.executable, "-P", "-m", "gradcli", "run", program, f"x=@{values}", "--watch"]
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "6.0\n"
        assert "watching" in process.stderr.readline()
        values.write_text("4.5")
        assert process.stdout.readline() == "9.0\n"
        assert "watching" in process.stderr.readline()
        program.write_text("x * ")
        assert "error[syntax-error]" in process.stderr.readline()
        while "watching" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        assert (process.wait(), process.stdout.read(), process.stderr.read()) == (130, "", "")
