"""How many steps and calls within each other a run can have had whose answer code has given.

Code counts the turns of its loops, not those that were done one by one, nor calls, which are
followed into. What stands in it is known, though: each turn, and what is around all loops, makes no
more steps than are traced in the whole program. Turns that stand before a loop, so that it can be
differentiated, are not counted by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.typed import Instruction
from gradcli.engine.compile.walk import blocks
from gradcli.limits import Limits
from gradcli.record import Record

_BEFORE = 4
"""Turns of one loop, to one that it counts."""


class Effort(Record):
    """What a run may take, at most, by the turns that code has done.

    Fields:
        steps: calls and turns of loops that were traced.
        depth: calls within each other.
        loops: loops within each other.
    """

    __slots__ = ("steps", "depth", "loops")
    steps: int
    depth: int
    loops: int

    def times(self, passes: int) -> Effort:
        """The same where so many passes call functions of the program."""
        return Effort(self.steps * passes, self.depth, self.loops)

    def turns(self, limits: Limits) -> int | None:
        """The turns that code may do so that a run keeps to the limits for certain: None if there
        are none, and 2 ** 63 - 1 if there may be any number.
        """
        if self.depth > limits.depth:
            return None
        if limits.steps is None or not self.steps:
            return 2**63 - 1
        found = (limits.steps // self.steps - 1) // _BEFORE**self.loops - 1
        return found if found >= 0 else None


def nested(body: Sequence[Instruction]) -> int:
    """How many loops are within each other."""
    found = 0
    for i in body:
        inside = [nested(block.body) for block in blocks(i)]
        found = max(found, max(inside, default=0) + (len(inside) == 1))
    return found
