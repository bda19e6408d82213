"""A question to a program, for any values of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gradcli.formats.writers.forms import ValueParts
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.program import Given, Many, Options, Program


class Query(Record):
    """A question of a program: the name of its method, and what is asked beside the inputs."""

    __slots__ = ("program", "name", "asked")
    program: Program
    name: str
    asked: dict[str, Any]

    def __call__(self, given: Mapping[str, Given], options: Options) -> Any:
        """The answer for values of the inputs."""
        return getattr(self.program, self.name)(given, options=options, **self.asked)

    def many(self, given: Mapping[str, Any], options: Options) -> Many | None:
        """Code that answers for many values of these types; None if there is none yet."""
        return self.program.many(self.name, given, options=options, **self.asked)


class Question(Record):
    """A question that is asked of every row.

    Fields:
        query: The question.
        options: How to run; a row's random numbers are those of its own stream.
        program: The program.
        inputs: Values that are the same for all rows.
        parts: Gives the parts of an answer that are written.
    """

    __slots__ = ("query", "options", "program", "inputs", "parts")
    query: Query
    options: Options
    program: Program
    inputs: Mapping[str, Given]
    parts: Callable[[Any], ValueParts]
