"""A run of a program: how it is made, what it watches, what it gave and what of that is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from gradcli.engine.autodiff import derivatives
from gradcli.engine.run.inputs import Given
from gradcli.engine.run.session import Session
from gradcli.errors import GradError, InputError, RunError
from gradcli.record import Record
from gradcli.source import Source, Span


class Options:
    """How to run.

    `seed` makes random numbers repeatable, `echo` gets each text as it is printed, line ends
    included, `check_nan` turns the warning about nan and infinity into an error, `graph` asks for
    the recorded graph, `progress` is told how much of long work is done, and of how much.
    """

    __slots__ = ("check_nan", "echo", "graph", "progress", "seed")

    def __init__(
        self,
        seed: int | None = None,
        echo: Callable[[str], None] = lambda text: None,
        check_nan: bool = False,
        graph: bool = False,
        progress: Callable[[int, int | None], None] = lambda done, total: None,
    ) -> None:
        self.seed = seed
        self.echo = echo
        self.check_nan = check_nan
        self.graph = graph
        self.progress = progress


class Watch:
    """What a run watches: the names, whether the user `asked` for them (then in their order), and
    whether it keeps values.
    """

    def __init__(
        self, watched: Iterable[str], *, asked: list[str] | None = None, keep: bool = False
    ) -> None:
        self.watched = frozenset(watched)
        self.asked = asked
        self.keep = keep

    def keeping(self) -> Watch:
        """The same, keeping values, for a run that is to be explained."""
        return Watch(self.watched, asked=self.asked, keep=True)


class Done(Record):
    """A finished run."""

    __slots__ = ("session", "values", "result", "printed")
    session: Session
    values: dict[str, Any]
    result: Any
    printed: list[str]

    @property
    def lines(self) -> tuple[str, ...]:
        """What the program printed, line by line."""
        text = "".join(self.printed).removesuffix("\n")
        return tuple(text.split("\n")) if self.printed else ()


class Asked(Record):
    """A finished run and what is differentiated in it: a result and the names."""

    __slots__ = ("done", "given", "options", "watch", "of", "name", "output", "names", "place")
    done: Done
    given: Mapping[str, Given]
    options: Options
    watch: Watch
    of: str | None
    name: str
    output: Any
    names: list[str]
    place: tuple[Source | None, Span | None]

    @property
    def session(self) -> Session:
        return self.done.session

    @property
    def unused(self) -> list[str]:
        """The names that the result does not depend on."""
        from gradcli.engine.autodiff import directions

        return directions.unused(self.session, self.output, self.names)

    def cotangent(self, given: Any) -> Any:
        """Plain data of the weights of the result's elements."""
        try:
            return weights(self.session, self.output, given)
        except RunError as error:
            error.diagnostics[0].source, error.diagnostics[0].span = self.place
            raise

    def direction(self, tangents: Mapping[str, Any]) -> dict[str, Any]:
        """Plain data of the direction by name."""
        points = self.session.points
        return {
            name: _from_outside(
                self.session, given, partial(derivatives.direction, points[name], name=name)
            )
            for name, given in tangents.items()
        }


def given_values(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Given]:
    """Values by name from a mapping and from keywords, which win."""
    values = {**(inputs or {}), **named}
    return {
        name: value if isinstance(value, Given) else Given(value, f"{name}={value!r}")
        for name, value in values.items()
    }


def weights(session: Session, output: Any, cotangent: Any) -> Any:
    """Plain data of the weights of an output's elements: those given, or 1 for a single one.

    Raises:
        RunError: If none are given and the output has more elements.
        InputError: If those given do not fit; it says how they were given.
    """
    return _from_outside(session, cotangent, partial(derivatives.starting_cotangent, output))


def _from_outside(session: Session, given: Any, fit: Callable[[Any], Any]) -> Any:
    """What a value from outside is fitted to; what is wrong with it says how it was given."""
    if not isinstance(given, Given):
        return fit(session.tensor(given.tolist() if hasattr(given, "tolist") else given))
    try:
        return _from_outside(session, given.value, fit)
    except GradError as error:
        for diagnostic in error.diagnostics:
            diagnostic.notes = (*diagnostic.notes, f"given as {given.origin}")
        raise InputError(*error.diagnostics) from None
