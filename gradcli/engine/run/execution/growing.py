"""Run a program that grows: one cell after the other, with the names of those before."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from types import FunctionType
from typing import Any, NamedTuple

from gradcli.cpython import Room, Uncollected
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.counting import Counting, Stepping
from gradcli.engine.run.code.translate import translate_cell
from gradcli.engine.run.execution.execute import PROVIDED, Executable, bound_at
from gradcli.engine.run.execution.inputs import Given, Inputs
from gradcli.engine.run.execution.shown import shown_text
from gradcli.engine.run.session.array_text import ArrayPrinting, array_printing
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet
from gradcli.engine.values.limits import QUESTION, Reached
from gradcli.ir import program as ir


class Mark(NamedTuple):
    """A run at one time: its names, the number of changes in place of each tensor among them, and
    the random numbers to come.
    """

    program: ir.Program | None
    variables: dict[str, Any]
    changes: dict[str, tuple[Tensor, int]]
    random: dict[str, Any]
    settings: tuple[Any, str, ArrayPrinting]


class Growing:
    """The run of a program that grows. Its names live as long as it does.

    Fields:
        session: The state of the run.
        program: The program so far; None before the first cell.
    """

    def __init__(self, session: Session, given: Mapping[str, Given]) -> None:
        self.session = session
        self.program: ir.Program | None = None
        self._given = given
        self._inputs: Inputs | None = None
        self._variables: dict[str, Any] = {**PROVIDED, "__builtins__": {}}
        self._count = 0
        self._settings: tuple[Any, str, ArrayPrinting] = (None, "float64", array_printing())

    def run(self, program: ir.Program) -> tuple[Any, str]:
        """Run the last cell of a program, which begins with the cells that have run.

        Returns:
            The value of the cell's last expression, None if it has none, and the text with which a
            notebook shows it.

        Raises:
            GradError: Of the kind of the failure, at its place in the program.
        """
        start = 0 if self.program is None else len(self.program.main.body)
        self.program = program
        executable = Executable(program)
        try:
            with Uncollected(), Quiet(), Room(self.session.counters.limits.depth + 100):
                QUESTION.printing, QUESTION.default_dtype, options = self._settings
                QUESTION.array_printing = options.of(program.library)
                value = self._value(program, start)
                return value, "" if value is None else shown_text(value)
        except Reached as stop:
            raise executable.stopped(stop) from None
        except Exception as error:
            raise executable.placed(error) from None
        finally:
            self._settings = QUESTION.printing, QUESTION.default_dtype, array_printing()
            QUESTION.printing, QUESTION.default_dtype = None, "float64"
            QUESTION.array_printing = None

    def _value(self, program: ir.Program, start: int) -> Any:
        session = self.session
        counting = Stepping if session.counters.exact else Counting
        code, self._count = translate_cell(program, start, counting, self._count)
        for name in code.constants:
            self._variables[f"@constant {name}"] = ops[name].constant
        for place in code.places:
            self._variables[place.name] = bound_at(place)
        if self._inputs is None:
            self._inputs = Inputs(self._given, program.source, session)
        self._inputs.source = program.source
        part = FunctionType(code.parts[0], self._variables)
        _, value = part(session, self._inputs, session.counters)
        return value

    def mark(self) -> Mark:
        """The run as it is now, to come back to it if a cell fails."""
        tensors = {n: v for n, v in self.values.items() if isinstance(v, Tensor)}
        changes = {name: (x, _changes(x)) for name, x in tensors.items()}
        random = deepcopy(vars(self.session.random))
        return Mark(self.program, dict(self._variables), changes, random, self._settings)

    def restore(self, mark: Mark) -> list[str]:
        """Give all names the values that they had, and random numbers their state.

        Returns:
            The names of tensors that were changed in place since, which stay changed.
        """
        self.program, self._settings = mark.program, mark.settings
        self._variables.clear()  # functions of earlier cells read their globals here
        self._variables.update(mark.variables)
        vars(self.session.random).update(mark.random)
        return [name for name, (x, count) in mark.changes.items() if _changes(x) != count]

    @property
    def values(self) -> dict[str, Any]:
        """The top-level names that have a value, with it."""
        if self.program is None:
            return {}
        return {n: self._variables[n] for n in self.program.names if n in self._variables}


def _changes(x: Tensor) -> int:
    """How often a tensor's memory has been changed in place."""
    return 0 if x.version is None else x.version.count
