"""`gradcli serve` as a process: pipes, signals, limits, long lines, many questions."""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

# a tuple of tuples that is as wide as it is deep: `hash` goes through all paths
STUCK = """input k: int
input x = 1.0
a = (x,)
for i in range(k): a = (a, a)
hash(a)
x
"""
ENDLESS = "input x = 1.0\nwhile x > 0: pass\nx"


class Session:
    """A server with a client at its pipes."""

    def __init__(self, forked, *arguments, **options):
        source, self._asked = os.pipe()
        self._answered, out = os.pipe()
        with open(os.devnull, "w") as nothing:
            self.process = forked.start(
                ["serve", *arguments], (source, out, nothing.fileno()), **options
            )
        os.close(source)
        os.close(out)
        self._answers = os.fdopen(self._answered, "rb")

    def send(self, *questions):
        lines = [q if isinstance(q, bytes) else json.dumps(q).encode() for q in questions]
        os.write(self._asked, b"".join(line + b"\n" for line in lines))

    def read(self):
        return json.loads(self._answers.readline())

    def ask(self, question):
        self.send(question)
        return self.read()

    def end(self):
        """No more questions: the status."""
        os.close(self._asked)
        assert self._answers.read() == b""
        self._answers.close()
        return self.process.wait()

    def leave(self):
        """Read no more answers."""
        self._answers.close()

    def kill(self, number):
        """The status after a signal."""
        os.kill(self.process.pid, number)
        found = self.process.wait()
        with suppress(OSError):
            os.close(self._asked)
        return found


@pytest.fixture
def session(forked):
    return lambda *arguments, **options: Session(forked, *arguments, **options)


@pytest.fixture(params=[(), ("--time-limit", "30")], ids=["alone", "limited"])
def limited(request):
    """Options with which the server answers by itself, and by another process."""
    return request.param


def test_each_answer_comes_before_the_next_question(session, limited):
    at = session("x ** 2", *limited)
    for x in (1.0, -3.0, 0.5):
        assert at.ask({"question": "value", "inputs": {"x": x}})["value"] == x**2
    assert at.ask(b"{")["error"]["code"] == "bad-input"
    assert at.ask({"question": "value", "inputs": {"x": 2}})["value"] == 4.0
    assert at.end() == 0


def test_a_last_line_may_have_no_end(session):
    at = session("x ** 2")
    os.write(at._asked, b'{"question": "value", "inputs": {"x": 3}}')
    os.close(at._asked)
    assert at.read()["value"] == 9.0
    assert at.process.wait() == 0


@pytest.mark.parametrize("question", ["value", "grad", "hessian"])
def test_at_a_limit_the_next_question_is_answered(session, question, tmp_path):
    (tmp_path / "endless.grad").write_text(ENDLESS)
    at = session(tmp_path / "endless.grad", "--time-limit", "0.3")
    for id in (1, 2):
        found = at.ask({"id": id, "question": question, "inputs": {"x": 1}})
        assert (found["id"], found["error"]["code"], found["status"]) == (id, "time-limit", 6)
    assert at.ask({"question": "value", "inputs": {"x": 0}})["value"] == 0.0
    assert at.end() == 0


def test_a_call_that_nothing_stops_is_ended_with_its_process(session, tmp_path):
    (tmp_path / "stuck.grad").write_text(STUCK)
    at = session(tmp_path / "stuck.grad", "--time-limit", "0.3")
    assert at.ask({"question": "value", "inputs": {"k": 2}})["value"] == 1.0
    at.send(
        {"id": "long", "question": "value", "inputs": {"k": 60}},
        {"id": "next", "question": "value", "inputs": {"k": 3}},
    )
    found = at.read()
    assert (found["id"], found["error"]["code"], found["status"]) == ("long", "time-limit", 6)
    assert at.read()["id"] == "next"
    assert at.end() == 0


