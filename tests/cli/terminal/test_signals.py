"""Signals at moments when they must wait: while a module is imported, and while one cleans up."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec

import pytest

from gradcli import __main__ as command
from gradcli.cli.terminal import signals
from gradcli.cli.terminal.signals import Signals
from gradcli.cpython import is_importing, is_of_program

BY = {
    "a statement": "import interrupted",
    "a function": "import importlib; importlib.import_module('interrupted')",
    "C code": "import pickle; pickle.loads(b'cinterrupted\\nwhole\\n.')",
    "a module that is imported": "import outer",
}


def ended(work):
    """Status of a forked process in which the signals of gradcli interrupt some work; 130 if an
    interrupt has come out of it.
    """
    if not (child := os.fork()):
        status = 70
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            Signals(is_importing, is_of_program)
            try:
                status = work() or 0
            except KeyboardInterrupt:
                status = 130
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def until_interrupted():
    end = time.monotonic() + 5
    while time.monotonic() < end:
        pass


@pytest.mark.parametrize("how", BY)
def test_an_interrupt_waits_for_the_end_of_an_import(how, tmp_path):
    here = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"
    (tmp_path / "interrupted.py").write_text(f"{here}for _ in range(1000): pass\nwhole = True\n")
    (tmp_path / "outer.py").write_text("import interrupted\ndone = interrupted.whole\n")

    def work():
        sys.path.insert(0, str(tmp_path))
        exec(BY[how])
        try:
            until_interrupted()
        except KeyboardInterrupt:
            return 7 if sys.modules["interrupted"].whole else 1

    assert ended(work) == 7


MANY = {"orjson": 12, "numpy": 3, "llvmlite.binding": 3, "pyarrow": 2, "decimal": 12}
AT_RANDOM = """
import importlib, os, random, signal, sys, time
from gradcli.cli.terminal.signals import Signals
from gradcli.cpython import is_importing, is_of_program

def imported(after):
    begun = time.monotonic()
    if not (child := os.fork()):
        Signals(is_importing, is_of_program)
        signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
        whole = None
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            whole = importlib.import_module(sys.argv[1])
            if not after:
                os._exit(0)
            time.sleep(60)
        except KeyboardInterrupt:
            os._exit(0 if sys.modules.get(sys.argv[1]) is whole else 1)
        os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - begun

status, takes = imported(0)
chance = random.Random(1)
print(status, *[imported(chance.uniform(0.01, 1.1) * takes)[0] for _ in range(int(sys.argv[2]))])
"""


@pytest.mark.parametrize("name", MANY)
def test_an_interrupt_at_any_moment_of_an_import(name):
    """The module is imported whole or not at all, and the process does not crash."""
    if not find_spec(name.partition(".")[0]):
        pytest.skip(f"{name} is not installed")
    command = [sys.executable, "-c", AT_RANDOM, name, str(MANY[name])]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (found.stderr, set(found.stdout.split())) == ("", {"0"})


def test_a_second_interrupt_does_not_end_the_cleaning_up():
    """Nor does another signal."""

    def work():
        cleaned = False
        try:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                until_interrupted()
            finally:
                for number in (signal.SIGINT, signal.SIGTERM):
                    os.kill(os.getpid(), number)
                with suppress(ZeroDivisionError):
                    _ = 1 / 0
                cleaned = True
        except KeyboardInterrupt:
            return 7 if cleaned else 1

    assert ended(work) == 7


def test_a_later_interrupt_ends_it(monkeypatch):
    monkeypatch.setattr(signals, "_PATIENCE", 0)

    def work():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            until_interrupted()
        except KeyboardInterrupt:
            os.kill(os.getpid(), signal.SIGINT)
            until_interrupted()

    assert ended(work) == 130


@pytest.mark.parametrize("moment", ["restore", "_flush", "_run"])
def test_a_second_interrupt_at_the_end_is_silent(moment, monkeypatch, capfd):
    """While the command cleans up after the first, or ends."""

    def interrupted(*_):
        os.kill(os.getpid(), signal.SIGINT)
        until_interrupted()

    def at_end(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
        if moment == "restore":
            restore(*arguments)

    restore = Signals.restore
    monkeypatch.setattr(command, "_run", interrupted)
    if moment == "restore":
        monkeypatch.setattr(Signals, "restore", at_end)
    elif moment == "_flush":
        monkeypatch.setattr(command, "_flush", at_end)

    def work():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it has signals of its own
        try:
            command.main()
        except KeyboardInterrupt:
            return 1

    assert ended(work) == (-signal.SIGINT if moment == "_flush" else 130)
    assert capfd.readouterr().err == ""


def test_an_interrupt_that_python_drops_comes_again():
    class Freed:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            until_interrupted()

    def work():
        Freed()
        until_interrupted()

    assert ended(work) == 130
