"""Start processes of gradcli without an interpreter's start.

A server for each test run has imported gradcli and forks a child for each command line, with its
own descriptors, folder, environment, arguments and signals. Only tests of the start itself need a
new interpreter. `forked_command.py` does the same from a shell.

    python tests forked SOCKET
"""

from __future__ import annotations

import array
import gc
import marshal
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
COMMAND = HERE / "forked_command.py"

# the server ---------------------------------------------------------------------------------------


def serve(path: str) -> None:
    """Serve requests until standard input ends with the test run."""
    _import_all()
    gc.collect()
    gc.freeze()  # children share this memory until a collection writes to it
    children: dict[int, tuple[int, socket.socket]] = {}  # by descriptors that show their end
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        os.write(1, b"ready\n")
        while 0 not in (ready := select.select([0, listening, *children], [], [])[0]):
            for event in ready:
                if event is not listening:
                    _end(event, *children.pop(event))
                    continue
                asked, _ = listening.accept()
                if child := _start(asked, [listening, *(sock for _, sock in children.values())]):
                    children[os.pidfd_open(child)] = child, asked


def _import_all() -> None:
    """Import all that commands import, and build all commands. A child would take up to a second
    to do so, for SciPy, the library or the pages of operations.
    """
    from support.processes.in_process import command

    for line in (
        ["grad", "-e", "sin(x) * 2", "x=1", "--json"],
        ["grad", "-e", "sum(w * w)", "w=[1, 2]", "--color", "always", "-f", "human"],
        ["check", "-e", "1"],
        ["run", "-e", "sinn(1)"],
        ["graph", "-e", "x * 2", "x=1"],
        ["--help"],
        ["ops"],
        ["run", "-e", "import torch\ntorch.nn.Linear(2, 2)(ones(2)).sum()", "-q"],
        ["gradcheck", "-e", "x ** 2", "x=1"],
        ["trace", "-e", "x ** 2", "x=1"],
        ["minimize", "-e", "(x - 1) ** 2", "x=3"],
        ["root", "-e", "x ** 2 - 2", "x=1"],
        ["propagate", "-e", "x ** 2", "x=1+-0.1"],
        ["grad", "-e", "x * 2", "--rows", "-", "-f", "csv"],
        ["grad", "-e", "x * 2", "--rows", "-", "-f", "ndjson"],
        ["fit", "-e", "param a = 1.0\ninput x\na * x", "--rows", "-", "--observed", "y"],
    ):
        command(*line, stdin="x,y\n1,1\n2,2\n3,4\n")


def _start(asked: socket.socket, others: Sequence[socket.socket]) -> int:
    """Start a child for a request, and send its number; 0 if the client has gone."""
    size, descriptors, *_ = socket.recv_fds(asked, 8, 3)
    length = int.from_bytes(size, "big")
    text = b""
    while len(text) < length and (more := asked.recv(length - len(text))):
        text += more
    child = os.fork() if descriptors and len(text) == length else None
    if child == 0:
        for sock in (asked, *others):
            sock.close()
        try:
            _become(*marshal.loads(text), descriptors)
        except KeyboardInterrupt:  # before gradcli handles it
            os._exit(130)
    for descriptor in descriptors:
        os.close(descriptor)
    with suppress(OSError):
        asked.sendall((child or 0).to_bytes(4, "big"))
    return child or 0


def _end(event: int, child: int, asked: socket.socket) -> None:
    """Send the status of a child that has ended."""
    os.close(event)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        asked.sendall(status.to_bytes(4, "big", signed=True))
    asked.close()


