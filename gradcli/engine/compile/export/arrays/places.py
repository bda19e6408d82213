"""Write reads and changes of elements at places that are known only when the code runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from gradcli.engine.compile.export.arrays.elements import (
    Elements,
    Inner,
    merged_loops,
    number,
    place_of,
    spot,
    start_of,
    whole_of,
)
from gradcli.engine.compile.export.written import (
    Apply,
    Expression,
    Item,
    Refuse,
    Statement,
    Store,
    Variable,
    applied,
)
from gradcli.engine.compile.llvm.arrays.moves import spread_strides
from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    AddRows,
    Node,
    Operand,
    Part,
    Pick,
    PickAlong,
    PickRows,
    Put,
)
from gradcli.engine.compile.llvm.emit.writer import SIZES, Number
from gradcli.record import Record


class AddTo(Record):
    """Add an array or a number to a part of `target`, in place."""

    __slots__ = ("target", "to", "source")
    target: Node
    to: Part
    source: Operand


class AddAt(Record):
    """target[at] += source, at a place that is known only when the code runs."""

    __slots__ = ("target", "at", "source")
    target: Node
    at: Number
    source: Operand


class Places(Elements):
    """Writes steps at places that are known only when the code runs."""

    def at_place(self, made: list[Statement], step: Pick | Put | AddAt, inner: Inner) -> None:
        """A part of an array at one place."""
        if not isinstance(step, Pick):
            self.room(made, step.target)
        whole = step.source if isinstance(step, Pick) else whole_of(step.target)
        place = self._checked(made, number(step.at), whole.shape[0])
        moved = place_of(0, [(place, whole.strides[0] // SIZES[whole.node.type])])
        shape, strides = whole.shape[1:], whole.strides[1:]
        other = None if isinstance(step, Pick) else step.source
        if isinstance(other, Number):
            around: Sequence[int] = (0,) * len(shape)
        elif other is not None:
            around = spread_strides(other, shape)
        else:
            around = whole_of(step.target).strides
        sizes, (there, here) = merged_loops(shape, [strides, around])
        target = step.target
        if isinstance(step, Pick) and target.count > 1:
            self.room(made, target)

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            inside = place_of(0, [(moved, 1), (spot(whole, at, there), 1)])
            if not isinstance(step, Pick):
                x = number(other) if isinstance(other, Number) else self.at(other, at, here)  # type: ignore[arg-type]  # a part
                if isinstance(step, AddAt):
                    x = Apply("float_add", (Item(target.at, inside, target.type), x))
                body.append(Store(target.at, inside, x))
            elif target.count > 1:
                place = spot(Part(target, 0, (), ()), at, here, target.type)
                body.append(Store(target.at, place, self.item(whole, inside)))
            else:
                x = self.item(whole, inside)
                if not self.can_wait(target, x):
                    x = self.variable(body, x, target.type, target)
                self.single[target] = x

        made += self.nest(sizes, inner, each)

    def _place_in(
        self, made: list[Statement], at: Part, place: Expression, count: int
    ) -> Expression:
        """A place of several, which is checked unless all are known to be there."""
        known = self.known.get(at.node)
        is_sure = known is not None and known.min() >= 0 and known.max() < count
        return place if is_sure else self._checked(made, place, count)

    def _checked(self, made: list[Statement], at: Expression, count: int) -> Expression:
        """A place counted from the end if it is negative; the function refuses others."""
        if type(at) is int:
            if not -count <= at < count:
                made.append(Refuse(True, "a place is out of range"))
            return at % count
        found = self._ranges.of(at)
        if found is not None and found[0] >= 0 and found[1] < count:
            return at
        behind = applied("int_lt", (at, 0))
        place = self.variable(
            made, Apply("int_select", (behind, Apply("int_add", (at, count)), at)), "int"
        )
        outside = (Apply("int_lt", (place, 0)), Apply("int_ge", (place, count)))
        made.append(Refuse(Apply("bool_or", outside), "a place is out of range"))
        return place

    def at_places(self, made: list[Statement], step: PickRows | AddRows, inner: Inner) -> None:
        """Parts of an array at several places of its first dimension."""
        self.room(made, step.target)
        is_read = isinstance(step, PickRows)
        whole = step.source.shape if isinstance(step, PickRows) else step.shape
        across = prod(whole[1:])
        target = step.target
        sizes = [step.at.count] if step.at.count > 1 else []

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            row: Expression = at[0] if at else 0
            taken = self.item(step.at, place_of(start_of(step.at), [(row, 1)]))
            place = self._place_in(body, step.at, taken, whole[0])

            def element(inside: list[Statement], more: Sequence[Variable]) -> None:
                rest = [(x, 1) for x in more[len(at) :]]
                there, here = (place_of(0, [(x, across), *rest]) for x in (place, row))
                if is_read:
                    x = self.item(step.source, place_of(start_of(step.source), [(there, 1)]))
                    inside.append(Store(target.at, here, x))
                    return
                x = self.item(step.source, place_of(start_of(step.source), [(here, 1)]))
                before = Item(target.at, there, target.type)
                inside.append(Store(target.at, there, Apply("float_add", (before, x))))

            body += self.nest([across] if across > 1 else [], inner, element, at)

        made += self.nest(sizes, inner, each)

    def along(self, made: list[Statement], step: PickAlong | AddAlong, inner: Inner) -> None:
        """Elements at places in one dimension."""
        self.room(made, step.target)
        is_read = isinstance(step, PickAlong)
        whole = step.source.shape if is_read else step.target.shape
        here = [prod(step.at.shape[k + 1 :]) for k in range(len(whole))]
        there = [prod(whole[k + 1 :]) if n > 1 else 0 for k, n in enumerate(whole)]
        target = step.target

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            own = place_of(0, [*zip(at, here, strict=True)])
            taken = self.item(step.at, place_of(start_of(step.at), [(own, 1)]))
            place = self._place_in(body, step.at, taken, whole[step.axis])
            terms = [(place if k == step.axis else i, by)
                     for k, (i, by) in enumerate(zip(at, there, strict=True))]  # fmt: skip
            if is_read:
                x = self.item(step.source, place_of(start_of(step.source), terms))
                body.append(Store(target.at, own, x))
                return
            x = self.item(step.source, place_of(start_of(step.source), [(own, 1)]))
            inside = place_of(0, terms)
            before = Item(target.at, inside, target.type)
            body.append(Store(target.at, inside, Apply("float_add", (before, x))))

        made += self.nest(step.at.shape, inner, each)
