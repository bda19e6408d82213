"""Commands with limits, as real processes: calls that hold Python's lock, signals, the terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gradcli import __main__
from gradcli.limits import OPTIONS, VARIABLES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")

ROOT = Path(__file__).parents[3]

HOLDING = (  # calls during which no other thread of Python runs
    "hash(a)",
    "{a: 1}",
    "{a}",
    "a in {1}",
    "{1: 2}.get(a)",
    "{1: 2}.pop(a, 1)",
    "{1}.add(a)",
    "{1}.discard(a)",
    "t.rfind('ab' + t[:500_000])",
    "t.rsplit('ab' + t[:500_000])",
)
PROGRAM = """input k: int
input x = 1.0
def hold(k):
    t = 'a' * 10**6
    a = ('x',)
    for i in range(60): a = (a, a)
{}
hold(k)
x * 2""".format("\n".join(f"    if k == {k}: {call}" for k, call in enumerate(HOLDING)))
SOON = ("--time-limit", "0.3", "-q")  # others have to be done by then on a busy machine, too


def cases(table):
    """The calls of each command: those of the table in each run of the tests, others in long ones."""
    return [
        pytest.param(name, k, id=f"{name}, {call}", marks=() if k in usual else pytest.mark.long)
        for name, usual in table.items()
        for k, call in enumerate(HOLDING)
    ]


@pytest.mark.parametrize(("command", "k"), cases({"run": (0, 3, 6), "grad": (1, 4, 7)}))
def test_a_call_that_holds_the_lock_ends_at_the_limit(command, k, forked):
    done = forked.run(command, "-e", PROGRAM, f"k={k}", "x=1", *SOON)
    first, *rest = done.stderr.decode().splitlines()
    assert (done.returncode, done.stdout) == (6, b"")
    assert first.endswith(": error[time-limit]: the time limit of 0.3 s is reached")
    assert "  = help: `--time-limit` sets this limit" in rest


@pytest.mark.parametrize(
    ("jobs", "calls"),
    [
        ("1", (2, 9)),
        ("2", (5, 8)),
        *(pytest.param(jobs, range(len(HOLDING)), marks=pytest.mark.long) for jobs in "12"),
    ],
)
def test_a_row_that_holds_the_lock_is_a_bad_row(jobs, calls, forked):
    """The rows before it have been answered, and those behind it are."""
    rows = [k for call in calls for k in (-1, call)] + [-1]
    done = forked.run(
        *("run", "-e", PROGRAM, "--rows", "-", "--jobs", jobs, "--on-error", "record"),
        *("-f", "ndjson", *SOON),
        stdin="k\n" + "".join(f"{k}\n" for k in rows),
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 6
    assert [row["row"] for row in found] == [*range(len(rows))]
    for k, row in zip(rows, found, strict=True):
        if k < 0:
            assert row["result"] == 2.0
        else:
            assert row["error"]["code"] == "time-limit"
            assert row["error"]["notes"][-1] == f"in row {row['row']}, line {row['row'] + 2}"


def test_a_row_that_holds_the_lock_stops_the_others_where_that_is_asked_for(forked):
    rows = "k\n-1\n0\n-1\n"
    done = forked.run("run", "-e", PROGRAM, "--rows", "-", "--jobs", "2", *SOON, stdin=rows)
    assert (done.returncode, done.stdout) == (6, b"result\n2.0\n")
    assert done.stderr.startswith(b"gradcli: error[time-limit]: the time limit of 0.3 s is reached")
    assert b"in row 1, line 3" in done.stderr


LARGE = "t = 'ab ' * 2 * 10**7\nlen(t.split())"  # a list and its words are twenty times the text


def test_memory_that_a_call_takes_with_the_lock_is_bounded(forked):
    done = forked.run("run", "-e", LARGE, "--max-memory", "70M", "--diagnostics", "json")
    assert (done.returncode, done.stdout) == (6, b"")
    (told,) = map(json.loads, done.stderr.splitlines())
    assert told["code"] == "memory-limit"
    assert told["message"] == "the run takes more than the allowed 70 MiB of memory"
    assert told["line"] is None


SMALL = "l = []\nwhile True: l.append([1.0, 2.0])"


@pytest.mark.parametrize("size", ["1M", "30M"])
def test_the_watchdog_comes_first_where_it_can(size, forked):
    done = forked.run(
        *("run", "-e", SMALL, "--max-memory", size, "--compile", "never"),
    )
    assert done.returncode == 6
    assert done.stderr.startswith(b"<expr>:2:")
    assert b"error[memory-limit]" in done.stderr


def test_a_command_well_below_its_memory_ends_as_without_a_limit(forked):
    """Whatever it imports for it."""
    pytest.importorskip("llvmlite")
    text = "y = x\nfor i in range(30): y = sin(y) + ones(3).sum() * x\ny"
    command = ("grad", "-e", text, "x=1", "--compile", "always", "-r")
    limited = forked.run(*command, "--max-memory", "40M", "--time-limit", "60")
    assert (limited.returncode, limited.stdout) == (0, forked.run(*command).stdout)


# who is forked -----------------------------------------------------------------------------------

TELLS_FORKS = """
import os, sys, _thread
forks, fork = [], os.fork

