"""Where a pass back through a typed program is: which values of the program it can read there, and
which cotangents have come together.

A pass back visits the blocks of the program in their reverse, each in a block of its own. What it
reads of a block that is done several times, or not at all, is put on a stack at the block's end and
taken from it where its reverse begins; of the outermost block it is simply there. Of two names of
one value, as the last value of a loop's turn and the first of the next, it reads the later one, and
hands it on to where the earlier one would be read: a value is read under one name at a time, so
that, when the pass is differentiated in its turn, cotangents come together in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias

from gradcli.engine.compile.differentiate.differentials import ABSENT, MANY, Delta, Deltas
from gradcli.engine.compile.passes.activity import Activity
from gradcli.engine.compile.passes.aliases import Earlier
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import (
    Block,
    If,
    Leave,
    Loop,
    NotCompilable,
    Operand,
    Value,
)
from gradcli.engine.compile.walk import defined
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span

Name: TypeAlias = Callable[[], Operand]
"""As what a value is read."""


class Frame:
    """The outermost block; or, of a kind below, one inside another.

    Fields:
        recorded: the values by which the pass will be differentiated.
        active: the values that the pass goes through, in each direction.
        earlier: other names that a value may have, where that is known.
        names: values that are read as something else here, by number, and as what.
        pending: in each direction the cotangents that have come to values, by number.
    """

    def __init__(
        self, deltas: Deltas, active: Sequence[Activity], recorded: Activity, earlier: Earlier
    ) -> None:
        self.deltas = deltas
        self.active = active
        self.recorded = recorded
        self.earlier = earlier
        self.names: dict[int, tuple[Value, Name]] = {}
        self.pending: list[dict[int, Delta]] = [{} for _ in active]

    # --- reading values ----------------------------------------------------------------

    def read(self, x: Operand) -> Operand:
        """What an operand of the program is here."""
        return self.name(x)() if isinstance(x, Value) else x

    def name(self, v: Value) -> Name:
        """As what a value is read here, from now on."""
        found = self.names.get(v.number)
        return self._unnamed(v) if found is None else found[1]

    def rename(self, v: Value, name: Name) -> None:
        """Let a value be read as something else from now on."""
        self.names[v.number] = v, cache(name)

    def _unnamed(self, v: Value) -> Name:
        return lambda: v

    # --- cotangents --------------------------------------------------------------------

    def get(self, d: int, number: int) -> Delta | None:
        """The cotangent that has come to a value."""
        return self.pending[d].get(number)

    def take(self, d: int, v: Value) -> Delta | None:
        """That of a value that the block defines, when its instruction is visited."""
        return self.pending[d].pop(v.number, None)

    def add(self, d: int, v: Value, delta: Delta) -> None:
        """Let another term come to a value, or to the oldest name that it has."""
        for same, w in self._names(d, v):
            part, delta = self.deltas.where(self.read(same), delta)
            self._come(d, w, part)
        self._come(d, v, delta)

    def _names(self, d: int, v: Value) -> list[tuple[Operand, Value]]:
        """The older names that a value may have."""
        return [pair for pair in self.earlier.get(v.number, ()) if pair[1] in self.active[d]]

    def _come(self, d: int, v: Value, delta: Delta) -> None:
        before = self.get(d, v.number)
        self.pending[d][v.number] = delta if before is None else self.deltas.sum(before, delta)

    def merge(self, d: int, v: Operand, delta: Delta) -> None:
        """Let all that has come to a value under another name come to it.

        Raises:
            Ambiguous: If that may not be its latest terms: their sum would be another.
        """
        assert isinstance(v, Value)
        for same, name in ((True, v), *self._names(d, v)):
            before = self.get(d, name.number)
            if before is not None and before.terms + delta.terms > 2:
                self._separate(self.read(same), before, delta)
        self.add(d, v, delta)

    def _separate(self, same: Operand, a: Delta, b: Delta) -> None:
        """Leave where two come to one value."""
        builder = self.deltas.builder
        absent = ops.logical_or(builder.known(a.absent), builder.known(b.absent))
        both = ops.logical_and(builder.known(same), ops.logical_not(absent))
        if not self.earlier or not isinstance(both, Symbol):
            raise Ambiguous(builder.span)
        builder.add(Leave(builder.span, operand(both), "two variables hold one value"))


class Ambiguous(NotCompilable):
    """Cotangents of one value have come together under two names."""

    def __init__(self, span: Span) -> None:
        super().__init__("two variables may hold one value here", span)


class Inner(Frame):
    """A block inside another.

    Fields:
        outside: the frame around.
        defines: numbers of the values that are defined here.
        kept: the values of the block that its reverse reads, by number, and what they are there.
        stack: that on which they are, when it is known.
    """

    def __init__(self, outside: Frame, block: Block, params: Iterable[Value] = ()) -> None:
        super().__init__(outside.deltas, outside.active, outside.recorded, outside.earlier)
        self.outside = outside
        self.defines = {v.number for i in block.body for v in defined(i)}
        self.defines |= {v.number for v in params}
        self.kept: dict[int, tuple[Value, Value]] = {}
        self.stack: int | None = None

    def _unnamed(self, v: Value) -> Name:
        return (lambda: self._own(v)) if v.number in self.defines else self.outside.name(v)

    def _own(self, v: Value) -> Operand:
        if v.number not in self.kept:
            self.kept[v.number] = v, self.deltas.builder.value(v.type)
        return self.kept[v.number][1]

    def get(self, d: int, number: int) -> Delta | None:
        found = self.pending[d].get(number)
        if found is not None or number in self.defines:
            return found
        return self._from_outside(d, number)

    def _from_outside(self, d: int, number: int) -> Delta | None:
        return self.outside.get(d, number)


class Side(Inner):
    """A side of a branch. A value that the branch gives is read as its target."""

    def __init__(self, outside: Frame, branch: If, block: Block) -> None:
        super().__init__(outside, block)
        self._targets: dict[int, Value] = {}
        for target, x in zip(branch.targets, block.results, strict=True):
            if isinstance(x, Value):
                self._targets.setdefault(x.number, target)
                if x.number not in self.defines and x in self.recorded:
                    self.rename(x, outside.name(self._targets[x.number]))

    def _own(self, v: Value) -> Operand:
        target = self._targets.get(v.number)
        return super()._own(v) if target is None else self.outside.read(target)


class Carried:
    """A param of a reverse loop, what it is at first and in the next turn, and its target."""

    __slots__ = ("initial", "param", "target", "then")

    def __init__(self, param: Value, initial: Operand, target: Value) -> None:
        self.param = param
        self.initial = initial
        self.then = initial
        self.target = target


Going: TypeAlias = tuple[Carried, Carried]
"""A cotangent that goes from turn to turn: its value, and whether there is none."""


class Turn(Inner):
    """A turn of a loop; the reverse of the loop is a loop, too. What one turn gives the next is
    read as what the reverse of that hands on.

    Fields:
        carried: what goes from reverse turn to reverse turn.
        sums: the cotangents of values from outside among that, with direction and number.
    """

    def __init__(self, outside: Frame, loop: Loop) -> None:
        super().__init__(outside, loop.body, loop.params)
        self._loop = loop
        self._again, *nexts = loop.body.results
        self._places = {x.number: k for k, x in enumerate(nexts) if isinstance(x, Value)}
        self._lasts: dict[int, Carried] = {}
        self.carried: list[Carried] = []
        self.sums: list[tuple[int, int, Going]] = []

    def _own(self, v: Value) -> Operand:
        if isinstance(self._again, Value) and self._again.number == v.number:
            return self._followed()
        place = self._places.get(v.number)
        return super()._own(v) if place is None else self.last(place).param

    def last(self, k: int) -> Carried:
        """What goes with the values of param number k."""
        if k not in self._lasts:
            param = self._loop.params[k]
            made = self._lasts[k] = self.carry(self.outside.read(self._loop.targets[k]), param.type)
            made.then = self.read(param)
        return self._lasts[k]

    def _followed(self) -> Value:
        """Whether the loop had another turn after this one."""
        if -1 not in self._lasts:
            self._lasts[-1] = self.carry(False, "bool")
            self._lasts[-1].then = True
        return self._lasts[-1].param

    def carry(self, initial: Operand, type: str) -> Carried:
        """Let something more go from turn to turn."""
        value = self.deltas.builder.value
        made = Carried(value(type), initial, value(type))
        self.carried.append(made)
        return made

    def carry_delta(self, initial: Delta, type: str) -> tuple[Delta, Going]:
        """Likewise a cotangent of a type."""
        initial = self.deltas.as_type(initial, type)
        value, absent = self.carry(initial.value, type), self.carry(initial.absent, "bool")
        return Delta(value.param, absent.param, MANY), (value, absent)

    def _from_outside(self, d: int, number: int) -> Delta | None:
        """What has come so far to a value from outside, which goes through all turns."""
        before = self.outside.get(d, number) or ABSENT
        type_ = self.deltas.type(d, self.deltas.types[number])
        delta, made = self.carry_delta(before, type_)
        self.pending[d][number] = delta
        self.sums.append((d, number, made))
        return delta
