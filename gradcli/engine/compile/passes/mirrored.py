"""Counters of loops in the reverse of these loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gradcli.engine.compile.passes.turns import turns
from gradcli.engine.compile.typed import Block, Do, Instruction, Loop, Operand, Program, Value
from gradcli.engine.compile.walk import read, with_loops
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language.operators import OPS
from gradcli.record import Record

_ADD, _SUB = OPS["+", 2], OPS["-", 2]


class Mirrored(Record):
    """The counter of a loop, and the param of its reverse that can count the same numbers back.

    Fields:
        param: the counter of the loop.
        first, last: its values in the first and in the last turn.
        step: what each turn adds to it.
        back: the param of the reverse, which only counts turns down to one so far.
    """

    __slots__ = ("param", "first", "last", "step", "back")
    param: Value
    first: int
    last: int
    step: int
    back: Value


def mirrored(forward: Loop, backward: Loop) -> Mirrored | None:
    """The counters of a loop of known turns and of its reverse; None if there are none."""
    count, counter, back = turns(forward), _counter(forward), _counting_down(backward)
    if count is None or counter is None or back is None:
        return None
    param, first, step = counter
    return Mirrored(param, first, first + step * (count - 1), step, back)


def counting_back(program: Program, several: Mapping[int, Mirrored]) -> Program:
    """The program whose loops count these params, by number, as their counters do, but back."""

    def replaced(loop: Loop) -> Sequence[Instruction]:
        found = [k for k, p in enumerate(loop.params) if p.number in several]
        for k in found:
            loop = _counting_back(loop, k, several[loop.params[k].number])
        return (loop,)

    return with_loops(program, replaced) if several else program


def _counting_back(loop: Loop, k: int, by: Mirrored) -> Loop:
    again, *nexts = loop.body.results
    initial = (*loop.initial[:k], by.last, *loop.initial[k + 1 :])
    test = ops.gt.name if by.step > 0 else ops.lt.name
    behind = by.first - (1 if by.step > 0 else -1)
    body: list[Instruction] = []
    for i in loop.body.body:
        if isinstance(i, Do) and i.target == again:
            body.append(Do(i.span, i.target, test, (nexts[k], behind), i.params))
        elif isinstance(i, Do) and i.target == nexts[k]:
            body.append(Do(i.span, i.target, _ADD, (by.back, -by.step), i.params))
        else:
            body.append(i)
    block = Block(tuple(body), loop.body.results)
    return Loop(loop.span, loop.targets, loop.turns, loop.params, initial, block)


def _counter(loop: Loop) -> tuple[Value, int, int] | None:
    """The param that a loop counts, its first value and the step."""
    made = {i.target.number: i for i in loop.body.body if isinstance(i, Do)}
    again = loop.body.results[0]
    test = made.get(again.number) if isinstance(again, Value) else None
    for param, first, then in zip(loop.params, loop.initial, loop.body.results[1:], strict=True):
        step = made.get(then.number) if isinstance(then, Value) else None
        if test is None or step is None or then != test.args[0] or type(first) is not int:
            continue
        if step.op == _ADD and step.args[0] == param and type(step.args[1]) is int:
            return param, first, step.args[1]
    return None


def _counting_down(loop: Loop) -> Value | None:
    """The param of a loop that counts its turns down to one, and does nothing else."""
    made = {i.target.number: i for i in loop.body.body if isinstance(i, Do)}
    reads = Counter(v.number for v in read(loop.body))

    def of(x: Operand | None, op: str, by: int) -> Operand | None:
        i = made.get(x.number) if isinstance(x, Value) else None
        is_such = i is not None and i.op == op and type(i.args[1]) is int and i.args[1] == by
        return i.args[0] if i is not None and is_such else None

    then = of(loop.body.results[0], ops.gt.name, 0)
    left = of(then, _SUB, 1)
    for param, following in zip(loop.params, loop.body.results[1:], strict=True):
        if left == param and following == then and isinstance(then, Value):
            alone = reads[param.number] == 1 and reads[then.number] == len(("test", "next"))
            return param if alone else None
    return None
