"""The bar that a person sees: after which time, how often, and what it says."""

import io
import re
import sys
from types import SimpleNamespace

import pytest
import rich.progress

from gradcli.cli.terminal import progress as module
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.progress import progress


class Screen(io.StringIO):
    def __init__(self, is_terminal=True):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.fixture
def clock(monkeypatch):
    """The time, in seconds, that a test sets."""
    now = [100.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def bars(monkeypatch):
    """What is done with bars, in its order."""
    seen = []

    class Noted(rich.progress.Progress):
        def __init__(self, *columns, **settings):
            seen.append(("made", settings))
            super().__init__(*columns, **settings)

        def add_task(self, title, **settings):
            seen.append(("task", title, settings))
            return super().add_task(title, **settings)

        def start(self):
            seen.append(("start",))
            super().start()

        def stop(self):
            seen.append(("stop",))
            super().stop()

        def update(self, task, **settings):
            seen.append(("update", settings))
            super().update(task, **settings)

    monkeypatch.setattr(rich.progress, "Progress", Noted)
    return seen


@pytest.mark.parametrize(
    ("quiet", "is_terminal", "silent"),
    [(True, True, False), (False, False, False), (False, True, True)],
)
def test_nobody_who_does_not_want_a_bar_gets_one(
    quiet, is_terminal, silent, clock, bars, monkeypatch
):
    monkeypatch.setattr(sys, "stderr", screen := Screen(is_terminal))
    with progress("rows", Telling(quiet, "full", "auto"), silent=silent) as bar:
        for _ in range(3):
            clock[0] += 1
            bar.advance(1, 2)
    assert (bars, screen.getvalue()) == ([], "")


@pytest.mark.parametrize("color", ["always", "never"])
def test_a_bar_comes_after_some_time_and_changes_now_and_then(color, clock, bars, monkeypatch):
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with progress("rows", Telling(False, "full", color)) as bar:
        bar.advance(1, 100)
        clock[0] = 100.375
        bar.advance(2, 100)
        assert bars == []
        clock[0] = 100.5
        bar.advance(25, 100)
        assert bars[0][0] == "made"
        assert bars[1:3] == [("task", "rows", {"total": None, "said": ""}), ("start",)]
        said = "25 of 100, 25 %, 50/s, 0:02 left"
        assert bars[3:] == [("update", {"completed": 0.25, "total": 1.0, "said": said})]
        clock[0] = 100.5625
        bar.advance(30, 100)
        assert len(bars) == 4
        clock[0] = 100.625
        bar.advance(30, None)
        said = {"completed": 0.0, "total": None, "said": "30, 48/s, 0:01"}
        assert bars[4:] == [("update", said)]
        clock[0] = 102.0
        bar.advance(400, None, lambda: 0.5)
        said = {"completed": 0.5, "total": 1.0, "said": "400, 50 %, 200/s, 0:02 left"}
        assert bars[5:] == [("update", said)]
        clock[0] = 102.125
        bar.advance(0, 0)
        assert bars[6:] == [("update", {"completed": 0.0, "total": None, "said": "0 of 0, 0:02"})]
        bar.clear()
        assert bars[7:] == [("stop",)]
        bar.clear()
        assert bars[8:] == []
        clock[0] = 102.25
        bar.advance(401, None)
        assert [kind for kind, *_ in bars[8:]] == ["made", "task", "start", "update"]
    assert bars[12:] == [("stop",)]
    settings = bars[0][1]
    console = settings.pop("console")
    assert settings == {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
    assert (console.stderr, console._highlight) == (True, False)
    assert console.no_color == (color == "never")
    assert "401, 178/s" in screen.getvalue()


@pytest.mark.parametrize("columns", [20, 60, 80, 120])
def test_a_bar_leaves_room_for_the_echo_of_an_interrupt(columns, clock, monkeypatch):
    """A terminal writes `^C` behind it; in a new line, the bar would stay on the screen."""
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    monkeypatch.setattr(module, "width", lambda stream: columns)
    with progress("3 of 40 parts, rows", Telling(False, "full", "never")) as bar:
        clock[0] += 1
        bar.advance(123_456, None, lambda: 0.25)
    lines = [
        re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)
        for line in re.split(r"[\r\n]", screen.getvalue())
    ]
    assert max(map(len, lines)) <= columns - 3
    assert columns < 60 or "123,456, 25 %, 123,456/s, 0:03 left" in "".join(lines)
