"""Turn a function of the scalar form, which has basic blocks, into structured statements.

Blocks that several paths lead to are written after the branch in which these paths part; where
paths leave a branch in other ways, the blocks behind are written once for each path. Source of the
first: Ramsey, Beyond Relooper, ICFP 2022.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from gradcli.engine.compile.export import written
from gradcli.engine.compile.export.trim import trimmed
from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Attempt,
    Called,
    Declare,
    Expression,
    Let,
    Refuse,
    Return,
    Statement,
    Variable,
    When,
    applied,
    is_atom,
    of_library,
    size,
)
from gradcli.engine.compile.scalar.form import (
    CHECKED,
    Bail,
    Block,
    Branch,
    Call,
    Do,
    Edge,
    Function,
    Give,
    GiveUp,
    Instruction,
    Jump,
    Library,
    Operand,
    Repeat,
    Undefined,
    Value,
)
from gradcli.engine.compile.typed import NotCompilable

_LONGEST = 5  # operations of an expression in a function
_MOST = 2_000  # statements of a function

Write: TypeAlias = "Callable[[str, tuple[Expression, ...], str], Expression | None]"


def expression(
    function: Function, args: Sequence[Expression], call: Write, most: int
) -> Expression | None:
    """A function as one expression of its arguments; None if it refuses some, has a loop, or has
    more operations than `most`.
    """
    if any(isinstance(b.end, (Repeat, GiveUp)) for b in function.blocks):
        return None
    blocks = {b.label: b for b in function.blocks}

    def of(block: Block, known: Mapping[int, Expression]) -> Expression | None:
        known = dict(known)
        for i in block.body:
            if isinstance(i, Bail):
                if _operand(i.when, known) is False:
                    continue
                return None
            if isinstance(i, Do) and i.primitive in CHECKED:
                return None
            assert isinstance(i, (Do, Library, Call))
            given = tuple([_operand(x, known) for x in i.args])
            if isinstance(i, Do):
                made: Expression | None = applied(i.primitive, given)
            elif isinstance(i, Library):
                made = of_library(i.function, given)
            else:
                made = call(i.function, given, i.target.type)
            if made is None or size(made) > most:
                return None
            known[i.target.number] = made
        match block.end:
            case Give(result=result):
                return _operand(result, known)
            case Jump(to=to):
                return along(to, known)
            case Branch(test=test, yes=yes, no=no):
                chosen = _operand(test, known)
                if type(chosen) is bool:
                    return along(yes if chosen else no, known)
                a, b = along(yes, known), along(no, known)
                if a is None or b is None:
                    return None
                if repr(a) == repr(b):
                    return a
                found = _selected(chosen, a, b)
                return found if size(found) <= most else None
        return None

    def along(edge: Edge, known: Mapping[int, Expression]) -> Expression | None:
        block = blocks[edge.label]
        given = {p.number: _operand(x, known) for p, x in zip(block.params, edge.args, strict=True)}
        return of(block, {**known, **given})

    first = function.blocks[0]
    return of(first, {p.number: x for p, x in zip(function.params, args, strict=True)})


def _selected(test: Expression, a: Expression, b: Expression) -> Expression:
    """One of two values by a test; the test and a, or the test or b, if they are tests."""
    if repr(b) == repr(test) or b is False:
        return Apply("bool_and", (test, a))
    if repr(a) == repr(test) or a is True:
        return Apply("bool_or", (test, b))
    return Apply(f"{written.type_of(a)}_select", (test, a, b))


class Body:
    """The structured body of a function.

    Args:
        function: The function.
        names: Names of its parameters.
        pieces: The functions that it calls, by their names in the scalar form.
    """

    def __init__(
        self, function: Function, names: Sequence[str], pieces: Mapping[str, written.Function]
    ) -> None:
        self._function = function
        self._blocks = {b.label: b for b in function.blocks}
        self._pieces = pieces
        self._heads = {b.end.to.label for b in function.blocks if isinstance(b.end, Repeat)}
        self._count = 0
        self._length = 0
        self._taken = set(names)
        self._known: dict[int, Expression] = {}
        self._merged: dict[int, Variable] = {}  # the variables of merges that have been declared
        self.refuses = False
        self.parameters = tuple(
            [Variable(n, p.type) for n, p in zip(names, function.params, strict=True)]
        )
        for p, v in zip(function.params, self.parameters, strict=True):
            self._known[p.number] = v
        self.statements = trimmed(self._from(function.blocks[0].label, None), ())

    @cached_property
    def _uses(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for b in self._function.blocks:
            for i in b.body:
                found.update(x.number for x in _read(i) if isinstance(x, Value))
            match b.end:
                case Branch(test=test, yes=yes, no=no):
                    xs = (test, *yes.args, *no.args)
                case Jump(to=to) | Repeat(to=to):
                    xs = to.args
                case Give(result=result):
                    xs = (result,)
                case _:
                    xs = ()
            found.update(x.number for x in xs if isinstance(x, Value))
        return found

    def _successors(self, label: int) -> list[int]:
        match self._blocks[label].end:
            case Jump(to=to):
                return [to.label]
            case Branch(yes=yes, no=no):
                return [yes.label, no.label]
        return []  # the way back of a loop does not count

    @cached_property
    def _behind(self) -> dict[int, set[int]]:
        """The blocks that each path from a block to a result comes through."""
        found: dict[int, set[int]] = {}
        for b in reversed(self._function.blocks):
            sides = [found[s] for s in self._successors(b.label) if s in found]
            gives_up = isinstance(b.end, (GiveUp, Repeat))
            common = set(self._blocks) if gives_up else set.intersection(*sides) if sides else set()
            found[b.label] = common | {b.label}
        return found

    def _meeting(self, block: Block) -> int | None:
        """The first block behind both sides of a branch."""
        end = block.end
        assert isinstance(end, Branch)
        both = self._behind[end.yes.label] & self._behind[end.no.label]
        order = [b.label for b in self._function.blocks if b.label in both]
        found = order[0] if order else None
        return None if found is None or len(both) == len(self._blocks) else found

    # --- writing -----------------------------------------------------------------------------

    def _from(self, label: int, stop: int | None, loop: int | None = None) -> list[Statement]:
        """The statements from a block up to the block `stop`; `loop` is the head of the loop."""
        made: list[Statement] = []
        at: int | None = label
        while at is not None and at != stop:
            block = self._blocks[at]
            if at in self._heads and at != loop:
                return [*made, *self._loop(block, stop)]
            made += self._straight(block)
            at = self._end(block, made, stop)
            self._length += len(made)
            if self._length > _MOST:
                raise NotCompilable(f"`{self._function.name}` has too long a formula")
        return made

    def _end(self, block: Block, made: list[Statement], stop: int | None) -> int | None:
        """Write the end of a block; the label of the block that follows."""
        match block.end:
            case Give(result=result):
                made.append(Return(self._expression(result)))
                return None
            case GiveUp(kind=kind):
                self.refuses = True
                made.append(Refuse(True, kind))
                return None
            case Jump(to=to):
                if self._returns(to):
                    made.append(Return(self._returned(to)))
                    return None
                made += self._moves(to)
                return to.label
            case Repeat(to=to):
                made += self._moves(to)
                return None
            case Branch():
                return self._branch(block, made, stop)
        raise AssertionError("a block without an end")

    def _branch(self, block: Block, made: list[Statement], stop: int | None) -> int | None:
        end = block.end
        assert isinstance(end, Branch)
        meeting = self._meeting(block)
        inner = meeting if meeting is not None and not self._is_return(meeting) else None
        end_of = inner if inner is not None else stop
        if inner is not None and inner != stop:
            made += self._declared(inner)
        test = self._expression(end.test)
        before, declared = dict(self._known), dict(self._merged)
        sides = []
        for edge in (end.yes, end.no):
            self._known, self._merged = dict(before), dict(declared)
            sides.append(self._side(edge, end_of))
        self._merged = declared
        self._known = {**before, **self._params(inner)}
        then, orelse = sides
        chosen = self._chosen(test, then, orelse, inner)
        if chosen is not None:
            made[-1:] = [chosen]
            return inner
        if _ends(then):
            made.append(When(test, tuple(then), ()))
            made += orelse
            return inner if inner is not None and not _ends(orelse) else None
        if _ends(orelse):
            made.append(When(_not(test), tuple(orelse), ()))
            made += then
            return inner
        if then:
            made.append(When(test, tuple(then), tuple(orelse)))
        elif orelse:
            made.append(When(_not(test), tuple(orelse), ()))
        return inner

    def _chosen(
        self,
        test: Expression,
        then: Sequence[Statement],
        orelse: Sequence[Statement],
        meeting: int | None,
    ) -> Statement | None:
        """A branch that only chooses a value, as the declaration of that value."""
        if meeting is None or len(then) != 1 or len(orelse) != 1:
            return None
        (a,), (b,) = then, orelse
        params = self._blocks[meeting].params
        if not isinstance(a, Assign) or not isinstance(b, Assign) or len(params) != 1:
            return None
        v = a.variable
        x = applied(f"{v.type}_select", (test, a.value, b.value))
        return Let(v, x, True) if size(x) <= _LONGEST else None

    def _side(self, edge: Edge, stop: int | None) -> list[Statement]:
        if self._returns(edge):
            return [Return(self._returned(edge))]
        return [*self._moves(edge), *self._from(edge.label, stop)]

    def _loop(self, head: Block, stop: int | None) -> list[Statement]:
        """A loop whose test is at its head."""
        end = head.end
        assert isinstance(end, Branch)
        made = self._straight(head)
        back = self._reaches(end.yes.label, head.label)
        inside, outside = (end.yes, end.no) if back else (end.no, end.yes)
        test = self._expression(end.test)
        body = self._side(inside, None)
        go_on = test if back else _not(test)
        if made:
            made.append(When(_not(go_on), (written.Leave(),), ()))
            loop: Statement = written.While(True, (*made, *body))
        else:
            loop = written.While(go_on, tuple(body))
        return [loop, *self._side(outside, stop)]

    def _reaches(self, label: int, head: int) -> bool:
        end = self._blocks[label].end
        if isinstance(end, Repeat) and end.to.label == head:
            return True
        return any(self._reaches(s, head) for s in self._successors(label))

    def _straight(self, block: Block) -> list[Statement]:
        made: list[Statement] = []
        for i in block.body:
            if isinstance(i, Bail):
                test = self._expression(i.when)
                if test is not False:
                    self.refuses = True
                    made.append(Refuse(test, i.kind))
                continue
            assert isinstance(i, (Do, Library, Call))
            args = tuple([self._expression(x) for x in i.args])
            match i:
                case Do():
                    if i.primitive in CHECKED:
                        self.refuses = True
                        v = self._variable(i.target)
                        made.append(Attempt(v, i.primitive, args))
                        self._known[i.target.number] = v
                        continue
                    found: Expression = applied(i.primitive, args)
                case Library():
                    found = of_library(i.function, args)
                case Call():
                    piece = self._pieces[i.function]
                    if piece.refuses:
                        self.refuses = True
                        v = self._variable(i.target)
                        made.append(Attempt(v, piece.name, args))
                        self._known[i.target.number] = v
                        continue
                    found = Called(piece.name, args, i.target.type)
            if self._uses[i.target.number] > 1 or size(found) > _LONGEST or self._escapes(i, block):
                v = self._variable(i.target)
                made.append(Let(v, found, True))
                found = v
            self._known[i.target.number] = found
        return made

    def _escapes(self, i: Do | Library | Call, block: Block) -> bool:
        """True if a value is used in another block, where a loop may have changed what it reads."""
        return bool(self._heads) and not any(
            isinstance(x, Value) and x.number == i.target.number
            for j in block.body
            for x in _read(j)
        )

    def _params(self, label: int | None) -> dict[int, Expression]:
        found = {} if label is None else {p.number: p for p in self._blocks[label].params}
        return {n: self._known[n] for n in found if n in self._known} | {
            n: self._merged[n] for n in found if n in self._merged
        }

    def _declared(self, label: int) -> list[Statement]:
        made: list[Statement] = []
        for p in self._blocks[label].params:
            if p.number not in self._merged:
                self._merged[p.number] = self._variable(p)
                made.append(Declare(self._merged[p.number]))
        return made

    def _moves(self, edge: Edge) -> list[Statement]:
        """Pass values to the arguments of a block."""
        params = self._blocks[edge.label].params
        made: list[Statement] = []
        pairs = []
        for p, x in zip(params, edge.args, strict=True):
            value = self._expression(x)
            if p.number in self._merged:
                if not isinstance(x, Undefined):
                    pairs.append((self._merged[p.number], value))
                self._known[p.number] = self._merged[p.number]
            elif edge.label in self._heads:
                v = self._merged[p.number] = self._variable(p)
                made.append(Let(v, value, False))
                self._known[p.number] = v
            elif is_atom(value) or self._uses[p.number] <= 1:
                self._known[p.number] = value
            else:
                v = self._variable(p)
                made.append(Let(v, value, True))
                self._known[p.number] = v
        return [*made, *assigned(pairs, self._fresh)]

    def _is_return(self, label: int) -> bool:
        block = self._blocks[label]
        return not block.body and isinstance(block.end, Give)

    def _returns(self, edge: Edge) -> bool:
        """True if an edge leads to a block that only returns."""
        return self._is_return(edge.label)

    def _returned(self, edge: Edge) -> Expression:
        block = self._blocks[edge.label]
        end = block.end
        assert isinstance(end, Give)
        for p, x in zip(block.params, edge.args, strict=True):
            if isinstance(end.result, Value) and end.result.number == p.number:
                return self._expression(x)
        return self._expression(end.result)

    def _expression(self, x: Operand) -> Expression:
        return _operand(x, self._known)

    def _variable(self, value: Value) -> Variable:
        return self._fresh(value.type)

    def _fresh(self, type: str) -> Variable:
        self._count += 1
        letters = {"float": "t", "int": "n", "bool": "is"}
        name = f"{letters[type]}{self._count}"
        return self._fresh(type) if name in self._taken else Variable(name, type)


def assigned(
    pairs: Sequence[tuple[Variable, Expression]], fresh: Callable[[str], Variable]
) -> list[Statement]:
    """Assign variables at once: none is read after it has been assigned."""
    waiting = [(v, x) for v, x in pairs if not (isinstance(x, Variable) and x.name == v.name)]
    made: list[Statement] = []
    while waiting:
        for k, (v, x) in enumerate(waiting):
            others = waiting[:k] + waiting[k + 1 :]
            if not any(v.name in written.variables(y) for _, y in others):
                made.append(Assign(v, x))
                waiting = others
                break
        else:
            v, x = waiting[0]
            kept = fresh(v.type)
            made.append(Let(kept, v, True))

            def renamed(y: Variable, v: Variable = v, kept: Variable = kept) -> Expression:
                return kept if y.name == v.name else y

            waiting = [(w, written.replaced(y, renamed)) for w, y in waiting]
    return made


def _read(i: Instruction) -> tuple[Operand, ...]:
    """The operands of an instruction."""
    if isinstance(i, Bail):
        return (i.when,)
    assert isinstance(i, (Do, Library, Call))
    return i.args


def _ends(body: Sequence[Statement]) -> bool:
    """True if a path ends with the body."""
    return bool(body) and isinstance(body[-1], (Return, Refuse)) and _is_sure(body[-1])


def _is_sure(s: Statement) -> bool:
    return not isinstance(s, Refuse) or s.test is True


def _not(x: Expression) -> Expression:
    if isinstance(x, Apply) and x.primitive == "bool_not":
        return x.args[0]
    return Apply("bool_not", (x,))


def _operand(x: Operand, known: Mapping[int, Expression]) -> Expression:
    if isinstance(x, Undefined):
        return {"float": 0.0, "int": 0, "bool": False}[x.type]
    return known[x.number] if isinstance(x, Value) else x
