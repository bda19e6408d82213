"""Limits from Python: in any thread, in a pass of the command, at any moment."""

import _thread
import os
import subprocess
import sys
import threading
from time import monotonic, sleep

import pytest

from gradcli import load
from gradcli.engine.run.session.watchdog import Guard, Watchdog
from gradcli.engine.values.limits import QUESTION, Meter, Reached, check_memory, meter
from gradcli.errors import LimitError
from gradcli.limits import Limits
from gradcli.program import Options

ENDLESS = "input x = 1.0\nwhile x > 0: x = x * 1.0001\nx"
IN_A_PASS = """
class F(Function):
    def forward(ctx, a): return a * 2
    def backward(ctx, g):
        while True: g = g + 1
input x = 1.0
F.apply(x)
"""
SOON = Options(limits=Limits(seconds=0.01))


def reached(call):
    """The code and the place of the limit that a call reaches."""
    with pytest.raises(LimitError) as caught:
        call()
    first = caught.value.diagnostics[0]
    return first.code, first.place and first.place[1]


def test_a_run_is_stopped_in_another_thread():
    found = []
    thread = threading.Thread(
        target=lambda: found.append(reached(lambda: load(ENDLESS).run(options=SOON)))
    )
    thread.start()
    thread.join()
    assert found == [("time-limit", 2)]


def test_questions_of_one_program_are_stopped_each_by_itself():
    program = load("input n = 1\nwhile n > 5: n = n + 0\nn")
    stopped = threading.Thread(target=lambda: reached(lambda: program.run(n=9, options=SOON)))
    stopped.start()
    while stopped.is_alive():
        assert program.run(n=3).result == 3
    stopped.join()


def test_a_rule_is_stopped_in_a_pass_of_the_command():
    assert reached(lambda: load(IN_A_PASS).grad(options=SOON)) == ("time-limit", 5)


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (Limits(steps=10), "step-limit"),
        (Limits(depth=1), "recursion-limit"),
        (Limits(memory=100_000), "memory-limit"),
    ],
)
def test_limits_hold_for_a_call_and_no_longer(limits, code):
    program = load(
        "def g(a): return a\ndef f(a): return g(a)\nfor i in range(9): f(i)\nones(200, 200)"
    )
    assert reached(lambda: program.run(options=Options(limits=limits)))[0] == code
    assert program.run().result.shape == (200, 200)
    assert QUESTION.meter is None


def test_nothing_is_stopped_that_has_ended(monkeypatch):
    """The end of a question and its limit come at about the same time, in all ways."""
    monkeypatch.setattr("gradcli.engine.run.session.watchdog._INTERVAL", 0.0005)
    program = load("input n = 1\nfor i in range(n): i\nn")
    outcomes = set()
    for n in range(0, 240_000, 3_000):  # the longest takes several of Python's turns of threads
        try:
            program.run(n=n, options=Options(limits=Limits(seconds=1e-9), compile="never"))
            outcomes.add("ended")
        except LimitError:
            outcomes.add("stopped")
        assert QUESTION.meter is None
    assert outcomes == {"ended", "stopped"}


class Stopped(Exception):
    pass


def test_a_call_that_cannot_be_stopped_is_told_with_its_place(monkeypatch):
    """The thread is where no Python code runs: here one that takes no notice."""
    monkeypatch.setattr("gradcli.engine.run.session.watchdog._PATIENCE", 0.0)
    monkeypatch.setattr("gradcli.engine.run.session.watchdog._raise_in", lambda thread, kind: None)
    told = []
    options = Options(limits=Limits(seconds=0.01, steps=10**6), stuck=told.append, verbose=True)

    def echo(text):
        end = monotonic() + 5
        while not told and monotonic() < end:
            sleep(0.01)
        raise Stopped

    options.echo = echo
    with pytest.raises(Stopped):
        load("x = 2\nprint(x)").run(options=options)
    first = told[0].diagnostics[0]
    assert (first.code, first.place[1]) == ("time-limit", 2)
    assert "`x` was 2" in first.notes


def test_the_thread_ends_when_there_is_nothing_to_look_after(monkeypatch):
    monkeypatch.setattr("gradcli.engine.run.session.watchdog._INTERVAL", 0.001)
    dog = Watchdog()
    guard = Guard(Meter(Limits()), None)
    dog.watch(guard)
    dog.leave(guard)
    end = monotonic() + 10
    while dog._process and monotonic() < end:
        sleep(0.005)
    assert dog._process == 0
    dog.watch(guard)  # it begins again
    assert dog._process == os.getpid()
    dog.leave(guard)


def test_many_programs_have_one_thread():
    before = _thread._count()
    for n in range(20):
        load(f"{n}").run()
    assert _thread._count() <= before + 1


def test_without_a_question_there_is_the_usual_limit():
    assert meter().limits == Limits()
    with pytest.raises(LimitError):
        check_memory((10**7, 10**7))


def test_what_stops_a_question_is_no_error_that_others_take():
    assert not issubclass(Reached, Exception)


@pytest.mark.long
def test_an_operation_that_does_not_end_ends_the_process():
    command = [sys.executable, "-P", "-m", "gradcli", "run", "-e", "svd(rand(3000, 3000))"]
    done = subprocess.run(
        [*command, "--time-limit", "100ms"], check=False, capture_output=True, timeout=60
    )
    assert done.returncode == 6
    assert b": error[time-limit]: the time limit of 0.1 s is reached" in done.stderr


def test_a_limit_on_time_ends_with_its_question():
    assert load("1.0 + 1").run(options=Options(limits=Limits(seconds=0.05))).result == 2.0
    end = monotonic() + 0.15
    while monotonic() < end:
        pass
