"""Make variables of the arrays that loops carry and branches give.

In the typed program a loop has a new array in each turn. Source code has one array instead, which
each turn fills again. Branches and loops then pass on numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from gradcli.engine.compile.typed import (
    NUMBERS_IN,
    Block,
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

    Fields:
        program: the same program with variables.
        variables: them, with the value whose name each of them may have.
    """

    def __init__(self, program: Program) -> None:
        self._fresh = Fresh(program)
        self._names: dict[int, Operand] = {}
        self.variables: list[tuple[Value, Value]] = []
        block = self._block(program.block)
        made = Program(program.inputs, _Renamer(self._names).block(block), program.texts)
        self.program = made

    def _variable(self, value: Value) -> Value:
        made = self._fresh(value.type)
        self.variables.append((made, value))
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
                case _:
                    body.append(i)
        return Block(tuple(body), block.results)

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
        own = [self._names.get(i.targets[k].number) or self._variable(i.targets[k]) for k in places]
        for k, v in zip(places, own, strict=True):
            self._names[i.targets[k].number] = v
        sides = [self._filled(side, places, own, 0) for side in (i.then, i.orelse)]
        targets = tuple([t for k, t in enumerate(i.targets) if k not in places])
        return If(i.span, targets, i.test, *sides)

    def _filled(
        self, block: Block, places: Sequence[int], variables: Sequence[Operand], before: int
    ) -> Block:
        """A block whose results at these places fill variables; `before` results precede them."""
        made = self._block(block)
        several = [made.results[k + before] for k in places]
        pairs = [(v, x) for v, x in zip(variables, several, strict=True) if not self._is_same(v, x)]
        skipped = {k + before for k in places}
        results = tuple([x for k, x in enumerate(made.results) if k not in skipped])
        if not pairs:
            return Block(made.body, results)
        targets, values = zip(*pairs, strict=True)
        span = made.body[-1].span if made.body else _NOWHERE
        return Block((*made.body, Fill(span, targets, values)), results)

    def _is_same(self, v: Operand, x: Operand) -> bool:
        while isinstance(x, Value) and x.number in self._names:
            x = self._names[x.number]
        return isinstance(x, Value) and isinstance(v, Value) and x.number == v.number

    def _loop(self, i: Loop) -> list[Instruction]:
        places = [k for k, p in enumerate(i.params) if is_whole(p.type)]
        if not places:
            return [with_blocks(i, self._block)]
        own = [self._variable(i.params[k]) for k in places]
        for k, v in zip(places, own, strict=True):
            self._names[i.params[k].number] = self._names[i.targets[k].number] = v
            self._coalesced(i, k, v)
        begin = Fill(i.span, tuple(own), tuple([i.initial[k] for k in places]))
        body = self._filled(i.body, places, own, 1)

        def left(several: Sequence[Operand]) -> tuple[Operand, ...]:
            return tuple([x for k, x in enumerate(several) if k not in places])

        params, targets = left(i.params), left(i.targets)
        return [begin, Loop(i.span, targets, i.turns, params, left(i.initial), body)]  # type: ignore[arg-type]  # values

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
