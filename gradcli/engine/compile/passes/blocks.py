"""Loops over long vectors, block by block: all turns of a loop, and those of its reverse, for a few
hundred elements before the next ones. A stack then needs the memory of one block, which stays in
the processor's cache, and several threads may work at once.

A loop takes part if its body is element by element on vectors of one length and on numbers, prints
nothing, and has no branch or end that depends on a vector (`slices.py`). A loop and its reverse are
taken together. If what lies between them reads whole vectors, as the largest element does, the loop
is repeated with its reverse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.passes.slices import Slices
from gradcli.engine.compile.typed import (
    NUMBERS_IN,
    Block,
    Blockwise,
    Do,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Tell,
    Value,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import (
    Copier,
    Fresh,
    defined,
    instructions,
    read,
    rewritten,
    unused_stack,
    values,
    with_blocks,
)
from gradcli.engine.ops.catalog import ops

LEAST = 1 << 12  # elements of a vector from which blocks pay

_MOST = 8
"""`Blockwise` instructions of a program: there is code of its own for each."""


def in_blocks(program: Program) -> Program:
    """Return the program with such loops replaced by `Blockwise` instructions, each followed by the
    numbers that need its sums.
    """
    if not any(_length(v) >= LEAST for v in values(program)):
        return program
    splitter = _Splitter(program)
    found = splitter.program()
    return found if splitter.count else program


def shortened(program: Program, length: int, count: int) -> Program:
    """Return a program of vectors of one length with `count` elements in place of the vectors."""

    def sized(v: Value) -> Value:
        return Value(v.number, v.type.replace(f"[{length}]", f"[{count}]"))

    def operand(x: Operand) -> Operand:
        return sized(x) if isinstance(x, Value) else x

    def block(inner: Block) -> Block:
        return Block(tuple(map(each, inner.body)), tuple(map(operand, inner.results)))

    def each(i: Instruction) -> Instruction:
        made = rewritten(i, operand, sized, block)
        if isinstance(made, Do) and made.op == ops.expand.name:
            return Do(i.span, made.target, made.op, made.args, (("size", (count,)),))
        return made

    return Program(tuple(map(sized, program.inputs)), block(program.block), program.texts)


def _length(v: Value) -> int:
    """The elements of a vector; 0 for any other value."""
    shape = dtype_and_shape(v.type)[1] if is_array(v.type) else ()
    return shape[0] if len(shape) == 1 else 0


def _length_in_loops(i: Instruction) -> int:
    """The elements of the longest vector that loops of an instruction carry."""
    loops = [j for j in instructions([i]) if isinstance(j, Loop)]
    return max((_length(v) for loop in loops for v in loop.params), default=0)


class _Splitter:
    """Splits one program.

    Fields:
        count: how many `Blockwise` instructions it has made.
    """

    def __init__(self, program: Program) -> None:
        self._given = program
        self._fresh = Fresh(program)
        self._stack = unused_stack(program)
        self.count = 0
        self._uses = _stacks(program.block.body)

    def program(self) -> Program:
        """The whole program. Constant vectors come first, so that no loop makes them."""
        given = self._given
        constants: list[Instruction] = []
        block = self._block(_lifted(given.block, constants))
        return Program(given.inputs, Block((*constants, *block.body), block.results), given.texts)

    def _block(self, block: Block) -> Block:
        at = 0
        while at < len(block.body):
            i = block.body[at]
            length = _length_in_loops(i)
            made = None
            if self.count < _MOST and length >= LEAST:
                made = self._split(block, at, length)
            if made is not None:
                block = made
                continue
            if length >= LEAST:
                inner = with_blocks(i, self._block)
                block = Block((*block.body[:at], inner, *block.body[at + 1 :]), block.results)
            at += 1
        return block

    def _split(self, block: Block, at: int, length: int) -> Block | None:
        """The block with the instruction at a place, and what belongs to it, done by blocks; None
        if that cannot be.
        """
        group = _group(block.body, at)
        made = self._replaced(block, group, length)
        if made is None and len(group) > 1:
            again, place = self._repeated(block, group)
            made = self._replaced(again, _group(again.body, place), length)
            made = made and self._replaced(made, _group(made.body, at), length)
        return made

    def _replaced(self, block: Block, group: Collection[int], length: int) -> Block | None:
        """The block with a group of its instructions done by blocks."""
        group = {*group, *_repeats(block, group)}
        body, start, end = block.body, min(group), max(group) + 1
        inside = [body[k] for k in sorted(group)]
        slices = Slices(inside, length, self._stack, self._fresh)
        uses = _stacks(inside)
        if not slices.is_possible or any(uses[k] != self._uses[k] for k in uses):
            return None
        early, late = _around(body, group)
        missing = set().union(*map(_makes, late))
        if not missing.isdisjoint(set().union(*map(_reads, inside))):
            return None
        found = {v.number for i in inside for v in defined(i)}
        after = read(Block((*late, *body[end:]), block.results))
        gives = {v.number: v for v in after if v.number in found and _length(v)}
        stack = self._stack if slices.has_sums else None
        self._stack += slices.has_sums
        made = self._blockwise(slices.of_vectors(), [*gives.values()], length, stack)
        self.count += 1
        done = (*body[:start], *early, *made, *slices.of_numbers(), *late, *body[end:])
        return Block(done, block.results)

    def _blockwise(
        self,
        body: Sequence[Instruction],
        gives: Sequence[Value],
        length: int,
        stack: int | None,
    ) -> Sequence[Instruction]:
        """The instruction that does others by blocks; numbers in tensors come unboxed."""
        program = tidy(Program((), Block(tuple(body), tuple(gives)), ()), 0)
        inner = {v.number for v in values(program)}
        outer = {v.number: v for v in read(program.block) if v.number not in inner}
        args: list[Operand] = []
        before: list[Instruction] = []
        inputs: list[Value] = []
        boxed: list[Instruction] = []
        span = body[0].span
        for v in outer.values():
            if not is_array(v.type) or _length(v):
                inputs.append(v)
                args.append(v)
                continue
            number = self._fresh(NUMBERS_IN[dtype_and_shape(v.type)[0]])
            before.append(Do(span, number, ops.unboxed.name, (v,), ()))
            args.append(number)
            inputs.append(self._fresh(number.type))
            boxed.append(Do(span, v, ops.copied.name, (inputs[-1],), ()))
        block = Block((*boxed, *program.block.body), program.block.results)
        program = Program(tuple(inputs), block, ())
        return *before, Blockwise(span, tuple(gives), tuple(args), program, length, stack)

    def _repeated(self, block: Block, group: Collection[int]) -> tuple[Block, int]:
        """The block with the first loop of a group repeated where its stacks are popped, and the
        place of the repetition. The loop itself no longer pushes.
        """
        body, (first, *others) = block.body, sorted(group)
        pushed = {*_stacks([body[first]])}
        place = next(k for k in others if pushed & {*_stacks([body[k]])})
        (copy,) = Copier({}, self._fresh).body([body[first]])
        again = tidy(Program((), Block((copy,), ()), ()), 0).block.body
        once = with_blocks(body[first], lambda inner: _without(inner, pushed))
        done = (*body[:first], once, *body[first + 1 : place], *again, *body[place:])
        return Block(done, block.results), place


def _without(block: Block, stacks: Collection[int]) -> Block:
    """A block without pushes on some stacks."""
    body = (i for i in block.body if not isinstance(i, Push) or i.stack not in stacks)
    inner = [with_blocks(i, lambda inner: _without(inner, stacks)) for i in body]
    return Block(tuple(inner), block.results)


def _lifted(block: Block, constants: list[Instruction]) -> Block:
    """A block without the vectors that are known, which become `constants`."""
    body = []
    for i in block.body:
        if isinstance(i, Do) and i.op == ops.held.name and _length(i.target) >= LEAST:
            constants.append(i)
        else:
            body.append(with_blocks(i, lambda inner: _lifted(inner, constants)))
    return Block(tuple(body), block.results)


def _stacks(body: Sequence[Instruction]) -> Counter[int]:
    """The number of pushes and pops of each stack."""
    return Counter(i.stack for i in instructions(body) if isinstance(i, Push | Pop))


def _reads(i: Instruction) -> set[int]:
    """The numbers of the values that an instruction reads, and marks of its stacks."""
    return {v.number for v in read(Block((i,), ()))} | _marks(i)


def _makes(i: Instruction) -> set[int]:
    """The numbers of the values that an instruction defines, and marks of its stacks."""
    return {v.number for v in defined(i)} | _marks(i)


def _marks(i: Instruction) -> set[int]:
    """A number below 0 for each stack: a pop reads what a push has made."""
    return {-1 - k for k in _stacks((i,))}


def _group(body: Sequence[Instruction], at: int) -> set[int]:
    """The places of the instructions that must be done together with the one at a place: those that
    share stacks with it, and those between, which read what some make and make what others read.
    """
    stacks = [{*_stacks((i,))} for i in body]
    reads, made = [*map(_reads, body)], [*map(_makes, body)]
    group = {at}
    while True:
        shared = set().union(*(stacks[k] for k in group))
        more = {k for k, own in enumerate(stacks) if own & shared}
        span = range(min(group | more), max(group | more) + 1)
        behind = _reached(span, reads, made, group | more)
        ahead = _reached(span[::-1], made, reads, group | more)
        more |= behind & ahead
        if more <= group:
            return group
        group |= more


def _repeats(block: Block, group: Collection[int]) -> Iterator[int]:
    """The places between those of a group where a known number is repeated for the group alone."""
    others = [i for k, i in enumerate(block.body) if k not in group]
    seen = {v.number for v in read(Block(tuple(others), block.results))}
    for k in range(min(group), max(group)):
        i = block.body[k]
        if not isinstance(i, Do) or i.op != ops.expand.name or isinstance(i.args[0], Value):
            continue
        if i.target.number not in seen:
            yield k


def _reached(
    places: Iterable[int],
    ends: Sequence[Collection[int]],
    starts: Sequence[Collection[int]],
    group: Collection[int],
) -> set[int]:
    """The places to which some values of a group lead, step by step."""
    found: set[int] = set()
    values: set[int] = set()
    for k in places:
        if k in group or not values.isdisjoint(ends[k]):
            found.add(k)
            values.update(starts[k])
    return found


def _around(
    body: Sequence[Instruction], group: Collection[int]
) -> tuple[list[Instruction], list[Instruction]]:
    """The instructions between those of a group that can go before it, and the others."""
    early: list[Instruction] = []
    late: list[Instruction] = []
    lost: set[int] = set()
    for k in range(min(group), max(group) + 1):
        i = body[k]
        if k in group:
            lost |= _makes(i)
        elif _reads(i).isdisjoint(lost) and not (late and _tells(i)):
            early.append(i)
        else:
            late.append(i)
            lost |= _makes(i)
    return early, late


def _tells(i: Instruction) -> bool:
    return any(isinstance(j, Tell) for j in instructions((i,)))
