"""Waiting for code that runs in another thread, while errors arrive in this one."""

import random
import threading
import time
from types import SimpleNamespace

import pytest
from support.processes.ring import Interrupt, Ring

from gradcli.engine.compile.llvm import worker

INTERRUPTS = 10_000
ENDLESS = 10**9


class Work:
    """Work like that of machine code: it asks at each turn if it has to stop."""

    def __init__(self, turns):
        self.control = SimpleNamespace(stop=SimpleNamespace(value=0))
        self.turns = turns
        self.begun = self.ended = False

    def __call__(self):
        self.begun = True
        for _ in range(self.turns):
            if self.control.stop.value:
                break
            time.sleep(0)  # machine code runs without Python's lock
        self.ended = True

    def look(self):
        """Print nothing."""


def test_no_interrupt_ends_the_wait_before_the_work():
    """At any moment, half of them in pairs: the work has been stopped or has ended by itself, and
    nothing waits for what is over.
    """
    chance = random.Random(1)
    threads = threading.active_count()
    with Ring(worker.wait) as ring:
        while ring.raised < INTERRUPTS:
            work = Work(chance.choice([0, 3, 10, ENDLESS, ENDLESS]))
            ring.start(chance.uniform(1e-6, 2e-4), chance.choice([0, chance.uniform(1e-6, 6e-5)]))
            try:
                worker.wait(work, work)
                assert work.turns < ENDLESS
            except Interrupt:
                pass
            ring.over()
            assert work.ended or not work.begun
            assert work.control.stop.value == 0
    assert threading.active_count() == threads


def test_it_leaves_work_that_does_not_stop(monkeypatch):
    """Such as a print to a pipe that nobody reads: it has to stop later."""
    monkeypatch.setattr(worker, "_STOPS", 1000)
    blocked = threading.Event()
    work = Work(0)
    ended = []

    def stuck():
        blocked.wait()
        ended.append(work.control.stop.value)

    with Ring(worker.wait) as ring:
        ring.start(1e-3, 0)
        with pytest.raises(Interrupt):
            worker.wait(stuck, work)
    assert not ended
    blocked.set()
    while not ended:
        time.sleep(0.001)
    assert ended == [1]


def test_it_raises_what_the_work_raises():
    def fails():
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        worker.wait(fails, Work(0))


@pytest.mark.parametrize("starts", [False, True])
def test_an_error_while_the_thread_starts(starts, monkeypatch):
    """Work that has not begun is not waited for, and does not begin."""
    start = worker.start_new_thread

    def interrupted(function, args):
        if starts:
            start(function, args)
        raise Interrupt

    monkeypatch.setattr(worker, "start_new_thread", interrupted)
    work = Work(ENDLESS)
    with pytest.raises(Interrupt):
        worker.wait(work, work)
    assert work.control.stop.value == 0
    assert work.ended == work.begun
    assert starts or not work.begun
