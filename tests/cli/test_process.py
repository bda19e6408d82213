"""Real processes: streams, signals, encodings, start-up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

GRADCLI = [sys.executable, "-m", "gradcli"]


def started(*arguments, **options):
    """A process with an interpreter of its own, from its start."""
    options = {"capture_output": True, "timeout": 60, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run([*GRADCLI, *arguments], check=False, **options)


@pytest.fixture
def shell(forked):
    """Run a script by bash."""

    def run(script, environment=None):
        return subprocess.run(
            ["bash", "-c", script],
            capture_output=True,
            timeout=60,
            check=False,
            env=environment or forked.environment(),
        )

    return run


def test_square():
    done = started("grad", "-e", "x ** 2", "x=3")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"result\t9.0\ngrad.x\t6.0\n", b"")


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("echo 'x ** 2' | gradcli grad x=2 -r -", "4.0\n"),
        ("gradcli run -e 'x = 3.0' 'x=4' -e 'x ** 2' -r", "16.0\n"),
        ("gradcli grad -e 'x ** 2' x=3 --json",
         '{"schema":"gradcli.grad/1","output":"result","value":9.0,"grad":{"x":6.0},"warnings":[]}\n'),
    ],
)  # fmt: skip
def test_pipelines(script, out, shell):
    done = shell(script)
    assert (done.stdout.decode(), done.stderr.decode()) == (out, "")


@pytest.mark.parametrize("command", ["run -e 'print(1)' -e 2", "run -e 2", "--version", "run -h"])
def test_a_full_device_is_reported_once(command, shell):
    done = shell(f"gradcli {command} > /dev/full")
    assert done.returncode == 2
    assert done.stderr == (
        b"gradcli: error[unwritable-output]: cannot write standard output: "
        b"no space left on device\n"
    )


@pytest.mark.parametrize("command", ["gradcli", " ".join(GRADCLI)], ids=["forked", "started"])
def test_standard_output_that_is_closed(command, shell):
    done = shell(f"{command} run -e 2 >&-")
    assert (done.returncode, done.stderr) == (
        2,
        b"gradcli: error[unwritable-output]: cannot write standard output: it is closed\n",
    )


def test_closed_streams(shell):
    assert shell("gradcli run <&-").stderr.startswith(b"gradcli: error[usage]: no program")
    assert shell("gradcli run -e 2 2>&-").stdout == b"2\n"
    assert shell("gradcli run -e '1 +' 2>&-").returncode == 3
    assert shell("gradcli run -e '1 +' 2>/dev/full").returncode == 3


def test_a_reader_that_leaves_ends_it_silently(shell):
    done = shell("gradcli run -e 'while True: print(1)' | head -1; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"1\n141\n", b"")


def test_control_c():
    program = "while True: x = 1"
    with subprocess.Popen(
        [*GRADCLI, "run", "-e", "print('go')", "-e", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"go\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")


@pytest.mark.parametrize(
    "environment",
    [{"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}, {}],
)
def test_output_is_utf8_whatever_the_locale(environment):
    done = started(
        "run", "-e", "größe = 2", "-e", "'日本'", "--json", env={**os.environ, **environment}
    )
    assert '"result":"日本","values":{"größe":2}' in done.stdout.decode()


def test_a_file_name_that_is_no_text(tmp_path):
    name = os.path.join(os.fsencode(tmp_path), b"b\xe9\x1b\n.grad")
    with open(name, "wb") as file:
        file.write(b"1 +")
    err = started("run", name).stderr
    assert b"b\\xe9\\x1b\\n.grad:1:4: error" in err


def test_home_may_be_missing():
    assert started("run", "-e", "2", env={"PATH": os.environ["PATH"]}).stdout == b"2\n"


COMPLETIONS = [
    ("gradcli jac", ["jacobian"]),
    ("gradcli grad --cot", ["--cotangent"]),
    ("gradcli grad samples/cooling.grad ", ["k=", "T0=", "t=", "T="]),
    ("gradcli grad samples/cooling.grad --wrt k,T", ["k,T0", "k,T"]),
    ("gradcli grad -e x*y --wrt ", ["x", "y"]),
    ("gradcli run samples/linear.grad --show ", ["x", "w", "b", "y"]),
    ("gradcli jvp samples/cooling.grad --tangent k", ["k="]),
    ("gradcli ops logs", ["logsumexp", "logsigmoid", "logspace"]),
    ("gradcli jacobian f.grad --mode r", ["reverse"]),
    ("gradcli grad none.grad --wrt ", []),
    ("gradcli grad sam", []),  # files are the shell's to complete
]


@pytest.mark.parametrize(("words", "offered"), COMPLETIONS)
def test_completion(words, offered, forked):
    completing = {
        "_GRADCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = forked.run(cwd=ROOT, env={**os.environ, **completing})
    assert (done.stdout.decode().split(), done.stderr) == (offered, b"")


@pytest.mark.parametrize(("given", "used"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_products_take_one_thread_unless_the_user_says_how_many(given, used):
    told = (
        "import os, gradcli.__main__ as m; m._run = lambda *_: print(os.environ[N]) or 0; m.main()"
    )
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    names = (*names, "VECLIB_MAXIMUM_THREADS")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    done = subprocess.run(
        [sys.executable, "-c", f"N = {names[0]!r}; {told}"],
        capture_output=True,
        check=False,
        env={**environment, **given},
    )
    assert done.stdout.decode().strip() == used
