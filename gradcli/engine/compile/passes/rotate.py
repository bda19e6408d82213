"""Loop rotation: turn a loop that tests first into a test before a loop that tests last.

A `while` is lowered to a loop whose body is a branch: a turn, or the end. Without rotation the
reverse of each turn would be a branch too, and that of the last turn would do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.typed import Block, Do, If, Instruction, Loop, Operand, Program, Value
from gradcli.engine.compile.walk import Copier, Fresh, defined, is_straight, read, with_loops
from gradcli.engine.ops.catalog import ops


def rotated(program: Program) -> Program:
    """Rotate each loop that tests first: the first test stands before the loop, and each turn ends
    with the test of the next.
    """
    if is_straight(program):
        return program
    fresh = Fresh(program)
    return with_loops(program, lambda i: _rotated(i, fresh) if _tests_first(i) else (i,))


def _rotated(i: Loop, fresh: Fresh) -> Sequence[Instruction]:
    *test, branch = i.body.body
    assert isinstance(branch, If)
    made = [v for j in test for v in defined(j)]
    given, ends = _results(i, branch, branch.then), _results(i, branch, branch.orelse)
    wanted = {v.number for v in read(branch.then)}
    wanted |= {x.number for x in (*given, *ends) if isinstance(x, Value)}
    handed = [v for v in made if v.number in wanted]

    first = Copier(_named(i.params, i.initial), fresh)
    begun = first.body(test)
    then = Copier(_named(i.params, given), fresh)
    again = then.body(test)

    params = (*i.params, *handed)
    targets = tuple([fresh(v.type) for v in params])
    turns, more = fresh("int"), fresh("int")
    nexts = (*given, *then.operands(handed))
    loop = Loop(
        i.span,
        targets,
        turns,
        params,
        (*i.initial, *first.operands(handed)),
        Block((*branch.then.body, *again), (then.operand(branch.test), *nexts)),
    )
    count = Do(i.span, more, ops.add.name, (turns, 1), ())
    last = Copier(_named(params, targets), fresh)
    some = Block((loop, count), (*last.operands(ends), more))
    none = Block((), (*first.operands(ends), 1))
    test0 = first.operand(branch.test)
    return (*begun, If(i.span, (*i.targets, i.turns), test0, some, none))


def _named(values: Sequence[Value], operands: Sequence[Operand]) -> dict[int, Operand]:
    return {v.number: x for v, x in zip(values, operands, strict=True)}


def _results(i: Loop, branch: If, side: Block) -> tuple[Operand, ...]:
    """Return the results of a turn, without the test, if its branch takes this side."""
    names = _named(branch.targets, side.results)
    found = i.body.results[1:]
    return tuple([names.get(x.number, x) if isinstance(x, Value) else x for x in found])


def _tests_first(i: Loop) -> bool:
    """True if the body of a loop ends in a branch between a turn and the end of the loop."""
    if not i.body.body or not isinstance(i.body.body[-1], If):
        return False
    branch, again = i.body.body[-1], i.body.results[0]
    if branch.orelse.body or not isinstance(again, Value):
        return False
    if isinstance(branch.test, Value) and branch.test.number == again.number:
        return True
    places = [k for k, t in enumerate(branch.targets) if t.number == again.number]
    return any(branch.then.results[k] is True and branch.orelse.results[k] is False for k in places)
