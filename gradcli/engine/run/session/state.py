"""One run of a program: what is on while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.output import Output
from gradcli.engine.run.session.passes import Passes
from gradcli.engine.run.session.random_numbers import RandomNumbers
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.engine.tape.graph import Site
from gradcli.engine.values.limits import Counters
from gradcli.limits import DEFAULT


class Session(Evaluator):
    """The state of one run, by who asks. It is its own evaluator, so that code which does ops
    reaches `recording` and `do` at once; a function that needs one part gets that.

    Fields:
        watched: what the command differentiates.
        random: where its random numbers come from.
        output: what it prints, plots and warns of.
        passes: what the passes of the program need.
        counters: what it has left of steps and calls.
        own_calls: is told each call of an own function: the function, its arguments, its place.
        functions: built-ins that the program uses as values, by name.
    """

    def __init__(
        self,
        *,
        watched: WatchedNames | None = None,
        random: RandomNumbers | None = None,
        output: Output | None = None,
        counters: Counters | None = None,
        own_calls: Callable[[Any, Sequence[Any], Site | None], None] | None = None,
        **evaluation: bool,
    ) -> None:
        super().__init__(**evaluation)
        self.watched = watched or WatchedNames()
        self.random = random or RandomNumbers()
        self.output = output or Output()
        self.passes = Passes(repeated=bool(self.watched.names) or self.keep)
        self.counters = counters or Counters(DEFAULT)
        self.own_calls = own_calls
        self.functions: dict[str, Callable[..., Any]] = {}
