"""A progress bar on standard error, for a person who waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradcli.cli.messages import Telling
from gradcli.cli.terminal import is_terminal, wants_colour

_PATIENCE = 0.5  # seconds before a bar is shown: short work needs none
_BETWEEN = 0.1  # seconds between two changes of it


@contextmanager
def progress(title: str, telling: Telling, *, silent: bool = False) -> Iterator[Bar]:
    """A bar for the work inside, gone when it is done; one that shows nothing where nobody would
    see it, or where it is unwelcome.
    """
    shown = not silent and not telling.quiet and is_terminal(sys.stderr)
    bar = _Shown(title, wants_colour(sys.stderr, telling.color)) if shown else Bar()
    try:
        yield bar
    finally:
        bar.clear()


class Bar:
    """A bar that shows nothing."""

    def advance(self, done: int, total: int | None) -> None:
        """Take note of how much is done, and of how much there is; None where nobody knows."""

    def clear(self) -> None:
        """Leave the line to what is written next."""


class _Shown(Bar):
    def __init__(self, title: str, colour: bool) -> None:
        self._title = title
        self._colour = colour
        self._next = time.monotonic() + _PATIENCE
        self._bar: Any = None
        self._task: Any = None

    def advance(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN
        if self._bar is None:
            self._start()
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        self._bar.update(self._task, completed=done, total=total, count=count)

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True, no_color=not self._colour, highlight=False),
            transient=True,
            redirect_stdout=False,  # results go where they go
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(self._title, total=None, count="")
        self._bar.start()
