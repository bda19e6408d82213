"""Whether what a typed program gives is made from some values, told by the program itself where
that depends on the path that it takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.differentiate.differentials import ABSENT, NOTHING, Delta
from gradcli.engine.compile.differentiate.tangent import Forward
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import Block, Do, DoSeveral, Program, Ruled, Value


def told(program: Program, sources: Sequence[Value], width: int) -> Program:
    """A program that tells of each of its first results, too, whether it is made from none of some
    values.
    """
    return _Told(program, [sources], ()).told(width)


class _Told(Forward):
    """Follows tangents that are there or not, without what they are."""

    def told(self, width: int) -> Program:
        """The program, and for each of its first results whether there is no tangent."""
        program = self.program
        with self.builder.block() as body:
            for v in program.inputs:
                self.seeded(v)
            self.body(program.block.body)
        results = program.block.results
        absent = [(self.of(0, x) or ABSENT).absent for x in results[:width]]
        block = Block(tuple(body), (*results, *absent))
        return tidy(Program(program.inputs, block, program.texts), self.first)

    def seeded(self, v: Value) -> None:
        if v.number in self.seeds[0]:
            self.dots[0][v.number] = Delta(NOTHING, False, 1)

    def do(self, i: Do) -> None:
        if i.target in self.moving:
            _, self.dots[0][i.target.number] = self.deltas.together([self.of(0, a) for a in i.args])

    def several(self, i: DoSeveral) -> None:
        _, by = self.deltas.together([self.of(0, a) for a in i.args])
        self.dots[0].update((t.number, by) for t in i.targets if t in self.moving)

    def ruled(self, i: Ruled) -> None:
        _, by = self.deltas.together([self.of(0, a) for a in i.args])
        self.dots[0].update((t.number, by) for t in i.targets)