def test_memory_has_a_limit_for_each_question(session):
    at = session("input n: int\nzeros(n).sum()", "--max-memory", "64MiB")
    ask = {"question": "value", "inputs": {"n": 10**8}}
    assert at.ask(ask)["error"]["code"] == "memory-limit"
    assert at.ask({"question": "value", "inputs": {"n": 10}})["value"] == 0.0
    assert at.end() == 0


def test_steps_and_depth_have_limits_for_each_question(session):
    text = "input n: int\ndef f(n): return n if n < 1 else f(n - 1)\ny = f(n)\nfor i in range(n): y = y + 1.0\ny"
    at = session("-e", text, "--max-steps", "1000", "--max-depth", "50")
    codes = [at.ask({"question": "value", "inputs": {"n": n}}) for n in (10, 100, 10, 2000)]
    assert [c.get("value") or c["error"]["code"] for c in codes] == [
        *(10.0, "recursion-limit", 10.0, "recursion-limit")
    ]
    assert at.end() == 0


def test_when_nobody_reads_the_server_ends(session, limited):
    at = session("x ** 2", *limited)
    at.ask({"question": "value", "inputs": {"x": 3}})
    at.leave()
    with suppress(BrokenPipeError):  # it may have ended before the second
        at.send({"question": "value", "inputs": {"x": 3}})
        at.send({"question": "value", "inputs": {"x": 3}})
    assert at.process.wait() in (-signal.SIGPIPE, 141)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_it(session, number, busy, limited, tmp_path):
    (tmp_path / "endless.grad").write_text(ENDLESS)
    at = session(tmp_path / "endless.grad", *limited)
    at.ask({"question": "value", "inputs": {"x": 0}})
    if busy:
        at.send({"question": "value", "inputs": {"x": 1}})
        time.sleep(0.1)
    assert at.kill(number) == (130 if number == signal.SIGINT else -signal.SIGTERM)


def test_signals_end_a_call_that_nothing_stops(session, tmp_path):
    (tmp_path / "stuck.grad").write_text(STUCK)
    at = session(tmp_path / "stuck.grad", "--time-limit", "60")
    at.ask({"question": "value", "inputs": {"k": 2}})
    at.send({"question": "value", "inputs": {"k": 60}})
    time.sleep(0.1)
    assert at.kill(signal.SIGTERM) == -signal.SIGTERM


def test_a_long_line_is_answered(forked):
    """Of 20 MB here; the reader takes 100 MB in the same way."""
    count = 1_000_000
    numbers = b",".join([b"0.123456789012345678"] * count)
    line = b'{"question": "value", "inputs": {"x": [%s]}}\n' % numbers
    found = forked.run("serve", "input x: float[n]\nsum(x)", stdin=line + b'{"question"\n')
    first, second = found.stdout.splitlines()
    assert json.loads(first)["value"] == pytest.approx(count * 0.123456789012345678)
    assert json.loads(second)["error"]["code"] == "bad-input"


def test_many_questions_take_no_more_memory_than_few(session):
    """Their answers are read by another thread, as a client has to."""
    at = session(
        "-e",
        "param a = 1.2\nparam b = 1.0\n100 * (b - a ** 2) ** 2 + (1 - a) ** 2",
        "--compile",
        "always",
    )
    status = Path(f"/proc/{at.process.pid}/status")
    line = b'{"id": %d, "question": "grad", "inputs": {"a": 0.5, "b": %d}}\n'

    def most(count):
        reader = threading.Thread(target=lambda: [at._answers.readline() for _ in range(count)])
        reader.start()
        for start in range(0, count, 100):
            os.write(at._asked, b"".join(line % (i, i) for i in range(start, start + 100)))
        reader.join()
        if not status.exists():
            pytest.skip("this system does not tell the memory of a process")
        return int(status.read_text().partition("VmHWM:")[2].split()[0])

    first = most(2_000)
    assert most(20_000) < first + 1024  # kB
    assert at.end() == 0
