"""Reverse mode: extend a typed program by the cotangents of its inputs.

The cotangents of a value are added in the interpreter's order: the newest use of the value first. A
value without a cotangent is not visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gradcli.engine.compile.differentiate.differentials import (
    ABSENT,
    MANY,
    Delta,
    Deltas,
    Derived,
    derived,
    present,
    slope_type,
)
from gradcli.engine.compile.differentiate.frames import Ambiguous, Frame, Going, Inner, Side, Turn
from gradcli.engine.compile.differentiate.rules import Place, pulled
from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.passes.aliases import Earlier, identified
from gradcli.engine.compile.passes.peel import peeled
from gradcli.engine.compile.passes.rotate import rotated
from gradcli.engine.compile.passes.simplify import ALL, tidy
from gradcli.engine.compile.symbols import Builder, Symbol, is_whole, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Placed,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    is_array,
    is_floating,
    type_of,
)
from gradcli.engine.compile.walk import (
    blocks,
    instructions,
    unused,
    unused_stack,
    values,
    with_blocks,
)
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span


def adjoint(
    program: Program,
    wrt: Sequence[Value],
    directions: Sequence[Sequence[int]] = ((0,),),
    again: Sequence[Value] = (),
    counts: Sequence[int] | None = None,
) -> Derived:
    """Return a program that also computes the cotangents of values.

    Args:
        program: The program.
        wrt: The values to differentiate by, in its outermost block.
        directions: For each direction, the places of the results that have a cotangent. These
            cotangents become further inputs, those of the first direction first.
        again: The values by which the cotangents will be differentiated.
        counts: For each direction, the number of directions that it holds as one batch; 1 if left
            out.

    Raises:
        NotCompilable: If a rule needs a value that is known only at run time, or if the order in
            which cotangents are added is.
    """
    counts = counts or [1] * len(directions)
    program = tidy(rotated(program), ALL)
    places = [k for each in directions for k in each]
    program = peeled(program, wrt, [program.block.results[k] for k in places])
    try:
        return _Backward(program, wrt, directions, again, None, counts).derived()
    except Ambiguous:
        flow = Flow(program)
        leading = flow.leading([program.block.results[k] for k in places])
        told = identified(program, flow.moving(wrt) & leading)
        return _Backward(told.program, wrt, directions, again, told.earlier, counts).derived()


class _Read(Symbol):
    """A value of the program as a rule sees it. The backward pass finds its copy when the rule
    reads it.
    """

    __slots__ = ("_frame", "_of")

    def __init__(self, v: Value, frame: Frame, builder: Builder) -> None:
        self._builder = builder
        self._recorded = v in frame.recorded
        self._of = v
        self._frame = frame

    @property
    def value(self) -> Operand:  # type: ignore[override]  # of a constant that is one
        return self._frame.read(self._of)

    @property
    def type(self) -> str:
        return self._of.type


class _Branch(Instruction):
    """The reverse of a branch under construction."""

    __slots__ = ("test", "sides", "targets", "results")
    test: Operand
    sides: list[tuple[Inner, list[Instruction]]]
    targets: list[Value]
    results: list[tuple[Operand, Operand]]


class _Turns(Instruction):
    """The reverse of a loop under construction."""

    __slots__ = ("turn", "body", "again", "turns")
    turn: Turn
    body: list[Instruction]
    again: Operand
    turns: Value


class _Backward:
    def __init__(
        self,
        program: Program,
        wrt: Sequence[Value],
        directions: Sequence[Sequence[int]],
        again: Sequence[Value],
        earlier: Earlier | None,
        counts: Sequence[int],
    ) -> None:
        self.program = program
        self.is_told = earlier is not None
        self.wrt = {v.number for v in wrt}
        self.order = [v.number for v in wrt]
        self.first = unused(program)
        self.builder = Builder(Span(0, 0), self.first, Placed if again else Do)
        self.deltas = Deltas(self.builder, counts)
        self.deltas.types.update((v.number, v.type) for v in values(program))
        flow = Flow(program)
        moving = flow.moving(wrt)
        self.active = [
            moving & flow.leading([program.block.results[k] for k in places])
            for places in directions
        ]
        self.directions = directions
        self.root = Frame(self.deltas, self.active, flow.moving(again), earlier or {})
        self.frames: dict[int, Inner] = {}
        self.found: list[dict[int, Delta]] = [{} for _ in directions]
        self.next_stack = unused_stack(program)
        self.stacks: dict[int, int] = {}
        self.cotangents: dict[int, int] = {}

    def derived(self) -> Derived:
        program, builder = self.program, self.builder
        seeds = []
        with builder.block() as back:
            for d, places in enumerate(self.directions):
                for k in places:
                    x = program.block.results[k]
                    seeds.append(builder.value(self.deltas.type(d, slope_type(x))))
                    builder.plain.add(seeds[-1].number)
                    if isinstance(x, Value) and x in self.active[d]:
                        self.root.add(d, x, present(seeds[-1]))
            self.reverse(program.block, self.root)
            for v in program.inputs:
                self.take(self.root, v)
        order, types = self.order, self.deltas.types
        found = [found.get(number) for found in self.found for number in order]
        body = (*self.forward(program.block.body), *self.finished(back))
        block = Block(body, program.block.results)
        made = Program((*program.inputs, *seeds), block, program.texts)
        several = range(len(self.found))
        typed = [self.deltas.type(d, types[number]) for d in several for number in order]
        whole = derived(made, found, typed, self.deltas, self.first)
        return Derived(whole.program, whole.absent, self.first, whole.flags, self.cotangents)

    def belongs(self, cotangent: Operand, v: Value) -> None:
        """Record the value that a cotangent belongs to."""
        if isinstance(cotangent, Value):
            self.cotangents.setdefault(cotangent.number, v.number)

    # --- visiting instructions -----------------------------------------------------------

    def take(self, frame: Frame, v: Value) -> list[Delta | None]:
        """Take the cotangents of a value out of the pending ones, one for each direction."""
        taken = [frame.take(d, v) for d in range(len(self.directions))]
        for delta in taken:
            if delta is not None:
                self.belongs(delta.value, v)
        if v.number in self.wrt:
            for found, delta in zip(self.found, taken, strict=True):
                if delta is not None:
                    found[v.number] = delta
        return taken

    def reverse(self, block: Block, frame: Frame) -> None:
        """Visit the instructions of a block, last to first."""
        for i in reversed(block.body):
            self.builder.span = i.span
            match i:
                case Do():
                    self.do(i, frame)
                case DoSeveral():
                    self.several(i, frame)
                case Ruled():
                    self.ruled(i, frame)
                case If():
                    self.branch(i, frame)
                case Loop():
                    self.loop(i, frame)
                case Push():
                    self.push(i, frame)
                case Pop():
                    self.pop(i, frame)

    def do(self, i: Do, frame: Frame) -> None:
        taken = self.take(frame, i.target)
        if not any(taken):
            return
        read = [self.read(a, frame) for a in i.args]
        out = self.read(i.target, frame)
        for d, g in enumerate(taken):
            if g is None:
                continue
            wanted = [a in self.active[d] for a in i.args]
            given = self.builder.known(g.value)
            pulled = ops[i.op].pull(given, out, read, dict(i.params), wanted)
            for a, c in zip(i.args, pulled, strict=True):
                if c is not None:
                    self.arrived(d, a, c, g, frame)

    def several(self, i: DoSeveral, frame: Frame) -> None:
        taken = [self.take(frame, t) for t in i.targets]
        read = [self.read(a, frame) for a in i.args]
        out = tuple([self.read(t, frame) for t in i.targets])
        for d, gs in enumerate(zip(*taken, strict=True)):
            if all(g is None for g in gs):
                continue
            found, by = self.deltas.together(gs)
            given = tuple(map(self.cotangent, i.targets, found))
            wanted = [a in self.active[d] for a in i.args]
            pulled = ops[i.op].pull(given, out, read, dict(i.params), wanted)
            for a, c in zip(i.args, pulled, strict=True):
                if c is not None:
                    self.arrived(d, a, c, by, frame)

    def arrived(self, d: int, a: Operand | None, c: Any, by: Delta, frame: Frame) -> None:
        """Add the cotangent that a rule has computed for an argument."""
        assert isinstance(a, Value)
        is_boxed = is_whole(c) and not is_array(a.type)
        frame.add(d, a, self.deltas.through(ops.unboxed(c) if is_boxed else c, by))

    def cotangent(self, target: Value, found: Operand) -> Any:
        """Return the cotangent of one of several results as rules read it: None for an int."""
        if not is_floating(target.type):
            return None
        whole = found if isinstance(found, Value) else self.deltas.filled(found, target.type)
        return self.builder.known(whole)

    def ruled(self, i: Ruled, frame: Frame) -> None:
        taken = [self.take(frame, t) for t in i.targets]
        for d, gs in enumerate(zip(*taken, strict=True)):
            if all(g is None for g in gs):
                continue
            self.deltas.hold_single(d, i.span)
            given, by = self.deltas.together(gs)
            place = Place(self.builder, frame.read, self.new_stack)
            for a, c in pulled(i, given, place):
                if a in self.active[d]:
                    assert isinstance(a, Value)
                    frame.add(d, a, self.deltas.through(self.builder.known(c), by))

    def read(self, x: Operand | None, frame: Frame) -> Any:
        return _Read(x, frame, self.builder) if isinstance(x, Value) else x

    def branch(self, i: If, frame: Frame) -> None:
        given = [self.take(frame, t) for t in i.targets]
        if not self.live(i, given):
            return
        made = _Branch(i.span, frame.read(i.test), [], [], [])
        for block in (i.then, i.orelse):
            side = Side(frame, i, block)
            self.frames[id(block)] = side
            with self.builder.block() as body:
                for x, deltas in zip(block.results, given, strict=True):
                    for d, delta in enumerate(deltas):
                        if delta is not None and x in self.active[d]:
                            self.handed(d, x, delta, side)
                self.reverse(block, side)
            made.sides.append((side, body))
        self.builder.add(made)
        sides = [side for side, _ in made.sides]
        for d, pending in enumerate(frame.pending):
            touched = dict.fromkeys(n for s in sides for n in s.pending[d] if n not in s.defines)
            for number in touched:
                both = [s.get(d, number) or ABSENT for s in sides]
                type_ = self.deltas.type(d, self.deltas.types[number])
                pending[number] = self.joined(made, both, type_)
        renamed = {n: v for s in sides for n, (v, _) in s.names.items() if n not in s.defines}
        for v in renamed.values():
            for each in sides:
                if v.number not in each.names:
                    each.rename(v, frame.name(v))
            frame.rename(v, partial(self.named, made, v))

    def live(self, i: If | Loop, given: Sequence[Sequence[Delta | None]]) -> list[int]:
        """Return the directions with a cotangent for the instruction's targets or for values that
        it pushes.
        """
        inside = [j for block in blocks(i) for j in instructions(block.body)]
        pushes = [j for j in inside if isinstance(j, Push)]
        return [
            d
            for d, active in enumerate(self.active)
            if any(deltas[d] is not None for deltas in given)
            or any(active.of_stack(j) for j in pushes)
        ]

    def handed(self, d: int, x: Operand, delta: Delta, inner: Inner) -> None:
        """Pass the cotangent of a name to the value that it names at the end of a block.

        With identity numbers, a value from outside the block already has all of its cotangents.
        """
        assert isinstance(x, Value)
        if not self.is_told:
            inner.merge(d, x, delta)
        elif x.number in inner.defines:
            inner.add(d, x, delta)

    def joined(self, made: _Branch, both: Sequence[Delta], type: str) -> Delta:
        """Merge the deltas of the two sides of a branch."""
        then, orelse = (self.deltas.as_type(x, type) for x in both)
        value = self.target(made, type, then.value, orelse.value)
        absent = then.absent
        if isinstance(absent, Value) or absent is not orelse.absent:
            absent = self.target(made, "bool", absent, orelse.absent)
            self.deltas.flags.add(absent.number)
        return Delta(value, absent, max(then.terms, orelse.terms))

    def named(self, made: _Branch, v: Value) -> Operand:
        """Return, after a branch, a value that has another name on each side."""
        then, orelse = (side.read(v) for side, _ in made.sides)
        return self.target(made, v.type, then, orelse)

    def target(self, made: _Branch, type: str, then: Operand, orelse: Operand) -> Value:
        """Add a target to a branch."""
        made.targets.append(self.builder.value(type))
        made.results.append((then, orelse))
        return made.targets[-1]

    def loop(self, i: Loop, frame: Frame) -> None:
        given = [self.take(frame, t) for t in i.targets]
        live = self.live(i, given)
        if not live:
            return
        turn = Turn(frame, i)
        self.frames[id(i.body)] = turn
        going: list[tuple[int, int, Going]] = []
        with self.builder.block() as body:
            for k, x in enumerate(i.body.results[1:]):
                for d in live:
                    if i.targets[k] not in self.active[d] and i.params[k] not in self.active[d]:
                        continue
                    type_ = self.deltas.type(d, i.targets[k].type)
                    delta, carried = turn.carry_delta(given[k][d] or ABSENT, type_)
                    going.append((d, k, carried))
                    self.belongs(delta.value, i.params[k])
                    if x in self.active[d]:
                        self.handed(d, x, delta, turn)
            self.reverse(i.body, turn)
            for d, k, carried in going:
                _then(carried, turn.take(d, i.params[k]) or ABSENT)
            for d, number, carried in turn.sums:
                _then(carried, turn.pending[d][number])
                for same in (carried[0].param, carried[0].target):
                    self.cotangents.setdefault(same.number, number)
            left = turn.carry(frame.read(i.turns), "int")
            before = ops.sub(self.builder.known(left.param), 1)
            left.then = operand(before)
            again = operand(ops.gt(before, 0))
        self.builder.span = i.span
        self.builder.add(_Turns(i.span, turn, body, again, self.builder.value("int")))
        for d, number, carried in turn.sums:
            frame.pending[d][number] = _final(carried)
        for d, k, carried in going:
            x = i.initial[k]
            if x in self.active[d] and not self.is_told:
                frame.merge(d, x, _final(carried))
        for k, x in enumerate(i.initial):
            if isinstance(x, Value) and x in frame.recorded:
                frame.rename(x, partial(_first, turn, k))

    def pop(self, i: Pop, frame: Frame) -> None:
        taken = [self.take(frame, t) for t in i.targets]
        places = [(d, k) for d, active in enumerate(self.active) for k in active.of_stack(i)]
        if places:
            found = [taken[k][d] or ABSENT for d, k in places]
            types = [self.deltas.type(d, i.targets[k].type) for d, k in places]
            values = self.deltas.parts(found, types)
            self.builder.add(Push(i.span, self.mirror(i.stack), values))

    def push(self, i: Push, frame: Frame) -> None:
        made, targets = [], list[Value]()
        for d, active in enumerate(self.active):
            for k in active.of_stack(i):
                delta, values = self.deltas.new(self.deltas.type(d, type_of(i.values[k])))
                made.append((d, k, delta))
                targets += values
        if made:
            self.builder.add(Pop(i.span, self.mirror(i.stack), tuple(targets)))
        for d, k, delta in made:
            if i.values[k] in self.active[d]:
                frame.merge(d, i.values[k], delta)

    def mirror(self, stack: int) -> int:
        """Return the stack for the cotangents of the values on a stack of the program."""
        if stack not in self.stacks:
            self.stacks[stack] = self.new_stack()
        return self.stacks[stack]

    def new_stack(self) -> int:
        self.next_stack += 1
        return self.next_stack - 1

    # --- putting the program together ----------------------------------------------------

    def forward(self, body: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """Return the program's instructions, with pushes of the values that the backward pass
        reads.
        """
        return tuple([with_blocks(i, self.ended) for i in body])

    def ended(self, block: Block) -> Block:
        body = self.forward(block.body)
        frame = self.frames.get(id(block))
        if frame is not None and frame.kept:
            span = self.builder.span
            values = tuple([v for v, _ in frame.kept.values()])
            body = (*body, Push(span, self.of_frame(frame), values))
        return Block(body, block.results)

    def finished(self, body: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """Return the finished instructions of the backward pass."""
        return tuple([self.made(i) for i in body])

    def made(self, i: Instruction) -> Instruction:
        match i:
            case _Branch():
                sides = [
                    Block(self.begun(frame, body), tuple([pair[k] for pair in i.results]))
                    for k, (frame, body) in enumerate(i.sides)
                ]
                return If(i.span, tuple(i.targets), i.test, *sides)
            case _Turns():
                carried = i.turn.carried
                return Loop(
                    i.span,
                    tuple([c.target for c in carried]),
                    i.turns,
                    tuple([c.param for c in carried]),
                    tuple([c.initial for c in carried]),
                    Block(self.begun(i.turn, i.body), (i.again, *[c.then for c in carried])),
                )
        return i

    def begun(self, frame: Inner, body: Sequence[Instruction]) -> tuple[Instruction, ...]:
        made = self.finished(body)
        if not frame.kept:
            return made
        targets = tuple([popped for _, popped in frame.kept.values()])
        return (Pop(self.builder.span, self.of_frame(frame), targets), *made)

    def of_frame(self, frame: Inner) -> int:
        if frame.stack is None:
            frame.stack = self.new_stack()
        return frame.stack


def _then(carried: Going, delta: Delta) -> None:
    """Set the cotangent that goes on to the next reverse turn."""
    for each, part in zip(carried, delta.parts, strict=True):
        each.then = part


def _final(carried: Going) -> Delta:
    value, absent = carried
    return Delta(value.target, absent.target, MANY)


def _first(turn: Turn, k: int) -> Value:
    """Return the initial value of a param, after the reverse of its loop."""
    return turn.last(k).target
