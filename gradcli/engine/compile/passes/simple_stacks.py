"""Stacks with one push and one pop: what one block keeps for its reverse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gradcli.engine.compile.typed import Block, Instruction, Pop, Program, Push
from gradcli.engine.compile.walk import blocks, with_blocks
from gradcli.record import Record


class Pair(Record):
    """The only push and the only pop of a stack, and the blocks that have them.

    Fields:
        forward, backward: the blocks.
        push, pop: the instructions.
    """

    __slots__ = ("forward", "backward", "push", "pop")
    forward: Block
    backward: Block
    push: Push
    pop: Pop


def simple_stacks(block: Block) -> list[Pair]:
    """Return the pairs of all such stacks in a block and in the blocks inside it."""
    pushes: dict[int, list[tuple[Block, Push]]] = {}
    pops: dict[int, list[tuple[Block, Pop]]] = {}
    for each in _every(block):
        for i in each.body:
            if isinstance(i, Push):
                pushes.setdefault(i.stack, []).append((each, i))
            elif isinstance(i, Pop):
                pops.setdefault(i.stack, []).append((each, i))
    return [
        Pair(ways[0][0], back[0][0], ways[0][1], back[0][1])
        for stack, ways in pushes.items()
        if len(ways) == 1 and len(back := pops.get(stack, [])) == 1
    ]


def edited(program: Program, edits: Mapping[int, Sequence[Instruction]]) -> Program:
    """Return a program with some instructions replaced: `edits` has by the `id` of each the
    instructions in its place.
    """

    def of(block: Block) -> Block:
        body = [j for i in block.body for j in edits.get(id(i), (with_blocks(i, of),))]
        return Block(tuple(body), block.results)

    return Program(program.inputs, of(program.block), program.texts) if edits else program


def _every(block: Block) -> Iterator[Block]:
    """Yield a block and all blocks inside it."""
    yield block
    for i in block.body:
        for inner in blocks(i):
            yield from _every(inner)
