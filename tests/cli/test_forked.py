"""What tests/support/processes/forked.py forks is a process of gradcli like one that a shell starts."""

import os
import signal
import subprocess
import sys

import pytest

GRADCLI = [sys.executable, "-m", "gradcli"]


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["grad", "-e", "x ** 2", "x=3", "--json"], b""),
        (["run"], b"2 + 3\n"),
        (["run", "-e", "sinn(1)"], b""),
        (["run", "-e", "x", "--rows", "-"], b"x\n1\n2\n"),
    ],
)
def test_it_prints_and_ends_as_a_started_one(forked, arguments, stdin, tmp_path):
    found = forked.run(*arguments, stdin=stdin, cwd=tmp_path)
    done = subprocess.run(
        [*GRADCLI, *arguments], input=stdin, capture_output=True, cwd=tmp_path, check=False
    )
    assert (found.returncode, found.stdout, found.stderr) == (
        done.returncode,
        done.stdout,
        done.stderr,
    )


def test_it_has_a_folder_an_environment_and_descriptors_of_its_own(forked, tmp_path):
    (tmp_path / "f.grad").write_text("1 +")
    environment = {**os.environ, "GRADCLI_COLOR": "always"}
    assert b"\x1b[" in forked.run("run", "f.grad", cwd=tmp_path, env=environment).stderr
    assert b"\x1b[" not in forked.run("run", "f.grad", cwd=tmp_path).stderr
    assert forked.run("run", "-e", "2", closed=[1]).returncode == 2
    assert forked.run("run", "-e", "2").stdout == b"2\n"


def test_a_signal_reaches_it(forked):
    reading, out = os.pipe()
    with open(os.devnull, "r+") as nothing:
        line = ["run", "-e", "print('go')", "-e", "while True: x = 1"]
        process = forked.start(line, (nothing.fileno(), out, nothing.fileno()))
    os.close(out)
    assert os.read(reading, 10) == b"go\n"
    os.kill(process.pid, signal.SIGINT)
    assert process.wait() == 130
    os.close(reading)


def test_one_that_goes_on_is_ended(forked):
    with pytest.raises(TimeoutError):
        forked.run("run", "-e", "while True: x = 1", timeout=0.2)