def _become(
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    closed: list[int],
    descriptors: list[int],
) -> None:
    """Turn into a process of gradcli."""
    from gradcli.__main__ import main

    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, max(descriptors) + 1)
    for number in closed:
        os.close(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout, sys.stderr = (
        None if number in closed else _stream(number) for number in range(3)
    )
    sys.argv = ["gradcli", *arguments]
    main()


def _stream(number: int) -> IO[str]:
    """A standard stream as an interpreter opens it."""
    return open(
        number,
        "r" if number == 0 else "w",
        buffering=1 if os.isatty(number) or number == 2 else -1,
        encoding="utf-8",
        errors="backslashreplace" if number == 2 else "surrogateescape",
        closefd=False,
    )


# the client ---------------------------------------------------------------------------------------


class Process:
    """A child of the server.

    Fields:
        pid: Its number.
    """

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self.pid = int.from_bytes(asked.recv(4), "big")

    def wait(self, timeout: float | None = 60) -> int:
        """Its status once it has ended; negative for a signal.

        Raises:
            TimeoutError: It still runs; it is killed.
        """
        self._asked.settimeout(timeout)
        try:
            return int.from_bytes(self._asked.recv(4), "big", signed=True)
        except TimeoutError:
            os.kill(self.pid, signal.SIGKILL)
            raise
        finally:
            self._asked.close()


class Server:
    """The server of this test run, started on demand."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "s")
        command = folder / "bin" / "gradcli"
        command.parent.mkdir()
        start = f'exec "{sys.executable}" -IS "{COMMAND}" "{self.path}" "$@"'
        command.write_text(f"#!/bin/sh\n{start}\n")
        command.chmod(0o755)
        self._folder = command.parent
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE.parents[1])]),
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, __file__, self.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def environment(self) -> dict[str, str]:
        """An environment in which a shell finds this server's `gradcli` first."""
        return {**os.environ, "PATH": os.pathsep.join((str(self._folder), os.environ["PATH"]))}

    def shell(self, script: str, cwd: Any = None) -> subprocess.CompletedProcess[str]:
        """Run a script in bash, with this server's `gradcli`, to its end."""
        return subprocess.run(
            ["bash", "-c", script],
            cwd=cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def start(
        self,
        arguments: Sequence[Any],
        streams: Sequence[int],
        *,
        cwd: Any = None,
        env: Mapping[str, str] | None = None,
        closed: Sequence[int] = (),
    ) -> Process:
        """Start a command line with these descriptors as standard streams, some of them closed."""
        given = [os.fsdecode(a) for a in arguments]
        folder = os.fspath(cwd or os.getcwd())
        asked = socket.socket(socket.AF_UNIX)
        asked.connect(self.path)
        ask(asked, (given, folder, dict(os.environ if env is None else env), list(closed)), streams)
        return Process(asked)

    def run(
        self, *arguments: Any, stdin: str | bytes = b"", timeout: float = 60, **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command line to its end, as `subprocess.run` does."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        reading, out = os.pipe()
        reading_errors, err = os.pipe()
        source, feed = os.pipe()
        process = self.start(arguments, (source, out, err), **options)
        for descriptor in (source, out, err):
            os.close(descriptor)
        found: dict[int, bytes] = {}

        def read(descriptor: int) -> None:
            with open(descriptor, "rb") as file:
                found[descriptor] = file.read()

        def write() -> None:
            with suppress(BrokenPipeError), open(feed, "wb") as file:
                file.write(data)

        threads = [
            threading.Thread(target=read, args=(reading,)),
            threading.Thread(target=read, args=(reading_errors,)),
            threading.Thread(target=write),
        ]
        for thread in threads:
            thread.start()
        try:
            status = process.wait(timeout)
        finally:
            for thread in threads:
                thread.join()
        return subprocess.CompletedProcess(
            list(arguments), status, found[reading], found[reading_errors]
        )


def ask(asked: socket.socket, request: Any, streams: Sequence[int]) -> None:
    """Send a request with its descriptors."""
    text = marshal.dumps(request)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))
    asked.sendmsg([len(text).to_bytes(8, "big")], [rights])
    asked.sendall(text)


if __name__ == "__main__":
    serve(sys.argv[1])
