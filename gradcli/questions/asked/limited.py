"""Questions within their limits."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Concatenate, ParamSpec, TypeVar

from gradcli.cpython import Uncollected
from gradcli.engine.run.session.watchdog import WATCHDOG, Guard
from gradcli.engine.values.limits import QUESTION, Meter, Reached
from gradcli.errors import Diagnostic, GradError, LimitError, RunError
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Options, Request

Answer = TypeVar("Answer")
More = ParamSpec("More")


class Limited:
    """Asks questions of one program, each within the limits of its options."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    def ask(
        self,
        question: Callable[Concatenate[Loaded, Request, More], Answer],
        request: Request,
        *more: More.args,
        **named: More.kwargs,
    ) -> Answer:
        """The answer to a question.

        Raises:
            LimitError: If it reaches a limit.
        """
        return self.within(request.options, lambda: question(self._loaded, request, *more, **named))

    def within(self, options: Options, work: Callable[[], Answer]) -> Answer:
        """The result of some work. One set of limits holds for all questions that it asks.

        Raises:
            LimitError: If it reaches a limit.
            RunError: If values are nested too deeply to be looked through.
        """
        outer = QUESTION.meter
        if outer is not None and outer.limits is options.limits:
            return work()
        meter = Meter(options.limits)
        guard = Guard(meter, self._giving_up(options))
        QUESTION.meter = meter
        try:
            try:
                WATCHDOG.watch(guard)
                with Uncollected():  # until the graph is gone: looking through it takes long
                    return work()
            finally:
                WATCHDOG.leave(guard)
        except LimitError as error:
            raise _told(error, options) from None
        except RecursionError:  # of a walk over values, which may hold themselves
            message = "a list is nested too deeply to be a value of the program"
            raise RunError(Diagnostic("nested-too-deep", message)) from None
        except Reached:  # outside of runs and passes, which tell the place
            meter.seen = True
            WATCHDOG.leave(guard)  # it may have been on its way
            assert meter.reached is not None, "stopped without a reason"
            raise LimitError(meter.reached) from None
        finally:
            QUESTION.meter = outer

    def _giving_up(self, options: Options) -> Callable[[LimitError, FrameType], None] | None:
        """The callback for a limit that is reached in a call which cannot be stopped, if any."""
        give_up = options.stuck
        if give_up is None:
            return None
        stuck = self._loaded.executable.stuck
        return lambda error, frame: give_up(_told(stuck(error, frame), options))


def _told(error: GradError, options: Options) -> GradError:
    """The error, with the last values of variables if the options are verbose."""
    if options.verbose and isinstance(error, LimitError):
        first = error.diagnostics[0]
        first.notes = (*first.notes, *error.last)
    return error
