"""Write sums, running sums and products of matrices as loops."""

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
)
from gradcli.engine.compile.export.arrays.functions import combined
from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Count,
    Expression,
    Item,
    Let,
    Statement,
    Store,
    Total,
    Variable,
)
from gradcli.engine.compile.llvm.arrays.moves import spread_strides
from gradcli.engine.compile.llvm.arrays.steps import Fold, Part, Product, Scan
from gradcli.engine.compile.llvm.emit.writer import SIZES
from gradcli.engine.values.data import np


class Sums(Elements):
    """Writes steps that combine the elements of an array."""

    def fold(self, made: list[Statement], step: Fold, inner: Inner) -> None:
        """Elements combined along some dimensions."""
        target, x = step.target, step.operand
        kept, stride = [0] * len(x.shape), SIZES[target.type]
        for k in reversed(range(len(kept))):
            if k not in step.axes:
                kept[k], stride = stride, stride * x.shape[k]
        sizes, (out, taken) = merged_loops(x.shape, [kept, x.strides])
        is_sum = step.function is np.add and sizes and out[-1] == 0
        if is_sum and len(sizes) == 1:
            total = Total(self.array(x), start_of(x), sizes[0], taken[0] // SIZES["float"])
            self.single[target] = self.variable(made, total, "float", target)
            return
        first = None if step.first is None else number(step.first)
        if target.count == 1:
            self._folded(made, step, sizes, taken, first, inner)
            return
        self.room(made, target)
        whole = Part(target, 0, (), ())
        once = is_sum and all(out[:-1])
        if first is not None and not once:
            made += self.nest(
                [target.count], inner, lambda body, at: body.append(Store(target.at, at[0], first))
            )

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            place = spot(whole, at, out, target.type)
            if not is_sum:
                more = self.at(x, at, taken)
                before = Item(target.at, place, target.type)
                found = combined(step.function, target.type, before, more)
            else:
                step_ = taken[-1] // SIZES["float"]
                found = Total(self.array(x), spot(x, at, taken), sizes[-1], step_)
                if not once:
                    found = Apply("float_add", (Item(target.at, place, "float"), found))
            body.append(Store(target.at, place, found))

        made += self.nest(sizes[:-1] if is_sum else sizes, inner, each)

    def _folded(
        self,
        made: list[Statement],
        step: Fold,
        sizes: Sequence[int],
        taken: Sequence[int],
        first: Expression | None,
        inner: Inner,
    ) -> None:
        """An array reduced to one number."""
        type_ = step.target.type
        start = self.single[step.target] if first is None else first
        if not sizes:
            only = combined(step.function, type_, start, self.at(step.operand, (), ()))
            self.single[step.target] = self.variable(made, only, type_, step.target)
            return
        variable = self.new(type_, step.target)
        made.append(Let(variable, start, False))

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            more = self.at(step.operand, at, taken)
            body.append(Assign(variable, combined(step.function, type_, variable, more)))

        made += self.nest(sizes, inner, each)
        self.single[step.target] = variable

    def scan(self, made: list[Statement], step: Scan, inner: Inner) -> None:
        """Running sums or products."""
        x, target = step.operand, step.target
        self.room(made, target)
        count, across = x.shape[step.axis], prod(x.shape[step.axis + 1 :])
        around = [(prod(x.shape[: step.axis]), count * across), (across, 1)]
        sizes = [n for n, _ in around if n > 1]
        strides = [s for n, s in around if n > 1]

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            terms = [*zip(at, strides, strict=True)]
            so_far = Variable(self.names.numbered("float"), "float")
            first = self.item(x, place_of(start_of(x), terms))
            body += [Let(so_far, first, False), Store(target.at, place_of(0, terms), so_far)]
            k = self.index(len(at))
            more = [*terms, (k, across)]
            next_ = combined(
                step.function, "float", so_far, self.item(x, place_of(start_of(x), more))
            )
            inside = Assign(so_far, next_), Store(target.at, place_of(0, more), so_far)
            if count > 1:
                body.append(Count(k, 1, count, 1, inside))

        made += self.nest(sizes, inner, each)

    def product(self, made: list[Statement], step: Product, inner: Inner) -> None:
        """A product of matrices or vectors."""
        a, b, target = step.a, step.b, step.target
        rows = a.shape[-2] if len(a.shape) > 1 else 1
        columns = b.shape[-1] if len(b.shape) > 1 else 1
        along = (a.strides[-1], b.strides[-2] if len(b.shape) > 1 else b.strides[0])
        heads = [Part(x.node, 0, x.shape[:-2], x.strides[: len(x.shape[:-2])]) for x in (a, b)]
        shape = np.broadcast_shapes(*(x.shape for x in heads))
        word = SIZES["float"]
        stacked = [word * rows * columns * prod(shape[k + 1 :]) for k in range(len(shape))]
        of_a = [*spread_strides(heads[0], shape), a.strides[-2] if len(a.shape) > 1 else 0, 0]
        of_b = [*spread_strides(heads[1], shape), 0, b.strides[-1] if len(b.shape) > 1 else 0]
        out = [*stacked, word * columns, word]
        kept = [k for k, n in enumerate((*shape, rows, columns)) if n > 1]
        sizes = [(*shape, rows, columns)[k] for k in kept]
        terms_a, terms_b, terms = ([s[k] for k in kept] for s in (of_a, of_b, out))
        if target.count > 1:
            self.room(made, target)

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            total = self.new("float", target)
            k = self.index(len(at))
            more = (*at, k)
            pair = (
                self.item(a, spot(a, more, [*terms_a, along[0]])),
                self.item(b, spot(b, more, [*terms_b, along[1]])),
            )
            adding = Apply("float_add", (total, Apply("float_mul", pair)))
            body.append(Let(total, 0.0, False))
            body.append(Count(k, 0, a.shape[-1], 1, (Assign(total, adding),)))
            if target.count > 1:
                whole = Part(target, 0, (), ())
                body.append(Store(target.at, spot(whole, at, terms, "float"), total))
            else:
                self.single[target] = total

        made += self.nest(sizes, inner, each)
