"""Forward mode after a program: all tangent instructions follow the program's own.

The interpreter pushes tangents after the program has run. If the tangents are differentiated again,
this order makes the cotangents of both parts add up in the interpreter's order.

Each turn of a loop pushes its params and the values that it defines on stacks. A second loop
reverses those stacks. The loop of tangents pops the values that its turns read, and pushes them
again for the next direction. A value that one turn passes to the next has two names. The tangents
read the later one, so all cotangents that come from tangents are added before they reach the turn
that begins with the value.
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
    """Return a program that computes the tangents of its results after everything else, those of
    the first direction first.

    Args:
        program: The program.
        directions: For each direction, the values that have a tangent. These become further inputs.
        again: The values by which the tangents will be differentiated.

    Raises:
        NotCompilable: If a tangent passes nested loops, or a rule needs a value that is known only
            at run time.
    """
    return _Behind(program, directions, again).derived()


class _Behind(Forward):
    """Writes the tangents apart from the program, direction by direction."""

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
        """Return an instruction that makes its inner values available to the tangents after it.

        A branch gets a target for each value that it defines. The turns of a loop push theirs on
        stacks. A pushed value is read under the name of its pop, which is its latest one.
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
        """Return a loop whose turns push their params and the values that they define."""
        body = tuple(map(self.opened, i.body.body))
        if any(map(self.moves, instructions(body))):
            reason = "forward mode through a loop in a loop is differentiated again"
            raise NotCompilable(reason, i.span)
        own = tuple([v for j in body for v in defined(j)])
        passed = self.passed[i.turns.number] = _Passed(own, (self.stack(), self.stack()))
        block = Block((*body, *passed.left(i.span, i.params, own)), i.body.results)
        return Loop(i.span, i.targets, i.turns, i.params, i.initial, block)

    def moves(self, i: Instruction) -> bool:
        """True if tangents pass a loop."""
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
        """Write the tangents of a block. All of it reads the initial values of a loop under the
        names that the loop's first turn has pushed.
        """
        for i in reversed(body):
            if isinstance(i, Loop) and i.turns.number in self.passed:
                self.begun(i, self.passed[i.turns.number])
        self.body(body)

    def begun(self, i: Loop, passed: _Passed) -> None:
        """Reverse the stacks of a loop, so that its first turn comes first."""
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
        """Return a counter of remaining turns, whether another follows, and the counter after this
        one.
        """
        left = self.builder.value("int")
        before = ops.sub(self.builder.known(left), 1)
        return left, operand(ops.gt(before, 0)), operand(before)

    def fresh(self, values: Sequence[Value]) -> tuple[Value, ...]:
        """Return new names for values."""
        return tuple([self.builder.value(v.type) for v in values])

    def renamed(self, values: Sequence[Operand], names: Sequence[Value]) -> None:
        """Read values under these names from now on."""
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
        """Return the stack for the tangents of the values on a stack of the program."""
        key = self.directions.start, stack
        if key not in self.stacks:
            self.stacks[key] = self.stack()
        return self.stacks[key]


class _Passed:
    """A loop that tangents pass.

    Fields:
        own: the values that a turn defines.
        stacks: the stacks of the params of its turns and of the values that they define.
        turned: the same in reverse order, from which the turns of tangents pop.
    """

    __slots__ = ("own", "stacks", "turned")

    def __init__(self, own: tuple[Value, ...], stacks: tuple[int, int]) -> None:
        self.own = own
        self.stacks = stacks
        self.turned = stacks

    def left(
        self, span: Span, params: tuple[Value, ...], own: tuple[Value, ...]
    ) -> tuple[Instruction, ...]:
        """Return the pushes of the params of a turn and of the values that it defines."""
        turn, made = self.stacks
        return Push(span, turn, params), Push(span, made, own)
