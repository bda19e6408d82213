"""Functions that the C library computes in one call, such as its sine and cosine.

The rule of such a function computes the other one in the backward pass. It is moved to the forward
pass, beside the first, and its value is pushed in place of the argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gradcli.engine.compile.passes.simple_stacks import Pair, edited, simple_stacks
from gradcli.engine.compile.typed import Block, Do, Instruction, Pop, Program, Push, Value
from gradcli.engine.compile.walk import Fresh, blocks, read
from gradcli.engine.numerics.ieee import TOGETHER
from gradcli.engine.ops.catalog import ops


def moved_together(program: Program) -> Program:
    """Return the program with the functions moved from backward blocks to forward blocks."""
    pairs = [pair for pair in simple_stacks(program.block) if any(map(_key, pair.backward.body))]
    if not pairs:
        return program
    fresh = Fresh(program)
    reads = Counter(v.number for v in read(program.block))
    edits: dict[int, Sequence[Instruction]] = {}
    for pair in pairs:
        edits |= _edits(pair, reads, fresh)
    return edited(program, edits)


def shared(program: Program) -> dict[int, tuple[Do, ...]]:
    """Return the functions whose values come from the call for an earlier one, by the number of the
    earlier one's target. The call is for the first of both functions of a value in a block; it
    serves all of them there and in inner blocks.
    """
    found: dict[int, list[Do]] = {}
    _share(program.block, {}, found)
    return {number: tuple(several) for number, several in found.items()}


def _share(block: Block, around: Mapping[int, list[Do]], found: dict[int, list[Do]]) -> None:
    """Record the shared calls of a block and of its inner blocks.

    Args:
        block: The block.
        around: The shared calls of the blocks around it, by the number of their argument.
        found: Receives what is recorded.
    """
    own: dict[int, list[Do]] = {}
    for i in block.body:
        if (key := _key(i)) is not None and cast(Do, i).target.type == "float":
            own.setdefault(key[1], []).append(cast(Do, i))
    known = dict(around)
    first: dict[int, int] = {}
    for number, several in own.items():
        if number in around:
            around[number].extend(several)
        elif len({i.op for i in several}) > 1:
            found[several[0].target.number] = several[1:]
            first[several[0].target.number] = number
    for i in block.body:
        if isinstance(i, Do) and i.target.number in first:
            known[first[i.target.number]] = found[i.target.number]
        for inner in blocks(i):
            _share(inner, known, found)


def _key(i: Instruction) -> tuple[Any, int] | None:
    """A function of a float, or of an array of floats, that has a partner, and the number of the
    argument; None if the instruction computes no such function.
    """
    match i:
        case Do(op=op, args=(Value(type=type_, number=number),)) if type_.startswith("float"):
            function = ops[op].value.number
            return (function, number) if function in TOGETHER else None
    return None


def _edits(pair: Pair, reads: Counter[int], fresh: Fresh) -> dict[int, Sequence[Instruction]]:
    """The instructions that replace others, by the `id` of these."""
    push, pop = pair.push, pair.pop
    computed = set(map(_key, pair.forward.body))
    pushed = {t.number: x for t, x in zip(pop.targets, push.values, strict=True)}
    left = Counter({t.number: reads[t.number] for t in pop.targets})
    edits: dict[int, Sequence[Instruction]] = {}
    more: list[Do] = []
    further: list[Value] = []
    for i in pair.backward.body:
        key = _key(i)
        if key is None:
            continue
        function, number = key
        x = pushed.get(number)
        if isinstance(x, Value) and (TOGETHER[function], x.number) in computed:
            assert isinstance(i, Do)
            more.append(type(i)(i.span, fresh(x.type), i.op, (x,), i.params))
            further.append(i.target)
            left[number] -= 1
            edits[id(i)] = ()
    if not edits:
        return {}
    kept = [k for k, t in enumerate(pop.targets) if left[t.number]]
    values = (*[push.values[k] for k in kept], *[i.target for i in more])
    targets = (*[pop.targets[k] for k in kept], *further)
    edits[id(push)] = (*more, Push(push.span, push.stack, values))
    edits[id(pop)] = (Pop(pop.span, pop.stack, targets),)
    return edits
