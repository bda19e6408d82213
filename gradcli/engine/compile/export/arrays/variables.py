"""Make variables of the arrays that loops carry and branches give.

In the typed program a loop has a new array in each turn. Source code has one array instead, which
each turn fills again. Branches and loops then pass on numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from gradcli.engine.compile.export.arrays.in_place import InPlace, dense
from gradcli.engine.compile.typed import (
    NUMBERS_IN,
    Block,
    Do,
    If,
    Instruction,
    Loop,
    Operand,
    Pop,
    Program,
    Value,
    dtype_and_shape,
    is_array,
)
from gradcli.engine.compile.walk import Fresh, Renamer, rewritten, with_blocks
from gradcli.source import Span

_NOWHERE = Span(0, 0)


_Passing = TypeVar("_Passing", If, Loop, Pop)


class Fill(Instruction):
    """Give array variables the elements of other arrays, all at once."""

    __slots__ = ("targets", "values")
    targets: tuple[Value, ...]
    values: tuple[Operand, ...]


def is_whole(type: str) -> bool:
    """True for a type of arrays with dimensions; others are numbers here."""
    return is_array(type) and bool(dtype_and_shape(type)[1])


class _Renamer(Renamer):
    """Renames what variables are filled with, too."""

    def _instruction(self, i: Instruction) -> Instruction:
        if isinstance(i, Fill):
            return Fill(i.span, i.targets, self.operands(i.values))
        return super()._instruction(i)


class WithVariables:
    """A program whose loops carry no arrays.

    Args:
        program: The program.
        in_place: What is done in the memory of other arrays.

    Fields:
        program: the same program with variables.
        variables: them, with the value whose name each of them may have.
    """

    def __init__(self, program: Program, in_place: InPlace) -> None:
        self._in_place = in_place
        self._changed: set[int] = set()  # values that are the variable of another one, changed
        self._fresh = Fresh(program)
        self._names: dict[int, Operand] = {}
        self._numbers: set[int] = set()  # of variables
        self.variables: list[tuple[Value, Value]] = []
        block = self._block(program.block)
        made = Program(program.inputs, _Renamer(self._names).block(block), program.texts)
        self.program = made

    def _variable(self, value: Value) -> Value:
        made = self._fresh(value.type)
        self.variables.append((made, value))
        self._numbers.add(made.number)
        return made

    def _block(self, block: Block) -> Block:
        body: list[Instruction] = []
        for i in block.body:
            match i:
                case If():
                    body.append(self._branch(self._with_numbers(i)))
                case Loop():
                    body += self._loop(self._with_numbers(i))
                case Pop():
                    body.append(self._with_numbers(i))
                case Do() if i.target.number in self._in_place.sums:
                    whole = self._own(dense(i, self._in_place.sums[i.target.number]))
                    if whole is not None:
                        self._names[i.target.number] = whole
                        self._changed.add(i.target.number)
                    body.append(i)
                case _:
                    body.append(i)
        return Block(tuple(body), block.results)

    def _own(self, x: Operand) -> Value | None:
        """The variable that an array is; None if it is none."""
        while isinstance(x, Value) and x.number in self._names:
            x = self._names[x.number]
        return x if isinstance(x, Value) and x.number in self._numbers else None

    def _with_numbers(self, i: _Passing) -> _Passing:
        """An instruction that gives numbers in place of arrays without dimensions."""

        def as_number(v: Value) -> Value:
            if not is_array(v.type) or is_whole(v.type):
                return v
            self._names[v.number] = made = self._fresh(NUMBERS_IN[dtype_and_shape(v.type)[0]])
            return made

        return cast(_Passing, rewritten(i, lambda x: x, as_number))

    def _branch(self, i: If) -> Instruction:
        places = [k for k, t in enumerate(i.targets) if is_whole(t.type)]
        if not places:
            return with_blocks(i, self._block)
        made = [self._block(side) for side in (i.then, i.orelse)]
        own = []
        for k in places:
            t = i.targets[k]
            v = self._names.get(t.number) or self._changed_in(made, k) or self._variable(t)
            own.append(v)
            self._names[t.number] = v
        sides = [self._filled(side, places, own, 0) for side in made]
        targets = tuple([t for k, t in enumerate(i.targets) if k not in places])
        return If(i.span, targets, i.test, *sides)

    def _changed_in(self, sides: Sequence[Block], k: int) -> Value | None:
        """The variable that a result of both sides is, if one of them changes it in place."""
        several = [side.results[k] for side in sides]
        a, b = map(self._own, several)
        is_changed = any(isinstance(x, Value) and x.number in self._changed for x in several)
        return a if a is not None and a == b and is_changed else None

    def _filled(
        self, made: Block, places: Sequence[int], variables: Sequence[Operand], before: int
    ) -> Block:
        """A block whose results at these places fill variables; `before` results precede them."""
        several = [made.results[k + before] for k in places]
        pairs = self._different(variables, several)
        skipped = {k + before for k in places}
        results = tuple([x for k, x in enumerate(made.results) if k not in skipped])
        return Block(
            (*made.body, *_fill(made.body[-1].span if made.body else _NOWHERE, pairs)), results
        )

    def _different(
        self, variables: Sequence[Operand], several: Sequence[Operand]
    ) -> list[tuple[Operand, Operand]]:
        """Variables with what they are to be filled with, unless they are that."""
        pairs = zip(variables, several, strict=True)
        return [(v, x) for v, x in pairs if not self._is_same(v, x)]

    def _is_same(self, v: Operand, x: Operand) -> bool:
        while isinstance(x, Value) and x.number in self._names:
            x = self._names[x.number]
        return isinstance(x, Value) and isinstance(v, Value) and x.number == v.number

    def _loop(self, i: Loop) -> list[Instruction]:
        places = [k for k, p in enumerate(i.params) if is_whole(p.type)]
        if not places:
            return [with_blocks(i, self._block)]
        own = [self._handed(i.initial[k]) or self._variable(i.params[k]) for k in places]
        begin = self._different(own, [i.initial[k] for k in places])
        for k, v in zip(places, own, strict=True):
            self._names[i.params[k].number] = self._names[i.targets[k].number] = v
            self._changed.add(i.targets[k].number)
            self._coalesced(i, k, v)
        body = self._filled(self._block(i.body), places, own, 1)

        def left(several: Sequence[Operand]) -> tuple[Operand, ...]:
            return tuple([x for k, x in enumerate(several) if k not in places])

        params, targets = left(i.params), left(i.targets)
        loop = Loop(i.span, targets, i.turns, params, left(i.initial), body)  # type: ignore[arg-type]  # values
        return [*_fill(i.span, begin), loop]

    def _handed(self, x: Operand) -> Value | None:
        """The variable of an array that only a loop reads, which may go on with it."""
        return self._own(x) if isinstance(x, Value) and x.number in self._in_place.handed else None

    def _coalesced(self, i: Loop, k: int, v: Value) -> None:
        """Let the branch at the end of a loop fill the loop's own variable, where one of its sides
        keeps what is there.
        """
        last, x = (i.body.body or (None,))[-1], i.body.results[k + 1]
        others = [y for j, y in enumerate(i.body.results) if j != k + 1]
        if not isinstance(last, If) or i.params[k] in others:
            return
        for j, t in enumerate(last.targets):
            kept = [side.results[j] for side in (last.then, last.orelse)]
            if t == x and t not in others and i.params[k] in kept:
                self._names[t.number] = v


def _fill(span: Span, pairs: Sequence[tuple[Operand, Operand]]) -> Sequence[Instruction]:
    """The instruction that fills variables, if there are some."""
    if not pairs:
        return ()
    variables, values = zip(*pairs, strict=True)
    return (Fill(span, variables, values),)
