"""Activity analysis: values that depend on the inputs of a derivative and lead to its output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gradcli.engine.compile.typed import (
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
    is_floating,
)
from gradcli.engine.compile.walk import instructions, renamed
from gradcli.engine.ops.catalog import ops

Place: TypeAlias = int | tuple[int, int]
"""The number of a value, or a stack and a place on it."""


class Activity:
    """A set of float values of a program and of places on its stacks."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = frozenset(places)

    def __contains__(self, x: object) -> bool:
        return isinstance(x, Value) and x.number in self._places

    def __and__(self, other: Activity) -> Activity:
        return Activity(self._places & other._places)

    def of_stack(self, i: Push | Pop) -> list[int]:
        """Return the places of a push or pop that are in the set."""
        count = len(i.values if isinstance(i, Push) else i.targets)
        return [k for k in range(count) if (i.stack, k) in self._places]


class Flow:
    """The dependences of a program through differentiable ops, as a graph."""

    def __init__(self, program: Program) -> None:
        self._behind: dict[Place, list[Place]] = {}
        self._before: dict[Place, list[Place]] = {}
        differentiable: dict[str, bool] = {}  # by op
        edges: Iterable[tuple[Place, Place]]
        for i in instructions(program.block.body):
            if isinstance(i, Do):  # most are
                smooth = differentiable.get(i.op)
                if smooth is None:
                    smooth = differentiable[i.op] = ops[i.op].differentiable
                edges = _of_do(i) if smooth else ()
            else:
                edges = _edges(i)
            for source, target in edges:
                self._behind.setdefault(source, []).append(target)
                self._before.setdefault(target, []).append(source)

    def moving(self, wrt: Iterable[Value]) -> Activity:
        """Return these values and everything that depends on them."""
        return _reached(self._behind, [v.number for v in wrt])

    def leading(self, results: Iterable[Operand]) -> Activity:
        """Return these values and everything that they depend on."""
        floats = [x.number for x in results if isinstance(x, Value) and is_floating(x.type)]
        return _reached(self._before, floats)


def go_through_rules(program: Program, points: Iterable[Value], results: Iterable[Operand]) -> bool:
    """True if a path from the points to the results passes one of the program's own rules."""
    flow = Flow(program)
    between = flow.moving(points) & flow.leading(results)
    return any(
        any(a in between for a in i.args) and any(t in between for t in i.targets)
        for i in instructions(program.block.body)
        if isinstance(i, Ruled)
    )


def _reached(edges: Mapping[Place, Sequence[Place]], start: Sequence[Place]) -> Activity:
    found, waiting = set(start), [*start]
    while waiting:
        for place in edges.get(waiting.pop(), ()):
            if place not in found:
                found.add(place)
                waiting.append(place)
    return Activity(found)


def _of_do(i: Do) -> list[tuple[Place, Place]]:
    """The dependences of the result of a differentiable op on its arguments."""
    to = i.target
    if not is_floating(to.type):
        return []
    return [(a.number, to.number) for a in i.args if type(a) is Value and is_floating(a.type)]


def _edges(i: Instruction) -> Iterator[tuple[Place, Place]]:
    """Yield each dependence of an instruction but a `Do` as a pair: source, target."""
    match i:
        case DoSeveral() if not ops[i.op].differentiable:
            return
        case DoSeveral() | Ruled():
            for target in i.targets:
                for a in i.args:
                    yield from _edge(a, target)
        case If() | Loop():
            for x, t in renamed(i):
                yield from _edge(x, t)
        case Push():
            for k, x in enumerate(i.values):
                if isinstance(x, Value) and is_floating(x.type):
                    yield x.number, (i.stack, k)
        case Pop():
            for k, t in enumerate(i.targets):
                if is_floating(t.type):
                    yield (i.stack, k), t.number


def _edge(x: Operand | None, target: Value) -> Iterator[tuple[int, int]]:
    if isinstance(x, Value) and is_floating(x.type) and is_floating(target.type):
        yield x.number, target.number
