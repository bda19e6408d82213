"""A loaded program and the way to ask it a question: within limits, by code where that pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.ir import program as ir
from gradcli.questions.asked.limited import Limited
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import watchable
from gradcli.questions.asked.request import Options, Request
from gradcli.questions.jit import Jit
from gradcli.results import Shown
from gradcli.source import Source

Answer = TypeVar("Answer")
Result = TypeVar("Result", bound=Shown)


class Asking:
    """A loaded program: what it has, and how a question to it is asked."""

    def __init__(self, source: Source, program: ir.Program) -> None:
        self.source = source
        self.loaded = Loaded(source, program)
        self.limited = Limited(self.loaded)
        self.jit = Jit(self.loaded)

    def __reduce__(self) -> Any:
        return type(self), (self.source, self.loaded.program)

    def __repr__(self) -> str:
        inputs = ", ".join(self.inputs) or "no inputs"
        return f"<Program {self.source.name}: {inputs} -> {self.output or 'no result'}>"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that may be given from outside."""
        return tuple(i.name for i in self.loaded.program.inputs)

    @property
    def names(self) -> tuple[str, ...]:
        """Top-level names, in order of first assignment."""
        return tuple(self.loaded.program.names)

    @property
    def output(self) -> str | None:
        """The name of the result, `result` for one without a name; None if there is none."""
        program = self.loaded.program
        return None if program.result is None else program.output

    @property
    def watchable(self) -> tuple[str, ...]:
        """The names that a derivative can be taken by."""
        return tuple(watchable(self.loaded.program))

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs without a default."""
        return tuple(i.name for i in self.loaded.program.inputs if i.is_missing(()))

    @property
    def optional(self) -> tuple[str, ...]:
        """The inputs that are declared as such, with a default."""
        inputs = self.loaded.program.inputs
        return tuple(i.name for i in inputs if i.kind == "input" and i.default is not None)

    def check_given(self, given: Mapping[str, Given]) -> None:
        """Refuse values for names that are no inputs.

        Raises:
            InputError: Naming the inputs that there are.
        """
        check_names(given, self.loaded.program)

    def within(self, options: Options, work: Callable[[], Answer]) -> Answer:
        """The result of some work that asks the program. One set of limits holds for all of it.

        Raises:
            LimitError: If it reaches one.
        """
        return self.limited.within(options, work)

    def _ask(self, question: Callable[[Loaded, Request], Result], asked: Request) -> Result:
        """The answer within the limits, by code where that pays."""

        def answer(_: Loaded, asked: Request) -> Result:
            found: Result = self.jit.answer(question, asked)
            return found

        return self._shown(self.limited.ask(answer, asked), asked.inputs)

    def _shown(self, result: Result, given: Mapping[str, Given]) -> Result:
        """The result with the warnings about the program's text and the values from outside, which
        `print` and notebooks show from now on.
        """
        found = self.loaded.slips
        if any(type(value) is not Given or _may_slip(value.origin) for value in given.values()):
            from gradcli.questions.remarks.given import remarks

            found += tuple(remarks(given))
        if self.loaded.bounded:
            from gradcli.questions.remarks.outside import outside

            found += tuple(outside(self.loaded, given))
        result.drawn_by(_drawn)
        return result.warned(found) if found else result


def _may_slip(origin: object) -> bool:
    """True if a value from outside may mean something else than it looks like."""
    return type(origin) is str and ("," in origin or "+" in origin)


def _drawn(result: Shown, form: str) -> str:
    from gradcli.render.looks import USUAL, text

    if form != "json":
        return text(result, form)
    from gradcli.formats.texts.json_text import json_object
    from gradcli.formats.writers.forms import parts_of

    return json_object(parts_of(result.view, result, USUAL).json())


ROWS = ("run", "grad", "elasticity", "vjp", "jvp", "jacobian", "hessian", "hvp")
"""The questions whose answers are values by name."""


def question_of(name: str, diagonal: bool) -> Callable[[Loaded, Request], Any] | None:
    """The question that a method asks, if code can answer it."""
    from gradcli.questions.answers import elasticity, gradient, matrix, product, run, value

    return {
        "run": run.run,
        "value": value.value,
        "grad": gradient.gradient,
        "elasticity": elasticity.elasticity,
        "vjp": product.vjp,
        "jvp": product.jvp,
        "jacobian": matrix.jacobian,
        "hessian": matrix.hessian_diagonal if diagonal else matrix.hessian,
        "hvp": product.hvp,
    }.get(name)


def listed(names: str | Sequence[str] | None) -> list[str] | None:
    """Names as a list."""
    return [names] if isinstance(names, str) else None if names is None else [*names]
