"""The prompt in a pty: what a person types, sees and interrupts."""

import os
import re
import select
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("prompt_toolkit")
pty = pytest.importorskip("pty")


class Terminal:
    """A prompt in a terminal of its own."""

    def __init__(self, home):
        self.master, slave = pty.openpty()
        environment = {**os.environ, "HOME": str(home), "TERM": "xterm", "NO_COLOR": "1"}
        environment["PROMPT_TOOLKIT_NO_CPR"] = "1"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gradcli", "repl"],
            stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def type(self, text):
        os.write(self.master, text.encode())

    def wait(self, text):
        """Read until a text is there; forgets what was read up to it."""
        end = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} is not in {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 4096).decode("utf-8", "replace")
                self.seen = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", self.seen)
        self.seen = self.seen.partition(text)[2]

    def end(self):
        """End it by Ctrl-D, which is lost between two prompts; returns its status."""
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.type("\x04")
            time.sleep(0.2)
        status = self.process.wait(1)
        os.close(self.master)
        return status


def test_a_session_of_a_person(tmp_path):
    terminal = Terminal(tmp_path)
    terminal.wait("Ctrl-D leaves")
    terminal.type("x = tensor(3.0, requires_grad=True)\r")
    terminal.type("(x ** 2).reci\t")  # is completed
    terminal.wait("procal")
    terminal.type("()\r")
    terminal.wait("tensor(0.1111, grad_fn=<ReciprocalBackward0>)")
    terminal.type("def f(a):\rreturn a * 2\r\rf(x)\r")  # the second line is indented
    terminal.wait("tensor(6., grad_fn=<MulBackward0>)")
    terminal.type("y = 1 +\x03")  # Ctrl-C leaves the line out
    terminal.type("for i in range(10 ** 12): print('turn') if i == 0 else None\r")
    terminal.wait("\nturn\r")
    os.kill(terminal.process.pid, signal.SIGINT)
    terminal.wait("interrupted")
    terminal.type("f(x) + 1\r")
    terminal.wait("tensor(7., grad_fn=<AddBackward0>)")
    terminal.type(f":save {tmp_path}/a.grad\r")
    terminal.wait("saved")
    terminal.type(f":save {tmp_path}/a.grad\r")
    terminal.wait("is there already")
    assert terminal.end() == 0
    saved = (tmp_path / "a.grad").read_text()
    assert saved.endswith("f(x)\nf(x) + 1\n")
    assert "while" not in saved
    assert "f(x) + 1" in (tmp_path / ".gradcli_history").read_text()
