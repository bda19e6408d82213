"""A question to a program, for any input values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gradcli.formats.writers.forms import ValueParts, parts_of
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.program import Given, Many, Options, Program
    from gradcli.results import Look


class Query(Record):
    """A question: a method of the program, with its arguments except the inputs."""

    __slots__ = ("program", "name", "asked")
    program: Program
    name: str
    asked: dict[str, Any]

    def __call__(self, given: Mapping[str, Given], options: Options) -> Any:
        """The answer at some input values."""
        return getattr(self.program, self.name)(given, options=options, **self.asked)

    def many(self, given: Mapping[str, Any], options: Options) -> Many | None:
        """Compiled code that answers for many values of these types; None if there is none yet."""
        return self.program.many(self.name, given, options=options, **self.asked)


class Warm(Query):
    """A question whose search begins at the last answer that it has found."""

    def __call__(self, given: Mapping[str, Given], options: Options) -> Any:
        """The answer at some input values."""
        found = super().__call__(given, options)
        if found.converged:
            self.asked["start"] = found.values
        return found


class Shown(Record):
    """Makes the parts of an answer that are written.

    Fields:
        look: How they look.
        finished: Turns an answer into the result that is shown.
    """

    __slots__ = ("look", "finished")
    look: Look
    finished: Callable[[Any], Any]

    def __call__(self, answer: Any) -> ValueParts:
        """The parts of an answer."""
        shown = self.finished(answer)
        written: ValueParts = parts_of(shown.view, shown, self.look)
        return written


class Question(Record):
    """A question for every row.

    Fields:
        query: The question.
        options: Options of the runs; each row has its own stream of random numbers.
        program: The program.
        inputs: Values that are the same for all rows.
        parts: Returns the parts of an answer to write.
    """

    __slots__ = ("query", "options", "program", "inputs", "parts")
    query: Query
    options: Options
    program: Program
    inputs: Mapping[str, Given]
    parts: Callable[[Any], ValueParts]
