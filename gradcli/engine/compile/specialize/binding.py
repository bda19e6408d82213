"""Inputs of a program during specialization, and the points of differentiation."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, TypeAlias

from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    LEAF,
    Cell,
    Vector,
    is_known,
    is_number,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import DTYPES, TYPES, NotCompilable, Value, is_array, is_floating
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.execution.inputs import Given, Inputs
from gradcli.engine.run.session.state import RandomNumbers, Session
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, leaf, node_of
from gradcli.engine.values.data import NUMBERS, np
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.record import Record

Draw: TypeAlias = Callable[[RandomNumbers], Any]
"""Draws random numbers, of those of a run."""


class Entry(Record):
    """An input of a typed program: a number, or one value of a tensor.

    Fields:
        name: the name of the program's input.
        at: the place of this value among those of the tensor.
    """

    __slots__ = ("name", "value", "shape", "at")
    _defaults: ClassVar[dict[str, Any]] = {"shape": (), "at": 0}
    name: str
    value: Value
    shape: tuple[int, ...]
    at: int


class Array(Record):
    """A tensor to differentiate by: its shape, and its elements in order or the tensor as one
    value.
    """

    __slots__ = ("shape", "values")
    shape: tuple[int, ...]
    values: tuple[Value, ...]


class Binding:
    """The inputs of one program, bound as a run binds them.

    Fields:
        entries: the given inputs, in the order of the program.
        points: the numbers to differentiate by, by name.
        arrays: the tensors to differentiate by, by name.
        leaves: the names that hold a leaf that requires grad.
        draws: the functions that draw the random numbers among the entries, by name.
    """

    def __init__(
        self,
        program: ir.Program,
        trace: Trace,
        given: Mapping[str, tuple[int, ...] | int],
        watched: Collection[str],
        asked: Collection[str],
    ) -> None:
        self._trace = trace
        self._given = given
        self._watched = watched
        self._asked = asked
        samples = {n: Given(_like(shape), n) for n, shape in given.items()}
        self._inputs = Inputs(samples, program.source, Session(recording=True))
        self.entries: list[Entry] = []
        self.points: dict[str, Value] = {}
        self.arrays: dict[str, Array] = {}
        self.leaves: set[str] = set()
        self.draws: list[tuple[str, Draw]] = []
        self._random = RandomNumbers()

    def is_given(self, name: str) -> bool:
        """True if an input has a given value."""
        return name in self._given

    def bound(self, i: ir.Input, default: Any) -> Any:
        """Return the value of an input."""
        made = self._bound(i, default)
        if isinstance(made, Cell) and made.leaf:
            self.leaves.add(i.name)
        return self.point(i.name, made)

    def _bound(self, i: ir.Input, default: Any) -> Any:
        if not self.is_given(i.name):
            return self._of_default(i, default)
        try:
            sample = self._inputs.bind(i, _sample(default))
        except GradError:
            raise NotCompilable(f"the input `{i.name}` is of another kind", i.span) from None
        if isinstance(self._given[i.name], int):
            return sample  # whose value is known
        if isinstance(sample, Tensor) and sample.shape:
            return self._tensor(i, sample)
        number = self._entry(i.name, self._type(i, sample))
        if not isinstance(sample, Tensor):
            return number
        node = node_of(sample)
        made = self._trace.cell(number, visible=node is not None)
        made.leaf = type(node) is AccumulateGrad
        return self._led(made)

    def drawn(self, draw: Draw) -> Any:
        """Return a tensor of random numbers, which a run draws before the code; or None."""
        name = f"{len(self.draws)} drawn"  # a name that no program can have
        self.draws.append((name, draw))
        sample = draw(self._random)
        if not isinstance(sample, Tensor):
            return sample
        if sample.dtype not in DTYPES.values() or not math.prod(sample.shape):
            raise self._trace.refused(f"random numbers of {sample.dtype}, or none")
        if sample.shape and not sample.data.flags.c_contiguous:
            raise self._trace.refused("random numbers with another layout")
        if sample.shape:
            types = self._trace.tensors.types(sample.dtype, sample.shape)
            values = [self._entry(name, t, sample.shape, at) for at, t in enumerate(types)]
            is_leaf = node_of(sample) is not None
            return self._led(self._trace.tensors.given(values, sample.shape, is_leaf))
        made = self._trace.cell(self._entry(name, TYPES[type(sample.data)]))
        made.leaf = made.visible = node_of(sample) is not None
        return self._led(made)

    def size(self, name: str) -> int:
        """Return a size that a value has bound."""
        return self._inputs.size(name)

    def _entry(self, name: str, type_: str, shape: tuple[int, ...] = (), at: int = 0) -> Symbol:
        """Return a given number."""
        value = self._trace.value(type_)
        self.entries.append(Entry(name, value, shape, at))
        self._trace.connections.plain(value)
        return Symbol(value, self._trace)

    def _tensor(self, i: ir.Input, sample: Tensor) -> Any:
        """Return a given tensor with dimensions."""
        if sample.dtype not in DTYPES.values():
            raise NotCompilable(f"the input `{i.name}` is a tensor of {sample.dtype}", i.span)
        types = self._trace.tensors.types(sample.dtype, sample.shape)
        values = [self._entry(i.name, t, sample.shape, at) for at, t in enumerate(types)]
        is_leaf = node_of(sample) is not None
        found = self._trace.tensors.given(values, sample.shape, is_leaf)
        found.node = LEAF
        return self._led(found)

    def _led(self, made: Any) -> Any:
        """Return a tensor, as a leaf of the program's graph if it is one."""
        graph = self._trace.graph
        if graph is None or not isinstance(made, Cell) or not made.leaf:
            return made
        return graph.leaf(made)

    def _type(self, i: ir.Input, sample: Any) -> str:
        data = sample.data if isinstance(sample, Tensor) else sample
        if type(data) not in NUMBERS:
            raise NotCompilable(f"the input `{i.name}` is not a single number", i.span)
        return TYPES[type(data)]

    def _of_default(self, i: ir.Input, default: Any) -> Any:
        if not is_known(default):
            if i.type is None and i.kind != "param" and isinstance(default, (Cell, Vector, Symbol)):
                return default
            raise self._trace.refused(f"the default of `{i.name}` depends on other inputs")
        bound = self._inputs.bind(i, default)
        if not isinstance(bound, Tensor):
            return bound
        if bound.shape:
            is_visible = node_of(bound) is not None
            if not is_visible and i.name not in self._watched:
                return bound
            found = self._trace.tensors.of_known(bound, visible=is_visible)
            found.node = LEAF
            if isinstance(found, Cell):
                found.leaf, found.frozen = is_visible, False
            return self._led(found)
        made = self._trace.cell(bound.data, visible=node_of(bound) is not None)
        made.leaf = made.visible is True
        return self._led(made)

    def watched(self, name: str, held: Any) -> Any:
        """Return the value of a name that is no input."""
        is_leaf = isinstance(held, (Cell, Vector)) and name in self._watched and held.is_leaf
        if is_leaf:
            self.leaves.add(name)
        return self.point(name, held) if is_leaf or name in self._asked else held

    def point(self, name: str, held: Any) -> Any:
        """Return a value as a point to differentiate by, if it is watched and of floats."""
        if name not in self._watched:
            return held
        if isinstance(held, Vector):
            return self._array(name, held)
        cell = held if isinstance(held, Cell) else None
        number = held if cell is None else cell.number
        if isinstance(held, (list, tuple)) or (isinstance(held, Tensor) and held.shape):
            raise self._trace.refused(f"`{name}`, which is differentiated, is not a number")
        if is_number(number) and number_type(number) == "int" and name in self._asked:
            number = ops.mul(number, 1.0)
        if not is_number(number) or not is_floating(number_type(number)):
            return held
        if self._trace.depth > 1:
            raise self._trace.refused(f"`{name}` is differentiated inside a branch or loop")
        is_input = (
            self.entries
            and operand(number) is self.entries[-1].value
            and self.entries[-1].name == name
        )
        is_point = cell is not None and cell.leaf is True and self._trace.graph is not None
        at = number if is_input or is_point else self._trace.point(number)
        if is_array(at.type):
            self.arrays[name] = Array(at.shape, (at.value,))
        else:
            self.points[name] = at.value
        self._trace.connections.point(at.value)
        if cell is None:
            return at
        cell.number = at
        return cell

    def _array(self, name: str, held: Vector) -> Vector:
        """Return a tensor as points to differentiate by, if it is of floats."""
        if held.type != "float":
            return held
        if self._trace.depth > 1:
            raise self._trace.refused(f"`{name}` is differentiated inside a branch or loop")
        last = self.entries[-len(held.numbers) :]
        given = [entry.value for entry in last if entry.name == name]
        at = held.numbers
        if [operand(x) for x in at] != given:
            at = tuple(map(self._trace.point, at))
        for x in at:
            self._trace.connections.point(x.value)
        self.arrays[name] = Array(held.shape, tuple(x.value for x in at))
        found = Vector(at, held.shape, held.visible, self._trace, held.dense)
        found.node = held.node
        return found


def _like(given: tuple[int, ...] | int) -> Any:
    """Return a value of a shape, or the one that is known."""
    if isinstance(given, int):
        return given
    return np.ones(given) if given else 1.0


def _sample(default: Any) -> Any:
    """Return a value of the same kind as a default."""
    if isinstance(default, Symbol):
        return _OF_TYPE[number_type(default)]
    if isinstance(default, Cell):
        number = _OF_TYPE[number_type(default.number)]
        return leaf(1.0) if default.leaf else Tensor(number)
    return default


_OF_TYPE = {"float": 1.0, "int": 1, "bool": True}
