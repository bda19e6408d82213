"""A progress bar on standard error."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.terminal import is_terminal, wants_colour, width

_PATIENCE = 0.5  # seconds before a bar is shown: short work needs none
_BETWEEN = 0.1  # seconds between two updates
_ECHO = 3  # columns beside a bar for the `^C` of a terminal, which must not begin another line


Share: TypeAlias = Callable[[], "float | None"]


def nobody_knows() -> None:
    """The done share of work of unknown length: None."""


def told(done: int, total: int | None, share: float | None, seconds: float) -> str:
    """The text next to a progress bar: amount, share, rate, and the time left or else spent."""
    said = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    if share is not None:
        said += f", {math.floor(100 * share)} %"
    if done and seconds > 0:
        said += f", {done / seconds:,.0f}/s"
    if share and seconds > 0:
        return f"{said}, {_clock(seconds / share - seconds)} left"
    return f"{said}, {_clock(seconds)}"


def _clock(seconds: float) -> str:
    """Minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


@contextmanager
def progress(title: str, telling: Telling, *, silent: bool = False) -> Iterator[Bar]:
    """A bar for the work in the block, removed at its end; an invisible one if nobody would see it,
    or if it is unwelcome.
    """
    shown = not silent and not telling.quiet and is_terminal(sys.stderr)
    bar = _Shown(title, wants_colour(sys.stderr, telling.color)) if shown else Bar()
    try:
        yield bar
    finally:
        bar.clear()


class Bar:
    """A bar that shows nothing."""

    def advance(self, done: int, total: int | None, share: Share = nobody_knows) -> None:
        """Update the amounts; `total` is None if it is unknown, though `share` may be known."""

    def entitle(self, title: str) -> None:
        """Change the title."""

    def clear(self) -> None:
        """Clear the line for other output."""


class _Shown(Bar):
    def __init__(self, title: str, colour: bool) -> None:
        self._title = title
        self._colour = colour
        self._begun = time.monotonic()
        self._next = self._begun + _PATIENCE
        self._bar: Any = None
        self._task: Any = None

    def advance(self, done: int, total: int | None, share: Share = nobody_knows) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _BETWEEN
        if self._bar is None:
            self._start()
        self._fit()  # people change the width of a terminal
        part = done / total if total else share()
        said = told(done, total, part, now - self._begun)
        whole = None if part is None else 1.0
        self._bar.update(self._task, completed=part or 0.0, total=whole, said=said)

    def entitle(self, title: str) -> None:
        self._title = title
        if self._bar is not None:
            self._bar.update(self._task, description=title)

    def clear(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[said]}"),
            console=Console(stderr=True, no_color=not self._colour, highlight=False),
            transient=True,
            redirect_stdout=False,  # results may go to the same terminal
            redirect_stderr=False,
        )
        self._task = self._bar.add_task(self._title, total=None, said="")
        self._fit()
        self._bar.start()

    def _fit(self) -> None:
        columns = width(sys.stderr)
        if columns is not None:
            self._bar.console.width = columns - _ECHO
