"""A run that is interpreted until it is known to take longer than making code of it."""

from __future__ import annotations

from collections.abc import Callable
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
        make: Compiles, and returns true if that succeeds.
        echo: Prints a text.
        clock: The time in seconds.

    Fields:
        is_over: true if there is code, with which the run starts again.
    """

    def __init__(
        self,
        steps: int,
        worth: float,
        make: Callable[[], bool],
        echo: Callable[[str], None],
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._known = steps
        self._worth = worth
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
            if self._is_long(now, min(pace, self._pace)):
                self.is_over = self._make()
                if self.is_over:
                    raise limit_error("step-limit", "the run goes on as code", "steps")
                self.settle()
                return _ENDLESS
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

    def _is_long(self, now: float, pace: float) -> bool:
        """True if code is worth its while."""
        spent, left = now - self._begin, self._known - self._taken
        if left > 0:
            is_known = spent > _SAMPLE and self._taken >= _STEPS
            return is_known and left * pace > _GAIN * self._worth
        return spent > self._worth
