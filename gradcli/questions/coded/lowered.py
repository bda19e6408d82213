"""Base of the questions as typed programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradcli.engine.compile.budget import Budget
from gradcli.engine.compile.specialize.binding import Draw
from gradcli.engine.compile.specialize.program import Specialized, Tensors
from gradcli.engine.compile.step_bounds import Effort
from gradcli.engine.compile.typed import Program
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.record import Record


class Plan(Record):
    """How a program is specialized; the fields are arguments of `specialize`."""

    __slots__ = ("tensors", "most_inlined", "budget")
    tensors: Tensors
    most_inlined: int
    budget: Budget | None


class Lowered:
    """A question as a typed program.

    Fields:
        program: the typed program that answers it.
        inputs: name, type and shape of its inputs; `constants` and those of `more` follow, in
            their order.
        tests: positions of bools that say what a result holds, which is the same whenever they are
            true.
        constants: values of the points that are constants of the program.
        effort: an estimate of the work of a run.
        draws: functions that draw the random numbers among the inputs, by name, in order.

    Raises:
        NotCompilable: If the program, or this question about it, cannot be made into code.
    """

    program: Program
    inputs: Sequence[tuple[str, str, tuple[int, ...]]]
    constants: Sequence[float] = ()
    tests: Sequence[int] = ()
    effort: Effort
    draws: Sequence[tuple[str, Draw]] = ()

    def __init__(self, loaded: Loaded, request: Request, plan: Plan) -> None:
        raise NotImplementedError

    def seeds(self, request: Request) -> Sequence[float | None]:
        """The inputs after those of the program, None if each request has its own."""
        return []

    def more(self, request: Request) -> list[Any]:
        """The inputs that belong to the request: weights and directions."""
        return []

    def directions(self, request: Request) -> Iterable[list[Any]]:
        """The inputs that belong to the request, for each call that the answer takes."""
        return [self.more(request)]

    def further(self, request: Request) -> dict[str, Any]:
        """Values of inputs that are none of the program."""
        return {}

    def answer(
        self,
        request: Request,
        calls: Iterable[Sequence[Any]],
        printed: Callable[[], tuple[str, ...]],
    ) -> Any:
        """The answer from the numbers of all calls. `printed` gives the lines printed so far."""
        (numbers,) = calls
        return self.result(numbers, printed())

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> Any:
        """The answer from its numbers."""
        raise NotImplementedError


def inputs_of(made: Specialized) -> list[tuple[str, str, tuple[int, ...]]]:
    """Name, type and shape of a program's inputs."""
    entries = [entry for entry in made.inputs if entry.at == 0]
    return [(entry.name, entry.value.type, entry.shape) for entry in entries]
