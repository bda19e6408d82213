"""The state of a backward pass in one block of a typed program: the values of the program that it
can read there, and the cotangents that have arrived.

A backward pass visits the blocks of the program in reverse; each gets a block of its own. A block
that runs several times, or not at all, pushes the values that its reverse reads on a stack at its
end, and the reverse pops them at its beginning. Values of the outermost block need no stack.

Two names may be the same value: the last value of one turn of a loop is the first of the next. The
pass reads the later name, and passes it on to where it would read the earlier one. So a value has
one name at a time, and if the pass is differentiated again, its cotangents are added in the
interpreter's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TypeAlias

from gradcli.engine.compile.differentiate.differentials import ABSENT, MANY, Delta, Deltas
from gradcli.engine.compile.passes.activity import Activity
from gradcli.engine.compile.passes.aliases import Earlier
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Block, If, Leave, Loop, NotCompilable, Operand, Value
from gradcli.engine.compile.walk import defined
from gradcli.engine.ops.catalog import ops
from gradcli.source import Span

Name: TypeAlias = Callable[[], Operand]
"""Returns the operand under which the pass reads a value."""


class Frame:
    """The state in the outermost block. The classes below are for blocks inside others.

    Fields:
        recorded: the values by which the pass will be differentiated.
        active: for each direction, the values that cotangents flow through.
        earlier: earlier names that may be the same value, with comparisons at run time.
        names: values that the pass reads under another name here, by number.
        pending: for each direction, the cotangents that have arrived at values, by number.
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
        """Return the operand here that holds an operand of the program."""
        if not isinstance(x, Value):
            return x
        found = self.names.get(x.number)
        return self._here(x) if found is None else found[1]()

    def _here(self, v: Value) -> Operand:
        """Return the operand here that holds a value which has no other name."""
        return v

    def name(self, v: Value) -> Name:
        """Return the current name of a value."""
        found = self.names.get(v.number)
        return self._unnamed(v) if found is None else found[1]

    def rename(self, v: Value, name: Name) -> None:
        """Read a value under another name from now on."""
        self.names[v.number] = v, cache(name)

    def _unnamed(self, v: Value) -> Name:
        return lambda: v

    # --- cotangents --------------------------------------------------------------------

    def get(self, d: int, number: int) -> Delta | None:
        """Return the cotangent that has arrived at a value."""
        return self.pending[d].get(number)

    def take(self, d: int, v: Value) -> Delta | None:
        """Remove and return the cotangent of a value whose defining instruction is visited."""
        return self.pending[d].pop(v.number, None)

    def add(self, d: int, v: Value, delta: Delta) -> None:
        """Add a term to the cotangent of a value, or of its oldest name."""
        for same, w in self._names(d, v):
            part, delta = self.deltas.where(self.read(same), delta)
            self._come(d, w, part)
        self._come(d, v, delta)

    def _names(self, d: int, v: Value) -> list[tuple[Operand, Value]]:
        """Return the older names that a value may have, each after its comparison."""
        return [pair for pair in self.earlier.get(v.number, ()) if pair[1] in self.active[d]]

    def _come(self, d: int, v: Value, delta: Delta) -> None:
        before = self.get(d, v.number)
        self.pending[d][v.number] = delta if before is None else self.deltas.sum(before, delta)

    def merge(self, d: int, v: Operand, delta: Delta) -> None:
        """Add the cotangents that have arrived at another name of a value.

        Raises:
            Ambiguous: If these may not be the last terms: the sum could then have other digits.
        """
        assert isinstance(v, Value)
        for same, name in ((True, v), *self._names(d, v)):
            before = self.get(d, name.number)
            if before is not None and before.terms + delta.terms > 2:
                self._separate(self.read(same), before, delta)
        self.add(d, v, delta)

    def _separate(self, same: Operand, a: Delta, b: Delta) -> None:
        """Bail out if both deltas arrive at one value."""
        builder = self.deltas.builder
        absent = ops.logical_or(builder.known(a.absent), builder.known(b.absent))
        both = ops.logical_and(builder.known(same), ops.logical_not(absent))
        if not self.earlier or not isinstance(both, Symbol):
            raise Ambiguous(builder.span)
        builder.add(Leave(builder.span, operand(both), "two variables hold one value"))


