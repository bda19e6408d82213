"""Liveness: the slots of a function that are read after each of its instructions before they are
written.

Source of the method: Aho, Lam, Sethi, Ullman, Compilers, 2nd edition, 9.2.5 (live variables).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from gradcli.ir import program as ir
from gradcli.ir import visit

Slots: TypeAlias = frozenset[int]
_NONE: Slots = frozenset()


class Liveness:
    """The live slots of one function, by the identity of an instruction.

    Fields:
        after: those after each instruction; for one that leaves a block, those at its target.
        heads: those at the head of each loop.
    """

    def __init__(self, function: ir.Function, at_end: Slots) -> None:
        captured = (f.captures for f in visit.functions_in(function.body))
        self._captured = _NONE.union(*captured)  # inner functions may read these at any time
        self.after: dict[int, Slots] = {}
        self.heads: dict[int, Slots] = {}
        self._block(function.body, at_end, _NONE, _NONE)

    def _block(self, body: ir.Body, out: Slots, breaks: Slots, continues: Slots) -> Slots:
        """Return the slots live before a block, from those after it."""
        for i in reversed(body):
            self.after[id(i)] = (
                breaks if type(i) is ir.Break else continues if type(i) is ir.Continue else out
            ) | self._captured
            out = self._before(i, out, breaks, continues)
        return out

    def _before(self, i: ir.Instruction, out: Slots, breaks: Slots, continues: Slots) -> Slots:
        """Return the slots live before an instruction."""
        read = _slots(visit.reads(i))
        if isinstance(i, (ir.Operator, ir.Apply, ir.Copy)):  # most are
            return out.difference((i.target,)) | read
        match i:
            case ir.Break():
                return breaks
            case ir.Continue():
                return continues
            case ir.Return():
                return read
            case ir.Branch() | ir.Choice():
                sides = [self._block(b, out, breaks, continues) for b in visit.blocks(i)]
                return (sides[0] | sides[1] | read) - _written(i)
            case ir.While():
                return self._turns(i, i.body, i.condition, out, out | read)
            case ir.For():
                return self._turns(i, i.body, [], out, out) | read
            case ir.Mode():
                return self._block(i.body, out, breaks, continues)
            case ir.Try():  # code has no handlers
                out = self._block(i.last, out, breaks, continues)
                out = self._block(i.orelse, out, breaks, continues)
                return self._block(i.body, out, breaks, continues)
        inner = _NONE.union(*(self._block(b, out, breaks, continues) for b in visit.blocks(i)))
        return (out - _written(i)) | inner | read

    def _turns(
        self, i: ir.Instruction, body: ir.Body, test: ir.Body, out: Slots, tested: Slots
    ) -> Slots:
        """Return the slots live at the head of a loop; `tested` are those after its test."""
        head: Slots = _NONE
        while True:
            inside = self._block(body, head, out, head) - _written(i)
            found = self._block(test, tested | inside, _NONE, _NONE)
            if found <= head:
                self.heads[id(i)] = head | self._captured
                return head
            head |= found


def _slots(found: Iterable[ir.Slot]) -> Slots:
    return frozenset(slot.index for slot in found)


def _written(i: ir.Instruction) -> Slots:
    return frozenset(visit.writes(i))
