"""No further thread or process can be started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli import load
from gradcli.engine.run.session.watchdog import Watchdog
from gradcli.errors import LimitError
from gradcli.questions.asked import limited

ROOT = Path(__file__).parents[3]


@pytest.fixture
def no_threads(monkeypatch):
    """Has a function refuse to start a thread, in a process without a watchdog."""

    def refused(*given):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(limited, "WATCHDOG", Watchdog())
    return lambda what: monkeypatch.setattr(what, refused)


def test_a_run_without_its_watchdog_is_out_of_memory(cli, no_threads):
    no_threads("gradcli.engine.run.session.watchdog.start_new_thread")
    for line in (["run", "-e", "1 + 1"], ["run", "-e", "x", "--rows", "-", "--compile", "never"]):
        status, out, err = cli(*line, stdin="x\n1\n")
        message = "gradcli: error[memory]: no thread can be started that ends the run at its limits"
        assert (status, out, err.partition("\n")[0]) == (6, "", message)
    with pytest.raises(LimitError, match="no thread can be started"):
        load("1 + 1").run()
    assert not limited.WATCHDOG._guards


OTHERS = {
    "of code": (
        "gradcli.engine.compile.llvm.worker.start_new_thread",
        ["grad", "-e", "y = x\nfor i in range(9): y = sin(y)\ny", "x=1", "--compile", "always"],
    ),
    "of a product": (
        "threading.Thread.start",
        ["run", "-e", "(ones(600, 600) @ ones(600, 600)).sum()"],
    ),
    "of rows": (
        "threading.Thread.start",
        ["run", "-e", "x", "--rows", "-", "--jobs", "2", "--compile", "never"],
    ),
}


@pytest.mark.parametrize(("what", "line"), OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("policy", ["stop", "skip"])
def test_a_thread_that_cannot_be_started_is_no_bug(
    what, line, policy, cli, no_threads, monkeypatch
):
    if "llvm" in what:
        pytest.importorskip("llvmlite")
    if "--rows" in line:
        line = [*line, "--on-error", policy]
    monkeypatch.setenv("GRADCLI_NUM_THREADS", "2")
    no_threads(what)
    status, _, err = cli(*line, stdin="x\n1\n")
    assert (status, err.partition("\n")[0]) in [
        (0, ""),
        (6, "gradcli: error[memory]: out of memory"),
    ]


NO_FORK = """
import os, sys

def refused():
    raise BlockingIOError(11, "Resource temporarily unavailable")

os.fork = refused
sys.argv[:] = ["gradcli", *sys.argv[1:]]
from gradcli.__main__ import main
main()
"""


def test_limits_that_no_process_can_hold_are_an_error():
    done = subprocess.run(
        [sys.executable, "-c", NO_FORK, "run", "-e", "1", "--safe", "--diagnostics", "concise"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    message = "no process can be started that ends this one at its limits: resource temporarily"
    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr.startswith(f"gradcli: error[memory]: {message} unavailable\n")
