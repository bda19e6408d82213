"""Statuses, awkward places and spoiled programs."""

import os
import pty
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.programs.sample_programs import SAMPLES, shortened

from gradcli.errors import GradError
from gradcli.program import load_source
from gradcli.source import Source

ROOT = Path(__file__).parents[2]
SCRIPT = Path(sys.executable).with_name("gradcli")
GRADCLI = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-P", "-m", "gradcli"]


@pytest.fixture
def gradcli(forked):
    return forked.run


def started(*arguments, **options):
    """A process with an interpreter of its own, from its start."""
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.run(
        [*GRADCLI, *arguments], check=False, capture_output=True, timeout=60, **options
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "f.grad").write_text("input x = 1.0\nx ** 2\n")
    return tmp_path


STATUSES = [
    (0, ["run", "-e", "2"]),
    (1, ["run", "-e", "assert 1 > 2"]),
    (1, ["grad", "-e", "assert x > 2", "-e", "x", "x=1"]),
    (2, ["run", "--nonsense"]),
    (2, ["run", "missing.grad"]),
    (2, ["run", "."]),
    (2, ["grad", "-e", "x ** 2", "x=1", "--wrt", "z"]),
    (2, ["grad", "-e", "x ** 2", "x=1", "--of", "z"]),
    (2, ["run", "-e", "2", "-o", "no/such/folder/r.json"]),
    (3, ["run", "-e", "1 +"]),
    (3, ["run", "-e", "sinn(1)"]),
    (3, ["run", "-e", "sin(1, 2, 3, 4)"]),
    (4, ["run", "-e", "x ** 2"]),
    (4, ["run", "-e", "x ** 2", "x=1", "y=2"]),
    (4, ["run", "-e", "x ** 2", "x=("]),
    (5, ["run", "-e", "ones(2) + ones(3)"]),
    (5, ["grad", "-e", "log(x)", "x=0", "--check-nan"]),
    (6, ["run", "-e", "zeros(10 ** 12)"]),
    (6, ["run", "-e", "def f(n): return f(n + 1)", "-e", "f(0)"]),
]


@pytest.mark.parametrize(("status", "arguments"), STATUSES, ids=str)
def test_status(cli, status, arguments, folder, monkeypatch):
    monkeypatch.chdir(folder)
    got, _, err = cli(*arguments)
    assert got == status, f"{arguments}: {got}, not {status}: {err}"
    assert "Traceback" not in err, f"{arguments}: {err}"
    assert bool(err) == bool(status), f"{arguments}: {err}"


@pytest.mark.parametrize(("status", "arguments"), STATUSES[::6], ids=str)
def test_the_status_is_that_of_the_process(status, arguments, folder, gradcli):
    assert gradcli(*arguments, cwd=folder).returncode == status


def test_a_module_in_the_working_folder_is_not_imported(folder):
    for name in ("numpy", "json", "typer", "rich"):
        (folder / f"{name}.py").write_text(f"raise SystemExit('{name} is imported')")
    done = started("grad", "-e", "sum(x * x)", "x=[1, 2]", "-r", cwd=folder)
    assert (done.stdout, done.stderr) == (b"2.0\n4.0\n", b"")


def test_output_into_a_folder_that_cannot_be_written(folder, gradcli):
    locked = folder / "locked"
    locked.mkdir(mode=0o500)
    if os.access(locked, os.W_OK):
        pytest.skip("this user may write everywhere")
    done = gradcli("run", "-e", "2", "-o", str(locked / "r.json"))
    assert done.returncode == 2, done
    assert not list(locked.iterdir())


@pytest.mark.parametrize("name", ["a\nb.grad", "\x1b[31mred.grad", "-x.grad", "a b.grad"])
def test_awkward_file_names(name, folder, gradcli):
    (folder / name).write_text("sinn(1)")
    done = gradcli("run", "--", name, cwd=folder)
    assert done.returncode == 3, f"{name!r}: {done}"
    assert b"\x1b" not in done.stderr, f"{name!r}: {done.stderr}"
    assert b":1:1: error[" in done.stderr.splitlines()[0], f"{name!r}: {done.stderr}"


