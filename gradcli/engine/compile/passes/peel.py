"""Loop peeling: write the first turn of a loop before the loop.

In the first turn a param of a loop is a value from outside. If other code uses that value too, its
cotangents would come from both names alternately. In a peeled turn the two names are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.passes.activity import Activity, Flow
from gradcli.engine.compile.passes.simplify import ALL, tidy
from gradcli.engine.compile.typed import (
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Operand,
    Program,
    Push,
    Ruled,
    Value,
)
from gradcli.engine.compile.walk import Copier, Fresh, defined, is_straight, with_loops
from gradcli.engine.ops.catalog import ops


def peeled(program: Program, wrt: Sequence[Value], results: Sequence[Operand]) -> Program:
    """Peel each outermost loop that needs it for the order of its cotangents.

    Args:
        program: The program.
        wrt: The values to differentiate by.
        results: The differentiated values.
    """
    if is_straight(program):
        return program
    flow = Flow(program)
    shared = _Uses(program, flow.moving(wrt) & flow.leading(results), results).shared
    if not shared:
        return program
    fresh = Fresh(program)
    made = with_loops(program, lambda i: _peeled(i, fresh) if i.turns.number in shared else (i,))
    return tidy(made, ALL)


class _Found:
    """A loop, the time at which it begins, and the times of the code that runs instead of it."""

    def __init__(self, loop: Loop, at: int) -> None:
        self.loop = loop
        self.at = at
        self.instead: list[range] = []


class _Uses:
    """The uses of active values, in program order.

    Fields:
        shared: the loops, by the number of `turns`, with an initial value that is also used inside
            or after the loop.
    """

    def __init__(self, program: Program, active: Activity, results: Sequence[Operand]) -> None:
        self._active = active
        self._time = 0
        self._uses: dict[int, list[int]] = {}
        self._loops: list[_Found] = []
        self._block(program.block, outermost=True)
        self._used(results, results)
        self.shared = {found.loop.turns.number for found in self._loops if self._is(found)}

    def _used(self, sources: Sequence[Operand | None], targets: Sequence[Operand]) -> None:
        """Record a use of each active source whose target is active."""
        self._time += 1
        for x, target in zip(sources, targets, strict=True):
            if isinstance(x, Value) and x in self._active and target in self._active:
                self._uses.setdefault(x.number, []).append(self._time)

    def _block(self, block: Block, outermost: bool) -> None:
        for i in block.body:
            match i:
                case Do():
                    self._used(i.args, [i.target] * len(i.args))
                case DoSeveral() | Ruled():
                    for target in i.targets:
                        self._used(i.args, [target] * len(i.args))
                case If():
                    before = len(self._loops)
                    self._side(i, i.then, outermost)
                    inside, began = self._loops[before:], self._time
                    self._side(i, i.orelse, outermost)
                    for found in inside:
                        found.instead.append(range(began + 1, self._time + 1))
                case Loop():
                    self._used(i.initial, i.params)
                    if outermost:
                        self._loops.append(_Found(i, self._time))
                    self._block(i.body, outermost=False)
                    self._used(i.body.results[1:], i.params)
                case Push():
                    self._used(i.values, i.values)

    def _side(self, i: If, side: Block, outermost: bool) -> None:
        self._block(side, outermost)
        self._used(side.results, i.targets)

    def _is(self, found: _Found) -> bool:
        """True if an initial value of a loop has another use, inside or after it, and its param
        changes in the next turn.
        """
        loop, at = found.loop, found.at
        inside = {v.number for i in loop.body.body for v in defined(i)}
        for x, param, then in zip(loop.initial, loop.params, loop.body.results[1:], strict=True):
            uses = self._uses.get(x.number, []) if isinstance(x, Value) else []
            if at not in uses or param not in self._active:
                continue
            changes = isinstance(then, Value) and then.number in inside
            later = [t for t in uses if t > at and not any(t in span for span in found.instead)]
            if changes and (uses.count(at) > 1 or later):
                return True
        return False


def _peeled(i: Loop, fresh: Fresh) -> Sequence[Instruction]:
    """Return the first turn of a loop, and behind it the loop of the others, if there are any."""
    names: dict[int, Operand] = {p.number: x for p, x in zip(i.params, i.initial, strict=True)}
    copier = Copier(names, fresh)
    first = copier.block(i.body)
    again, *nexts = first.results
    targets = tuple([fresh(t.type) for t in i.targets])
    turns, more = fresh("int"), fresh("int")
    rest = Loop(i.span, targets, turns, i.params, tuple(nexts), i.body)
    count = Do(i.span, more, ops.add.name, (turns, 1), ())
    then = Block((rest, count), (*targets, more))
    orelse = Block((), (*nexts, 1))
    return (*first.body, If(i.span, (*i.targets, i.turns), again, then, orelse))
