"""Forward mode behind a program: tangents by instructions that follow all of its own, as the
interpreter finds them when the program has run. So cotangents that go back through both come
together in its order.

The turns of a loop leave on stacks what they have begun with and what they define. A further loop
turns those stacks round; the loop of tangents takes from them what its turns read, and leaves it
again for the next direction. A value that a turn hands on to the next has two names, of which the
later one is read behind: so all that comes to it from tangents comes together before it goes on to
the turn that begins with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.differentiate.differentials import Derived
from gradcli.engine.compile.differentiate.tangent import Forward
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    NotCompilable,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    nothing,
)
from gradcli.engine.compile.walk import defined, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span


def pushforward(
    program: Program, directions: Sequence[Sequence[Value]], again: Sequence[Value]
) -> Derived:
    """A program with the tangents of its results behind all of it, those of the first direction
    first.

    Args:
        program: The program.
        directions: For each direction the values that have a tangent. These are further inputs.
        again: What the tangents will be differentiated by.

    Raises:
        NotCompilable: If a tangent goes through loops within each other, or a rule asks for what is
            known only when the code runs.
    """
    return _Behind(program, directions, again).derived()


class _Behind(Forward):
    """Writes the tangents alone, one direction after the other."""

    def derived(self) -> Derived:
        program, builder = self.program, self.builder
        self.names: dict[int, Value] = {}
        self.put: dict[int, Sequence[Operand]] = {}
        self.stacks: dict[tuple[int, int], int] = {}
        self.passed: dict[int, _Passed] = {}
        every, own = self.directions, tuple(map(self.opened, program.block.body))
        with builder.block() as behind:
            for d in every:
                self.directions = range(d, d + 1)
                for v in program.inputs:
                    self.seeded(v)
                self.block(own)
        inputs = (*program.inputs, *(v for seeds in self.seeds for v in seeds.values()))
        results = tuple(map(self.there, program.block.results))
        made = Program(inputs, Block((*own, *behind), results), program.texts)
        return self.with_tangents(made, every)

    def opened(self, i: Instruction) -> Instruction:
        """An instruction; a branch gives all that is defined in it, so that it is there behind, and
        the turns of a loop leave it on stacks. What has been put on a stack is read as what came
        from it, which is its latest name.
        """
        match i:
            case Push():
                self.put[i.stack] = i.values
            case Pop():
                for x, target in zip(self.put.get(i.stack, ()), i.targets, strict=False):
                    if isinstance(x, Value):
                        self.names[x.number] = target
            case Loop() if self.moves(i):
                return self.left(i)
        if not isinstance(i, If):
            return i
        sides = i.then, i.orelse
        bodies = [tuple(map(self.opened, side.body)) for side in sides]
        targets, results = [*i.targets], [[*side.results] for side in sides]
        for k, (side, body) in enumerate(zip(sides, bodies, strict=True)):
            pairs = zip(side.results, i.targets, strict=True)
            given = {x.number: t for x, t in pairs if isinstance(x, Value)}
            for v in [v for j in body for v in defined(j)]:
                if v.number not in given:
                    given[v.number] = self.builder.value(v.type)
                    targets.append(given[v.number])
                    results[k].append(v)
                    results[1 - k].append(nothing(v.type))
                self.names[v.number] = given[v.number]
        blocks = [Block(b, tuple(r)) for b, r in zip(bodies, results, strict=True)]
        return If(i.span, tuple(targets), i.test, *blocks)

    def left(self, i: Loop) -> Loop:
        """A loop whose turns leave what they read and define."""
        body = tuple(map(self.opened, i.body.body))
        if any(map(self.moves, instructions(body))):
            reason = "forward mode through a loop in a loop is differentiated again"
            raise NotCompilable(reason, i.span)
        own = tuple([v for j in body for v in defined(j)])
        passed = self.passed[i.turns.number] = _Passed(own, (self.stack(), self.stack()))
        block = Block((*body, *passed.left(i.span, i.params, own)), i.body.results)
        return Loop(i.span, i.targets, i.turns, i.params, i.initial, block)

    def moves(self, i: Instruction) -> bool:
        """Whether tangents go through a loop."""
        if not isinstance(i, Loop):
            return False
        inside = [i, *instructions(i.body.body)]
        if any(self.moving.of_stack(j) for j in inside if isinstance(j, (Push, Pop))):
            reason = "forward mode through a pass back through a loop is differentiated again"
            raise NotCompilable(reason, i.span)
        moving = (v for j in inside for v in (*defined(j), *(j.params if j is i else ())))
        return any(v in self.moving for v in moving)

    def there(self, x: Operand) -> Operand:
        while isinstance(x, Value) and x.number in self.names:
            x = self.names[x.number]
        return x

    def read(self, x: Operand | None) -> Any:
        if not isinstance(x, Value):
            return x
        there = self.there(x)
        assert isinstance(there, Value)
        return Symbol(there, self.builder, x in self.recorded)

    def block(self, body: Sequence[Instruction]) -> None:
        """Write the tangents of a block. What a loop of it begins with is read in all of it as what
        its first turn has left.
        """
        for i in reversed(body):
            if isinstance(i, Loop) and i.turns.number in self.passed:
                self.begun(i, self.passed[i.turns.number])
        self.body(body)

    def begun(self, i: Loop, passed: _Passed) -> None:
        """Turn round what the turns have left: the first comes first."""
        passed.turned = self.stack(), self.stack()
        builder, turns = self.builder, self.there(i.turns)
        params, own = self.fresh(i.params), self.fresh(passed.own)
        builder.add(Push(i.span, passed.turned[0], tuple(map(self.there, i.targets))))
        with builder.block() as body:
            for pop, push, values in zip(passed.stacks, passed.turned, (params, own), strict=True):
                builder.add(Pop(i.span, pop, values))
                builder.add(Push(i.span, push, values))
            left, again, before = self.counted()
        builder.add(
            Loop(
                i.span,
                (builder.value("int"),),
                builder.value("int"),
                (left,),
                (turns,),
                Block(tuple(body), (again, before)),
            )
        )
        first = self.fresh(i.params)
        builder.add(Pop(i.span, passed.turned[0], first))
        self.renamed(i.initial, first)

    def counted(self) -> tuple[Value, Operand, Operand]:
        """How many turns are left, whether there is another, and how many are left then."""
        left = self.builder.value("int")
        before = ops.sub(self.builder.known(left), 1)
        return left, operand(ops.gt(before, 0)), operand(before)

    def fresh(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """New names for values."""
        return tuple([self.builder.value(v.type) for v in values])

    def renamed(self, values: Sequence[Operand], names: Sequence[Value]) -> None:
        """Let values be read under these names from now on."""
        for x, name in zip(reversed(values), reversed(names), strict=True):
            if isinstance(x, Value):
                self.names[x.number] = name

    def body(self, body: Sequence[Instruction]) -> None:
        for i in body:
            self.builder.span = i.span
            match i:
                case Do():
                    self.do(i)
                case DoSeveral():
                    self.several(i)
                case Ruled():
                    self.ruled(i)
                case If():
                    self.branch(i)
                case Loop() if i.turns.number in self.passed:
                    self.loop(i)
                case Push() if places := self.moving.of_stack(i):
                    found = self.found([i.values[k] for k in places])
                    values = self.parts(i.values, places, found)
                    self.builder.add(Push(i.span, self.mirror(i.stack), values))
                case Pop() if places := self.moving.of_stack(i):
                    made = self.made([i.targets[k] for k in places])
                    self.builder.add(Pop(i.span, self.mirror(i.stack), tuple(made)))
            for v in defined(i):
                self.seeded(v)

    def branch(self, i: If) -> None:
        moved = [k for k, t in enumerate(i.targets) if t in self.moving]
        sides = []
        for side in (i.then, i.orelse):
            outside = dict(self.names)
            with self.builder.block() as body:
                self.block(side.body)
            found = self.parts(i.targets, moved, self.found([side.results[k] for k in moved]))
            sides.append(Block(tuple(body), found))
            self.names = outside
        targets = tuple(self.made([i.targets[k] for k in moved]))
        self.builder.add(If(i.span, targets, self.there(i.test), *sides))

    def loop(self, i: Loop) -> None:
        passed, builder = self.passed[i.turns.number], self.builder
        moved = [k for k, p in enumerate(i.params) if p in self.moving]
        dots = self.parts(i.params, moved, self.found([i.initial[k] for k in moved]))
        dot_params = self.made([i.params[k] for k in moved])
        params, own, then = self.fresh(i.params), self.fresh(passed.own), self.fresh(i.params)
        initial = tuple(map(self.there, i.initial))
        with builder.block() as body:
            builder.add(Pop(i.span, passed.turned[1], own))
            builder.add(Pop(i.span, passed.turned[0], then))
            self.renamed(i.params, params)
            self.renamed(passed.own, own)
            self.renamed([x if x in passed.own else 0 for x in i.body.results[1:]], then)
            self.body(i.body.body)
            found = self.parts(i.params, moved, self.found([i.body.results[k + 1] for k in moved]))
            if self.directions.stop < len(self.seeds):
                passed.stacks = self.stack(), self.stack()
                for push in passed.left(i.span, params, own):
                    builder.add(push)
            left, again, before = self.counted()
        targets = self.fresh(i.targets)
        self.renamed(i.targets, targets)
        dot_targets = self.made([i.targets[k] for k in moved])
        builder.add(
            Loop(
                i.span,
                (*dot_targets, *targets, builder.value("int")),
                builder.value("int"),
                (*dot_params, *params, left),
                (*dots, *initial, self.there(i.turns)),
                Block(tuple(body), (again, *found, *then, before)),
            )
        )

    def mirror(self, stack: int) -> int:
        """The stack of the tangents of what is put on another."""
        key = self.directions.start, stack
        if key not in self.stacks:
            self.stacks[key] = self.stack()
        return self.stacks[key]


class _Passed:
    """A loop that tangents go through.

    Fields:
        own: what a turn of it defines.
        stacks: those on which its turns have left their params, and what they define.
        turned: those from which turns of tangents take them, the first turn first.
    """

    __slots__ = ("own", "stacks", "turned")

    def __init__(self, own: tuple[Value, ...], stacks: tuple[int, int]) -> None:
        self.own = own
        self.stacks = stacks
        self.turned = stacks

    def left(
        self, span: Span, params: tuple[Value, ...], own: tuple[Value, ...]
    ) -> tuple[Instruction, ...]:
        """What leaves the params of a turn, and what it defines."""
        turn, made = self.stacks
        return Push(span, turn, params), Push(span, made, own)
