"""Loop rotation: turn a loop that tests first into a test before a loop that tests last.

A `while` is lowered to a loop whose body is a branch: a turn, or the end. Without rotation the
reverse of each turn would be a branch too, and that of the last turn would do nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.typed import Block, Do, If, Instruction, Loop, Operand, Program, Value
from gradcli.engine.compile.walk import Copier, defined, read, unused
from gradcli.engine.ops.catalog import ops


def rotated(program: Program) -> Program:
    """Rotate each loop that tests first: the first test stands before the loop, and each turn ends
    with the test of the next.
    """
    return _Rotation(program).program()


class _Rotation:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._next = unused(program)

    def program(self) -> Program:
        program = self._program
        return Program(program.inputs, self._block(program.block), program.texts)

    def _fresh(self, type: str) -> Value:
        self._next += 1
        return Value(self._next - 1, type)

    def _block(self, block: Block) -> Block:
        body = [made for i in block.body for made in self._instruction(i)]
        return Block(tuple(body), block.results)

    def _instruction(self, i: Instruction) -> Sequence[Instruction]:
        match i:
            case If():
                return (If(i.span, i.targets, i.test, self._block(i.then), self._block(i.orelse)),)
            case Loop():
                body = self._block(i.body)
                whole = Loop(i.span, i.targets, i.turns, i.params, i.initial, body)
                return self._rotated(whole) if _tests_first(whole) else (whole,)
        return (i,)

    def _rotated(self, i: Loop) -> Sequence[Instruction]:
        *test, branch = i.body.body
        assert isinstance(branch, If)
        made = [v for j in test for v in defined(j)]
        given, ends = _results(i, branch, branch.then), _results(i, branch, branch.orelse)
        wanted = {v.number for v in read(branch.then)}
        wanted |= {x.number for x in (*given, *ends) if isinstance(x, Value)}
        handed = [v for v in made if v.number in wanted]

        first = Copier(_named(i.params, i.initial), self._fresh)
        begun = first.body(test)
        then = Copier(_named(i.params, given), self._fresh)
        again = then.body(test)

        params = (*i.params, *handed)
        targets = tuple([self._fresh(v.type) for v in params])
        turns, more = self._fresh("int"), self._fresh("int")
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
        last = Copier(_named(params, targets), self._fresh)
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
