"""The last rewrites of a typed program. They come after differentiation, because derivatives of the
rewritten program would add up in another order.

Known inputs, such as unit directions, become constants. A product with one, a sum with negative
zero and a copy become their operand. Checks of results for nan are dropped: if a result is not
finite, the interpreter repeats the run in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gradcli.engine.compile.passes.simplify import Simple
from gradcli.engine.compile.typed import (
    Block,
    Do,
    Instruction,
    Leave,
    Operand,
    Program,
    Ruled,
    Value,
)
from gradcli.engine.compile.walk import read
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS

_NEUTRAL = {OPS["*", 2]: repr(1.0), OPS["+", 2]: repr(-0.0)}
"""For each op, the float that leaves every other operand unchanged, including the sign of zero."""


def final(program: Program, seeds: Sequence[float | None]) -> Program:
    """Return the program in its last form, which back ends turn into code.

    Args:
        program: The program.
        seeds: Values of its last inputs, which become constants; None leaves an input.
    """
    start = len(program.inputs) - len(seeds)
    values = zip(program.inputs[start:], seeds, strict=True)
    simple = _Simple({v.number: x for v, x in values if x is not None})
    inputs = tuple([v for v in program.inputs if v.number not in simple.known])
    found = simple.last(program)
    return Program(inputs, _unasked(found.block), found.texts)


_SAME = frozenset({ops.detached.name, ops.copied.name})
"""Ops that return their argument unchanged, unless it is of another type."""


class _Simple(Simple):
    def instruction(self, i: Instruction) -> Sequence[Instruction]:
        if isinstance(i, Do):
            if i.op in _SAME:
                (x,) = i.args
                if isinstance(x, Value) and i.target.type == x.type:
                    self.note(i.target, self._operand(x))
                    return ()
        elif isinstance(i, Ruled):
            for target, value in zip(i.targets, i.values, strict=True):
                self.note(target, value)
            return ()
        return super().instruction(i)

    def evaluated(self, i: Do, args: Sequence[Operand | None]) -> None:
        super().evaluated(i, args)
        neutral = _NEUTRAL.get(i.op)
        if neutral is not None and not i.params:
            for one, other in (args, args[::-1]):
                is_neutral = type(one) is float and repr(one) == neutral
                if is_neutral and isinstance(other, Value) and other.type == "float":
                    self.note(i.target, other)


def _unasked(block: Block) -> Block:
    """Return the block without the checks of its results for nan."""
    results = {x.number for x in block.results if isinstance(x, Value)}
    left = {i.when.number for i in block.body if isinstance(i, Leave) and isinstance(i.when, Value)}
    asked = set()
    for i in block.body:
        if isinstance(i, Do) and i.target.number in left and i.op == ops.isnan.name:
            (of,) = i.args
            if isinstance(of, Value) and of.number in results:
                asked.add(i.target.number)
    if not asked:
        return block
    reads = Counter([v.number for v in read(block) if v.number in asked])
    asked = {test for test in asked if reads[test] == 1}

    def stays(i: Instruction) -> bool:
        match i:
            case Do():
                return i.target.number not in asked
            case Leave(when=Value(number=number)):
                return number not in asked
        return True

    return Block(tuple([i for i in block.body if stays(i)]), block.results)
