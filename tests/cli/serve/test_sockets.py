"""`gradcli serve --socket`: clients at once, each with its answers in order; the socket's file."""

import json
import os
import signal
import socket
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork") or not hasattr(socket, "AF_UNIX"),
    reason="this system has no Unix sockets, or cannot fork",
)

PROGRAM = "input x = 1.0\nwhile x < 0: pass\nx ** 2"


class Client:
    """A connection to a server."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self._answers = self.socket.makefile("rb")

    def send(self, *questions):
        self.socket.sendall(b"".join(json.dumps(q).encode() + b"\n" for q in questions))

    def read(self):
        return json.loads(self._answers.readline())

    def value(self, x):
        self.send({"question": "value", "inputs": {"x": x}})
        return self.read().get("value")

    def close(self):
        self._answers.close()
        self.socket.close()


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The name of a socket, short enough for one."""
    monkeypatch.chdir(tmp_path)
    return "s"


@pytest.fixture
def server(forked, path):
    """Starts a server at the socket, and ends it."""

    @contextmanager
    def started(*options, ends_by=signal.SIGTERM):
        with open(os.devnull, "r+") as nothing:
            process = forked.start(
                ["serve", "-e", PROGRAM, "--socket", path, *options], [nothing.fileno()] * 3
            )
        for _ in range(600):
            if os.path.exists(path):
                break
            time.sleep(0.05)
        try:
            yield process
        finally:
            os.kill(process.pid, ends_by)
            expected = 130 if ends_by == signal.SIGINT else -ends_by
            assert process.wait() == expected

    return started


def connected(path):
    """A client, as soon as the server listens."""
    for _ in range(100):
        try:
            return Client(path)
        except ConnectionRefusedError:  # bound, and not yet listening
            time.sleep(0.01)
    raise TimeoutError


def test_eight_clients_at_once_have_their_answers_in_order(server, path):
    with server():
        clients = [connected(path) for _ in range(8)]

        def talk(number):
            client = clients[number]
            asked = [
                {"id": [number, i], "question": "value", "inputs": {"x": i}} for i in range(50)
            ]
            client.send(*asked)
            return [(a["id"], a["value"]) for a in (client.read() for _ in asked)]

        with ThreadPoolExecutor(8) as threads:
            found = [*threads.map(talk, range(8))]
        assert found == [[([n, i], float(i**2)) for i in range(50)] for n in range(8)]
        for client in clients:
            client.close()


@pytest.mark.parametrize("ends_by", [signal.SIGTERM, signal.SIGINT])
def test_only_its_owner_may_use_it_and_it_is_removed_at_the_end(server, path, ends_by):
    with server(ends_by=ends_by):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        client = connected(path)
        assert client.value(3) == 9.0
    assert not os.path.exists(path)
    assert client.socket.recv(1) == b""  # its process has ended, too
    client.close()


def test_a_client_at_a_limit_does_not_disturb_others(server, path):
    with server("--time-limit", "0.5"):
        one, other = connected(path), connected(path)
        one.send({"question": "value", "inputs": {"x": -1}})
        assert [other.value(x) for x in (1, 2)] == [1.0, 4.0]
        assert one.read()["error"]["code"] == "time-limit"
        assert one.value(3) == 9.0
        one.close()
        assert other.value(4) == 16.0
        other.close()


def test_a_client_may_end_its_questions_and_read_on(server, path):
    with server():
        client = connected(path)
        client.send(*[{"question": "value", "inputs": {"x": i}} for i in range(3)])
        client.socket.shutdown(socket.SHUT_WR)
        assert [client.read()["value"] for _ in range(3)] == [0.0, 1.0, 4.0]
        assert client.socket.recv(1) == b""
        client.close()


def test_clients_may_leave_at_any_time(server, path):
    with server():
        for _ in range(3):
            client = connected(path)
            client.send({"question": "value", "inputs": {"x": 1}})
            client.close()
        client = connected(path)
        assert client.value(2) == 4.0
        client.close()


def test_a_socket_in_use_is_refused_and_a_stale_one_is_replaced(server, path, forked):
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(path)  # and never listens: as one whose server was killed
    with server():
        assert connected(path).value(2) == 4.0
        second = forked.run("serve", "x ** 2", "--socket", path)
        assert (second.returncode, second.stderr.decode().splitlines()) == (
            2,
            [
                "gradcli: error[usage]: another server has the socket `s`",
                "  = help: end it, or name another path",
            ],
        )
        assert connected(path).value(3) == 9.0


def test_a_server_that_was_killed_leaves_nothing_that_disturbs_the_next(server, path):
    with server(ends_by=signal.SIGKILL):
        pass
    assert os.path.exists(path)
    with server():
        for _ in range(100):  # the file of the first was there before
            try:
                client = Client(path)
                break
            except OSError:
                time.sleep(0.05)
        assert client.value(2) == 4.0
        client.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("f.txt", "error[usage]: `f.txt` is a file, not a socket"),
        (
            "none/s",
            "error[unwritable-output]: cannot make the socket `none/s`: no such file or directory",
        ),
        ("s" * 200, "its path is longer than some 100 bytes"),
    ],
)
def test_where_no_socket_can_be_is_told(forked, path, name, said):
    with open("f.txt", "w") as file:
        file.write("kept")
    done = forked.run("serve", "x ** 2", "--socket", name)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr.decode()
    with open("f.txt") as file:
        assert file.read() == "kept"
