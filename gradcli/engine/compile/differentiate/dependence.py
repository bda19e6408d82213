"""Extends a typed program by flags: does each result depend on the given values? On a branching
path the program computes the answer at run time.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.differentiate.differentials import ABSENT, NOTHING, Delta
from gradcli.engine.compile.differentiate.tangent import Forward
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.typed import Block, Do, DoSeveral, Program, Ruled, Value


def told(program: Program, sources: Sequence[Value], width: int) -> Program:
    """Extend a program by a flag for each of its first results: true if it depends on no source.

    Args:
        program: The program.
        sources: The values in question.
        width: The number of results that get a flag.
    """
    return _Told(program, [sources], ()).told(width)


class _Told(Forward):
    """Follows which values have tangents, without computing these."""

    def told(self, width: int) -> Program:
        """Return the program with a flag for each of its first results: true if it has no
        tangent.
        """
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
