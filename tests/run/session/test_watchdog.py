"""The thread that stops questions at their limits, on a clock and a memory of the test's own."""

import gc
import os
import time
from _thread import allocate_lock, get_ident, start_new_thread

import pytest

from gradcli.engine.run.session import watchdog
from gradcli.engine.run.session.watchdog import Guard, Watchdog
from gradcli.engine.values.limits import Reached
from gradcli.limits import Limits


class Meter:
    """A meter whose memory is that of the test."""

    def __init__(self, seconds=None):
        self.limits = Limits(seconds=seconds)
        self.reached = None
        self.seen = False
        self.most, self.left = 1000, 0


class World:
    """A clock, and what has been raised in which thread."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        self.raised = []
        monkeypatch.setattr(watchdog, "monotonic", lambda: self.now)
        monkeypatch.setattr(watchdog, "_raise_in", lambda *given: self.raised.append(given))


def instead_of_sleep(monkeypatch, rounds):
    """Let the loop of this thread call a function where it sleeps; the process's own watchdog, which
    may still be there, sleeps as before.
    """
    here = get_ident()

    def sleep(seconds):
        (rounds if get_ident() == here else time.sleep)(seconds)

    monkeypatch.setattr(watchdog, "sleep", sleep)


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


@pytest.mark.parametrize(
    ("seconds", "after", "left", "code"),
    [
        (None, 1e9, 0, None),
        (5.0, 5.0, 0, None),
        (5.0, 5.5, 0, "time-limit"),
        (5.0, 0.0, -1, "memory-limit"),
        (5.0, 5.5, -1, "time-limit"),
        (None, 0.0, 10, None),
    ],
)
def test_a_question_is_stopped_at_its_limit(world, seconds, after, left, code):
    guard = Guard(Meter(seconds), None)
    world.now += after
    guard.meter.left = left
    guard.look()
    reached = guard.meter.reached
    assert (reached and reached.code) == code
    assert world.raised == ([] if code is None else [(get_ident(), Reached)])


def test_the_message_tells_the_limit(world):
    over, full = Guard(Meter(2.5), None), Guard(Meter(), None)
    world.now += 3
    full.meter.left, full.meter.most = -1, 3 * 2**20
    over.look()
    full.look()
    assert over.meter.reached.message == "the time limit of 2.5 s is reached"
    assert full.meter.reached.message == "the run takes more than the allowed 3 MiB of memory"
    assert [g.meter.reached.help for g in (over, full)] == [
        "`--time-limit` sets this limit",
        "`--max-memory` sets this limit",
    ]


def test_memory_is_looked_at_again_after_what_nobody_holds_is_gone(world, monkeypatch):
    guard = Guard(Meter(), None)
    guard.meter.left = -1
    monkeypatch.setattr(gc, "collect", lambda: setattr(guard.meter, "left", 0))
    guard.look()
    assert guard.meter.reached is None


def test_an_import_is_not_left_half_done(world):
    guard = Guard(Meter(), None)
    guard.meter.left = -1
    exec(compile("look()", "<frozen importlib._bootstrap>", "exec"), {"look": guard.look})
    assert (guard.meter.reached, world.raised) == (None, [])
    guard.look()
    assert guard.meter.reached is not None


@pytest.mark.parametrize(
    ("later", "left", "seen", "stuck"),
    [
        (0.0, -1, False, 0),
        (watchdog._PATIENCE, -1, False, 0),
        (2 * watchdog._PATIENCE, -1, False, 1),
        (2 * watchdog._PATIENCE, -1, True, 0),
        (0.0, -250, False, 0),
        (0.0, -251, False, 1),
        (0.0, -251, True, 0),
    ],
)
def test_a_question_that_goes_on_is_told_when_it_is_late_or_takes_a_quarter_more(
    world, later, left, seen, stuck
):
    told = []
    guard = Guard(Meter(), lambda error, frame: told.append((error, frame)))
    guard.meter.left = -1
    guard.look()
    assert told == []
    world.now += later
    guard.meter.left, guard.meter.seen = left, seen
    guard.look()
    assert len(told) == stuck
    assert len(world.raised) == 1
    for error, frame in told:
        assert error.diagnostics == (guard.meter.reached,)
        assert frame.f_code.co_filename == watchdog.__file__


def test_without_anybody_to_tell_nothing_is_told(world):
    guard = Guard(Meter(), None)
    guard.meter.left = -1000
    guard.look()
    world.now += 100
    guard.look()
    assert len(world.raised) == 1


@pytest.mark.parametrize(("reached", "seen"), [(False, False), (True, False), (True, True)])
def test_what_has_ended_is_not_stopped(world, reached, seen):
    guard = Guard(Meter(), None)
    guard.meter.left = -1 if reached else 0
    guard.look()
    guard.meter.seen = seen
    world.raised.clear()
    guard.end()
    assert world.raised == ([(get_ident(), None)] if reached and not seen else [])


def test_one_thread_looks_until_there_has_been_nothing_to_do_for_some_time(monkeypatch):
    dog, started, looks = Watchdog(), [], []
    monkeypatch.setattr(watchdog, "start_new_thread", lambda *given: started.append(given))
    guards = [Guard(Meter(), None) for _ in range(2)]
    for guard in guards:
        dog.watch(guard)
    assert started == [(dog._run, ())]
    assert dog._process == os.getpid()

    def rounds(seconds):
        assert seconds == watchdog._INTERVAL
        looks.append(len(dog._guards))
        if len(looks) == 3:
            dog.leave(guards[0])
        if len(looks) == 50:
            dog.leave(guards[1])

    instead_of_sleep(monkeypatch, rounds)
    dog._run()
    assert looks == [2] * 3 + [1] * 47 + [0] * watchdog._IDLE
    assert dog._process == 0
    dog.watch(guards[0])
    assert len(started) == 2


def test_all_guards_are_looked_at(monkeypatch):
    dog, looked = Watchdog(), []
    monkeypatch.setattr(watchdog, "start_new_thread", lambda *given: None)

    def look(guard):
        looked.append(guard)

    monkeypatch.setattr(Guard, "look", look)
    guards = [Guard(Meter(), None) for _ in range(3)]
    for guard in guards:
        dog.watch(guard)

    def rounds(seconds):
        if looked:
            raise StopIteration

    instead_of_sleep(monkeypatch, rounds)
    with pytest.raises(StopIteration):
        dog._run()
    assert set(looked) == set(guards)
    assert not dog.lock.locked()


def test_after_a_fork_only_the_thread_that_forked_is_looked_after(monkeypatch):
    dog, started = Watchdog(), []
    monkeypatch.setattr(watchdog, "start_new_thread", lambda *given: started.append(given))
    mine, other, late = (Guard(Meter(), None) for _ in range(3))
    other.thread = -1
    dog.watch(other)
    dog.watch(mine)
    assert dog._guards == {other, mine}
    dog._process = -1
    dog.watch(late)
    assert dog._guards == {mine, late}
    assert len(started) == 2


def test_a_limit_raised_in_a_thread_can_be_taken_back():
    """Last one that is not: CPython 3.11 looks for such errors until one arrives."""
    assert [outcome_of_a_thread(taken_back) for taken_back in (True, False)] == ["done", "stopped"]


def outcome_of_a_thread(taken_back):
    ready, go, ended = (allocate_lock() for _ in range(3))
    for lock in (ready, go, ended):
        lock.acquire()
    outcome = []

    def work():
        try:
            ready.release()
            go.acquire()
            for _ in range(1000):
                pass
            outcome.append("done")
        except Reached:
            outcome.append("stopped")
        finally:
            ended.release()

    thread = start_new_thread(work, ())
    ready.acquire()
    watchdog._raise_in(thread, Reached)
    if taken_back:
        watchdog._raise_in(thread, None)
    go.release()
    assert ended.acquire(timeout=60)
    return outcome[0]