@pytest.mark.parametrize("command", ["run", "grad", "graph"])
def test_a_terminal_of_20_columns(command, forked):
    import fcntl
    import struct
    import termios

    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 20, 0, 0))
    arguments = [command, str(ROOT / "samples" / "two_paths.grad"), "--color", "never"]
    reading, errors = os.pipe()
    with open(os.devnull, "rb") as nothing:
        process = forked.start(arguments, (nothing.fileno(), secondary, errors))
    os.close(secondary)
    os.close(errors)
    with open(reading, "rb") as said:
        assert (process.wait(), said.read()) == (0, b"")
    out = os.read(primary, 100_000).decode()
    os.close(primary)
    wide = [line for line in out.splitlines() if len(line) > 20]
    assert not wide, f"{command}: {wide}"


def spoiled(text, chance, most):
    """Prefixes, deletions of one character and changes of one, `most` of them."""
    places = range(len(text))
    every = [text[:i] for i in places] + [text[:i] + text[i + 1 :] for i in places]
    marks = "()[]:=,.'\"\\\n\t #+-*x0é\x00"
    every += [text[:i] + chance.choice(marks) + text[i + 1 :] for i in places]
    return chance.sample(every, min(most, len(every)))


class OutOfTime(BaseException):
    """Comes out of a program that ran too long; no `except Exception` on its way may keep it."""


def out_of_time(*_):
    raise OutOfTime


def runs_or_is_refused(text):
    """Run a program; one that goes on and on is stopped after a while of processor time."""
    old = signal.signal(signal.SIGVTALRM, out_of_time)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.1)
        try:
            load_source(Source("<fuzz>", text)).run()
        except GradError:
            pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except OutOfTime:
        pass  # also where the time was out just when the program had ended
    finally:
        signal.signal(signal.SIGVTALRM, old)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda p: p.stem)
@pytest.mark.parametrize("amount", [25, pytest.param(2_000, marks=pytest.mark.long)])
def test_a_spoiled_program_is_refused_or_runs(sample, amount):
    """Only GradError may come out."""
    for broken in spoiled(shortened(sample), random.Random(f"{sample.stem} 1"), amount):
        try:
            runs_or_is_refused(broken)
        except Exception as error:
            pytest.fail(f"{type(error).__name__}: {error} from {broken!r}")


@pytest.mark.parametrize("text", ["while True: x = 1", "x = 1"])
def test_the_clock_stops_what_goes_on_and_is_off_afterwards(text):
    runs_or_is_refused(text)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) is not out_of_time


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (3, ["run", "-e", "x = '\ud800'"]),
        (3, ["check", "-e", "\udfff"]),
        (3, ["run", "-e", "y = '\udcff'"]),
        (4, ["run", "-e", "x", "x='\ud800'"]),
        (2, ["run", "\ud800.grad"]),
        (2, ["run", "a\0.grad"]),
        (4, ["run", "-e", "x", "--rows", "\ud800"]),
        (4, ["run", "-e", "x", "-i", "a\0"]),
        (4, ["run", "-e", "x", "x=@\ud800"]),
        (2, ["run", "-e", "x", "x=1", "-o", "\ud800.json"]),
        (2, ["run", "-e", "x", "x=1", "-o", "a\0.json"]),
        (4, ["jvp", "-e", "x", "x=1", "--tangent", "x=\ud800"]),
        (2, ["ops", "\ud800"]),
        (2, ["\ud800"]),
    ],
)
def test_half_a_character_or_none_in_an_argument_is_an_error(cli, status, arguments):
    found, out, err = cli(*arguments)
    assert (found, out) == (status, "")
    assert "codec" not in err
    assert "embedded" not in err