def told():
    forks.append((_thread._count(), sorted({"numpy", "typer", "llvmlite"} & set(sys.modules))))
    return fork()

os.fork = told
end = os._exit

def ended(status):
    if forks == [] or os.getppid() == PARENT:
        print(forks, file=sys.stderr)
    end(status)

PARENT = os.getppid()
os._exit = ended
sys.argv[:] = ["gradcli", *sys.argv[1:]]
from gradcli.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("options", "variables", "forks"),
    [
        ([], {}, "[]"),
        (["--max-steps", "1000", "--max-depth", "9"], {"GRADCLI_MAX_STEPS": "10"}, "[]"),
        (["--time-limit=9"], {}, "[(0, [])]"),
        (["--max-memory", "1G"], {}, "[(0, [])]"),
        (["--safe"], {}, "[(0, [])]"),
        ([], {"GRADCLI_TIME_LIMIT": "9"}, "[(0, [])]"),
        ([], {"GRADCLI_MAX_MEMORY": "1G"}, "[(0, [])]"),
    ],
)
def test_only_a_limit_forks_before_anything_is_imported(options, variables, forks):
    done = subprocess.run(
        [sys.executable, "-c", TELLS_FORKS, "run", "-e", "1 + 1", *options],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", f"{forks}\n")


def test_all_limits_on_time_and_memory_are_known():
    assert set(__main__._LIMITING) == {"--safe", OPTIONS["seconds"], OPTIONS["memory"]}
    assert set(__main__._LIMITING_VARIABLES) == {VARIABLES["seconds"], VARIABLES["memory"]}


def test_a_status_is_passed_on(forked):
    for text, status in (("1 +", 3), ("assert 1 == 2", 1), ("[1][2]", 5), ("x", 4)):
        done = forked.run("run", "-e", text, "--safe")
        assert (done.returncode, done.stderr) == (
            status,
            forked.run("run", "-e", text).stderr,
        )


@pytest.mark.parametrize("closed", [(0,), (0, 1), (0, 1, 2)])
def test_closed_streams_get_nothing_else(closed, forked):
    done = forked.run("run", "-e", "2", "--safe", closed=closed)
    plain = forked.run("run", "-e", "2", closed=closed)
    assert (done.returncode, done.stdout, done.stderr) == (
        plain.returncode,
        plain.stdout,
        plain.stderr,
    )


def test_a_caller_that_ignores_its_children_gets_the_status():
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "run", "-e", "1 +", "--safe"],
        check=False,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 3, done.stderr


# signals -----------------------------------------------------------------------------------------

LOOP = ("-e", "print('go')", "-e", "while True: x = 1", "--time-limit", "60")
HOLD = ("-e", "print('go')", "-e", PROGRAM, "k=0", "--time-limit", "60", "--compile", "never")


class Running:
    """A command that has begun; its streams are those of the test."""

    def __init__(self, forked, *arguments, cwd=None):
        out, written = os.pipe()
        err, errors = os.pipe()
        with open(os.devnull, "rb") as nothing:
            streams = (nothing.fileno(), written, errors)
            self.process = forked.start(("run", *arguments), streams, cwd=cwd)
        os.close(written)
        os.close(errors)
        self.out, self.err = open(out, "rb", buffering=0), open(err, "rb")  # noqa: SIM115
        self.pid = self.process.pid
        assert self.out.read(3) == b"go\n"

    @property
    def child(self):
        """The process that does the work."""
        (found,) = children(self.pid)
        return found

    def ended(self):
        """Its status, and what it wrote."""
        status = self.process.wait()
        with self.out, self.err:
            return status, self.out.read(), self.err.read()


def children(process):
    text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    return [int(number) for number in text.split()]


def is_alive(process):
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def is_gone(process):
    """True once a process has ended; false if it does not."""
    end = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_alive(process)


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGHUP, -signal.SIGHUP),
        (signal.SIGUSR1, -signal.SIGUSR1),
    ],
)
def test_a_signal_reaches_the_work(number, status, forked):
    running = Running(forked, *LOOP)
    os.kill(running.pid, number)
    assert running.ended() == (status, b"", b"")


@linux
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGUSR2])
def test_a_signal_that_ends_the_work_is_the_end_that_is_seen(number, forked):
    running = Running(forked, *LOOP)
    os.kill(running.child, number)
    assert running.ended() == (-number, b"", b"")


