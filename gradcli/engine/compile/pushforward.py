"""Forward mode behind a program: tangents by instructions that follow all of its own, as the
interpreter finds them when the program has run. So cotangents that go back through both come
together in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.delta import Derived
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.compile.tangent import Forward
from gradcli.engine.compile.typed import (
    Block,
    Do,
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
        NotCompilable: If a tangent goes through a loop, or a rule asks for what is known only when
            the code runs.
    """
    return _Behind(program, directions, again).derived()


class _Behind(Forward):
    """Writes the tangents alone, one direction after the other."""

    def derived(self) -> Derived:
        program, builder = self.program, self.builder
        self.names: dict[int, Value] = {}
        self.put: dict[int, Sequence[Operand]] = {}
        self.stacks: dict[tuple[int, int], int] = {}
        every, own = self.directions, tuple(map(self.opened, program.block.body))
        with builder.block() as behind:
            for d in every:
                self.directions = range(d, d + 1)
                for v in program.inputs:
                    self.seeded(v)
                self.body(own)
        inputs = (*program.inputs, *(v for seeds in self.seeds for v in seeds.values()))
        made = Program(inputs, Block((*own, *behind), program.block.results), program.texts)
        return self.with_tangents(made, every)

    def opened(self, i: Instruction) -> Instruction:
        """An instruction; a branch gives all that is defined in it, so that it is there behind.
        What has been put on a stack is read as what came from it, which is its latest name.
        """
        match i:
            case Push():
                self.put[i.stack] = i.values
            case Pop():
                for x, target in zip(self.put.get(i.stack, ()), i.targets, strict=False):
                    if isinstance(x, Value):
                        self.names[x.number] = target
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

    def body(self, body: Sequence[Instruction]) -> None:
        for i in body:
            self.builder.span = i.span
            match i:
                case Do():
                    self.do(i)
                case Ruled():
                    self.ruled(i)
                case If():
                    self.branch(i)
                case Loop():
                    self.hold_still(i)
                case Push():
                    places = self.moving.of_stack(i)
                    found = self.found([i.values[k] for k in places])
                    values = self.parts(i.values, places, found)
                    self.builder.add(Push(i.span, self.mirror(i.stack), values))
                case Pop():
                    made = self.made([i.targets[k] for k in self.moving.of_stack(i)])
                    self.builder.add(Pop(i.span, self.mirror(i.stack), tuple(made)))
            for v in defined(i):
                self.seeded(v)

    def branch(self, i: If) -> None:
        moved = [k for k, t in enumerate(i.targets) if t in self.moving]
        sides = []
        for side in (i.then, i.orelse):
            with self.builder.block() as body:
                self.body(side.body)
            found = self.parts(i.targets, moved, self.found([side.results[k] for k in moved]))
            sides.append(Block(tuple(body), found))
        targets = tuple(self.made([i.targets[k] for k in moved]))
        self.builder.add(If(i.span, targets, self.there(i.test), *sides))

    def mirror(self, stack: int) -> int:
        """The stack of the tangents of what is put on another."""
        key = self.directions.start, stack
        if key not in self.stacks:
            self.stacks[key] = self.stack()
        return self.stacks[key]

    def hold_still(self, loop: Loop) -> None:
        """Hold a loop not to move."""
        inside = [loop, *instructions(loop.body.body)]
        stacks = (self.moving.of_stack(j) for j in inside if isinstance(j, (Push, Pop)))
        if any(stacks) or any(v in self.moving for j in inside for v in defined(j)):
            reason = "forward mode through a loop is differentiated again"
            raise NotCompilable(reason, loop.span)
