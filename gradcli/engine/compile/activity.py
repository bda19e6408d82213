"""Which values of a typed program a derivative goes through: those that depend on what is
differentiated by, and those that lead to what is differentiated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
)
from gradcli.engine.ops.catalog import ops


class Activity:
    """Values of a program, by number, and the places of its stacks that hold such."""

    def __init__(self, values: Iterable[int]) -> None:
        self.values = set(values)
        self.stacks: dict[int, set[int]] = {}

    def __contains__(self, x: object) -> bool:
        return isinstance(x, Value) and x.number in self.values

    @property
    def size(self) -> int:
        """How much of the program it is."""
        return len(self.values) + sum(map(len, self.stacks.values()))

    def shared(self, other: Activity) -> Activity:
        """What is in both."""
        both = Activity(self.values & other.values)
        for stack in self.stacks.keys() & other.stacks.keys():
            both.stacks[stack] = self.stacks[stack] & other.stacks[stack]
        return both

    def places(self, i: Push | Pop) -> list[int]:
        """The places of an instruction's stack that hold such values."""
        return sorted(self.stacks.get(i.stack, ()))

    def add(self, x: Operand | None) -> None:
        """Take in an operand, if it is a float that is not known yet."""
        if isinstance(x, Value) and x.type == "float":
            self.values.add(x.number)

    def pass_on(self, sources: Sequence[Operand], targets: Sequence[Operand]) -> None:
        """Take in each target whose source is in."""
        for source, target in zip(sources, targets, strict=True):
            if source in self:
                self.add(target)

    def push(self, stack: int, values: Sequence[Operand]) -> None:
        """Take in the places of a stack where such values come to lie."""
        places = self.stacks.setdefault(stack, set())
        places.update(k for k, v in enumerate(values) if v in self)

    def pop(self, stack: int, targets: Sequence[Operand]) -> None:
        """Take in the values that come from such places of a stack."""
        for k in self.stacks.setdefault(stack, set()):
            self.add(targets[k])


def moving(program: Program, wrt: Iterable[Value]) -> Activity:
    """The values that depend on some by ops that have derivatives, with these."""
    found = Activity(v.number for v in wrt)
    size = -1
    while size != found.size:
        size = found.size
        _forward(program.block.body, found)
    return found


def leading(program: Program, results: Iterable[Operand]) -> Activity:
    """The values on which some depend by ops that have derivatives, with these."""
    found = Activity(())
    for x in results:
        found.add(x)
    size = -1
    while size != found.size:
        size = found.size
        _backward(program.block.body, found)
    return found


def _forward(body: Sequence[Instruction], found: Activity) -> None:
    for i in body:
        match i:
            case Do():
                if ops[i.op].differentiable and any(a in found for a in i.args):
                    found.add(i.target)
            case If():
                for side in (i.then, i.orelse):
                    _forward(side.body, found)
                    found.pass_on(side.results, i.targets)
            case Loop():
                found.pass_on(i.initial, i.params)
                _forward(i.body.body, found)
                found.pass_on(i.body.results[1:], i.params)
                found.pass_on(i.body.results[1:], i.targets)
            case Push():
                found.push(i.stack, i.values)
            case Pop():
                found.pop(i.stack, i.targets)


def _backward(body: Sequence[Instruction], found: Activity) -> None:
    for i in reversed(body):
        match i:
            case Do():
                if ops[i.op].differentiable and i.target in found:
                    for a in i.args:
                        found.add(a)
            case If():
                for side in (i.then, i.orelse):
                    _results(side, i.targets, found)
            case Loop():
                _turn(i, found)
            case Push():
                found.pop(i.stack, i.values)
            case Pop():
                found.push(i.stack, i.targets)


def _results(block: Block, targets: Sequence[Value], found: Activity) -> None:
    found.pass_on(targets, block.results)
    _backward(block.body, found)


def _turn(i: Loop, found: Activity) -> None:
    nexts = i.body.results[1:]
    found.pass_on(i.targets, nexts)
    found.pass_on(i.params, nexts)
    _backward(i.body.body, found)
    found.pass_on(i.params, i.initial)