@linux
def test_nothing_lives_on_without_the_process_that_watches_it(forked):
    running = Running(forked, *HOLD)
    child = running.child
    os.kill(running.pid, signal.SIGKILL)
    assert running.process.wait() == -signal.SIGKILL
    ended = is_gone(child)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    assert ended


@linux
@pytest.mark.parametrize("limit", [("--time-limit", "60"), ()], ids=["a limit", "no limit"])
def test_no_worker_lives_on_either(limit, forked, tmp_path):
    (tmp_path / "rows.csv").write_text("k\n-1\n0\n0\n")
    options = ("--rows", "rows.csv", "--jobs", "2", *limit, "--compile", "never")
    with open(os.devnull, "r+b") as nothing:
        streams = (nothing.fileno(),) * 3
        process = forked.start(("run", "-e", PROGRAM, *options), streams, cwd=tmp_path)
    command, workers = process.pid, []
    for _ in range(2000):
        found = children(process.pid)
        command = found[0] if limit and found else process.pid
        workers = children(command)
        if len(workers) == 2:
            break
        time.sleep(0.01)
    assert len(workers) == 2
    time.sleep(0.5)  # until one is at the row that never ends
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert all(map(is_gone, [command, *workers]))


@linux
def test_what_a_killed_command_has_not_finished_is_removed(forked, tmp_path):
    (tmp_path / "r.csv").write_text("old")
    out, feed = os.pipe()
    with open(os.devnull, "r+b") as nothing:
        process = forked.start(
            ("run", "-e", "x", "--rows", "-", "-o", "r.csv", "--safe"),
            (out, nothing.fileno(), nothing.fileno()),
            cwd=tmp_path,
        )
    os.close(out)
    os.write(feed, b"x\n1\n")
    end = time.monotonic() + 20
    while len([*tmp_path.iterdir()]) == 1 and time.monotonic() < end:
        time.sleep(0.01)
    assert len([*tmp_path.iterdir()]) == 2, "no temporary file"
    (command,) = children(process.pid)
    os.kill(command, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    os.close(feed)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("r.csv", "old")]


def test_a_reader_that_leaves_ends_it_silently(forked):
    text = "while True: print(1)"
    done = forked.shell(f"gradcli run -e '{text}' --safe | head -1; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("1\n141\n", "")


# the terminal ------------------------------------------------------------------------------------

SHELL = """
import os, signal, sys
told = int(sys.argv[1])
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
while True:
    _, status = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    os.write(told, b"stopped by %d\\n" % os.WSTOPSIG(status))
    os.killpg(job, signal.SIGCONT)
os.write(told, b"ended with %d\\n" % os.waitstatus_to_exitcode(status))
"""


class Terminal:
    """A command in the foreground of a terminal whose shell lets it go on when it is stopped."""

    def __init__(self, *arguments):
        read, told = os.pipe()
        os.set_inheritable(told, True)
        command = ["-m", "gradcli", "run", *arguments]
        self.pid, self.keys = pty.fork()
        if self.pid == 0:
            os.environ["PYTHONPATH"] = str(ROOT)
            os.execv(sys.executable, [sys.executable, "-c", SHELL, str(told), *command])
        os.close(told)
        self.told = open(read, encoding="ascii")  # noqa: SIM115

    def wait_for(self, text):
        """Wait until the terminal shows a text."""
        shown = b""
        while text not in shown:
            shown += os.read(self.keys, 1000)

    def press(self, keys):
        os.write(self.keys, keys)

    def rest(self):
        """All that the terminal shows until its shell ends."""
        found = b""
        with suppress(OSError):  # as the other side has ended
            while more := os.read(self.keys, 1000):
                found += more
        return found

    def close(self):
        self.rest()
        os.close(self.keys)
        self.told.close()
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal():
    opened = []

    def start(*arguments):
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_control_c(terminal):
    shown = terminal(*LOOP)
    shown.wait_for(b"go")
    shown.press(b"\x03")
    assert shown.told.readline() == "ended with 130\n"
    assert shown.rest() == b"^C"


def test_control_z(terminal):
    """The work stops as the process does that the shell sees, and goes on with it."""
    shown = terminal(*LOOP)
    shown.wait_for(b"go")
    shown.press(b"\x1a")
    assert shown.told.readline() == f"stopped by {signal.SIGTSTP}\n"
    shown.press(b"\x03")
    assert shown.told.readline() == "ended with 130\n"


def test_what_is_typed_is_read(terminal):
    shown = terminal("-e", "x * 2", "x=@-", "-r", "--time-limit", "60")
    shown.press(b"21.5\n\x04\x04")
    shown.wait_for(b"43.0")
    assert shown.told.readline() == "ended with 0\n"
