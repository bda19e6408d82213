"""The clients of docs/serve.md, in the languages that are there."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradcli import load

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "serve.md").read_text("utf-8")
CLIENTS = {
    "python": ([sys.executable], "client.py"),
    "js": (["node"], "client.mjs"),
    "julia": (["julia"], "client.jl"),
    "bash": (["bash"], "client.sh"),
}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the clients use pipes and sockets")


def code(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


def expected():
    found = load(str(ROOT / "samples" / "rosenbrock.grad")).grad()
    return [found.value, *found.grad["x"]]


def run(command, forked):
    """The standard output of a command in the project's folder, which finds `gradcli`."""
    environment = forked.environment()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("language", CLIENTS)
def test_a_client_gets_the_numbers(language, forked, tmp_path):
    command, name = CLIENTS[language]
    needed = ["jq"] if language == "bash" else []
    if any(shutil.which(tool) is None for tool in (command[0], *needed)):
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / name).write_text(code(language))
    found = run([*command, tmp_path / name], forked)
    assert [float(x) for x in found.split()] == expected()


def test_the_client_in_c_gets_the_numbers(forked, tmp_path, monkeypatch):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "client.c").write_text(code("c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    made = tmp_path / "client"
    subprocess.run([compiler, *flags, tmp_path / "client.c", "-o", made], check=True)
    monkeypatch.chdir(tmp_path)  # a socket has a short name
    with open(os.devnull, "r+") as nothing:
        arguments = ["serve", ROOT / "samples" / "rosenbrock.grad", "--socket", "s"]
        server = forked.start(arguments, [nothing.fileno()] * 3)
    for _ in range(600):
        done = subprocess.run([made, "s"], capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            break
        time.sleep(0.05)  # it does not listen yet
    os.kill(server.pid, signal.SIGTERM)
    server.wait()
    assert [float(x) for x in done.stdout.split()] == expected()


def test_the_client_in_r_finds_the_minimum(forked, tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    (tmp_path / "client.R").write_text(code("r"))
    assert run(["Rscript", tmp_path / "client.R"], forked).split() == ["1", "1"]
