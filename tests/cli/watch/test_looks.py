"""How a process tells of its questions, and when the one beside it has seen enough."""

import os
import signal

import pytest

from gradcli.cli.watch import table as tables
from gradcli.cli.watch.table import Table
from gradcli.limits import Limits

watcher = pytest.importorskip("gradcli.cli.watch.watcher")

MIB = 2**20


class World:
    """A clock, the memory of all processes, and who has been killed."""

    def __init__(self, monkeypatch):
        self.now, self.held, self.killed = 100.0, 50 * MIB, []
        monkeypatch.setattr(tables, "monotonic", lambda: self.now)
        monkeypatch.setattr(tables, "resident", lambda process="self": self.held)
        monkeypatch.setattr(os, "kill", lambda *given: self.killed.append(given))


@pytest.fixture
def world(monkeypatch):
    return World(monkeypatch)


def test_a_process_is_late_while_its_time_is_over(world):
    place = Table().command
    place.take()
    assert place.process == os.getpid()
    with place.within(Limits(seconds=2.0)):
        assert not place.is_late
        world.now += 2.5
        assert place.is_late
        assert not place.is_large
    assert not place.is_late


@pytest.mark.parametrize(
    ("memory", "most"),
    [(1 * MIB, 65 * MIB), (100 * MIB, 164 * MIB), (256 * MIB, 320 * MIB), (512 * MIB, 640 * MIB)],
)
def test_a_process_is_large_with_a_quarter_more_than_it_may_take(memory, most, world):
    """What it has had before is not counted, and what it imports has some room."""
    place = Table().command
    with place.within(Limits(memory=memory)):
        world.held += most
        assert not place.is_large
        world.held += 1
        assert place.is_large
        world.now += 1e9
        assert not place.is_late
    assert not place.is_large


def test_without_limits_a_process_is_never_late_or_large(world):
    place = Table().command
    with place.within(Limits()):
        world.now, world.held = 1e9, 2**50
        assert not place.is_late
        assert not place.is_large


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (0, "time-limit", "the time limit of 2.5 s is reached"),
        (1, "memory-limit", "the run takes more than the allowed 3 MiB of memory"),
    ],
)
def test_a_killed_process_has_the_error_of_its_limit(number, code, message, world):
    place = Table().workers[3]
    place.take()
    assert place.reached is None
    with place.within(Limits(seconds=2.5, memory=3 * MIB)):
        (place.end_late, place.end_large)[number]()
        world.now, world.held = 1e9, 2**50
        assert not place.is_late
        assert not place.is_large
    assert world.killed == [(os.getpid(), signal.SIGKILL)]
    (told,) = place.reached.diagnostics
    assert (told.code, told.message, told.place, place.reached.status) == (code, message, None, 6)
    place.take()
    assert place.reached is None


def test_a_process_that_has_just_ended_is_not_missed(world, monkeypatch):
    def gone(process, number):
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", gone)
    place = Table().command
    place.end_late()
    assert place.reached is not None


def looks(world, place, states):
    """After how many looks at a process with these states it is killed."""
    look = watcher._Looks(place)
    for count, (late, large) in enumerate(states, 1):
        world.now, world.held = (1e9 if late else 100.0), (2**50 if large else 0)
        look.again()
        if world.killed:
            return count
    return None


@pytest.mark.parametrize(
    ("states", "count"),
    [
        ([(True, False)] * 20, 11),
        ([(True, False)] * 10 + [(False, False)] + [(True, False)] * 20, 22),
        ([(False, True)] * 20, 2),
        ([(False, True), (False, False)] * 20, None),
        ([(True, True)] * 20, 2),
        ([(False, False)] * 20, None),
    ],
)
def test_a_process_has_time_to_end_by_itself(states, count, world):
    place = Table().command
    place.take()
    with place.within(Limits(seconds=1.0, memory=1000 * MIB)):
        assert looks(world, place, states) == count


def test_each_question_has_its_own_time_to_end(world):
    place = Table().command
    place.take()
    look = watcher._Looks(place)
    for number in range(20):
        world.now = 100.0 + number
        with place.within(Limits(seconds=0.5)):
            world.now += 0.6
            look.again()
    assert not world.killed


def test_a_place_that_nobody_has_is_not_looked_at(world):
    place = Table().command
    with place.within(Limits(seconds=1.0)):
        assert looks(world, place, [(True, True)] * 20) is None


def test_a_table_has_the_folders_of_files():
    table = Table()
    assert table.folders == []
    table.writes_into("/a/größe")
    table.writes_into("/b c")
    assert table.folders == ["/a/größe", "/b c"]
    for _ in range(20):
        table.writes_into("x" * 4000)  # there is room for some
    assert table.folders[:2] == ["/a/größe", "/b c"]
    assert {*table.folders[2:]} == {"x" * 4000}


def test_all_see_what_one_has_written():
    table = Table()
    child = os.fork()
    if child == 0:
        table.workers[-1].take()
        os._exit(0)
    os.waitpid(child, 0)
    assert table.workers[-1].process == child
    assert len(table.workers) == 256
