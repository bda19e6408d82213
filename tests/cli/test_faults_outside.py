"""Faults of the world around gradcli, each met by a real process: full devices, closed and missing
streams, readers that leave, signals, resources at their end, folders that cannot be used.
"""

import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

GRADCLI = [sys.executable, "-P", "-m", "gradcli"]
ROOT = Path(__file__).parents[2]

FILES = {
    "f.grad": "input x = 1.0\nx ** 2\n",
    "warns.grad": "param x = 1.0\nfloor(x)\n",
    "says.grad": "input x = 1.0\nprint('said')\nx ** 2\n",
    "long.grad": "input x = 1.0\nfor i in range(100000): print(i)\n",
    "x.csv": "x\n1\n2\n",
    "many.csv": "x\n" + "1\n" * 20_000,
    "old.json": "old",
}
FULL = "no space left on device"
STDOUT = "gradcli: error[unwritable-output]: cannot write standard output: "


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for suffix in ("json", "csv", "tsv", "ndjson", "npy", "npz", "txt"):
        (tmp_path / f"full.{suffix}").symlink_to("/dev/full")
    (tmp_path / "loop.grad").symlink_to("pool.grad")
    (tmp_path / "pool.grad").symlink_to("loop.grad")
    (tmp_path / "gone.json").symlink_to("none/gone.json")
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.json")
    return tmp_path


# A script, its status, and what stands on standard output and in the first line on standard error.
FAULTS = {
    "a full device under a result": ("gradcli run f.grad > /dev/full", 2, "", STDOUT + FULL),
    "a full device under JSON": ("gradcli grad f.grad --json > /dev/full", 2, "", STDOUT + FULL),
    "a full device under a table": ("gradcli run f.grad -f human > /dev/full", 2, "", STDOUT + FULL),
    "a full device under what is printed": ("gradcli run says.grad > /dev/full", 2, "", STDOUT + FULL),
    "a full device under rows": ("gradcli run f.grad --rows x.csv > /dev/full", 2, "", STDOUT + FULL),
    "a full device under rows of jobs": (
        "gradcli run f.grad --rows x.csv --jobs 2 > /dev/full", 2, "", STDOUT + FULL,
    ),
    "a full device under bad rows that are recorded": (
        "echo oops >> x.csv; gradcli run f.grad --rows x.csv --on-error record > /dev/full",
        2, "", STDOUT + FULL,
    ),
    "a full device under findings": ("gradcli check warns.grad > /dev/full", 2, "", STDOUT + FULL),
    "a full device under a graph": ("gradcli graph warns.grad > /dev/full", 2, "", STDOUT + FULL),
    "a full device under checks": ("gradcli gradcheck f.grad > /dev/full", 2, "", STDOUT + FULL),
    "a full device under an operation": ("gradcli ops sin > /dev/full", 2, "", STDOUT + FULL),
    "a full device under help": ("gradcli grad -h > /dev/full", 2, "", STDOUT + FULL),
    "a full device under the version": ("gradcli --version > /dev/full", 2, "", STDOUT + FULL),
    "a full device under messages": ("gradcli run -e '1 +' 2> /dev/full", 3, "", ""),
    "a full device under warnings": ("gradcli run -e 'log(x)' x=0 2> /dev/full", 0, "-inf\n", ""),
    "a full device under both": ("gradcli run says.grad > /dev/full 2>&1", 2, "", ""),
    **{
        f"a full device under a file of {suffix}": (
            f"gradcli run f.grad {rows} -o full.{suffix}",
            2, "", f"gradcli: error[unwritable-output]: cannot write `full.{suffix}`: {FULL}",
        )
        for suffix, rows in [
            ("json", ""), ("csv", ""), ("npy", ""), ("npz", ""), ("txt", ""),
            ("csv", "--rows x.csv"), ("ndjson", "--rows x.csv --jobs 2"),
        ]
    },
    "a reader of what is printed that leaves": (
        "gradcli run long.grad | head -1; echo ${PIPESTATUS[0]}", 0, "0\n141\n", "",
    ),
    "a reader of rows that leaves": (
        "gradcli run f.grad --rows many.csv | head -1; echo ${PIPESTATUS[0]}",
        0, "result\n141\n", "",
    ),
    "a reader of rows of jobs that leaves": (
        "gradcli run f.grad --rows many.csv --jobs 2 | head -1; echo ${PIPESTATUS[0]}",
        0, "result\n141\n", "",
    ),
    "a reader of a page that has left": (
        "{ sleep 0.1; gradcli ops sin; } | true; echo ${PIPESTATUS[0]}", 0, "141\n", "",
    ),
    "a reader of messages that has left": (
        "{ sleep 0.1; gradcli run -e '1 +'; } 2>&1 >/dev/null | true; echo ${PIPESTATUS[0]}",
        0, "141\n", "",
    ),
    "a reader that leaves a caller who ignores it": (
        "trap '' PIPE; gradcli run long.grad | head -1; echo ${PIPESTATUS[0]}", 0, "0\n141\n", "",
    ),
    "a pipe for a program": ("cat f.grad > pipe & gradcli run pipe x=3", 0, "9.0\n", ""),
    "a pipe for rows": ("cat x.csv > pipe & gradcli run f.grad --rows pipe", 0, "result\n1.0\n4.0\n", ""),
    "a pipe for values": ("echo '{\"x\": 3}' > pipe & gradcli run f.grad -i pipe", 0, "9.0\n", ""),
    "a pipe for the output": (
        "gradcli grad f.grad -o pipe.json & cut -c 1-10 pipe.json", 0, '{"schema":\n', "",
    ),
    "a pipe for the output whose reader leaves": (
        "head -c 1 pipe.json > one & gradcli run -e 'ones(20000)' -o pipe.json", 141, "", "",
    ),
    "links in a circle": (
        "gradcli run loop.grad", 2, "",
        "gradcli: error[unreadable-file]: cannot read `loop.grad`: too many levels of symbolic links",
    ),
    "a link to nowhere for the output": (
        "gradcli run f.grad -o gone.json", 2, "",
        "gradcli: error[unwritable-output]: cannot write `gone.json`: no such file or directory",
    ),
    "a stream for reading that is for writing": (
        "gradcli run f.grad x=@- 0> w", 4, "",
        "gradcli: error[unreadable-file]: cannot read `<stdin>`: bad file descriptor",
    ),
    "a program's stream that is for writing": (
        "gradcli run - 0> w", 2, "",
        "gradcli: error[unreadable-file]: cannot read standard input: bad file descriptor",
    ),
    "a stream for writing that is for reading": (
        "gradcli run f.grad 1< x.csv", 2, "", STDOUT + "it is closed",
    ),
    "no environment": ("env -i \"$(command -v gradcli)\" run f.grad", 0, "1.0\n", ""),
    "no home": ("HOME=/none gradcli run -e 'ones(2)'", 0, "[1.0,1.0]\n", ""),
}  # fmt: skip


