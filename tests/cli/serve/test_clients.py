"""The clients of docs/serve.md, in the languages that are there."""

import json
import os
import re
import shutil
import signal
import socket
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


def test_socat_brings_the_socket_to_a_port(forked, tmp_path, monkeypatch):
    if shutil.which("socat") is None:
        pytest.skip("socat is not installed")
    (line,) = re.findall(r"^socat (.*)$", PAGE, re.MULTILINE)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = line.replace("7000", str(port)).replace("$HOME/models.sock", "s").split()
    monkeypatch.chdir(tmp_path)
    with open(os.devnull, "r+") as nothing:
        served = ["serve", ROOT / "samples" / "rosenbrock.grad", "--socket", "s"]
        server = forked.start(served, [nothing.fileno()] * 3)
    bridge = subprocess.Popen(["socat", *arguments])
    try:
        answer = asked_by_network(port, b'{"question": "grad", "inputs": {"x": [-1.2, 1]}}\n')
    finally:
        bridge.terminate()
        bridge.wait()
        os.kill(server.pid, signal.SIGTERM)
        server.wait()
    found = json.loads(answer)
    assert [found["value"], *found["grad"]["x"]] == expected()


def asked_by_network(port, question):
    """The answer to a question at a port where a server will listen soon."""
    for _ in range(600):
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as client:
                client.sendall(question)
                answer = client.makefile("rb").readline()
        except OSError:
            answer = b""
        if answer:
            return answer
        time.sleep(0.05)  # one of both does not listen yet
    raise AssertionError("nobody answers")


def test_the_client_in_r_finds_the_minimum(forked, tmp_path):
    if (
        shutil.which("Rscript") is None
        or subprocess.run(
            ["Rscript", "-e", "loadNamespace('jsonlite')"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("R and its package jsonlite are not installed")
    (tmp_path / "client.R").write_text(code("r"))
    assert run(["Rscript", tmp_path / "client.R"], forked).split() == ["1", "1"]
