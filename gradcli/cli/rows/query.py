"""What is asked of a program: one question, for any values of its inputs."""

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
        """What answers it for many sets of values such as these, if there is any by now."""
        return self.program.many(self.name, given, options=options, **self.asked)


class Question(Record):
    """What is asked of every row.

    Fields:
        query: Gives the answer for values of the inputs, run by some options, or many at once.
        options: How to run; a row's random numbers are those of its own stream.
        program: The program.
        inputs: Values that are the same for all rows.
        parts: What an answer is written from.
    """

    __slots__ = ("query", "options", "program", "inputs", "parts")
    query: Query
    options: Options
    program: Program
    inputs: Mapping[str, Given]
    parts: Callable[[Any], ValueParts]