USUAL = [*list(FAULTS)[::3], *list(FAULTS)[1::3]]  # two of three in every run


@pytest.mark.parametrize(
    "name", [n if n in USUAL else pytest.param(n, marks=pytest.mark.long) for n in FAULTS]
)
def test_fault(name, folder, forked):
    script, status, out, says = FAULTS[name]
    done = forked.shell(script, folder)
    found = done.returncode, done.stdout, done.stderr.partition("\n")[0]
    assert found == (status, out, says), done
    assert "Traceback" not in done.stderr
    assert not leftovers(folder)


def leftovers(folder):
    """Temporary files that nobody took away."""
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


# closed streams -----------------------------------------------------------------------------------

CLOSED = [c for n in range(4) for c in itertools.combinations(range(3), n)]
PRINTED = "1.0\n"


@pytest.mark.parametrize(
    "closed",
    [c if len(c) in (1, 3) else pytest.param(c, marks=pytest.mark.long) for c in CLOSED],
    ids=str,
)
def test_closed_streams(closed, folder, forked):
    def run(*arguments):
        done = forked.run(*arguments, cwd=folder, closed=closed)
        text = done.stderr.decode()
        assert "Traceback" not in text
        return done.returncode, done.stdout.decode(), text.partition("\n")[0]

    def told(text):
        return "" if 2 in closed else text

    unwritten = (2, "", told(STDOUT + "it is closed"))
    assert run("run", "f.grad") == (unwritten if 1 in closed else (0, PRINTED, ""))
    if len(closed) != 2:
        rows = run("run", "f.grad", "--rows", "x.csv", "--jobs", "2")
        assert rows == (unwritten if 1 in closed else (0, "result\n1.0\n4.0\n", ""))
    assert run("check", "f.grad") == (0, "", "")
    assert run("run", "says.grad", "--rows", "x.csv", "-o", "r.csv")[:2] == (0, "")
    assert (folder / "r.csv").read_text() == "result\n1.0\n4.0\n"
    status, _, says = run("run", "-e", "x", "x=@-")
    expected = "standard input is closed" if 0 in closed else "`<stdin>` is empty"
    assert (status, says) == (4, told(f"gradcli: error[bad-input]: {expected}"))
    assert run("--version")[0] == (2 if 1 in closed else 0)
    for name, text in FILES.items():
        assert (folder / name).read_text() == text, name


