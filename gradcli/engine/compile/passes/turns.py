"""Turns of loops and lengths of stacks, as far as they are known before a run."""

from __future__ import annotations

from collections import Counter

from gradcli.engine.compile.typed import (
    Block,
    Do,
    Loop,
    Pop,
    Program,
    Push,
    Value,
    bytes_of,
    type_of,
)
from gradcli.engine.compile.walk import blocks, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS

WORD = 8
"""Bytes of a number on a stack."""


def turns(loop: Loop) -> int | None:
    """Return the number of turns of a loop over a known range; None if it is not known."""
    made = {i.target.number: i for i in loop.body.body if isinstance(i, Do)}
    again = loop.body.results[0]
    test = made.get(again.number) if isinstance(again, Value) else None
    is_count = test is not None and test.op in (ops.lt.name, ops.gt.name)
    if test is None or not is_count or type(test.args[1]) is not int:
        return None
    (following, stop) = test.args[:2]
    for param, first, then in zip(loop.params, loop.initial, loop.body.results[1:], strict=True):
        step = made.get(then.number) if isinstance(then, Value) else None
        if step is None or then != following or type(first) is not int:
            continue
        by = step.args[1] if step.op == OPS["+", 2] and step.args[0] == param else None
        if type(by) is int and by and (by > 0) == (test.op == ops.lt.name):
            assert type(stop) is int
            return max(-(-(stop - first) // by), 1)
    return None


def bytes_kept(loop: Loop) -> int:
    """Return about the bytes that a turn keeps: loops inside count with one turn if theirs are
    unknown.
    """
    found = 0
    for i in loop.body.body:
        for j in instructions((i,)) if not isinstance(i, Loop) else ():
            if isinstance(j, Push):
                found += sum(max(bytes_of(type_of(x)), WORD) for x in j.values)
        if isinstance(i, Loop):
            found += (turns(i) or 1) * bytes_kept(i)
    return found


def least_turns(program: Program) -> int:
    """Return a number of turns that each run takes at least."""

    def of(block: Block) -> int:
        loops = [i for i in block.body if isinstance(i, Loop)]
        return sum((turns(i) or 1) * (1 + of(i.body)) for i in loops)

    return of(program.block)


def entries(program: Program) -> dict[int, int]:
    """Return how many times a program pushes on each stack. Stacks of which that is not known are
    left out, and those that a loop both pushes on and pops from: they are shorter.
    """
    found: Counter[int] = Counter()
    unknown: set[int] = set()

    def count(block: Block, times: int | None) -> None:
        for i in block.body:
            inside = None
            if isinstance(i, Push) and times is None:
                unknown.add(i.stack)
            elif isinstance(i, Push):
                found[i.stack] += times or 0
            elif isinstance(i, Loop):
                each = turns(i)
                inside = None if times is None or each is None else times * each
                unknown.update(_stacks(i, Push) & _stacks(i, Pop))
            for inner in blocks(i):
                count(inner, inside)

    count(program.block, 1)
    return {k: times for k, times in found.items() if k not in unknown}


def _stacks(loop: Loop, kind: type[Push | Pop]) -> set[int]:
    """The stacks that a loop pushes on or pops from."""
    return {i.stack for i in instructions(loop.body.body) if isinstance(i, kind)}
