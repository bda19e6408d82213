"""Numbers beside tensors: a rule that reads one uses it beside a tensor anew, and cotangents are
added up for each use by itself. Element by element they come together in another order.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.passes.activity import Flow
from gradcli.engine.compile.typed import Do, Program, Value
from gradcli.engine.compile.walk import instructions
from gradcli.engine.ops.catalog import ops

REASON = "a number beside a tensor is differentiated twice by reverse mode"


def is_read_again(program: Program, again: Sequence[Value]) -> bool:
    """Whether rules read such a number that moves with some values."""
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
    """Whether a rule of an op reads one of some arguments."""
    op = ops[i.op]
    return op.variadic or any(
        kept and is_asked
        for row in op.tape.reads
        for kept, is_asked in zip(row, asked, strict=False)
    )
