"""Derivatives that a program takes of its own functions: what a function does is written down, and
in its place what it does with its derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.adjoint import adjoint
from gradcli.engine.compile.symbols import operand
from gradcli.engine.compile.trace import Trace, content
from gradcli.engine.compile.typed import (
    Block,
    Instruction,
    Operand,
    Pop,
    Program,
    Push,
    Value,
)
from gradcli.engine.compile.values import Cell, is_number, number_type
from gradcli.engine.compile.walk import Copier, read, values
from gradcli.engine.ops.catalog import ops

Call = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


class Transforms:
    """The derivatives in one program; `call` calls a function of it."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._call = call
        self._stacks = 0

    def gradient(
        self, function: Any, argnums: Any, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[Any, list[Any]]:
        """What a function gives and its gradient by some of the arguments."""
        trace = self._trace
        places = argnums if isinstance(argnums, tuple) else (argnums,)
        if not all(type(i) is int and 0 <= i < len(args) for i in places):
            raise trace.refused("a derivative by arguments that are known only when it runs")
        if len(set(places)) < len(places):
            raise trace.refused("a derivative by one argument twice")
        given = list(args)
        for i in places:
            given[i] = self._point(args[i])
        points = [_number(given[i]) for i in places]
        body, out = self._followed(function, given, keywords)
        found = _number(out)
        if not is_number(found) or number_type(found) != "float":
            raise trace.refused("a function is differentiated that gives no float")
        block = Block(tuple(body), (operand(found),))
        at = [point.value for point in points]
        outside = [v for v in _free(block) if v.number not in {p.number for p in at}]
        program = Program((*at, *outside), block, ())
        again = [v for v in program.inputs if v.type == "float"]
        made = adjoint(program, at, again=again).program
        value, *slopes = self._written(made, {made.inputs[-1].number: 1.0})
        if not trace.recording:
            value, slopes = trace.cut(value), [trace.cut(slope) for slope in slopes]
        like = [args[i] for i in places]
        return self._like(value, out), list(map(self._like, slopes, like))

    def _point(self, value: Any) -> Any:
        """A point in the place of an argument."""
        number = _number(value)
        if not is_number(number):
            raise self._trace.refused("a derivative by what is no number")
        if number_type(number) != "float":
            number = ops.mul(number, 1.0)
        point = self._trace.point(number)
        return self._trace.cell(point, visible=None) if isinstance(value, Cell) else point

    def _followed(
        self, function: Any, given: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[list[Instruction], Any]:
        """What a function does, and what it gives."""
        trace = self._trace
        before, since = trace.recording, trace.tick()
        trace.recording = True
        trace.objects.append({})
        with trace.block() as body:
            out = self._call(function, given, keywords)
        trace.recording = before
        for key, (value, held) in trace.objects.pop().items():
            if trace.born(value) > since:
                continue
            if not isinstance(value, Cell) or operand(content(value)[0]) is not operand(held[0]):
                raise trace.refused("a function that is differentiated changes what is outside")
            if trace.objects:
                trace.objects[-1].setdefault(key, (value, held))
        return body, out

    def _written(self, program: Program, names: Mapping[int, Operand]) -> list[Any]:
        """Write a program down here; its results."""
        trace = self._trace
        copier = _Inlined(names, trace.value, self._stacks)
        for i in copier.body(program.block.body):
            trace.put(i)
        self._stacks = copier.stacks
        return [trace.known(x) for x in copier.operands(program.block.results)]

    def _like(self, number: Any, value: Any) -> Any:
        return self._trace.cell(number, visible=None) if isinstance(value, Cell) else number


class _Inlined(Copier):
    """Copies with stacks of their own, too, from a number on."""

    def __init__(
        self, names: Mapping[int, Operand], fresh: Callable[[str], Value], first: int
    ) -> None:
        super().__init__(names, fresh)
        self.first = self.stacks = first

    def _instruction(self, i: Instruction) -> Instruction:
        made = super()._instruction(i)
        if not isinstance(made, (Push, Pop)):
            return made
        stack = self.first + made.stack
        self.stacks = max(self.stacks, stack + 1)
        if isinstance(made, Push):
            return Push(made.span, stack, made.values)
        return Pop(made.span, stack, made.targets)


def _number(value: Any) -> Any:
    return value.number if isinstance(value, Cell) else value


def _free(block: Block) -> list[Value]:
    """The values that a block reads and that are defined outside of it."""
    own = {v.number for v in values(Program((), block, ()))}
    found: dict[int, Value] = {}
    for x in read(block):
        if x.number not in own:
            found[x.number] = x
    return [found[number] for number in sorted(found)]
