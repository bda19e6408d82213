"""Bounds on the steps and the depth of calls of a run whose answer came from code.

Code counts the turns of its loops, but neither unrolled turns nor inlined calls. Each counted turn,
and the code around all loops, makes at most as many steps as the whole program has traced. A loop
does not count turns that were peeled off.
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
    """A bound on the effort of a run, by the number of turns that code has done.

    Fields:
        steps: the calls and turns of loops that were traced.
        depth: the greatest depth of calls.
        loops: the greatest depth of loops.
    """

    __slots__ = ("steps", "depth", "loops")
    steps: int
    depth: int
    loops: int

    def times(self, passes: int) -> Effort:
        """Return the bound for several passes that call functions of the program."""
        return Effort(self.steps * passes, self.depth, self.loops)

    def turns(self, limits: Limits) -> int | None:
        """Return the number of turns that are sure to stay within the limits: None if there is
        none, 2 ** 63 - 1 if any number is.
        """
        if self.depth > limits.depth:
            return None
        if limits.steps is None or not self.steps:
            return 2**63 - 1
        found = (limits.steps // self.steps - 1) // _BEFORE**self.loops - 1
        return found if found >= 0 else None


def nested(body: Sequence[Instruction]) -> int:
    """Return the greatest depth of loops."""
    found = 0
    for i in body:
        inside = [nested(block.body) for block in blocks(i)]
        found = max(found, max(inside, default=0) + (len(inside) == 1))
    return found
