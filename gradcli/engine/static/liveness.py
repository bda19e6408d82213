"""Find the names that a program takes or assigns and never reads: live variables, from the end.

Source of the method: Aho, Lam, Sethi, Ullman, Compilers, 2nd edition, 9.2.5 (live variables).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import TypeAlias

from gradcli.errors import Diagnostic
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source, Span

Slots: TypeAlias = Set[int]
_NONE: Slots = frozenset()
_ASSIGNMENTS = (
    *(ir.Copy, ir.Operator, ir.Apply, ir.Inplace, ir.CallBuiltin),
    *(ir.Call, ir.Method, ir.SpreadCall, ir.SpreadMethod, ir.Build, ir.GetAttribute),
)


def unread(program: ir.Program, source: Source, result: ir.Operand | None) -> list[Diagnostic]:
    """A warning for each input that is never read, and for each assignment whose value is not. A
    program without a result gives all its top-level names, so that their last values are read.
    """
    top = frozenset(program.names.values())
    at_end = top if result is None else _read((result,))
    search = _Search()
    search.function(program.main, at_end)
    inputs = {i.target: i for i in program.inputs}
    search.read |= {i.target for i in program.inputs if i.name in _sizes(program)}
    found = []
    for slot, name in program.variables.items():
        if name.startswith("_"):
            continue
        dead = [i for i in search.assignments.get(slot, {}).values() if id(i) not in search.live]
        if slot in search.read:
            text = f"nothing reads the value that `{name}` gets here"
            found += [_warn("unused-name", text, source, i.span) for i in dead]
        elif slot in search.updated and not dead:
            made = list(search.assignments.get(slot, {}).values())
            if all(isinstance(i, ir.Copy) and isinstance(i.value, ir.Const) for i in made):
                text = f"`{name}` is updated and never read"
                found += [_warn("unused-name", text, source, i.span) for i in made[-1:]]
        elif slot in inputs and inputs[slot].kind != "constant":
            text = f"the input `{name}` is never read"
            found.append(_warn("unused-input", text, source, inputs[slot].span))
        elif slot in inputs or dead:
            first = inputs.get(slot) or min(dead, key=lambda i: i.span.start)
            text = f"`{name}` is assigned and never read"
            found.append(_warn("unused-name", text, source, first.span))
    return found


def _sizes(program: ir.Program) -> set[object]:
    """The names of sizes in the types of inputs."""
    return {size for i in program.inputs if i.type is not None for size in i.type[1] or ()}


def _warn(code: str, message: str, source: Source, span: Span) -> Diagnostic:
    return Diagnostic(code, message, source, span, severity="warning")


class _Search:
    """One search. `assignments` are those to each slot, by their identity, `live` the identities of
    those whose value may be read, `read` the slots that are read at all but for being `updated`, as
    in `s += x`.
    """

    def __init__(self) -> None:
        self.assignments: dict[int, dict[int, ir.Instruction]] = {}
        self.live: set[int] = set()
        self.read: set[int] = set()
        self.updated: set[int] = set()
        self._heads: dict[int, Slots] = {}  # of loops, by their identity
        self._at_end: Slots = _NONE
        self._captured: Slots = _NONE  # slots that inner functions read

    def function(self, function: ir.Function, at_end: Slots) -> None:
        """Analyse a function at whose end these slots are read."""
        inner = list(visit.functions_in(function.body))
        outer = self._captured
        self._captured = frozenset().union(*map(_read_in, inner))
        self.read |= at_end
        self._at_end = at_end
        self._block(function.body, at_end, _NONE, _NONE)
        for f in inner:
            self.function(f, visit.written_around(f))
        self._captured = outer

    def _block(
        self, body: Sequence[ir.Instruction], after: Slots, at_break: Slots, at_next: Slots
    ) -> set[int]:
        """The slots live before a block, from those live behind it and where `break` and
        `continue` lead.
        """
        live = set(after)
        for i in reversed(body):
            live = self._before(i, live, at_break, at_next)
        return live

    def _before(
        self, i: ir.Instruction, live: set[int], at_break: Slots, at_next: Slots
    ) -> set[int]:
        """The slots live before an instruction, from those live after it, which may be changed."""
        if isinstance(i, _ASSIGNMENTS):  # most are
            self.assignments.setdefault(i.target, {})[id(i)] = i
            if i.target in live or i.target in self._captured:
                self.live.add(id(i))
            if not isinstance(i, ir.Augment):
                live.discard(i.target)
                return self._reading(live, visit.operands(i))
        match i:
            case ir.Branch() | ir.Choice():
                live.difference_update(visit.writes(i))
                then = self._block(i.then, live, at_break, at_next)
                then |= self._block(i.orelse, live, at_break, at_next)
                return self._reading(then, (i.test,))
            case ir.Watch():  # not part of the computation
                return live
            case ir.While():

                def turn(head: Slots) -> Slots:
                    body = live | self._block(i.body, head, live, head)
                    return self._block(i.condition, self._reading(body, (i.test,)), live, head)

                return set(self._settled(i, turn, live))
            case ir.For():

                def around(head: Slots) -> Slots:
                    return live | (self._block(i.body, head, live, head) - {i.target})

                return self._reading(set(self._settled(i, around, live)), (i.iterable,))
            case ir.Break():
                return set(at_break)
            case ir.Continue():
                return set(at_next)
            case ir.Return():
                return self._reading(set(self._at_end), (i.value,))
            case ir.Try():
                return self._attempt(i, live, at_break, at_next)
            case ir.Raise():
                return self._reading(set(), (i.value,))
            case ir.Mode():
                return self._block(i.body, live, at_break, at_next)
            case ir.Assert():
                live |= self._block(i.body, self._reading(set(), (i.message,)), _NONE, _NONE)
                return self._reading(live, (i.test,))
            case ir.Input():
                live.difference_update(visit.writes(i))
                return self._block(i.body, self._reading(live, (i.default,)), _NONE, _NONE)
            case ir.Augment() if isinstance(i.receiver, ir.Slot) and i.receiver.index == i.target:
                self.updated.add(i.target)
                self._reading(live, (i.value,)).add(i.target)
                return live
            case ir.Define() | ir.DefineRule():
                for function in visit.functions(i):
                    found = _read_in(function)
                    self.read |= found
                    live |= found
                return self._reading(live, visit.operands(i))
        live.difference_update(visit.writes(i))
        return self._reading(live, visit.operands(i))

    def _attempt(self, i: ir.Try, live: set[int], at_break: Slots, at_next: Slots) -> set[int]:
        """The slots live before a `try`: those that its handlers or its `finally` read may be read
        from anywhere in it.
        """
        behind = self._block(i.last, live, at_break, at_next) if i.last else live
        caught: set[int] = set()
        for handler in i.handlers:
            inside = self._block(handler.body, behind, at_break, at_next) - {handler.target}
            caught |= self._block(
                handler.test, self._reading(inside, (handler.type,)), _NONE, _NONE
            )
        outer, self._captured = self._captured, self._captured | caught | behind
        around = (at_break | behind, at_next | behind) if i.last else (at_break, at_next)
        after = self._block(i.orelse, behind, *around)
        before = self._block(i.body, after, *around)
        self._captured = outer
        return before | caught | behind

    def _settled(self, loop: ir.Instruction, turn: Callable[[Slots], Slots], start: Slots) -> Slots:
        """The slots live at the head of a loop, by fixed-point iteration. More and more slots are
        live behind an inner loop, so that it goes on from what it found last.
        """
        head = self._heads.get(id(loop))
        if head is None:
            head = turn(start)
        while (again := turn(head)) != head:
            head = again
        self._heads[id(loop)] = head
        return head

    def _reading(self, live: set[int], operands: Iterable[ir.Operand | None]) -> set[int]:
        """The live slots and those that are read here."""
        for operand in operands:
            if isinstance(operand, ir.Slot):
                live.add(operand.index)
                self.read.add(operand.index)
        return live


def _read(operands: Iterable[ir.Operand | None]) -> Slots:
    """The slots among operands."""
    return frozenset(operand.index for operand in operands if isinstance(operand, ir.Slot))


def _read_in(function: ir.Function) -> Slots:
    """The slots that are read anywhere in a function, by those in it, too."""
    return frozenset(
        slot.index
        for inner in visit.all_functions(function)
        for i in visit.instructions(inner.body)
        for slot in visit.reads(i)
    )
