"""Repeat a run up to the op that recorded a node, and tell the state of the program there.

Only the place of the op in the program is observed: the rest of the run takes as long as ever.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.execution.observe import Ended, Moment, Observer, present
from gradcli.engine.tape.graph import Node, clock
from gradcli.ir import program as ir
from gradcli.ir.visit import all_functions, instructions
from gradcli.source import Source

_NEAR = 64
"""Nodes that an op at the place may record before; their states are noted in advance."""


def place_of(node: Node, program: ir.Program) -> ir.Instruction | None:
    """The instruction that recorded a node, if it is certain: an operation that calls no function
    of the program, and the only one at its place in the text.
    """
    if node.site is None:
        return None
    found = [
        i
        for function in all_functions(program.main)
        for i in instructions(function.body)
        if i.span == node.site.span
    ]
    only = found[0] if len(found) == 1 else None
    if isinstance(only, ir.Apply):
        return only if ops[only.op].host.call is None else None
    return only if isinstance(only, (ir.Operator, ir.Augment)) else None


class AtNode(Observer):
    """Ends the run when an instruction has recorded a node.

    Args:
        instruction: The instruction.
        count: The number of the node, counted from the beginning of a run.
        source: The program's text.

    Fields:
        found: The state of the program then; None if the node was recorded elsewhere.
    """

    def __init__(self, instruction: ir.Instruction, count: int, source: Source) -> None:
        super().__init__()
        self.found: Moment | None = None
        self._wanted = instruction
        self._until = count
        self._source = source

    def begin(self) -> None:
        self._until += clock()

    def _left(self) -> int:
        """The number of nodes until the one that is meant."""
        self._until += 1  # this call of the clock
        return self._until - clock()

    def observed(
        self, function: Callable[..., Any], instruction: ir.Instruction | None = None
    ) -> Callable[..., Any]:
        if instruction is not self._wanted:
            return function

        def call(run: Any, *args: Any) -> Any:
            finished = present(instruction, args, self._source) if self._left() < _NEAR else None
            out = function(run, *args)
            if self._left() <= 0:
                self.found = None if finished is None else finished(out)
                raise Ended
            return out

        return call
