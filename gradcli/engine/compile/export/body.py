"""Write a typed program on numbers as statements: the program's names, its loops as loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gradcli.engine.compile.export import loops
from gradcli.engine.compile.export.names import Names
from gradcli.engine.compile.export.operations import Attempted, Hold, Operations
from gradcli.engine.compile.export.remarks import Remarks
from gradcli.engine.compile.export.structure import assigned
from gradcli.engine.compile.export.tape import Relieved
from gradcli.engine.compile.export.trim import trimmed
from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Attempt,
    Count,
    Declare,
    Expression,
    Item,
    Keep,
    Leave,
    Let,
    Refuse,
    Remark,
    Statement,
    Take,
    Until,
    Variable,
    When,
    While,
    Whole,
    applied,
    is_atom,
    size,
    type_of,
)
from gradcli.engine.compile.typed import (
    Block,
    Do,
    If,
    Instruction,
    Loop,
    NotCompilable,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
)
from gradcli.engine.compile.typed import Leave as BailOut
from gradcli.engine.compile.walk import blocks, defined, operands_of
from gradcli.engine.ops.catalog import ops

_LONGEST = 6  # operations of an expression
_AT_LEAST = 2  # operations of an expression that a name of the program is worth


class Body:
    """The statements of a program on numbers.

    Args:
        less: The program.
        names: The names of its values, by number.
        given: Makes the names of variables.
        operations: Writes ops.
        remarks: The program's comments.
        first: The number of the first value that belongs to derivatives.

    Fields:
        inputs: the variables of its inputs.
        statements: its statements.
        results: the expressions of its results, or the arrays that they are.
        pushes: for each push, how many numbers it keeps and the loops around it.
        room: how many numbers its arrays in the work memory have.
        matrix: the beginning of its matrix of derivatives, if it has one.
    """

    room = 0
    matrix: Item | None = None

    def __init__(
        self,
        less: Relieved,
        names: Mapping[int, str],
        given: Names,
        operations: Operations,
        remarks: Remarks,
        first: int,
        inputs: Mapping[int, Expression],
    ) -> None:
        program = less.program
        self._turns_above_zero = less.turns
        self._names = names
        self._given = given
        self._operations = operations
        self._remarks = remarks
        self._first = first
        self._uses: Counter[int] = Counter()
        self._crossing: set[int] = set()
        self._next_turn: set[int] = set()
        self._look(program.block, {v.number: None for v in self._given_before(program)}, None)
        self._known: dict[int, Expression] = dict(inputs)
        self._ranges = operations.ranges
        self._made: list[Statement] = []
        self._defined: dict[int, Do] = {}
        self._loops: list[int | None] = []
        self.pushes: list[tuple[int, tuple[int | None, ...]]] = []
        self._block(program.block)
        self.results = [self._result(x) for x in program.block.results]
        self.statements = trimmed(self._made, self.wanted)

    @property
    def wanted(self) -> Sequence[Expression]:
        """What is read behind the statements."""
        found = [Item(x.array, 0, x.type) if isinstance(x, Whole) else x for x in self.results]
        return found if self.matrix is None else [*found, self.matrix]

    def _given_before(self, program: Program) -> Sequence[Value]:
        """The values that the program does not define."""
        return program.inputs

    # --- what is used where --------------------------------------------------------------------

    def _look(self, block: Block, homes: dict[int, Loop | None], loop: Loop | None) -> None:
        """Count the uses of values, and find those that a loop reads from outside."""
        for i in block.body:
            self._use(self._operands(i), homes, loop)
            inside = i if isinstance(i, Loop) else loop
            if isinstance(i, Loop):
                homes.update((p.number, i) for p in i.params)
            for inner in blocks(i):
                self._look(inner, homes, inside)
            homes.update((v.number, loop) for v in defined(i))
        if loop is not None and block is loop.body:
            self._next_turn.update(x.number for x in block.results if isinstance(x, Value))
        tests = isinstance(loop, Loop) and block is loop.body and loops.tests_first(loop)
        self._use(block.results[tests:], homes, loop)  # a test at the head is not made again

    def _operands(self, i: Instruction) -> Iterable[Operand | None]:
        """What an instruction reads itself."""
        return operands_of(i)

    def _use(
        self, several: Iterable[Operand | None], homes: dict[int, Loop | None], loop: Loop | None
    ) -> None:
        for x in several:
            if isinstance(x, Value):
                self._uses[x.number] += 1
                if homes[x.number] is not loop:
                    self._crossing.add(x.number)

    # --- expressions -----------------------------------------------------------------------------

    def expression(self, x: Operand) -> Expression:
        """The expression of an operand."""
        return self._known[x.number] if isinstance(x, Value) else x

    def _name(self, value: Value) -> Variable:
        """A new variable for a value."""
        wish = self._names.get(value.number)
        name = self._given.numbered(value.type) if wish is None else self._given(wish)
        return Variable(name, value.type)

    def _fresh(self, type: str) -> Variable:
        return Variable(self._given.numbered(type), type)

    # --- statements -----------------------------------------------------------------------------

    def _block(self, block: Block) -> None:
        for i in block.body:
            self._instruction(i)

    def _result(self, x: Operand) -> Expression | Whole:
        """A result: a variable, a constant or an array."""
        found = self.expression(x)
        if isinstance(x, Value) and not is_atom(found):
            variable = self._name(x)
            self._made.append(Let(variable, found, True))
            self._known[x.number] = found = variable
        return found

    def _inside(self, block: Block) -> list[Statement]:
        """The statements of an inner block."""
        outside, self._made = self._made, []
        self._block(block)
        made, self._made = self._made, outside
        return made

    def _instruction(self, i: Instruction) -> None:
        match i:
            case Do():
                self._do(i)
            case If():
                self._remark(i)
                self._branch(i)
            case Loop():
                self._remark(i)
                self._loop(i)
            case Push():
                self._made.append(Keep(tuple([self.expression(x) for x in i.values])))
                self.pushes.append((len(i.values), tuple(self._loops)))
            case Pop():
                targets = []
                for t in i.targets:
                    targets.append(self._name(t))
                    self._known[t.number] = targets[-1]
                self._made.append(Take(tuple(targets)))
            case BailOut():
                self._made.append(Refuse(self.expression(i.when), i.reason))
            case Ruled():
                for t, x in zip(i.targets, i.values, strict=True):
                    self._known[t.number] = self.expression(x)
            case _:
                raise NotCompilable("an operation on arrays", i.span)

    def _remark(self, i: Instruction) -> None:
        """Write the program's comments that stand before an instruction."""
        lines = self._remarks.before(i.span)
        if lines:
            self._made.append(Remark(lines))

    def _do(self, i: Do) -> None:
        self._defined[i.target.number] = i
        args = [None if x is None else self.expression(x) for x in i.args]

        def hold(x: Expression) -> Expression:
            self._remark_forward(i)
            return self._hold(x)

        found = self._written(i, args, i.target.type, hold)
        if isinstance(found, Attempted):
            self._remark_forward(i)
            variable = self._name(i.target)
            self._made.append(Attempt(variable, found.function, found.args))
            self._known[i.target.number] = variable
        else:
            self._keep(i.target, found, i)

    def _keep(self, target: Value, found: Expression, i: Do | None = None) -> None:
        """Take an expression for a value, or a variable that holds it."""
        if not is_atom(found) and self._stays(target.number, found):
            if i is not None:
                self._remark_forward(i)
            variable = self._name(target)
            self._made.append(Let(variable, found, True))
            self._ranges.note(variable, self._ranges.of(found))
            found = variable
        self._known[target.number] = found

    def _hold(self, x: Expression) -> Variable:
        """A variable with the value of an expression."""
        variable = self._fresh(type_of(x))
        self._made.append(Let(variable, x, True))
        self._ranges.note(variable, self._ranges.of(x))
        return variable

    def _written(
        self, i: Do, args: Sequence[Expression | None], type: str, hold: Hold | None = None
    ) -> Expression | Attempted:
        """An op on numbers that gives a number of a type; `hold` as of `Operations.write`."""
        op, params = ops[i.op], dict(i.params)
        if op is ops.alone:  # one element of an op on arrays
            of = ops[str(params["of"])]
            known = dict(params.get("known", ()))  # type: ignore[call-overload]
            return self._operations.write(of, args, known, type, i.span, hold)
        return self._operations.write(op, args, params, type, i.span, hold)

    def _remark_forward(self, i: Do) -> None:
        if i.target.number < self._first:
            self._remark(i)

    def _stays(self, number: int, found: Expression) -> bool:
        """True if a value becomes a variable."""
        if self._uses[number] > 1 or number in self._crossing or size(found) > _LONGEST:
            return True
        if number in self._next_turn:
            return False  # its name is that of the next turn's
        return number in self._names and number < self._first and size(found) >= _AT_LEAST

    def _branch(self, i: If) -> None:
        loop = i.then.body[0] if loops.guards(i, self._defined, self._turns_above_zero) else None
        if isinstance(loop, Loop) and self._can_begin(loop):
            self._loop(loop, is_guarded=True)
            for t, x in zip(i.targets, i.then.results, strict=True):
                self._known[t.number] = self.expression(x)
            return
        test = self.expression(i.test)
        if len(i.targets) == 1 and not i.then.body and not i.orelse.body:
            chosen = [self.expression(block.results[0]) for block in (i.then, i.orelse)]
            (target,) = i.targets
            self._keep(target, Apply(f"{target.type}_select", (test, *chosen)))
            return
        targets = [self._name(t) for t in i.targets]
        outside = self._made
        outside += [Declare(v) for v in targets]
        sides = []
        for block in (i.then, i.orelse):
            body = self._inside(block)
            given = [self.expression(x) for x in block.results]
            body += [Assign(v, x) for v, x in zip(targets, given, strict=True)]
            sides.append(tuple(body))
        then, orelse = sides
        for t, v in zip(i.targets, targets, strict=True):
            self._known[t.number] = v
        if then:
            outside.append(When(test, then, orelse))
        elif orelse:
            outside.append(When(_not(test), orelse, ()))

    # --- loops ------------------------------------------------------------------------------------

    def _can_begin(self, i: Loop) -> bool:
        """True if a loop can be said with its test at its head."""
        return loops.counted(i, self._uses) is not None or loops.head(i) is not None

    def _loop(self, i: Loop, *, is_guarded: bool = False) -> None:
        """A loop. If it is guarded, its first turn depends on its test, too."""
        how = loops.counted(i, self._uses)
        if how is not None and not (is_guarded or self._begins(i, how)):
            how = None
        at = None if how is None else how.at
        params: list[Variable] = []
        for k, (p, x) in enumerate(zip(i.params, i.initial, strict=True)):
            value = self.expression(x)
            is_counter = k == at and p.number not in self._names
            params.append(Variable(self._given("i"), p.type) if is_counter else self._name(p))
            if k != at:
                self._made.append(Let(params[-1], value, False))
        self._known.update({p.number: v for p, v in zip(i.params, params, strict=True)})
        turns = self._turns(i) if self._uses[i.turns.number] else None
        outside, self._made = self._made, []
        self._loops.append(self._bound(i, how))
        if loops.tests_first(i):
            made = self._tested_first(i, params, how)
        elif how is not None:
            made = self._counted_last(i, params, how)
        else:
            made = self._tested_last(i, params, is_guarded)
        self._loops.pop()
        self._made = outside
        if at is not None and not isinstance(made, Count):
            outside.append(Let(params[at], self.expression(i.initial[at]), False))
        if turns is not None:
            made = _with_more(made, Assign(turns, Apply("int_add", (turns, 1))))
        outside.append(made)
        self._known.update({t.number: v for t, v in zip(i.targets, params, strict=True)})
        if at is not None and isinstance(made, Count):
            self._given.release(params[at].name)
            self._ranges.note(params[at], None)

    def _begins(self, i: Loop, how: loops.Counted) -> bool:
        """True if a counted loop has a first turn in any case, or tests before it."""
        if loops.tests_first(i):
            return len(i.body.body) == _HEAD
        start, stop = i.initial[how.at], how.stop
        if type(start) is int and type(stop) is int:
            return start < stop if how.step > 0 else start > stop
        return how.step < 0 and stop == 0  # it counts the turns of another loop

    def _turns(self, i: Loop) -> Variable:
        """A variable that counts the turns of a loop."""
        turns = Variable(self._given("turns"), "int")
        self._made.append(Let(turns, 0, False))
        self._known[i.turns.number] = turns
        return turns

    def _bound(self, i: Loop, how: loops.Counted | None) -> int | None:
        """The number of turns, if it is known."""
        if how is None:
            return None
        start, stop = i.initial[how.at], how.stop
        if type(start) is not int or type(stop) is not int:
            return None
        return max(0, -((start - stop) // how.step))

    def _tested_first(
        self, i: Loop, params: Sequence[Variable], how: loops.Counted | None
    ) -> Statement:
        *before, branch = i.body.body
        assert isinstance(branch, If)
        for j in before:
            self._instruction(j)
        test = self.expression(branch.test)
        given = loops.results(i, branch, branch.then)
        ends = [self.expression(x) for x in loops.results(i, branch, branch.orelse)]
        leaving = assigned([*zip(params, ends, strict=True)], self._fresh)
        is_plain = not self._made and not leaving
        if how is not None and is_plain:
            self._note_counter(i, params, how)
        if not is_plain:
            self._made.append(When(_not(test), (*leaving, Leave()), ()))
        for j in branch.then.body:
            if how is None or not is_plain or not _only(j, how):
                self._instruction(j)
        if how is not None and is_plain:
            return self._counting(i, params, how, given)
        self._next(params, given)
        return While(test if is_plain else True, tuple(self._made))

    def _counting(
        self, i: Loop, params: Sequence[Variable], how: loops.Counted, given: Sequence[Operand]
    ) -> Statement:
        """A loop that counts, with the statements that have been made."""
        self._next(params, given, how.at)
        start, stop = self.expression(i.initial[how.at]), self.expression(how.stop)
        return Count(params[how.at], start, stop, how.step, tuple(self._made))

    def _note_counter(self, i: Loop, params: Sequence[Variable], how: loops.Counted) -> None:
        """Note the range of a counter that counts between known bounds."""
        start, stop = self.expression(i.initial[how.at]), self.expression(how.stop)
        if type(start) is int and type(stop) is int:
            found = (start, stop - 1) if how.step > 0 else (stop + 1, start)
            self._ranges.note(params[how.at], found)

    def _counted_last(self, i: Loop, params: Sequence[Variable], how: loops.Counted) -> Statement:
        self._note_counter(i, params, how)
        for j in i.body.body:
            if not _only(j, how):
                self._instruction(j)
        return self._counting(i, params, how, i.body.results[1:])

    def _tested_last(self, i: Loop, params: Sequence[Variable], is_guarded: bool) -> Statement:
        again, *nexts = i.body.results
        head = loops.head(i) if is_guarded else None
        tests = set() if head is None else {j.target.number for j in head.instructions}
        for j in i.body.body:
            if not (isinstance(j, Do) and j.target.number in tests):
                self._instruction(j)
        if head is None:
            test = self.expression(again)
            if not is_atom(test):
                kept = self._fresh("bool")
                self._made.append(Let(kept, test, True))
                test = kept
            self._next(params, nexts)
            return Until(test, tuple(self._made))
        self._next(params, nexts)
        body, self._made = tuple(self._made), []
        for x, v in zip(nexts, params, strict=True):
            if isinstance(x, Value):
                self._known[x.number] = v
        for j in head.instructions:
            self._known[j.target.number] = self._in_place(j)
        return While(self.expression(head.test), body)

    def _in_place(self, i: Do) -> Expression:
        args = [None if x is None else self.expression(x) for x in i.args]
        found = self._written(i, args, i.target.type)
        if isinstance(found, Attempted):
            raise NotCompilable("the test of a loop may be refused", i.span)
        return found

    def _next(
        self, params: Sequence[Variable], given: Sequence[Operand], but: int | None = None
    ) -> None:
        """Give the params, but a counter, their values of the next turn."""
        found = [self.expression(x) for k, x in enumerate(given) if k != but]
        variables = [v for k, v in enumerate(params) if k != but]
        self._made += assigned([*zip(variables, found, strict=True)], self._fresh)


_HEAD = 2  # instructions of the body of a loop that is nothing else than a test and a branch


def _only(i: Instruction, how: loops.Counted) -> bool:
    return isinstance(i, Do) and i.target.number in how.only


def _not(x: Expression) -> Expression:
    return applied("bool_not", (x,))


def _with_more(s: Statement, more: Statement) -> Statement:
    match s:
        case Count():
            return Count(s.variable, s.start, s.stop, s.step, (*s.body, more))
        case While():
            return While(s.test, (*s.body, more))
        case Until():
            return Until(s.test, (*s.body, more))
    raise AssertionError("no loop")
