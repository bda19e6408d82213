"""A run that is interpreted until it is known to take longer than making code of it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from time import perf_counter

from gradcli.engine.values.limits import limit_error

_GAIN = 2.0  # interpreting must take this many times the time of compiling
_SAMPLE = 0.002  # seconds, and
_STEPS = 4  # steps, after which the time of a step counts as known
_ONWARDS = 1_000  # steps until the clock is looked at again, at most
_ENDLESS = 2**62


class Warmup:
    """Decides during a run whether to compile. If the number of steps is known, the time of the
    remaining steps decides; else interpreting must have taken as long as compiling does. If the
    program cannot be compiled, nothing is lost: the run continues. Nothing is printed before the
    decision.

    Args:
        steps: How many steps the run takes in any case.
        worth: The assumed seconds of compiling.
        make: Compiles if that pays for a run with so many seconds ahead. Returns how many there
            must be before it is called again: zero if there is code, infinity if there is none.
        echo: Prints a text.
        clock: The time in seconds.

    Fields:
        is_over: true if there is code, with which the run starts again.
    """

    def __init__(
        self,
        steps: int,
        worth: float,
        make: Callable[[float], float],
        echo: Callable[[str], None],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._known = steps
        self._worth = self._least = worth
        self._make = make
        self._print = echo
        self._clock = clock
        self._held: list[str] = []
        self._is_settled = False
        self.is_over = False
        self._begin = self._last = clock()
        self._taken = 0
        self._further = 0
        self._pace = 0.0  # seconds of a step

    def patience(self) -> int:
        """The number of steps to interpret before asking again.

        Raises:
            LimitError: If there is code for the run.
        """
        if self._is_settled:
            return _ENDLESS
        now = self._clock()
        if not self._further:
            self._begin = now
        else:
            self._taken += self._further
            pace = (now - self._last) / self._further
            seconds = self._ahead(now, min(pace, self._pace))
            if seconds > self._least:
                self._least = self._make(seconds)
                self.is_over = self._least == 0.0
                if self.is_over:
                    raise limit_error("step-limit", "the run goes on as code", "steps")
                if self._least == inf:
                    self.settle()
                    return _ENDLESS
                now = self._clock()
            self._pace = pace
        self._last = now
        self._further = min(max(self._taken, 1), _ONWARDS)
        return self._further

    def echo(self, text: str) -> None:
        """Print a text once it is certain that the run will not start again."""
        if self._is_settled:
            self._print(text)
            return
        self._held.append(text)
        if self._clock() - self._begin > _GAIN * self._worth:
            self.settle()

    def settle(self) -> None:
        """Decide to interpret to the end."""
        self._is_settled = True
        for text in self._held:
            self._print(text)
        self._held.clear()

    def _ahead(self, now: float, pace: float) -> float:
        """The seconds that code may save. As long as a run has taken it may take again."""
        spent, left = now - self._begin, self._known - self._taken
        if left > 0:
            is_known = spent > _SAMPLE and self._taken >= _STEPS
            return left * pace / _GAIN if is_known else 0.0
        return spent
