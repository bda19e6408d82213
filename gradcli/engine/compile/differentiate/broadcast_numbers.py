"""Finds numbers broadcast to tensors whose cotangents scalarized code would add in another order.

A rule that reads such a number broadcasts it again, and the interpreter adds the cotangents of each
use by itself. Scalarized code would add them element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.typed import Do, Program, Value
from gradcli.engine.compile.walk import instructions
from gradcli.engine.ops.catalog import ops

REASON = "a number beside a tensor is differentiated twice by reverse mode"


def is_read_again(program: Program, again: Sequence[Value]) -> bool:
    """True if a rule reads such a number and the number depends on the given values."""
    moving = Flow(program).moving(again)
    spread: set[int] = set()
    for i in instructions(program.block.body):
        if not isinstance(i, Do):
            continue
        numbers = [a.number if isinstance(a, Value) else None for a in i.args]
        if i.op == ops.spread.name:
            if i.args[0] in moving:
                spread.add(i.target.number)
        elif spread.isdisjoint(numbers):
            continue
        elif i.op == ops.passed.name:
            spread.add(i.target.number)
        elif _reads(i, [number in spread for number in numbers]):
            return True
    return False


def _reads(i: Do, asked: Sequence[bool]) -> bool:
    """True if a rule of the op reads one of the marked arguments."""
    op = ops[i.op]
    return op.variadic or any(
        kept and is_asked
        for row in op.tape.reads
        for kept, is_asked in zip(row, asked, strict=False)
    )
