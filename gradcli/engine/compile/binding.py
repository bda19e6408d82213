"""The inputs of a program that is specialized, and the points at which it is differentiated."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gradcli import ir
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.trace import Trace
from gradcli.engine.compile.typed import TYPES, NotCompilable, Value
from gradcli.engine.compile.values import Cell, is_known, is_number, number_type
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.inputs import Given, Inputs
from gradcli.engine.run.session import Session
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, leaf, node_of
from gradcli.engine.values.data import NUMBERS
from gradcli.errors import GradError
from gradcli.record import Record


class Entry(Record):
    """An input of a typed program: the name that a number is given under."""

    __slots__ = ("name", "value")
    name: str
    value: Value


class Binding:
    """The inputs of one program, bound as a run binds them.

    Fields:
        entries: those that are given, in the order of the program.
        points: the values at which names are differentiated.
    """

    def __init__(
        self,
        program: ir.Program,
        trace: Trace,
        given: Collection[str],
        watched: Collection[str],
        asked: Collection[str],
    ) -> None:
        self._trace = trace
        self._given = given
        self._watched = watched
        self._asked = asked
        samples = {name: Given(1.0, name) for name in given}
        self._inputs = Inputs(samples, program.source, Session(recording=True))
        self.entries: list[Entry] = []
        self.points: dict[str, Value] = {}

    def is_given(self, name: str) -> bool:
        """Whether a value for an input comes from outside."""
        return name in self._given

    def bound(self, i: ir.Input, default: Any) -> Any:
        """The value of an input."""
        if not self.is_given(i.name):
            return self.point(i.name, self._of_default(i, default))
        try:
            sample = self._inputs.bind(i, _sample(default))
        except GradError:
            raise NotCompilable(f"the input `{i.name}` is no single number", i.span) from None
        value = self._trace.value(self._type(i, sample))
        self.entries.append(Entry(i.name, value))
        self._trace.connections.plain(value)
        number = Symbol(value, self._trace)
        if not isinstance(sample, Tensor):
            return self.point(i.name, number)
        node = node_of(sample)
        made = self._trace.cell(number, visible=node is not None)
        made.leaf = type(node) is AccumulateGrad
        return self.point(i.name, made)

    def _type(self, i: ir.Input, sample: Any) -> str:
        data = sample.data if isinstance(sample, Tensor) else sample
        if type(data) not in NUMBERS:
            raise NotCompilable(f"the input `{i.name}` is no single number", i.span)
        return TYPES[type(data)]

    def _of_default(self, i: ir.Input, default: Any) -> Any:
        if not is_known(default):
            if i.type is None and i.kind != "param" and isinstance(default, (Cell, Symbol)):
                return default
            raise self._trace.refused(f"the default of `{i.name}` hangs on other inputs")
        bound = self._inputs.bind(i, default)
        if not isinstance(bound, Tensor):
            return bound
        if bound.shape:
            if node_of(bound) is not None:  # what is known is not recorded
                raise self._trace.refused(f"`{i.name}`, a tensor with dimensions, requires grad")
            return bound
        made = self._trace.cell(bound.data, visible=node_of(bound) is not None)
        made.leaf = made.visible is True
        return made

    def watched(self, name: str, held: Any) -> Any:
        """The value of a name that is no input."""
        if name in self._asked or (isinstance(held, Cell) and held.leaf):
            return self.point(name, held)
        return held

    def point(self, name: str, held: Any) -> Any:
        """A value as one that is differentiated, if it is watched and can be."""
        if name not in self._watched:
            return held
        cell = held if isinstance(held, Cell) else None
        number = held if cell is None else cell.number
        if isinstance(held, (list, tuple)) or (isinstance(held, Tensor) and held.shape):
            raise self._trace.refused(f"`{name}`, which is differentiated, is no number")
        if is_number(number) and number_type(number) == "int" and name in self._asked:
            number = ops.mul(number, 1.0)
        if not is_number(number) or number_type(number) != "float":
            return held
        if self._trace.depth > 1:
            raise self._trace.refused(f"`{name}` is differentiated inside a branch or loop")
        is_input = (
            self.entries
            and operand(number) is self.entries[-1].value
            and self.entries[-1].name == name
        )
        at = number if is_input else self._trace.point(number)
        self.points[name] = at.value
        self._trace.connections.point(at.value)
        if cell is None:
            return at
        cell.number = at
        return cell


def _sample(default: Any) -> Any:
    """A value of the kind of a default, which tells the kind of what is given instead."""
    if isinstance(default, Symbol):
        return _OF_TYPE[number_type(default)]
    if isinstance(default, Cell):
        number = _OF_TYPE[number_type(default.number)]
        return leaf(1.0) if default.leaf else Tensor(number)
    return default


_OF_TYPE = {"float": 1.0, "int": 1, "bool": True}