class Ambiguous(NotCompilable):
    """Cotangents of one value have arrived under two names."""

    def __init__(self, span: Span) -> None:
        super().__init__("two variables may hold one value here", span)


class Inner(Frame):
    """The state in a block inside another.

    Fields:
        outside: the state in the enclosing block.
        defines: numbers of the values that the block defines.
        kept: the values that the reverse of the block reads, by number, each with its popped copy.
        stack: the number of their stack; None until it is needed.
    """

    def __init__(self, outside: Frame, block: Block, params: Iterable[Value] = ()) -> None:
        super().__init__(outside.deltas, outside.active, outside.recorded, outside.earlier)
        self.outside = outside
        self.defines = {v.number for i in block.body for v in defined(i)}
        self.defines |= {v.number for v in params}
        self.kept: dict[int, tuple[Value, Value]] = {}
        self.stack: int | None = None

    def _here(self, v: Value) -> Operand:
        return self._own(v) if v.number in self.defines else self.outside.read(v)

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
    """A side of a branch. The pass reads a result of the side as the target of the branch."""

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
    """A param of a reverse loop: its initial value, its value in the next turn, and its target."""

    __slots__ = ("initial", "param", "target", "then")

    def __init__(self, param: Value, initial: Operand, target: Value) -> None:
        self.param = param
        self.initial = initial
        self.then = initial
        self.target = target


Going: TypeAlias = tuple[Carried, Carried]
"""A loop-carried cotangent: its value and the flag that is true if it is absent."""


class Turn(Inner):
    """A turn of a loop; the reverse of the loop is also a loop. The pass reads a value that one
    turn gives to the next as a param of the reverse loop.

    Fields:
        carried: the params of the reverse loop.
        sums: the carried cotangents of values from outside the loop, with direction and number.
    """

    def __init__(self, outside: Frame, loop: Loop) -> None:
        super().__init__(outside, loop.body, loop.params)
        self._loop = loop
        self._before = self.deltas.builder.innermost
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
        """Return the reverse loop's copy of param number k."""
        if k not in self._lasts:
            param = self._loop.params[k]
            made = self._lasts[k] = self.carry(self.outside.read(self._loop.targets[k]), param.type)
            made.then = self.read(param)
        return self._lasts[k]

    def _followed(self) -> Value:
        """Return a flag: true if the loop had another turn after this one."""
        if -1 not in self._lasts:
            self._lasts[-1] = self.carry(False, "bool")
            self._lasts[-1].then = True
        return self._lasts[-1].param

    def carry(self, initial: Operand, type: str) -> Carried:
        """Add a param to the reverse loop."""
        value = self.deltas.builder.value
        made = Carried(value(type), initial, value(type))
        self.carried.append(made)
        return made

    def carry_delta(self, initial: Delta, type: str) -> tuple[Delta, Going]:
        """Add the two params of a cotangent to the reverse loop."""
        with self.deltas.builder.inside(self._before):
            initial = self.deltas.as_type(initial, type)
        value, absent = self.carry(initial.value, type), self.carry(initial.absent, "bool")
        self.deltas.flags |= {absent.param.number, absent.target.number}
        return Delta(value.param, absent.param, MANY), (value, absent)

    def _from_outside(self, d: int, number: int) -> Delta | None:
        """Carry the cotangent of a value from outside through all turns."""
        before = self.outside.get(d, number) or ABSENT
        type_ = self.deltas.type(d, self.deltas.types[number])
        delta, made = self.carry_delta(before, type_)
        self.pending[d][number] = delta
        self.sums.append((d, number, made))
        return delta