# signals ------------------------------------------------------------------------------------------

ENDLESS = {
    "recording": ["grad", "-e", "def f(x):", "-e", "    while True: x = x * 1.0", "-e", "f(x)", "x=2"],
    "arrays": ["run", "-e", "x = ones(1000)", "-e", "while True: y = x * x"],
    "printing": ["run", "-e", "while True: print('abcdefgh')"],
    "rows": ["run", "-e", "x", "--rows", "many.csv"],
    "rows as JSON": ["grad", "-e", "x ** 2", "--rows", "many.csv", "-f", "ndjson"],
    "jobs": ["run", "-e", "x", "--rows", "many.csv", "--jobs", "2"],
    "a file": ["run", "-e", "x", "--rows", "many.csv", "-o", "old.json", "-f", "ndjson"],
}  # fmt: skip
LINES = {"printing": b"abcdefgh", "rows": b"1.0", "jobs": b"1.0"}
ENDS = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGHUP: -signal.SIGHUP}


def ended(forked, folder, name, number, delay):
    """Status and streams of work that a signal ends after a while."""
    (out, written), (err, errors) = os.pipe(), os.pipe()
    with open(os.devnull, "rb") as nothing:
        process = forked.start(ENDLESS[name], (nothing.fileno(), written, errors), cwd=folder)
    os.close(written)
    os.close(errors)
    time.sleep(delay)
    with open(out, "rb", buffering=0) as shown, open(err, "rb") as said:
        begun = shown.read(1) if name in LINES else b""
        os.kill(process.pid, number)
        texts = begun + shown.readall(), said.read()
    return process.wait(), *texts


@pytest.mark.parametrize(
    ("name", "number"),
    [
        *((name, signal.SIGINT) for name in ENDLESS),
        *((name, signal.SIGTERM) for name in ("recording", "jobs", "a file")),
        ("a file", signal.SIGHUP),
    ],
)
def test_a_signal_ends_it_silently(name, number, folder, forked):
    (folder / "many.csv").write_text("x\n" + "1\n" * 1_000_000)
    status, out, err = ended(forked, folder, name, number, 0.05)
    assert (status, err) == (ENDS[number], b"")
    assert out == b"" or out.endswith(b"\n")
    if name in LINES:
        assert set(out.splitlines()) <= {LINES[name], b"x"}
    assert not leftovers(folder)
    assert (folder / "old.json").read_text() == "old"


def started(*arguments, **options):
    """A process with an interpreter of its own, from its start."""
    return subprocess.run(
        [*GRADCLI, *arguments],
        stdin=options.pop("stdin", subprocess.DEVNULL),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        **options,
    )


def limited(kind, most):
    return lambda: resource.setrlimit(kind, (most, most))


# what the start itself meets ----------------------------------------------------------------------


def test_a_directory_for_standard_input_stops_the_interpreter(folder):
    """Before gradcli has a say: no other program of Python's fares better."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        done = started("run", "f.grad", cwd=folder, stdin=descriptor)
    finally:
        os.close(descriptor)
    assert (done.returncode, done.stdout) == (1, "")
    assert "<stdin> is a directory" in done.stderr


def test_a_file_that_may_grow_no_further(folder):
    limit = limited(resource.RLIMIT_FSIZE, 1000)
    done = started("run", "-e", "ones(1000)", "-o", "old.json", cwd=folder, preexec_fn=limit)
    says = "gradcli: error[unwritable-output]: cannot write `old.json`: file too large\n"
    assert (done.returncode, done.stderr) == (2, says)
    assert (folder / "old.json").read_text() == "old"
    assert not leftovers(folder)


@pytest.mark.parametrize("buffered", [True, False])
def test_standard_output_that_may_grow_no_further(folder, buffered, monkeypatch):
    """A device that takes a part is no success, whatever the interpreter makes of it."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with open(folder / "out", "wb") as out:
        done = subprocess.run(
            [*GRADCLI, "run", "-e", "[1.0] * 1000"],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            preexec_fn=limited(resource.RLIMIT_FSIZE, 1000),
        )
    assert (done.returncode, done.stderr) == (2, STDOUT + "file too large\n")


