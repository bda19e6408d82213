"""Waiting for code that runs in another thread, while errors arrive in this one."""

import _thread
from types import SimpleNamespace

import pytest

from gradcli.engine.compile.llvm import run as runs


class Lock:
    """A lock that is interrupted right after it was acquired with a timeout."""

    def __init__(self):
        self._lock = _thread.allocate_lock()
        self.release = self._lock.release
        self.after = 0  # how often it was asked for again

    def acquire(self, timeout=-1):
        if self.after:
            self.after += 1
            assert self.after < 5, "waits for a lock that it has acquired"
        found = self._lock.acquire(timeout=timeout)
        if found and timeout >= 0:
            self.after = 1
            raise KeyboardInterrupt
        return found


def test_an_error_right_after_the_end_of_the_code_ends_the_wait(monkeypatch):
    monkeypatch.setattr(runs, "allocate_lock", Lock)
    done = []
    stop = SimpleNamespace(value=0)
    run = SimpleNamespace(control=SimpleNamespace(stop=stop), look=lambda: None)
    with pytest.raises(KeyboardInterrupt):
        runs.wait(lambda: done.append(1), run)
    assert (done, stop.value) == ([1], 0)
