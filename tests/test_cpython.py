"""Room for calls, however deep it begins."""

import sys

import pytest

from gradcli import cpython
from gradcli.cpython import Room


@pytest.fixture(autouse=True)
def _no_other_is_open(monkeypatch):
    """A thread that a test of time limits has left behind may still be in a room."""
    monkeypatch.setattr(cpython, "_limits", [])


def below(calls, what):
    return what() if calls <= 0 else below(calls - 1, what)


def enough():
    """A room in a room, and all of each used."""
    with Room(1500):
        return below(1400, inner)


def inner():
    with Room(1500):
        return below(1400, lambda: "there")


@pytest.mark.parametrize("depth", [0, 500, 3000])
def test_there_is_room_wherever_it_begins(depth):
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, depth + 400))
    try:
        assert below(depth, enough) == "there"
        assert sys.getrecursionlimit() == max(before, depth + 400)
    finally:
        sys.setrecursionlimit(before)


def test_rooms_in_rooms_do_not_pile_up():
    """What begins at the same depth has the same room, however often."""

    def nested(rooms):
        if not rooms:
            return sys.getrecursionlimit()
        with Room(2000):
            return nested(rooms - 1)

    assert nested(50) < sys.getrecursionlimit() + 2300


def test_a_room_stays_while_another_thread_leaves_its_own():
    before = sys.getrecursionlimit()
    first, second = Room(3000), Room(3000)
    first.__enter__()
    second.__enter__()
    needed = sys.getrecursionlimit()
    first.__exit__()
    assert sys.getrecursionlimit() == needed
    second.__exit__()
    assert sys.getrecursionlimit() == before