def test_no_descriptors_for_jobs(folder):
    limit = limited(resource.RLIMIT_NOFILE, 8)
    arguments = ["run", "f.grad", "--rows", "x.csv", "--jobs", "4", "--compile", "never"]
    done = started(*arguments, cwd=folder, preexec_fn=limit)  # code needs no processes
    says = "gradcli: error[worker-lost]: cannot start a process of `--jobs`: too many open files"
    assert (done.returncode, done.stderr.partition("\n")[0]) == (6, says)


@pytest.mark.parametrize(
    ("mebibytes", "text"),
    [(40, "ones(3)"), (600, "[0.0] * 10 ** 9"), (600, "ones(4 * 10 ** 7) * 2")],
)
def test_no_memory(mebibytes, text):
    limit = limited(resource.RLIMIT_AS, mebibytes * 2**20)
    done = started("run", "-e", text, preexec_fn=limit)
    assert done.returncode == 6, done
    assert "error[memory" in done.stderr.partition("\n")[0]
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_gone(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}"; rmdir "{gone}"; '
    script += " ".join(f'"{word}"' for word in [*GRADCLI, "run", "-e", "ones(2)", "-o", "x.json"])
    done = subprocess.run(
        ["bash", "-c", script],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    says = "gradcli: error[unwritable-output]: cannot write `x.json`: no such file or directory\n"
    assert (done.returncode, done.stderr) == (2, says)


# -o under a kill ----------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [8, pytest.param(200, marks=pytest.mark.long)])
def test_a_file_is_whole_or_as_before_whenever_a_kill_comes(times, folder, forked):
    """What is there after a kill at a random time is the old text or the whole of the new one."""
    chance = random.Random(times)
    command = ["run", "-e", "ones(30000)", "-o", "old.json"]
    begin = time.monotonic()
    assert forked.run(*command, cwd=folder).returncode == 0
    longest = (time.monotonic() - begin) * 1.2
    whole = (folder / "old.json").read_text()
    seen = {"old": 0, "new": 0}
    with open(os.devnull, "r+b") as nothing:
        for number in range(times):
            (folder / "old.json").write_text("old")
            process = forked.start(command, [nothing.fileno()] * 3, cwd=folder)
            time.sleep(chance.uniform(0, longest) if number else 0)
            with suppress(ProcessLookupError):  # it has ended
                os.kill(process.pid, signal.SIGKILL)
            process.wait()
            text = (folder / "old.json").read_text()
            assert text in ("old", whole)
            seen["new" if text == whole else "old"] += 1
            for name in leftovers(folder):
                (folder / name).unlink()
    assert seen["old"], seen


@pytest.mark.long
def test_32_first_runs_at_once(tmp_path):
    """Nothing is compiled yet, and all of them compile it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path)}
    processes = [
        subprocess.Popen(
            [*GRADCLI, "grad", "-e", "sum(x * x)", "x=[1, 2]", "-r"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        for _ in range(32)
    ]
    for process in processes:
        assert process.communicate(timeout=120) == (b"2.0\n4.0\n", b"")
        assert process.returncode == 0


@pytest.mark.long
def test_an_interrupt_at_any_moment(folder):
    """Also while it starts; only before the interpreter gets to gradcli may it show a traceback."""
    chance = random.Random(1)
    for _ in range(60):
        command = [*GRADCLI, *chance.choice(list(ENDLESS.values()))]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as process:
            time.sleep(chance.uniform(0, 0.3))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert "gradcli/" not in err.decode().replace("gradcli/__init__.py", ""), err.decode()
        assert process.returncode == 130 or b"Traceback" in err or not err
        assert not leftovers(folder)
