"""Specialize an ops program to a typed program, by partial evaluation: known values are computed,
unknown ones become instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias

from gradcli.cpython import NESTED, Room
from gradcli.engine.compile.budget import Budget
from gradcli.engine.compile.specialize.binding import Array, Binding, Draw, Entry
from gradcli.engine.compile.specialize.statements import Statements
from gradcli.engine.compile.specialize.tracing.branches import chosen
from gradcli.engine.compile.specialize.tracing.dynamic_text import Texts, parts_of
from gradcli.engine.compile.specialize.tracing.liveness import Liveness
from gradcli.engine.compile.specialize.tracing.scalarized import Vectors
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    Cell,
    Closure,
    Conflict,
    Either,
    Frame,
    Own,
    Text,
    Transform,
    Vector,
    is_known,
    is_number,
    number_type,
    origin,
    parts,
)
from gradcli.engine.compile.step_bounds import Effort, nested
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import (
    Block,
    GoesBack,
    NotCompilable,
    Operand,
    Program,
    Value,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session.array_text import printed_as
from gradcli.engine.values.fields import Fields
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.ir.inlined import UNROLLED
from gradcli.record import Record

Tensors: TypeAlias = Callable[[Trace], Any]
"""Represents tensors that have dimensions: `Vectors` or `Arrays`."""


class Leaf(Record):
    """A number among the results of a program.

    Fields:
        type: its type.
        tensor: True if it is a 0-d tensor.
        nodes: of a tensor, as of `Elements`.
    """

    __slots__ = ("type", "tensor", "nodes")
    _defaults: ClassVar[dict[str, Any]] = {"nodes": ("",)}
    type: str
    tensor: bool
    nodes: Sequence[str] | None


class Known(Record):
    """A result that is the same in every run."""

    __slots__ = ("value",)
    value: Any


class Items(Record):
    """A result that is a list or tuple: its constructor and its items."""

    __slots__ = ("kind", "items")
    kind: Callable[[Iterable[Any]], Any]
    items: tuple[Any, ...]


class Ways(Record):
    """A result of one of two kinds, with a type flag before its numbers."""

    __slots__ = ("then", "orelse")
    then: Any
    orelse: Any


class Elements(Record):
    """A result that is a tensor with dimensions.

    Fields:
        type: that of its elements.
        shape: its shape.
        count: how many numbers it has.
        nodes: the names of the nodes that it may have, "" for none. If there are several, the place
            of the right one follows its numbers. None if they are unknown.
    """

    __slots__ = ("type", "shape", "count", "nodes")
    _defaults: ClassVar[dict[str, Any]] = {"nodes": ("",)}
    type: str
    shape: tuple[int, ...]
    count: int
    nodes: Sequence[str] | None


class Told(Record):
    """A result that is a text: the function that makes it, and how many numbers it is made of."""

    __slots__ = ("make", "count")
    make: Callable[..., str]
    count: int


class Trained(Record):
    """A result that is a tensor of the program's own graph: its value, whether it is a leaf that
    requires grad, and its `grad`.
    """

    __slots__ = ("value", "requires_grad", "grad")
    value: Leaf
    requires_grad: bool
    grad: Leaf | None


Tree: TypeAlias = "Leaf | Known | Items | Ways | Elements | Told | Trained"


class Specialized(Record):
    """A program specialized for the kinds of its inputs.

    Fields:
        program: the typed program; its results are the numbers in the wanted values, in order.
        inputs: for each of its inputs, the name of the program's input, and its value.
        outputs: the structure of each wanted value.
        points: the numbers to differentiate by, in the order of the program.
        arrays: the tensors to differentiate by.
        leaves: the names that hold a leaf that requires grad.
        effort: a bound on the effort of a run.
        draws: the functions that draw the random numbers among the inputs, by name, in order.
        variables: the variables of the program that hold values, by the values' numbers.
    """

    __slots__ = (
        *("program", "inputs", "outputs", "points", "arrays", "leaves", "effort", "draws"),
        "variables",
    )
    program: Program
    inputs: tuple[Entry, ...]
    outputs: tuple[Tree, ...]
    points: Mapping[str, Value]
    arrays: Mapping[str, Array]
    leaves: Collection[str]
    effort: Effort
    draws: Sequence[tuple[str, Draw]]
    variables: Mapping[int, str]


def specialize(
    program: ir.Program,
    given: Mapping[str, tuple[int, ...] | int],
    watched: Collection[str],
    wanted: Sequence[str | None],
    asked: Collection[str] = (),
    tensors: Tensors = Vectors,
    most_inlined: int = UNROLLED,
    budget: Budget | None = None,
) -> Specialized:
    """Specialize a program.

    Args:
        program: The program.
        given: The inputs with a given value, and its shape, or the value of an int input if it is
            known; others have their defaults.
        watched: The names to differentiate by, if they hold floats.
        wanted: The top-level names whose values are wanted; None for the program's result.
        asked: The watched names that the user has chosen; ints in them become floats.
        tensors: The treatment of tensors with dimensions: `Vectors` or `Arrays`.
        most_inlined: The most instructions of an unrolled loop, with its calls inlined.
        budget: The work that it may take; None for any.

    Raises:
        NotCompilable: If it cannot be a typed program.
    """
    budget = budget or Budget()
    trace = Trace(program.main.span, tensors, budget)
    trace.differentiates = bool(watched)
    try:
        return _specialized(program, trace, given, watched, wanted, asked, most_inlined)
    except GoesBack:
        pass
    from gradcli.engine.compile.specialize.tracing.graph import Graph

    trace = Trace(program.main.span, tensors, budget)
    trace.differentiates = bool(watched)
    trace.graph = Graph(trace)
    return _specialized(program, trace, given, watched, wanted, asked, most_inlined)


def _specialized(
    program: ir.Program,
    trace: Trace,
    given: Mapping[str, tuple[int, ...] | int],
    watched: Collection[str],
    wanted: Sequence[str | None],
    asked: Collection[str],
    most_inlined: int,
) -> Specialized:
    binding = Binding(program, trace, given, watched, asked)
    texts = Texts(trace, program.library)
    statements = Statements(program, trace, binding, texts, most_inlined)
    operands = [
        program.result if name is None else ir.Slot(program.names[name], program.main.span)
        for name in wanted
    ]
    read = frozenset(x.index for x in operands if isinstance(x, ir.Slot))
    frame = Frame(None, Liveness(program.main, read), trace.tick())
    numbers: list[Operand] = []
    try:
        with Room(NESTED), printed_as(program.library), trace.block() as body:
            statements.block(program.main.body, frame)
            results = [statements.read(x, frame) for x in operands]
            is_differentiated = binding.points or binding.arrays
            if is_differentiated:
                results = [_float(x, trace) for x in results]
            are_hidden = is_differentiated or (trace.transforms and trace.requires_grad)
            names = () if are_hidden else trace.names
            outputs = tuple(_tree(x, numbers, names) for x in results)
    except GradError as error:  # a run that gets there raises it, too
        raise NotCompilable(str(error), trace.span) from None
    except RecursionError:
        raise NotCompilable("it is nested too deeply", trace.span) from None
    if statements.warned:
        raise NotCompilable("a run would print a warning")
    found = Program(
        tuple(entry.value for entry in binding.entries),
        Block((*trace.constants, *body), tuple(numbers)),
        tuple(texts.made),
    )
    effort = Effort(trace.steps, trace.deepest, nested(body))
    entries = tuple(binding.entries)
    draws = tuple(binding.draws)
    points = binding.points, binding.arrays, binding.leaves
    return Specialized(found, entries, outputs, *points, effort, draws, trace.variables)


def _float(value: Any, trace: Trace) -> Any:
    """Return a differentiated result as a float; other results stay as they are."""
    if not isinstance(value, Either):
        return value
    numbers = [part.number if isinstance(part, Cell) else part for part in value.kinds().values()]
    floats = [is_number(x) and number_type(x) == "float" for x in numbers]
    if all(floats):
        return chosen(trace, value.test, *numbers)
    if not any(floats):
        return value
    test = ops.logical_not(value.test) if floats[0] else value.test
    trace.leave(test, "what is differentiated is no float")
    return numbers[floats.index(True)]


def _keyed(keys: Sequence[Any], values: Iterable[Any]) -> dict[Any, Any]:
    return dict(zip(keys, values, strict=True))


def _leaf(value: Any, numbers: list[Operand], names: Sequence[str]) -> Leaf:
    """Append the number of a number or tensor, and return its structure."""
    is_tensor = isinstance(value, Cell)
    number = operand(value.number if is_tensor else value)
    numbers.append(number)
    nodes = _nodes(value, numbers, names) if is_tensor or not names else ("",)
    return Leaf(type_of(number), is_tensor, nodes)


def _nodes(x: Any, numbers: list[Operand], names: Sequence[str]) -> Sequence[str] | None:
    """Return the names of the nodes that a tensor may have. If there are several, append the place
    of the right one.
    """
    at = origin(x) if names else None
    if not isinstance(at, Symbol):
        return None if at is None else (names[at],)
    numbers.append(operand(at))
    return tuple(names)


def _tree(value: Any, numbers: list[Operand], names: Sequence[str]) -> Tree:
    """Append the numbers of a value, and return its structure. `names` are those of all nodes; none
    if they are not wanted.
    """
    if isinstance(value, Cell) and (value.leaf or value.grad is not None):
        if isinstance(value.grad, Conflict) or value.visible is None:
            raise NotCompilable("whether a tensor has a gradient depends on the path")
        found = _leaf(value, numbers, ())
        grad = None if value.grad is None else _leaf(value.grad, numbers, ())
        return Trained(found, value.is_leaf, grad)
    if is_number(value) or (isinstance(value, Cell) and is_number(value.number)):
        return _leaf(value, numbers, names)
    if isinstance(value, Vector):
        numbers += map(operand, value.numbers)
        nodes = _nodes(value, numbers, names)
        return Elements(value.type, value.shape, len(value.numbers), nodes)
    if isinstance(value, Either):
        numbers.append(operand(value.test))
        return Ways(_tree(value.then, numbers, names), _tree(value.orelse, numbers, names))
    if isinstance(value, (list, tuple, dict)) and not is_known(value):
        made: Callable[[Iterable[Any]], Any] = type(value)
        if isinstance(value, dict):
            made = partial(_keyed, (*value,))
        if isinstance(value, Fields):
            made = partial(Fields, value.name, value.names)
        return Items(made, tuple(_tree(item, numbers, names) for item in parts(value)))
    if is_known(value) or isinstance(value, (Closure, Transform, Own)):
        return Known(value)
    if isinstance(value, Text) and names:
        made_of, make = parts_of(value, names)
        numbers += map(operand, made_of)
        return Told(make, len(made_of))
    raise NotCompilable("its result is not a number")
