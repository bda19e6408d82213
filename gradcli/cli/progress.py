"""A progress bar on standard error, for a person who waits."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from gradcli.cli.terminal import is_terminal

Advance: TypeAlias = Callable[[int, int | None], None]
"""Takes how much is done and how much there is, None where nobody knows."""

_PATIENCE = 0.5  # seconds before a bar is shown: short work needs none
_BETWEEN = 0.1  # seconds between two changes of it


@contextmanager
def progress(title: str, *, quiet: bool) -> Iterator[Advance]:
    """A bar for the work inside, gone when it is done; nothing where no terminal shows it."""
    if quiet or not is_terminal(sys.stderr):
        yield lambda done, total: None
        return
    bar = _Bar(title)
    try:
        yield bar.advance
    finally:
        bar.stop()


class _Bar:
    def __init__(self, title: str) -> None:
        self._title = title
        self._next = time.monotonic() + _PATIENCE
        self._shown: Any = None
        self._task: Any = None

    def advance(self, done: int, total: int | None) -> None:
        """Show how far the work is, if it has taken a while."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN
        if self._shown is None:
            self._start()
        self._shown.update(self._task, completed=done, total=total)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        console = Console(stderr=True)
        self._shown = Progress(
            *columns,
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,  # results go where they go
            redirect_stderr=False,
        )
        self._task = self._shown.add_task(self._title, total=None)
        self._shown.start()

    def stop(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown.stop()
