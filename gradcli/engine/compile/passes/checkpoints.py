"""Checkpoints: a loop keeps what it carries once in many turns, and its reverse does these turns
again before it goes back through them. So a stack needs the memory of these turns alone.

Source: Griewank and Walther, Evaluating Derivatives, second edition, chapter 12.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gradcli.engine.compile.passes.turns import WORD, bytes_kept, turns
from gradcli.engine.compile.typed import (
    Block,
    Blockwise,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Push,
    Tell,
    Value,
    bytes_of,
)
from gradcli.engine.compile.walk import (
    Copier,
    Fresh,
    defined,
    instructions,
    read,
    unused_stack,
    with_blocks,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.record import Record

_TURNS = 1 << 12  # turns from one checkpoint to the next where a turn keeps little
_ROOM = 1 << 22  # bytes that these turns may keep, if they are not few
_FEWEST = 16
_READS = 2  # of the number of turns that are left: by the test and by the next turn


def checkpointed(program: Program) -> Program:
    """Return the program with checkpoints in each loop that has a reverse; the program itself if
    there is none.
    """
    pairs = [*_Pairs(program).all()]
    return _Checkpoints(program, pairs).program() if pairs else program


def kept(program: Program) -> int:
    """Return the bytes that such loops of a program keep for their reverse, as far as the number of
    their turns is known.
    """
    return sum((turns(pair.loop) or 0) * bytes_kept(pair.loop) for pair in _Pairs(program).all())


class _Pair(Record):
    """A loop and its reverse.

    Fields:
        loop, back: the two loops.
        counter: the place of the param of the reverse that counts its turns down to 0.
    """

    __slots__ = ("loop", "back", "counter")
    loop: Loop
    back: Loop
    counter: int


class _Checkpoints:
    def __init__(self, program: Program, pairs: Sequence[_Pair]) -> None:
        self._given = program
        self._fresh = Fresh(program)
        self._stack = unused_stack(program)
        block = program.block
        everywhere = (*program.inputs, *(v for i in block.body for v in defined(i)))
        self._everywhere = {v.number for v in everywhere}
        self._made: dict[int, Sequence[Instruction]] = {}
        for pair in pairs:
            forth, back = self._both(pair)
            self._made |= {id(pair.loop): forth, id(pair.back): back}

    def program(self) -> Program:
        """The whole program."""
        given = self._given
        return Program(given.inputs, self._block(given.block), given.texts)

    def _block(self, block: Block) -> Block:
        made = self._made
        body = [j for i in block.body for j in made.get(id(i), (with_blocks(i, self._block),))]
        return Block(tuple(body), block.results)

    def _both(self, pair: _Pair) -> tuple[Sequence[Instruction], Sequence[Instruction]]:
        """What replaces a loop and its reverse. What the loop reads and its reverse does not see
        goes there by a stack, with the number of its turns.
        """
        loop, span = pair.loop, pair.loop.span
        checkpoints, outer = self._stack, self._stack + 1
        self._stack += 2
        every = _stride(loop)
        own = {v.number for i in instructions((loop,)) for v in (*defined(i), *_params(i))}
        unseen = self._everywhere | own
        read_there = {v.number: v for v in read(loop.body) if v.number not in unseen}
        there = [loop.turns, *read_there.values()]
        here = [self._fresh(v.type) for v in there]
        names = dict(zip(read_there, here[1:], strict=True))
        forth = self._forth(loop, checkpoints, every), Push(span, outer, tuple(there))
        back = self._back(pair, here[0], names, checkpoints, every)
        return forth, (Pop(span, outer, tuple(here)), *back)

    def _forth(self, loop: Loop, stack: int, every: int) -> Loop:
        """The loop without its pushes. It pushes what it carries once in `every` turns."""
        span, (left, following) = loop.span, self._numbers(2)
        is_due = self._fresh("bool")
        less = self._fresh("int")
        down = Do(span, less, OPS["-", 2], (left, 1), ())
        body = [
            Do(span, is_due, ops.eq.name, (left, 0), ()),
            If(
                span,
                (following,),
                is_due,
                Block((Push(span, stack, loop.params),), (every - 1,)),
                Block((down,), (less,)),
            ),
            *_without(loop.body, Push).body,
        ]
        (end,) = self._numbers(1)
        results = (*loop.body.results, following)
        block = Block(tuple(body), results)
        targets, params = (*loop.targets, end), (*loop.params, left)
        return Loop(span, targets, loop.turns, params, (*loop.initial, 0), block)

    def _back(
        self, pair: _Pair, turns: Value, names: Mapping[int, Value], stack: int, every: int
    ) -> Sequence[Instruction]:
        """The reverse: for each checkpoint the turns that follow it, and these turns back.

        Args:
            pair: The loop and its reverse.
            turns: The number of turns.
            names: The values that the loop reads from outside, by number.
            stack: The stack of the checkpoints.
            every: The turns from one checkpoint to the next.
        """
        loop, back, span = pair.loop, pair.back, pair.back.span
        before, rest, first = self._numbers(3)
        so_many = [
            Do(span, before, OPS["-", 2], (turns, 1), ()),
            Do(span, rest, OPS["%", 2], (before, every), ()),
            Do(span, first, OPS["+", 2], (rest, 1), ()),
        ]
        count, left, after = self._numbers(3)
        more = self._fresh("bool")
        start = tuple([self._fresh(v.type) for v in loop.params])
        carried = tuple([self._fresh(v.type) for v in back.params])
        ends = tuple([self._fresh(v.type) for v in back.params])
        initial = tuple([count if k == pair.counter else v for k, v in enumerate(carried)])
        body = (
            Pop(span, stack, start),
            self._again(loop, start, count, names),
            Loop(span, ends, self._fresh("int"), back.params, initial, back.body),
            Do(span, after, OPS["-", 2], (left, count), ()),
            Do(span, more, ops.gt.name, (after, 0), ()),
        )
        outer = Loop(
            span,
            (*back.targets, *self._numbers(2)),
            back.turns,
            (*carried, count, left),
            (*back.initial, first, turns),
            Block(body, (more, *ends, every, after)),
        )
        return *so_many, outer

    def _again(
        self, loop: Loop, start: Sequence[Value], count: Operand, names: Mapping[int, Value]
    ) -> Loop:
        """A copy of the loop that does so many turns from a checkpoint on, and prints nothing."""
        silent = with_blocks(loop, lambda body: _without(body, Tell))
        (copy,) = Copier(names, self._fresh).body([silent])
        assert isinstance(copy, Loop)
        left, less, end = self._numbers(3)
        more = self._fresh("bool")
        body = (
            *copy.body.body,
            Do(loop.span, less, OPS["-", 2], (left, 1), ()),
            Do(loop.span, more, ops.gt.name, (less, 0), ()),
        )
        block = Block(body, (more, *copy.body.results[1:], less))
        targets, params = (*copy.targets, end), (*copy.params, left)
        return Loop(loop.span, targets, copy.turns, params, (*start, count), block)

    def _numbers(self, count: int) -> list[Value]:
        return [self._fresh("int") for _ in range(count)]


def _without(block: Block, kind: type[Instruction]) -> Block:
    """A block without the instructions of a kind."""
    body = (i for i in block.body if not isinstance(i, kind))
    return Block(tuple([with_blocks(i, lambda b: _without(b, kind)) for i in body]), block.results)


class _Pairs:
    """Finds the loops of a program that alone share stacks with their reverse."""

    def __init__(self, program: Program) -> None:
        self._body = program.block.body
        self._uses = _uses(self._body)
        self._reads = Counter(v.number for v in read(program.block))

    def all(self) -> Iterator[_Pair]:
        """Yield these loops, each with its reverse; of loops inside each other the outermost."""
        loops = [i for i in instructions(self._body) if isinstance(i, Loop)]
        popping = {k: i for i in reversed(loops) for k in _pops(i)}
        inside: set[int] = set()
        for loop in loops:
            pushed = _uses((loop,))
            if id(loop) in inside or not pushed or not _is_forth(loop):
                continue
            back = popping.get(next(iter(pushed)))
            counter = self._counter(pushed, back) if back is not None else None
            if back is not None and counter is not None:
                inside |= {id(i) for i in instructions((loop, back))}
                yield _Pair(loop, back, counter)

    def _counter(self, pushed: Counter[int], back: Loop) -> int | None:
        """The place of the param that counts the turns of the reverse of a loop with these pushes;
        None if it is none.
        """
        popped = _pops(back)
        alone = all(self._uses[k] == pushed[k] + popped[k] for k in pushed)
        is_back = popped == _uses((back,)) and not _tells(back)
        if not alone or not is_back or pushed.keys() != popped.keys():
            return None
        return None if self._reads[back.turns.number] else self._counted(back)

    def _counted(self, back: Loop) -> int | None:
        """The place of the param that counts the turns of a loop down to 0, if that is all that it
        is for.
        """
        made = {i.target.number: i for i in back.body.body if isinstance(i, Do)}

        def maker(x: Operand | None) -> Do | None:
            return made.get(x.number) if isinstance(x, Value) else None

        test = maker(back.body.results[0])
        less = maker(test.args[0]) if test is not None else None
        if test is None or less is None or (test.op, test.args[1]) != (ops.gt.name, 0):
            return None
        (left, one), k = less.args[:2], [v.number for v in back.params]
        if less.op != OPS["-", 2] or one != 1 or not isinstance(left, Value):
            return None
        if left.number not in k or self._reads[left.number] != 1:
            return None
        return k.index(left.number) if self._reads[less.target.number] <= _READS else None


def _uses(body: Sequence[Instruction]) -> Counter[int]:
    """The number of pushes and pops of each stack."""
    return Counter(i.stack for i in instructions(body) if isinstance(i, Push | Pop))


def _pops(i: Instruction) -> Counter[int]:
    """The number of pops of each stack in an instruction."""
    return Counter(j.stack for j in instructions((i,)) if isinstance(j, Pop))


def _is_forth(loop: Loop) -> bool:
    """True if a loop only pushes, and is not done by blocks."""
    return not any(isinstance(i, Pop | Blockwise) for i in instructions((loop,)))


def _tells(back: Loop) -> bool:
    return any(isinstance(i, Tell | Blockwise) for i in instructions((back,)))


def _params(i: Instruction) -> Sequence[Value]:
    return i.params if isinstance(i, Loop) else ()


def _stride(loop: Loop) -> int:
    """The turns from one checkpoint to the next."""
    count, turn = turns(loop), max(bytes_kept(loop), 1)
    if count is None:
        return max(min(_TURNS, _ROOM // turn), _FEWEST)
    carried = sum(max(bytes_of(v.type), WORD) for v in loop.params)
    return max(math.isqrt(count * carried // turn), 1)
