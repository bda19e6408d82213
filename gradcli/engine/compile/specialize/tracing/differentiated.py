"""Functions that a program differentiates: emit the function, then its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from math import prod
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.broadcast_numbers import REASON, is_read_again
from gradcli.engine.compile.differentiate.dependence import told
from gradcli.engine.compile.differentiate.pushforward import pushforward
from gradcli.engine.compile.differentiate.tangent import tangent, tangents
from gradcli.engine.compile.passes.activity import go_through_rules
from gradcli.engine.compile.passes.peel import peeled
from gradcli.engine.compile.passes.rotate import rotated
from gradcli.engine.compile.passes.simplify import ALL, tidy
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Cell, Vector, is_number, number_type
from gradcli.engine.compile.symbols import Symbol, is_whole, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Value,
    dtype_and_shape,
    is_floating,
    type_of,
)
from gradcli.engine.compile.walk import (
    Inliner,
    defined,
    has_arrays,
    instructions,
    read,
    values,
    with_blocks,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.derivatives.transforms import Tree, mapped, values_in
from gradcli.engine.tape.tensor import Tensor

Call = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


class Followed:
    """One call of a function whose differentiated arguments are points.

    Fields:
        arguments: the values at the points, with the structure of the arguments: numbers, tensors,
            lists and tuples of them.
        out: the result of the function: a number, a tensor or a tuple of such values.
    """

    def __init__(
        self,
        trace: Trace,
        call: Call,
        function: Any,
        given: Sequence[Any],
        argnums: Sequence[int],
        keywords: Mapping[str, Any],
    ) -> None:
        self._trace = trace
        self._is_recorded = trace.recording
        self._is_derived = self._is_pushed_again = False
        arguments = list(given)
        for i in argnums:
            arguments[i] = self._points(arguments[i])
        self.arguments = [arguments[i] for i in argnums]
        self._at: list[Value] = [point.value for point in numbers_in(self.arguments)]
        body, out = self._followed(call, function, arguments, keywords)
        results = tuple(map(operand, numbers_in(out)))
        program = self._program(body, results)
        program = peeled(tidy(rotated(program), ALL), self._at, results)
        copier = Inlined(trace, {}, ())
        self._block = trace.innermost
        self._body = copier.body(program.block.body)
        for instruction in self._body:
            trace.put(instruction)
        self.out: Tree = out
        self._named(copier.operands(program.block.results))

    # --- going through the function --------------------------------------------------------

    def _points(self, value: Any) -> Tree:
        """Return points in place of the numbers of a value, with its structure."""
        if isinstance(value, tuple):
            return tuple(map(self._points, value))
        if type(value) is not list:
            return self._point(value)
        if all(map(is_number, value)) and not any(map(self._is_node, value)):
            numbers = [x if number_type(x) == "float" else ops.mul(x, 1.0) for x in value]
            return self._point(self._trace.tensors.made(numbers, (len(numbers),), visible=False))
        return [*map(self._points, value)]

    def _is_node(self, number: Any) -> bool:
        return self._trace.connections.is_node(self._trace.links(operand(number)))

    def _point(self, value: Any) -> Any:
        if isinstance(value, Tensor) and value.shape:
            value = self._trace.tensors.of_known(value)
        if isinstance(value, Vector):
            if value.type != "float":
                raise self._trace.refused("a derivative by a tensor of ints")
            at = map(self._point_at, value.numbers)
            return Vector(tuple(at), value.shape, None, self._trace, dense=True)
        number = number_in(value)
        if not is_number(number):
            raise self._trace.refused("a derivative by a value that is not a number")
        if not is_floating(number_type(number)):
            number = number_in(ops.mul(value, 1.0))
        made = self._point_at(number)
        return self._trace.cell(made, visible=None) if isinstance(value, Cell) else made

    def _point_at(self, number: Any) -> Any:
        made = self._trace.point(number)
        self._trace.connections.point(made.value)
        return made

    def _followed(
        self, call: Call, function: Any, given: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[list[Instruction], Tree]:
        """Return the instructions of a function and its result."""
        trace = self._trace
        trace.recording = True
        reason = "a function that is differentiated changes what is outside"
        with trace.untouched(reason), trace.block() as body:
            out = self._result(call(function, given, keywords))
            self._look_around(out)
        trace.recording = self._is_recorded
        if any(isinstance(i, Do) and i.op == ops.among.name for i in instructions(body)):
            raise trace.refused("a function is differentiated that puts numbers together")
        return body, out

    def _result(self, value: Any) -> Tree:
        if isinstance(value, tuple):
            return tuple(map(self._result, value))
        if isinstance(value, Vector) and value.type == "float":
            return value
        if not is_number(number_in(value)):
            raise self._trace.refused("a function is differentiated that gives no number")
        if isinstance(value, Cell) and not is_floating(number_type(value.number)):
            raise self._trace.refused("a function is differentiated that gives a tensor of ints")
        return value

    def _look_around(self, out: Tree) -> None:
        """Find out whether the result depends on more than the points."""
        trace = self._trace
        trace.connections.close(self._at)
        links = [trace.links(operand(x)) for x in numbers_in(out)]
        self._may_be_connected = self._is_recorded and any(x.may for x in links)
        self._is_connected = self._is_recorded and any(map(trace.connections.is_node, links))

    def _program(self, body: Sequence[Instruction], results: Sequence[Operand]) -> Program:
        """Return a body as a program whose first inputs are the points."""
        block, own = Block(tuple(body), tuple(results)), {v.number for v in self._at}
        outside = [v for v in free(block) if v.number not in own]
        return Program((*self._at, *outside), block, ())

    def hold_last(self, reason: str) -> None:
        """Refuse if its derivatives may be differentiated again."""
        if self._is_recorded and self._may_be_connected:
            raise self._trace.refused(f"{reason} that may be differentiated again")

    def _named(self, results: tuple[Operand, ...]) -> None:
        """Give the results these names."""
        self._results = results
        numbers = map(self._trace.known, results)
        self.out = mapped(lambda value: self._like(numbers, value), self.out)

    # --- derivatives -------------------------------------------------------------------------

    def pulled(self, weights: Sequence[Any]) -> list[Tree]:
        """Return the cotangents of the points, with the structure of the arguments, from those of
        the results (None for zero).
        """
        trace = self._trace
        if trace.recording != self._is_recorded:
            raise trace.refused("a cotangent is pulled under another `no_grad`")
        places = tuple([k for k, g in enumerate(weights) if g is not None])
        seeds = [operand(number_in(weights[k])) for k in places]
        program = self._program(self._body, self._results)
        again = self._held_again(program, seeds)
        made = adjoint(program, self._at, (places,), again).program
        slopes = self._pulled(made, seeds)
        return self.by_argument([*map(trace.known, slopes)])

    def _pulled(self, made: Program, seeds: Sequence[Operand]) -> Sequence[Operand]:
        """Emit a reverse-mode derivative and return the cotangents. There may be several
        derivatives.
        """
        copier = self._copier(made, seeds)
        body = copier.body(made.block.body)
        own = tuple(takewhile(copier.is_kept, body))
        old = {i.stack for i in instructions(self._body) if isinstance(i, Push)}
        if _without_pushes(own, old) == self._body:
            self._replace(own)
            for i in body[len(own) :]:
                self._trace.add(i)
        else:
            self._end(body)
        return copier.operands(made.block.results[len(self._results) :])

    def pushed(self, directions: Sequence[Mapping[int, Any]]) -> list[list[Any]]:
        """Return the tangents of the results for each direction, which maps places of points to
        tangents. They are connected to the graph of the results.
        """
        found = self.columns(directions)
        if not self._is_pushed_again:
            return found
        width = len(self._results)
        outs = [*map(self._trace.known, self._results)] * len(directions)
        dots = [dot for along in found for dot in along]
        if len(directions) > 1 and not self._is_connected:
            for dot, out in zip(dots, outs, strict=True):
                self._hold_nonzero(dot, out)
        dots = self.linked(dots, outs)
        return [dots[k * width :][:width] for k in range(len(directions))]

    def columns(self, directions: Sequence[Mapping[int, Any]]) -> list[list[Any]]:
        """Return the tangents of the results for each direction, not connected to their graph."""
        trace = self._trace
        program = self._program(self._body, self._results)
        seeds = [operand(number_in(dot)) for along in directions for dot in along.values()]
        again = self._held_again(program, seeds)
        by = [[self._at[k] for k in along] for along in directions]
        if again:
            made = pushforward(program, by, again).program
        elif go_through_rules(program, self._at, self._results):
            made = tangents(program, by).program
        else:  # the directions go together, each with all of the points
            moved = sorted({k for along in directions for k in along})
            seeds = [operand(number_in(along.get(k, 0.0))) for along in directions for k in moved]
            made = tangent(program, [self._at[k] for k in moved], len(directions)).program
        copier = self._copier(made, seeds)
        self._end(copier.body(made.block.body))
        width = len(self._results)
        results = copier.operands(made.block.results)
        dots = [*map(trace.known, results[width:])]
        self._is_pushed_again = bool(again)
        if again:
            self._named(results[:width])
        return [dots[k * width :][:width] for k in range(len(directions))]

    def pulled_together(self, k: int, units: Any, count: int) -> list[Any]:
        """Return the cotangents of the points from a batch of cotangents of result k, as arrays
        with the directions as first axis; one direction has no such axis.
        """
        program = self._program(self._body, self._results)
        made = adjoint(program, self._at, ((k,),), counts=[count]).program
        slopes = self._pulled(made, [self._seed(units, count)])
        return [*map(self._merged, slopes)]

    def pushed_together(self, units: Sequence[Any], count: int) -> list[Any]:
        """Return the tangents of the results from a batch of tangents of the points."""
        program = self._program(self._body, self._results)
        made = tangents(program, [self._at], (), [count]).program
        copier = self._copier(made, [self._seed(x, count) for x in units])
        self._end(copier.body(made.block.body))
        return [*map(self._merged, copier.operands(made.block.results[len(self._results) :]))]

    def _seed(self, units: Any, count: int) -> Operand:
        """Return known seeds for a batch of directions, as a constant of the program."""
        if isinstance(units, float):
            return units
        trace = self._trace
        found = trace.held(units)
        if count > 1:
            with trace.block() as body:
                found = trace.divided(found)
            trace.constants += body
            trace.connections.plain(found.value)
        return operand(found)

    def _merged(self, x: Operand) -> Any:
        return self._trace.merged(self._trace.known(x)) if isinstance(x, Value) else x

    @property
    def has_arrays(self) -> bool:
        """True if it has an array."""
        return has_arrays(self._program(self._body, self._results))

    @property
    def largest(self) -> int:
        """The number of elements of its largest value."""
        own = values(self._program(self._body, self._results))
        return max(prod(dtype_and_shape(v.type)[1]) for v in own)

    @property
    def is_connected(self) -> bool:
        """True if its derivatives may be differentiated again."""
        if self._may_be_connected and not self._is_connected:
            raise self._trace.refused(
                "whether a derivative is differentiated again depends on the path"
            )
        return self._is_connected

    def by_argument(self, found: Sequence[Any]) -> list[Tree]:
        """Return one number for each point, with the structure of the arguments."""
        numbers = iter(found)
        return [mapped(lambda x: self._outside(numbers, x), a) for a in self.arguments]

    def by_result(self, found: Sequence[Any]) -> Tree:
        """Return one number for each result, with the structure of the result."""
        numbers = iter(found)
        return mapped(lambda x: self._outside(numbers, x), self.out)

    def value(self) -> Tree:
        """Return the result of the function, for the program."""
        return self.by_result(numbers_in(self.out))

    def _outside(self, numbers: Iterator[Any], like: Any) -> Any:
        """Return the next numbers for the program, as a value of the same kind."""
        inside = numbers if self._is_recorded else map(self._trace.cut, numbers)
        return self._like(inside, like, self.visible)

    @property
    def visible(self) -> bool | None:
        """True if the results require grad, as the program sees it; None if unknown."""
        return None if self._is_recorded and self._trace.requires_grad else False

    def _like(self, numbers: Iterator[Any], like: Any, visible: bool | None = None) -> Any:
        if isinstance(like, Vector):
            return Vector([next(numbers) for _ in like.numbers], like.shape, visible, self._trace)
        number = next(numbers)
        return self._trace.cell(number, visible=visible) if isinstance(like, Cell) else number

    def _hold_nonzero(self, dot: Any, out: Any) -> None:
        """Bail out if a tangent is zero. The interpreter pushes the directions as one batch if
        nothing is differentiated again, and then the zero may have the other sign.
        """
        if isinstance(dot, Symbol):
            self._trace.leave(ops.eq(dot, 0.0), "what is differentiated again depends on the path")
        elif isinstance(out, Symbol):
            raise self._trace.refused(
                "whether a derivative is differentiated again depends on the path"
            )

    def linked(self, dots: Sequence[Any], outs: Sequence[Any]) -> list[Any]:
        """Return tangents that have a graph if their results have one, even constant tangents."""
        linked = [*map(self._is_linked, dots, outs)]
        absent = iter(
            self._told([dot for dot, test in zip(dots, linked, strict=True) if test is None])
        )
        found = []
        for dot, out, test in zip(dots, outs, linked, strict=True):
            if test is None:
                found.append(self._linked_where(next(absent), dot, out))
            else:
                found.append(dot if test else self._with_graph(dot, out))
        return found

    def _is_linked(self, dot: Any, out: Any) -> bool | None:
        """Return whether a tangent already has a graph wherever its result has one; None if that
        depends on the path.
        """
        trace = self._trace
        nodes, links = trace.nodes(operand(dot)), trace.links(operand(dot))
        if trace.connections.is_node(nodes) or trace.links(operand(out)).may <= links.must:
            return True
        return None if nodes.may else False

    def _told(self, dots: Sequence[Any]) -> Sequence[Any]:
        """Emit flags that tell whether tangents are constants on the path taken."""
        if not dots:
            return ()
        trace = self._trace
        program = self._program(self._body, (*map(operand, dots), *self._results))
        nodes = [v for v in program.inputs if trace.nodes(v).may]
        if not all(trace.connections.is_node(trace.nodes(v)) for v in nodes):
            raise trace.refused("whether a tangent is a constant depends on the path")
        made = told(program, nodes, len(dots))
        copier = self._copier(made, ())
        self._replace(copier.body(made.block.body))
        absent = made.block.results[len(program.block.results) :]
        return [*map(trace.known, copier.operands(absent))]

    def _linked_where(self, test: Any, dot: Any, out: Any) -> Any:
        """Return a tangent that has the graph of its result if a test is true."""
        if not isinstance(test, Symbol):
            return self._with_graph(dot, out) if test else dot
        trace = self._trace
        with trace.block() as body:
            linked = operand(self._with_graph(dot, out))
        target = trace.value(type_of(operand(dot)))
        sides = Block(tuple(body), (linked,)), Block((), (operand(dot),))
        trace.add(If(trace.span, (target,), operand(test), *sides))
        return trace.known(target)

    def _with_graph(self, dot: Any, out: Any) -> Any:
        """Return a tangent that has the graph of its result."""
        if is_whole(dot) or is_whole(out):
            return self._trace.on_arrays(ops.where, [True, dot, out], {})
        return ops.where(True, dot, out)

    def _held_again(self, program: Program, seeds: Sequence[Operand]) -> list[Value]:
        """Return the values by which its derivatives may be differentiated again, or refuse."""
        again = self._again(program, seeds)
        if again and is_read_again(program, again):
            raise self._trace.refused(REASON)
        return again

    def _again(self, program: Program, seeds: Sequence[Operand]) -> list[Value]:
        """Return the values by which its derivatives may be differentiated again."""
        links = self._trace.links
        if not self._is_recorded or not (
            self._may_be_connected or any(links(x).may for x in seeds)
        ):
            return []
        own = {v.number for v in self._at}
        return [v for v in program.inputs if v.number in own or links(v).may]

    def _copier(self, made: Program, seeds: Sequence[Operand]) -> Inlined:
        inputs = made.inputs[len(made.inputs) - len(seeds) :]
        names = {v.number: seed for v, seed in zip(inputs, seeds, strict=True)}
        return Inlined(self._trace, names, self._body)

    def _end(self, body: tuple[Instruction, ...]) -> None:
        """Emit the function with its last derivative, which may rewrite it."""
        at_end = self._block[len(self._block) - len(self._body) :]
        if self._is_derived or tuple(at_end) != self._body:
            raise self._trace.refused("a function is differentiated in several ways")
        self._replace(body)

    def _replace(self, body: tuple[Instruction, ...]) -> None:
        """Replace the instructions of the function."""
        trace = self._trace
        self._is_derived = True
        if body == self._body:
            return
        if trace.innermost is not self._block:
            raise trace.refused("a cotangent is pulled in another branch or loop")
        start = len(self._block)
        if self._body:
            start = next(k for k, i in enumerate(self._block) if i is self._body[0])
        self._block[start : start + len(self._body)] = body
        trace.connections.forget(self._block, start)
        for i in body:
            trace.look_at(i)
        self._body = body


class Inlined(Inliner):
    """Copies the derivative of a body into the program under construction. Values of the body keep
    their names, others get new ones.
    """

    def __init__(
        self, trace: Trace, names: Mapping[int, Operand], body: Sequence[Instruction]
    ) -> None:
        stacks = {i.stack: i.stack for i in instructions(body) if isinstance(i, (Push, Pop))}
        super().__init__(names, trace.value, trace.stack, stacks)
        self._body = {v.number for i in instructions(body) for v in _defined(i)}

    def is_kept(self, i: Instruction) -> bool:
        """True if an instruction belongs to the body, and so defines nothing new."""
        return all(v.number in self._body for j in instructions([i]) for v in _defined(j))

    def _new(self, value: Value) -> Value:
        if value.number not in self._body:
            return super()._new(value)
        return value


def numbers_in(tree: Tree) -> list[Any]:
    """Return the numbers in the values of a tree, from left to right."""
    return [
        x
        for value in values_in(tree)
        for x in (value.numbers if isinstance(value, Vector) else [number_in(value)])
    ]


def number_in(value: Any) -> Any:
    """Return the number of a tensor, or a value as it is."""
    return value.number if isinstance(value, Cell) else value


def _defined(i: Instruction) -> tuple[Value, ...]:
    return (*defined(i), *i.params) if isinstance(i, Loop) else defined(i)


def _without_pushes(body: Sequence[Instruction], kept: Collection[int]) -> tuple[Instruction, ...]:
    """Return the instructions without the pushes to other stacks than the kept ones."""
    return tuple(
        [
            with_blocks(i, lambda b: Block(_without_pushes(b.body, kept), b.results))
            for i in body
            if not isinstance(i, Push) or i.stack in kept
        ]
    )


def free(block: Block) -> list[Value]:
    """Return the values that a block reads and does not define."""
    own = {v.number for v in values(Program((), block, ()))}
    found = {x.number: x for x in read(block) if x.number not in own}
    return [found[number] for number in sorted(found)]
