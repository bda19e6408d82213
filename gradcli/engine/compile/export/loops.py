"""Find out how to write the loops of a typed program: counted, or with a test at their head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from gradcli.engine.compile.typed import Block, Do, If, Loop, Operand, Value
from gradcli.engine.compile.walk import read
from gradcli.engine.run.language.operators import OPS
from gradcli.record import Record

_ADD, _SUB, _LESS, _GREATER = OPS["+", 2], OPS["-", 2], OPS["<", 2], OPS[">", 2]


class Counted(Record):
    """A loop that counts one of its params.

    Fields:
        at: the place of the param.
        step: what each turn adds to it.
        stop: the value before which it ends.
        only: the numbers of the instructions that do nothing else than count.
    """

    __slots__ = ("at", "step", "stop", "only")
    at: int
    step: int
    stop: Operand
    only: frozenset[int]


def tests_first(i: Loop) -> bool:
    """True if the body of a loop ends in a branch between a turn and the end of the loop."""
    if not i.body.body or not isinstance(i.body.body[-1], If):
        return False
    branch, again = i.body.body[-1], i.body.results[0]
    if branch.orelse.body or not isinstance(again, Value):
        return False
    if same(branch.test, again):
        return True
    places = [k for k, t in enumerate(branch.targets) if t.number == again.number]
    return any(branch.then.results[k] is True and branch.orelse.results[k] is False for k in places)


def results(i: Loop, branch: If, side: Block) -> tuple[Operand, ...]:
    """The results of a turn, without the test, if its branch takes this side."""
    names = {t.number: x for t, x in zip(branch.targets, side.results, strict=True)}
    found = i.body.results[1:]
    return tuple([names.get(x.number, x) if isinstance(x, Value) else x for x in found])


def counted(i: Loop, uses: Mapping[int, int]) -> Counted | None:
    """How a loop counts, if it does and nothing behind it reads the counter; `uses` are the numbers
    of reads of values.
    """
    if tests_first(i):
        branch = i.body.body[-1]
        assert isinstance(branch, If)
        made = _made((*i.body.body, *branch.then.body))
        given, ends = results(i, branch, branch.then), results(i, branch, branch.orelse)
        test = _comparison(branch.test, made)
        for k, p in enumerate(i.params):
            if same(ends[k], p) and test is not None and same(test[1], p):
                found = _counting(i, k, test, given[k], made, uses)
                if found is not None:
                    return found
        return None
    made = _made(i.body.body)
    again, *nexts = i.body.results
    test = _comparison(again, made)
    for k, x in enumerate(nexts):
        if test is not None and isinstance(x, Value) and same(test[1], x):
            found = _counting(i, k, test, x, made, uses)
            if found is not None:
                return found
    return None


def _counting(
    i: Loop,
    k: int,
    test: tuple[str, Operand, Operand, int],
    then: Operand,
    made: Mapping[int, Do],
    uses: Mapping[int, int],
) -> Counted | None:
    sign, _, stop, number = test
    step = _step(then, i.params[k], made)
    if step is None or uses.get(i.targets[k].number) or i.params[k].type != "int":
        return None
    if (step > 0) != (sign == _LESS) or (isinstance(stop, Value) and stop.number in made):
        return None
    if isinstance(stop, Value) and any(same(stop, p) for p in i.params):
        return None
    assert isinstance(then, Value)
    if tests_first(i):
        only = {then.number} if uses.get(then.number) == 1 else set[int]()
        return Counted(k, step, stop, frozenset(only))
    only = {number} if uses.get(number) == 1 else set()
    if only and uses.get(then.number) == _NEXT:
        only.add(then.number)
    return Counted(k, step, stop, frozenset(only))


_NEXT = 2  # reads of the next value of a counter: by the test, and by the next turn


def _step(then: Operand, param: Value, made: Mapping[int, Do]) -> int | None:
    found = made.get(then.number) if isinstance(then, Value) else None
    if found is None or found.op not in (_ADD, _SUB) or not same(found.args[0], param):
        return None
    by = found.args[1]
    if type(by) is not int or not by:
        return None
    return by if found.op == _ADD else -by


def _comparison(x: Operand, made: Mapping[int, Do]) -> tuple[str, Operand, Operand, int] | None:
    """A comparison `<` or `>`: its sign, its sides, and its number."""
    found = made.get(x.number) if isinstance(x, Value) else None
    if found is None or found.op not in (_LESS, _GREATER):
        return None
    a, b = found.args
    assert a is not None
    assert b is not None
    return found.op, a, b, found.target.number


def _made(body: Sequence[object]) -> dict[int, Do]:
    return {i.target.number: i for i in body if isinstance(i, Do)}


class Head(Record):
    """The test of a loop at its head: its instructions, which the body has at its end."""

    __slots__ = ("instructions", "test")
    instructions: tuple[Do, ...]
    test: Value


def head(i: Loop) -> Head | None:
    """The test for another turn as one that can stand at the head of a loop: it reads only what
    goes on to the next turn, and values from outside.
    """
    again, *nexts = i.body.results
    made = _made(i.body.body)
    if not isinstance(again, Value) or again.number not in made:
        return None
    inside = {v.number for v in i.params} | {
        v.number for j in i.body.body if not isinstance(j, Do) for v in _targets(j)
    }
    going = {x.number for x in nexts if isinstance(x, Value)}
    reads = Counter(v.number for v in read(i.body))
    wanted: dict[int, Do] = {}
    waiting = [again.number]
    while waiting:
        number = waiting.pop()
        if number in wanted:
            continue
        wanted[number] = made[number]
        for x in made[number].args:
            if isinstance(x, Value) and x.number not in going:
                if x.number in inside:
                    return None
                if x.number in made:
                    waiting.append(x.number)
    inner = Counter(x.number for j in wanted.values() for x in j.args if isinstance(x, Value))
    inner[again.number] += 1
    if any(inner[n] != reads[n] for n in wanted):
        return None
    return Head(tuple([j for n, j in made.items() if n in wanted]), again)


def _targets(j: object) -> Sequence[Value]:
    return getattr(j, "targets", ())


def guards(i: If, made: Mapping[int, Do], turns: Mapping[int, int]) -> bool:
    """True if a branch holds a loop alone, and its test is the loop's before the first turn.

    Args:
        i: The branch.
        made: The instructions before it.
        turns: The tests on which numbers of turns are above zero.
    """
    if i.orelse.body or len(i.then.body) != 1 or not isinstance(i.then.body[0], Loop):
        return False
    loop = i.then.body[0]
    begins = {t.number: x for t, x in zip(loop.targets, loop.initial, strict=True)}
    begins[loop.turns.number] = 0
    for x, y in zip(i.then.results, i.orelse.results, strict=True):
        first = begins.get(x.number, x) if isinstance(x, Value) else x
        if not same(first, y):
            return False
    again, *nexts = loop.body.results
    names = {x.number: y for x, y in zip(nexts, loop.initial, strict=True) if isinstance(x, Value)}
    inner = _made(loop.body.body)
    if isinstance(i.test, Value) and _counts_down(again, names, inner, turns) == i.test.number:
        return True
    return _alike(i.test, again, names, made, inner)


def _counts_down(
    again: Operand,
    names: Mapping[int, Operand],
    inner: Mapping[int, Do],
    turns: Mapping[int, int],
) -> int | None:
    """The test on which the number of turns is above zero that a loop counts down."""
    test = _comparison(again, inner)
    if test is None or test[0] != _GREATER or not same(test[2], 0):
        return None
    first = names.get(test[1].number) if isinstance(test[1], Value) else None
    return turns.get(first.number) if isinstance(first, Value) else None


def _alike(
    x: Operand | None,
    y: Operand | None,
    names: Mapping[int, Operand],
    made: Mapping[int, Do],
    inner: Mapping[int, Do],
) -> bool:
    """True if an operand before a loop has the value of one in it, with values renamed."""
    if isinstance(y, Value) and y.number in names:
        return same(x, names[y.number])
    if same(x, y):
        return True
    a = made.get(x.number) if isinstance(x, Value) else None
    b = inner.get(y.number) if isinstance(y, Value) else None
    if a is None or b is None:
        return False
    if {a.op, b.op} == {_LESS, _GREATER}:
        pairs = zip(a.args, reversed(b.args), strict=True)
    elif (a.op, repr(a.params), len(a.args)) == (b.op, repr(b.params), len(b.args)):
        pairs = zip(a.args, b.args, strict=True)
    else:
        return False
    return all(_alike(p, q, names, made, inner) for p, q in pairs)


def same(x: Operand | None, y: Operand | None) -> bool:
    """True if two operands are the same value, or the same constant."""
    if isinstance(x, Value) or isinstance(y, Value):
        return isinstance(x, Value) and isinstance(y, Value) and x.number == y.number
    return type(x) is type(y) and repr(x) == repr(y)
