"""The program's own graph, for `backward` and `torch.autograd.grad` in the program. The backward
pass is emitted after the recorded part of the open block.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.passes.activity import Activity, Flow
from gradcli.engine.compile.specialize.tracing.differentiated import Inlined, free
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Cell, Conflict, is_number, number_type
from gradcli.engine.compile.symbols import Symbol, is_whole, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    Instruction,
    Operand,
    Program,
    Value,
    is_array,
    is_floating,
)
from gradcli.engine.compile.walk import defined, instructions, operands_of, values
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np


class Graph:
    """The recorded graph of one program: its leaves are tensors, its nodes values of the trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._leaves: list[Cell] = []
        self._changed: dict[int, set[int]] = {}
        self._spent: dict[int, set[int]] = {}

    # --- leaves ------------------------------------------------------------------------------

    def leaf(self, x: Cell) -> Cell:
        """Make a tensor a leaf."""
        x.number = self._point(x.number)
        x.leaf = x.visible = self._trace.requires_grad = True
        self._leaves.append(x)
        return x

    def known(self, x: Cell) -> None:
        """Record a loop-carried leaf."""
        self._leaves.append(x)

    def required(self, x: Cell) -> Cell:
        """Do `x.requires_grad_()`."""
        if x.visible is None or not is_floating(number_type(x.number)):
            raise self._trace.refused("whether a tensor requires grad is not known")
        if not x.visible:
            self._trace.touch(x)
            self.leaf(x)
        return x

    def gradient(self, x: Cell) -> Cell | None:
        """Return `x.grad`."""
        if isinstance(x.grad, Conflict):
            raise self._trace.refused(x.grad.reason)
        return x.grad

    def set_gradient(self, x: Cell, grad: Any) -> None:
        """Do `x.grad = grad`."""
        trace = self._trace
        if grad is not None and not isinstance(grad, Cell):
            raise trace.refused("`grad` is set to what is no tensor that is known when it runs")
        if grad is not None and number_type(grad.number) != number_type(x.number):
            raise trace.refused("`grad` is set to a tensor of another type")
        trace.touch(x)
        x.grad = grad

    def set_data(self, x: Cell, value: Any) -> None:
        """Do `x.data = value`, where the value has the same type."""
        trace = self._trace
        if isinstance(value, Cell) and value.whole and value.base and value.base[0] is x:
            return  # as `x.data += 1` does at last
        if not isinstance(value, Cell) or number_type(value.number) != number_type(x.number):
            raise trace.refused("`data` is set to another type of value")
        if x.frozen or value.frozen:
            raise trace.refused("`data` is set where others may hold the memory")
        trace.touch(x)
        x.replaced = True
        before, x.number = x.number, trace.cut(value.number)
        value.let_go()
        self.changed(x, before, x.saved)

    def changed(self, x: Cell, before: Any, is_saved: bool) -> None:
        """Record a change of a tensor in place."""
        if isinstance(before, Symbol) and (x.leaf or is_saved):
            self._note(self._changed, [before.value.number])
        if x.leaf and self._trace.differentiates:
            raise self._trace.refused("a leaf is changed that is differentiated by")
        if x.leaf:
            x.number = self._point(x.number)

    def _note(self, marks: dict[int, set[int]], numbers: Iterable[int]) -> None:
        """Mark values from this place on. A value emitted here identifies the place, so that a mark
        made in code that was discarded does not count.
        """
        here = self._trace.point(0.0).value.number
        for number in numbers:
            marks.setdefault(number, set()).add(here)

    def _point(self, number: Any) -> Symbol:
        """Return a new value, which simplification does not take for a constant."""
        trace = self._trace
        if isinstance(number, Symbol):
            made = trace.point(number)
        else:
            with trace.block() as body:
                made = trace.point(number)
            trace.constants += body
        trace.connections.leaf(made.value)
        return made

    # --- passes ------------------------------------------------------------------------------

    def backward_of(
        self,
        tensors: Any,
        gradient: Any = None,
        retain_graph: Any = None,
        create_graph: Any = False,
        inputs: Any = None,
    ) -> None:
        """Do `torch.autograd.backward`, or `x.backward(gradient)` of one tensor."""
        self._hold_plain(create_graph)
        roots, given = self._roots(tensors, gradient)
        wanted = None if inputs is None else self._cells(inputs)
        self.backward(roots, given, self._is_kept(retain_graph), wanted)

    def gradients_of(
        self,
        outputs: Any,
        inputs: Any,
        weights: Any = None,
        retain_graph: Any = None,
        create_graph: Any = False,
        allow_unused: Any = None,
    ) -> tuple[Cell | None, ...]:
        """Do `torch.autograd.grad` of tensors."""
        self._hold_plain(create_graph)
        roots, given = self._roots(outputs, weights)
        found = self.gradients(roots, given, self._cells(inputs), self._is_kept(retain_graph))
        if None in found and allow_unused is not True:
            raise self._trace.refused("a result does not depend on the differentiated inputs")
        return tuple(found)

    def _hold_plain(self, create_graph: Any) -> None:
        if create_graph is not False:
            raise self._trace.refused("a backward pass is recorded")

    def _is_kept(self, retain_graph: Any) -> bool:
        if retain_graph is not None and type(retain_graph) is not bool:
            raise self._trace.refused("whether a graph is kept is known only at run time")
        return retain_graph is True

    def _cells(self, given: Any) -> list[Cell]:
        found = [*given] if isinstance(given, (list, tuple)) else [given]
        if not found or not all(isinstance(x, Cell) for x in found):
            raise self._trace.refused("what is no tensor of a graph is differentiated by")
        return found

    def _roots(self, tensors: Any, weights: Any) -> tuple[list[Cell], list[Any]]:
        roots = self._cells(tensors)
        several = isinstance(weights, (list, tuple))
        given = [*weights] if several else [weights] * len(roots)
        if len(given) != len(roots):
            raise self._trace.refused("another number of gradients than tensors")
        return roots, [self._weight(x, g) for x, g in zip(roots, given, strict=True)]

    def _weight(self, x: Cell, given: Any) -> Any:
        """Return the initial cotangent: the given one, or 1 for a value of one element."""
        trace = self._trace
        if given is None:
            if math.prod(x.shape) != 1:
                raise trace.refused("`backward` of a tensor with dimensions")
            return trace.held(np.ones(x.shape)) if x.shape else 1.0
        if isinstance(given, Tensor):
            given = trace.tensors.of_known(given) if given.shape else trace.cell(given.data)
        number = trace.cut(given.number) if isinstance(given, Cell) else given
        if type(number) in (int, bool):
            number = float(number)
        type_ = number_type(number) if is_number(number) else ""
        if type_ != number_type(x.number):
            raise trace.refused("a gradient is of another type than its tensor")
        return number

    def backward(
        self,
        roots: Sequence[Cell],
        weights: Sequence[Any],
        retain: bool,
        inputs: Sequence[Cell] | None,
    ) -> None:
        """Add gradients to the `grad` of all leaves, or of some."""
        wanted = [x for x in self._leaves if x.leaf] if inputs is None else inputs
        if not all(x.leaf for x in wanted):
            raise self._trace.refused("a gradient is left at a tensor that is no leaf")
        found = self._pulled(roots, weights, wanted, retain)
        for x in wanted:
            slope = found.get(id(x))
            if slope is not None:
                self._accumulate(x, slope)

    def gradients(
        self, roots: Sequence[Cell], weights: Sequence[Any], wanted: Sequence[Cell], retain: bool
    ) -> list[Cell | None]:
        """Return the gradients by tensors of the graph."""
        found = self._pulled(roots, weights, wanted, retain)
        slopes = [found.get(id(x)) for x in wanted]
        return [None if slope is None else self._trace.cell(slope) for slope in slopes]

    def _accumulate(self, x: Cell, slope: Any) -> None:
        trace = self._trace
        grad = self.gradient(x)
        if grad is None:
            trace.touch(x)
            x.grad = trace.cell(self._in_order(slope, x.number))
            return
        with trace.unrecorded():
            trace.change(ops.add, grad, [trace.cell(self._in_order(slope, grad.number))])

    def _in_order(self, slope: Any, other: Any) -> Any:
        """Return a cotangent in the layout that `grad` has: contiguous, or as the other tensor."""
        trace = self._trace
        if not is_whole(slope) or trace.is_dense(slope):
            return slope
        if trace.is_dense(other):
            return trace.tensors.laid_as(slope, other)
        made = trace.on_arrays(ops.ordered, [slope], {})
        trace.dense.add(made.value.number)
        return made

    def _pulled(
        self, roots: Sequence[Cell], weights: Sequence[Any], wanted: Sequence[Cell], retain: bool
    ) -> dict[int, Any]:
        """Emit a pass and return the cotangents of the tensors that it reaches, by identity."""
        trace = self._trace
        if any(x.visible is not True for x in roots):
            raise trace.refused("whether a tensor requires grad is not known, or it does not")
        body = trace.innermost
        results = [operand(x.number) for x in roots]
        kept = [v for i in body for v in defined(i)]
        block = Block(tuple(body), (*results, *kept))
        program = Program(tuple(free(block)), block, ())
        there = {v.number: v for v in (*program.inputs, *kept)}
        flow = Flow(program)
        leading = flow.leading(results)
        points = self._points(wanted, there, leading)
        ends = self._points(self._leaves, there, leading)
        self._hold_inside(program, {*points, *ends}, leading)
        at = [there[number] for number in points]
        active = flow.moving(at) & leading
        self._hold_valid(program, active, leading)
        if not at:
            raise trace.refused("a tensor is differentiated by what it is not made from")
        for number, cells in points.items():
            others = [there[other] for other in points if other != number]
            if not cells[0].leaf and there[number] in flow.moving(others):
                raise trace.refused("a tensor is differentiated by another and by what that is of")
        start, part = _part(body, active, {*points})
        kept = [v for i in part for v in defined(i)]
        block = Block(tuple(part), (*results, *kept))
        made = adjoint(Program(tuple(free(block)), block, ()), at, (tuple(range(len(roots))),))
        seeds = [operand(weight) for weight in weights]
        given = made.program.inputs[len(made.program.inputs) - len(seeds) :]
        names = {v.number: seed for v, seed in zip(given, seeds, strict=True)}
        copier = Inlined(trace, names, part)
        self._write(made.program, copier, part, start, len(roots))
        if not retain:
            inside = (v.number for v in values(program) if v in active and v.number not in ends)
            self._note(self._spent, inside)
        count = len(block.results)
        slopes = copier.operands(made.program.block.results[count:])
        found: dict[int, Any] = {}
        for number, slope, absent in zip(points, slopes, made.absent, strict=True):
            is_absent = copier.operand(absent)
            if isinstance(is_absent, Value):
                why = "whether a leaf gets a gradient depends on the path"
                trace.leave(trace.known(is_absent), why)
            elif is_absent:
                continue
            for x in points[number]:
                found[id(x)] = self._slope(x, slope)
        return found

    def _points(
        self, cells: Sequence[Cell], there: Mapping[int, Value], leading: Activity
    ) -> dict[int, list[Cell]]:
        """Return the tensors that lead to the roots, by the number of their value."""
        found: dict[int, list[Cell]] = {}
        for x in cells:
            value = x.number.value if isinstance(x.number, Symbol) else None
            if value is None or value.number not in there or value not in leading:
                continue
            if x.visible is not True:
                raise self._trace.refused("whether a tensor requires grad is not known")
            found.setdefault(value.number, []).append(x)
        return found

    def _slope(self, x: Cell, slope: Operand) -> Any:
        trace = self._trace
        number = trace.cut(trace.known(slope))
        if isinstance(number, Symbol) and is_array(number.type) and not is_whole(x.number):
            number = trace.cut(trace.on_arrays(ops.unboxed, [number], {}))
        if number_type(number) != number_type(x.number):
            raise trace.refused("a gradient is of another type than its tensor")
        return number

    # --- graphs that a pass refuses ------------------------------------------------------------

    def _hold_inside(self, program: Program, points: set[int], leading: Activity) -> None:
        """Refuse a graph that begins outside the open block."""
        for v in program.inputs:
            is_other = v in leading and v.number not in points and is_floating(v.type)
            if is_other and self._trace.links(v).may:
                raise self._trace.refused("a graph goes over turns of a loop or into a branch")

    def _hold_valid(self, program: Program, active: Activity, leading: Activity) -> None:
        """Refuse a graph that has been freed, or with a saved value changed in place."""
        there = {v.number for v in values(program)}

        def marked(marks: Mapping[int, set[int]], x: object) -> bool:
            here = marks.get(x.number) if isinstance(x, Value) else None
            return here is not None and not here.isdisjoint(there)

        trace = self._trace
        for v in values(program):
            if v in active and marked(self._spent, v):
                raise trace.refused("a graph is gone back through twice")
            if v in leading and marked(self._changed, v):
                raise trace.refused("a leaf has been changed since it was used")
        for i in instructions(program.block.body):
            is_visited = isinstance(i, Do | DoSeveral) and any(v in active for v in defined(i))
            read = (*operands_of(i), *defined(i)) if is_visited else ()
            if any(marked(self._changed, x) for x in read):
                raise trace.refused("a tensor that a derivative reads has been changed")

    # --- writing -------------------------------------------------------------------------------

    def _write(
        self, made: Program, copier: Inlined, part: list[Instruction], start: int, count: int
    ) -> None:
        """Emit a pass after the part of the open block that it differentiates. That part may be
        rewritten, such as a loop that has to push values for the pass.
        """
        before, whole = tuple(part), made.block.body
        at = whole.index(before[0]) if before and before[0] in whole else 0
        trace, body = self._trace, self._trace.innermost
        if whole[at : at + len(before)] == before:
            trace.constants += copier.body(whole[:at])
            for i in copier.body(whole[at + len(before) :]):
                trace.add(i)
            return
        kept = [v for i in before for v in defined(i)]
        del body[start:]
        trace.connections.forget(body, start)
        for i in copier.body(whole):
            trace.add(i)
        there = {v.number for i in body for v in defined(i)}
        found = copier.operands(made.block.results[count:][: len(kept)])
        lost = [(v, x) for v, x in zip(kept, found, strict=True) if v.number not in there]
        for v, x in lost:
            trace.put(Do(trace.span, v, ops.copied.name, (x,), ()))
        self._note(self._changed, [v.number for v, _ in lost])


def _part(
    body: Sequence[Instruction], active: Activity, points: Collection[int]
) -> tuple[int, list[Instruction]]:
    """Return the place in a block where the part that a pass differentiates begins, and that part.
    Without branches and loops it is only the instructions that the pass visits.
    """
    places = [
        k
        for k, i in enumerate(body)
        if any(v in active and v.number not in points for v in defined(i))
    ]
    start = places[0] if places else len(body)
    visited = [body[k] for k in places]
    is_straight = all(isinstance(i, Do | DoSeveral) for i in visited)
    return start, visited if is_straight else [*body[start:]]
