"""Forward mode: extend a typed program by the tangents of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.differentiate.differentials import (
    ABSENT,
    Delta,
    Deltas,
    Derived,
    derived,
    present,
    slope_type,
)
from gradcli.engine.compile.differentiate.rules import Place, pushed
from gradcli.engine.compile.differentiate.transposition import transposed
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.symbols import Builder, Symbol
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Placed,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    type_of,
)
from gradcli.engine.compile.walk import defined, unused, unused_stack
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span


def tangent(
    program: Program,
    wrt: Sequence[Value],
    directions: int = 1,
    again: Sequence[Value] = (),
) -> Derived:
    """Return a program that also computes the tangents of its results.

    Args:
        program: The program.
        wrt: The values to differentiate by, in its outermost block. Their tangents become further
            inputs, those of the first direction first.
        directions: The number of directions.
        again: The values by which the tangents will be differentiated.

    Raises:
        NotCompilable: If a rule needs a value that is known only at run time.
    """
    return tangents(program, [wrt] * directions, again)


def tangents(
    program: Program,
    directions: Sequence[Sequence[Value]],
    again: Sequence[Value] = (),
    counts: Sequence[int] | None = None,
) -> Derived:
    """Return a program that also computes tangents along directions.

    Args:
        program: The program.
        directions: For each direction, the values that it moves.
        again: The values by which the tangents will be differentiated.
        counts: For each direction, the number of directions that it holds as a batch; 1 if left
            out.
    """
    return Forward(program, directions, again, counts).derived()


def connected(program: Program, wrt: Sequence[Value], width: int) -> Program | None:
    """Return a program that bails out if, on the path taken, none of its first `width` results
    depends on the given values. Return None if none ever does.
    """
    forward = Forward(program, [wrt], ())
    forward.seeds = [{v.number: v for v in wrt}]  # any directions would do; these exist
    return forward.connected(width)


class Forward:
    """Writes a program with its tangents."""

    def __init__(
        self,
        program: Program,
        directions: Sequence[Sequence[Value]],
        again: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> None:
        self.program = program
        self.first = unused(program)
        self.builder = Builder(Span(0, 0), self.first, Placed if again else Do)
        self.deltas = Deltas(self.builder, counts or [1] * len(directions))
        flow = Flow(program)
        self.moving = flow.moving([v for wrt in directions for v in wrt])
        self.recorded = flow.moving(again)
        self.next_stack = unused_stack(program)
        self.directions = range(len(directions))
        value = self.builder.value
        type_ = self.deltas.type
        self.seeds = [
            {v.number: value(type_(d, v.type)) for v in wrt} for d, wrt in enumerate(directions)
        ]
        self.dots: list[dict[int, Delta]] = [{} for _ in self.directions]

    def derived(self) -> Derived:
        """Return the program with its tangents, and which of them exist."""
        program = self.program
        with self.builder.block() as body:
            for v in program.inputs:
                self.seeded(v)
            self.body(program.block.body)
        inputs = (*program.inputs, *(v for seeds in self.seeds for v in seeds.values()))
        made = Program(inputs, Block(tuple(body), program.block.results), program.texts)
        return self.with_tangents(made, self.directions)

    def with_tangents(self, made: Program, directions: range) -> Derived:
        """Append the tangents to the results of the program that computes them."""
        results = self.program.block.results
        found = [self.of(d, x) for d in directions for x in results]
        types = [self.deltas.type(d, slope_type(x)) for d in directions for x in results]
        return derived(made, found, types, self.deltas, self.first)

    def connected(self, width: int) -> Program | None:
        """Return the program without tangents, which bails out if there is none."""
        program = self.program
        with self.builder.block() as body:
            for v in program.inputs:
                self.seeded(v)
            self.body(program.block.body)
            results = program.block.results
            _, by = self.deltas.together([self.of(0, x) for x in results[:width]])
        block = Block(tuple(body), (*results, by.absent))
        block = tidy(Program(program.inputs, block, program.texts), self.first).block
        absent = block.results[-1]
        if not isinstance(absent, Value):
            return None if absent else program
        why = "the result may not depend on the differentiated inputs"
        block = Block((*block.body, Leave(Span(0, 0), absent, why)), results)
        return Program(program.inputs, block, program.texts)

    def of(self, d: int, x: Operand | None) -> Delta | None:
        """Return the tangent of an operand in a direction."""
        return self.dots[d].get(x.number) if isinstance(x, Value) else None

    def seeded(self, v: Value) -> None:
        """Add the seed of a value to its tangent, if it is differentiated by."""
        for d in self.directions:
            dots, seed = self.dots[d], self.seeds[d].get(v.number)
            if seed is not None:
                before = dots.get(v.number)
                own = present(seed)
                dots[v.number] = own if before is None else self.deltas.sum(own, before)

    def body(self, body: Sequence[Instruction]) -> None:
        """Write the instructions of a block, each with its tangents."""
        for i in body:
            self.builder.span = i.span
            match i:
                case Do():
                    self.builder.add(i)
                    self.do(i)
                case DoSeveral():
                    self.builder.add(i)
                    self.several(i)
                case Ruled():
                    self.builder.add(i)
                    self.ruled(i)
                case If():
                    self.branch(i)
                case Loop():
                    self.loop(i)
                case Push():
                    places = self.moving.of_stack(i)
                    found = self.found([i.values[k] for k in places])
                    parts = self.parts(i.values, places, found)
                    self.builder.add(Push(i.span, i.stack, (*i.values, *parts)))
                case Pop():
                    places = self.moving.of_stack(i)
                    targets = self.made([i.targets[k] for k in places])
                    self.builder.add(Pop(i.span, i.stack, (*i.targets, *targets)))
                case _:
                    self.builder.add(i)
            for v in defined(i):
                self.seeded(v)

    def read(self, x: Operand | None) -> Any:
        """Return an operand as a rule reads it."""
        return Symbol(x, self.builder, x in self.recorded) if isinstance(x, Value) else x

    def do(self, i: Do) -> None:
        """Write the tangents of an op."""
        if i.target not in self.moving:
            return
        op, args, out, params = ops[i.op], [*map(self.read, i.args)], self.read(i.target), i.params
        for d in self.directions:
            total: Delta | None = None
            for k, a in enumerate(i.args):
                dot = self.of(d, a)
                if dot is None:
                    continue
                only: list[Any] = [None] * len(args)
                only[k] = self.builder.known(dot.value)
                found = op.push(only, out, args, dict(params))
                if found is not None:
                    part = self.deltas.through(found, dot)
                    total = part if total is None else self.deltas.sum(total, part)
            if total is not None:
                self.dots[d][i.target.number] = total

    def several(self, i: DoSeveral) -> None:
        """Write the tangents of an op of several values."""
        if not any(t in self.moving for t in i.targets):
            return
        (a,) = i.args  # no such op with rules takes more than one argument
        op, args, out = ops[i.op], [self.read(a)], tuple(map(self.read, i.targets))
        for d in self.directions:
            dot = self.of(d, a)
            if dot is None:
                continue
            found = op.push([self.builder.known(dot.value)], out, args, dict(i.params))
            for t, each in zip(i.targets, found, strict=True):
                if each is not None:
                    self.dots[d][t.number] = self.deltas.through(each, dot)

    def ruled(self, i: Ruled) -> None:
        """Write the tangents of an instruction that has a rule of the program's own."""
        for d in self.directions:
            dots = [self.of(d, a) for a in i.args]
            if all(dot is None for dot in dots):
                continue
            self.deltas.hold_single(d, i.span)
            given, by = self.deltas.together(dots)
            place = Place(self.builder, self.there, self.stack)
            if i.rule.push is not None:
                for t, dot in pushed(i, given, place):
                    self.dots[d][t.number] = self.deltas.through(self.builder.known(dot), by)
                continue
            for delta in dots:
                if delta is not None and isinstance(delta.absent, Value):
                    self.builder.add(Leave(i.span, delta.absent, "a tangent may be none"))
            along = [None if dot is None else dot.value for dot in dots]
            for t, made in transposed(i, along, place):
                self.dots[d][t.number] = made

    def there(self, x: Operand) -> Operand:
        """Return the name of an operand of the program where the tangents are computed."""
        return x

    def stack(self) -> int:
        """Return the number of a new stack."""
        self.next_stack += 1
        return self.next_stack - 1

    def branch(self, i: If) -> None:
        moved = [k for k, t in enumerate(i.targets) if t in self.moving]
        sides = []
        for side in (i.then, i.orelse):
            with self.builder.block() as body:
                self.body(side.body)
                found = self.parts(i.targets, moved, self.found([side.results[k] for k in moved]))
            sides.append(Block(tuple(body), (*side.results, *found)))
        targets = self.made([i.targets[k] for k in moved])
        self.builder.add(If(i.span, (*i.targets, *targets), i.test, *sides))

    def loop(self, i: Loop) -> None:
        moved = [k for k, p in enumerate(i.params) if p in self.moving]
        initial = self.parts(i.params, moved, self.found([i.initial[k] for k in moved]))
        params = self.made([i.params[k] for k in moved])
        with self.builder.block() as body:
            self.body(i.body.body)
            nexts = i.body.results[1:]
            found = self.parts(i.params, moved, self.found([nexts[k] for k in moved]))
        targets = self.made([i.targets[k] for k in moved])
        self.builder.add(
            Loop(
                i.span,
                (*i.targets, *targets),
                i.turns,
                (*i.params, *params),
                (*i.initial, *initial),
                Block(tuple(body), (*i.body.results, *found)),
            )
        )

    def found(self, operands: Sequence[Operand]) -> list[Delta]:
        """Return the tangents of operands, direction by direction."""
        return [self.of(d, x) or ABSENT for d in self.directions for x in operands]

    def parts(
        self, values: Sequence[Operand], places: Sequence[int], found: Sequence[Delta]
    ) -> tuple[Operand, ...]:
        """Return the operands that hold the tangents of the values at some places, direction by
        direction.
        """
        types = [self.deltas.type(d, type_of(values[k])) for d in self.directions for k in places]
        return self.deltas.parts(found, types)

    def made(self, values: Sequence[Value]) -> list[Value]:
        """Return the values of new tangents, direction by direction, for an instruction to
        define.
        """
        made: list[Value] = []
        for d in self.directions:
            for v in values:
                self.dots[d][v.number], both = self.deltas.new(self.deltas.type(d, v.type))
                made += both
        return made
