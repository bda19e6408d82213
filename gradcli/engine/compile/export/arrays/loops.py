"""Write steps on arrays as loops over their elements."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from gradcli.engine.compile.export.arrays.functions import combined, of_elements
from gradcli.engine.compile.export.names import Names
from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Count,
    Expression,
    Item,
    Let,
    Refuse,
    Room,
    Statement,
    Store,
    Table,
    Total,
    Variable,
    applied,
    is_atom,
    size,
)
from gradcli.engine.compile.llvm.arrays.functions import FUNCTIONS
from gradcli.engine.compile.llvm.arrays.moves import spread_strides
from gradcli.engine.compile.llvm.arrays.nests import merged
from gradcli.engine.compile.llvm.arrays.plan import Unit, units
from gradcli.engine.compile.llvm.arrays.steps import (
    AddRows,
    Copy,
    Fold,
    Kernel,
    Map,
    Node,
    Part,
    Pick,
    PickRows,
    Product,
    Put,
    Scan,
)
from gradcli.engine.compile.llvm.arrays.symbolic import Steps, Symbolic
from gradcli.engine.compile.llvm.emit.inner_loops import TYPE_OF
from gradcli.engine.compile.llvm.emit.writer import SIZES, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import Do, NotCompilable
from gradcli.engine.values.data import np
from gradcli.record import Record

_LONGEST = 6  # operations of an expression

Write: TypeAlias = "Callable[[list[Statement]], None]"
Inner: TypeAlias = "Callable[[Write], list[Statement]]"


class Numbered(Number):
    """A number whose expression is known."""

    __slots__ = ("value",)

    def __init__(self, value: Expression, type: str) -> None:
        super().__init__("%", type)
        self.value = value


class Elementwise(Record):
    """An op as the function of a `Map`: the instruction, and for each argument None if it is an
    operand of the map, else the known argument in a tuple.
    """

    __slots__ = ("of", "given")
    of: Do
    given: tuple[tuple[Any] | None, ...]


class _Steps(Steps):
    """Collects steps; arrays that are known become tables."""

    def __init__(self, tables: dict[Node, Any]) -> None:
        super().__init__([], FUNCTIONS)
        self._tables = tables

    def _held(self, x: Any) -> Symbolic:
        if x.dtype not in TYPE_OF or not x.size:
            raise Untranslatable("an array of another dtype")
        known = np.ascontiguousarray(x)
        bits = known.reshape(-1).view(np.uint8).reshape(known.size, -1)
        if (bits == bits[0]).all():
            spread = self.symbol(known.reshape(-1)[0].item())
            return spread.shown(np.broadcast_to(spread.ghost, x.shape))
        node = Node(TYPE_OF[x.dtype], x.shape)
        self._tables[node] = known
        return Symbolic(self, node, known)


class ArrayLoops:
    """Writes steps as statements.

    Args:
        names: Gives each variable a name of its own.
        element: Writes an op of elements.
        stored: Declares an array, and gives it its name.
        wishes: The names that the program has for arrays.

    Fields:
        steps: the steps that wait.
        tables: the declarations of arrays that are known.
    """

    def __init__(
        self,
        names: Names,
        element: Callable[[Elementwise, Sequence[Expression]], Expression],
        stored: Callable[[Node], Room],
        wishes: Mapping[Node, str],
    ) -> None:
        self._known: dict[Node, Any] = {}
        self.steps = _Steps(self._known)
        self.tables: list[Table] = []
        self._names, self._op, self._declared, self._wishes = names, element, stored, wishes
        self._indices: list[Variable] = []
        self._single: dict[Node, Expression] = {}  # arrays of one element that are numbers

    def written(self, read_later: Collection[Any], inner: Inner) -> Iterator[Statement]:
        """The steps that wait as statements. Others read the arrays `read_later`; `inner` makes
        the statements of a block.
        """
        steps, self.steps.steps = self.steps.steps, []
        found = units(steps)
        last: dict[Node, int] = {}
        for k, unit in enumerate(found):
            last.update((node, k) for node in unit.reads())
        for k, unit in enumerate(found):
            wanted = [n for n in unit.made() if n.at or n in read_later or last.get(n, -1) > k]
            if wanted:
                yield from inner(lambda made, u=unit, w=wanted: self._unit(made, u, w, inner))  # type: ignore[misc]  # bound

    def only(self, x: Symbolic) -> Expression:
        """The number of an array without dimensions."""
        if isinstance(x.source, Number):
            return number(x.source)
        return self._item(x.part(), x.offset // SIZES[x.type])

    def _unit(
        self, made: list[Statement], unit: Unit, wanted: Sequence[Node], inner: Inner
    ) -> None:
        step = unit.steps[0]
        if isinstance(step, Map):
            self._maps(made, [s for s in unit.steps if isinstance(s, Map)], wanted, inner)
            return
        match step:
            case Copy():
                self._copy(made, step, inner)
            case Fold():
                self._fold(made, step, inner)
            case Scan():
                self._scan(made, step, inner)
            case Product():
                self._product(made, step, inner)
            case Kernel():
                self._kernel(made, step, inner)
            case Pick() | Put():
                self._at_place(made, step, inner)
            case PickRows() | AddRows():
                self._at_places(made, step, inner)
            case _:
                raise NotCompilable("a function of arrays has no loop")

    # --- names and elements ----------------------------------------------------------------------

    def _index(self, depth: int) -> Variable:
        """The variable that counts in a loop inside `depth` others."""
        while len(self._indices) <= depth:
            name = self._names("ijklmnop"[len(self._indices)])
            self._indices.append(Variable(name, "int"))
        return self._indices[depth]

    def _item(self, x: Part, at: Expression) -> Expression:
        """The element of an array at a place."""
        node = x.node
        if node in self._single:
            return self._single[node]
        if not node.at and node in self._known:
            self._declared(node)
            values = tuple(self._known[node].ravel().tolist())
            self.tables.append(Table(node.at, node.type, values))
        assert node.at, "an array that is read has been made"
        return Item(node.at, at, node.type)

    def _room(self, made: list[Statement], node: Node) -> None:
        """Declare an array, unless it is there."""
        if node in self._single:
            x = self._single.pop(node)
            made.append(self._declared(node))
            made.append(Store(node.at, 0, x))
        elif not node.at:
            made.append(self._declared(node))

    def _variable(
        self, made: list[Statement], x: Expression, type: str, of: Node | None = None
    ) -> Expression:
        """A variable for a number, named like an array if that has a name."""
        if is_atom(x):
            return x
        variable = self._new(type, of)
        made.append(Let(variable, x, True))
        return variable

    def _new(self, type: str, of: Node | None = None) -> Variable:
        wish = None if of is None or of.at else self._wishes.get(of)
        name = self._names.numbered(type) if wish is None else self._names(wish)
        return Variable(name, type)

    def _nest(
        self,
        sizes: Sequence[int],
        inner: Inner,
        each: Callable[[list[Statement], Sequence[Variable]], None],
        at: Sequence[Variable] = (),
    ) -> list[Statement]:
        """Loops over dimensions, the first outermost."""
        if not sizes:
            return inner(lambda made: each(made, at))
        i = self._index(len(at))
        return [Count(i, 0, sizes[0], 1, tuple(self._nest(sizes[1:], inner, each, (*at, i))))]

    # --- element by element ----------------------------------------------------------------------

    def _maps(
        self, made: list[Statement], steps: Sequence[Map], wanted: Sequence[Node], inner: Inner
    ) -> None:
        live = {*wanted}
        for s in reversed(steps):
            if s.target in live:
                live.update(x.node for x in s.operands if isinstance(x, Part))
        steps = [s for s in steps if s.target in live]
        count = steps[0].target.count
        reads = (x.node for s in steps for x in s.operands if isinstance(x, Part))
        uses = Counter(reads)
        if count > 1:
            for node in wanted:
                self._room(made, node)
        found: dict[Node, Expression] = {}

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            place: Expression = at[0] if at else 0
            for s in steps:
                args = [self._operand(x, place, found) for x in s.operands]
                x = self._value(s, args)
                node = s.target
                is_held = node in wanted and (uses[node] or count == 1)
                if not is_atom(x) and (is_held or uses[node] > 1 or size(x) > _LONGEST):
                    x = self._variable(body, x, node.type, node)
                if node in wanted and count > 1:
                    body.append(Store(node.at, place, x))
                found[node] = x

        if count > 1:
            made += self._nest([count], inner, each)
            return
        made += inner(lambda body: each(body, ()))
        for node in wanted:
            if node.at:
                made.append(Store(node.at, 0, found[node]))
            else:
                self._single[node] = found[node]

    def _value(self, s: Map, args: Sequence[Expression]) -> Expression:
        if isinstance(s.function, Elementwise):
            return self._op(s.function, args)
        return of_elements(s.function, s.types, args)

    def _operand(
        self, x: Part | Number, place: Expression, found: dict[Node, Expression]
    ) -> Expression:
        if isinstance(x, Number):
            return number(x)
        if x.node in found:
            return found[x.node]
        start = x.offset // SIZES[x.node.type]
        return self._item(x, _place(start, [(place, 1)]) if x.shape else start)

    def _kernel(self, made: list[Statement], step: Kernel, inner: Inner) -> None:
        self._room(made, step.target)
        traced = step.traced

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            found = {traced.source: self._operand(step.operand, at[0] if at else 0, {})}
            for s in traced.steps:
                args = [self._operand(x, at[0] if at else 0, found) for x in s.operands]
                found[s.target] = self._variable(body, self._value(s, args), s.target.type)
            body.append(Store(step.target.at, at[0] if at else 0, found[traced.result]))

        made += self._nest([step.target.count] if step.target.count > 1 else [], inner, each)

    # --- copies and sums -------------------------------------------------------------------------

    def _copy(self, made: list[Statement], step: Copy, inner: Inner) -> None:
        source, to = step.source, step.to
        if step.target.count == 1 and not step.target.at:
            self._single[step.target] = (
                number(source) if isinstance(source, Number) else self._item(source, _start(source))
            )
            return
        self._room(made, step.target)
        taken = (0,) * len(to.shape) if isinstance(source, Number) else (
            spread_strides(source, to.shape))  # fmt: skip
        sizes, (out, of) = _loops(to.shape, [to.strides, taken])

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            x = number(source) if isinstance(source, Number) else self._at(source, at, of)
            body.append(Store(step.target.at, _spot(to, at, out), x))

        made += self._nest(sizes, inner, each)

    def _at(self, x: Part, at: Sequence[Variable], strides: Sequence[int]) -> Expression:
        return self._item(x, _spot(x, at, strides))

    def _fold(self, made: list[Statement], step: Fold, inner: Inner) -> None:
        target, x = step.target, step.operand
        kept, stride = [0] * len(x.shape), SIZES[target.type]
        for k in reversed(range(len(kept))):
            if k not in step.axes:
                kept[k], stride = stride, stride * x.shape[k]
        sizes, (out, taken) = _loops(x.shape, [kept, x.strides])
        is_sum = step.function is np.add and sizes and out[-1] == 0
        if is_sum and len(sizes) == 1:
            total = Total(self._array(x), _start(x), sizes[0], taken[0] // SIZES["float"])
            self._single[target] = self._variable(made, total, "float", target)
            return
        first = None if step.first is None else number(step.first)
        if target.count == 1:
            self._folded(made, step, sizes, taken, first, inner)
            return
        self._room(made, target)
        whole = Part(target, 0, (), ())
        once = is_sum and all(out[:-1])
        if first is not None and not once:
            made += self._nest(
                [target.count], inner, lambda body, at: body.append(Store(target.at, at[0], first))
            )

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            place = _spot(whole, at, out, target.type)
            if not is_sum:
                more = self._at(x, at, taken)
                before = Item(target.at, place, target.type)
                found = combined(step.function, target.type, before, more)
            else:
                step_ = taken[-1] // SIZES["float"]
                found = Total(self._array(x), _spot(x, at, taken), sizes[-1], step_)
                if not once:
                    found = Apply("float_add", (Item(target.at, place, "float"), found))
            body.append(Store(target.at, place, found))

        made += self._nest(sizes[:-1] if is_sum else sizes, inner, each)

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
        variable = self._new(type_, step.target)
        made.append(Let(variable, self._single[step.target] if first is None else first, False))

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            more = self._at(step.operand, at, taken)
            body.append(Assign(variable, combined(step.function, type_, variable, more)))

        made += self._nest(sizes, inner, each)
        self._single[step.target] = variable

    def _array(self, x: Part) -> str:
        """The name of an array."""
        if x.node in self._single:
            raise NotCompilable("a sum of one number")
        found = self._item(x, 0)
        assert isinstance(found, Item)
        return found.array

    def _scan(self, made: list[Statement], step: Scan, inner: Inner) -> None:
        x, target = step.operand, step.target
        self._room(made, target)
        count, across = x.shape[step.axis], prod(x.shape[step.axis + 1 :])
        around = [(prod(x.shape[: step.axis]), count * across), (across, 1)]
        sizes = [n for n, _ in around if n > 1]
        strides = [s for n, s in around if n > 1]

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            terms = [*zip(at, strides, strict=True)]
            so_far = Variable(self._names.numbered("float"), "float")
            first = self._item(x, _place(_start(x), terms))
            body += [Let(so_far, first, False), Store(target.at, _place(0, terms), so_far)]
            k = self._index(len(at))
            more = [*terms, (k, across)]
            next_ = combined(step.function, "float", so_far, self._item(x, _place(_start(x), more)))
            inside = Assign(so_far, next_), Store(target.at, _place(0, more), so_far)
            if count > 1:
                body.append(Count(k, 1, count, 1, inside))

        made += self._nest(sizes, inner, each)

    def _product(self, made: list[Statement], step: Product, inner: Inner) -> None:
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
            self._room(made, target)

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            total = self._new("float", target)
            k = self._index(len(at))
            more = (*at, k)
            pair = (
                self._item(a, _spot(a, more, [*terms_a, along[0]])),
                self._item(b, _spot(b, more, [*terms_b, along[1]])),
            )
            adding = Apply("float_add", (total, Apply("float_mul", pair)))
            body.append(Let(total, 0.0, False))
            body.append(Count(k, 0, a.shape[-1], 1, (Assign(total, adding),)))
            if target.count > 1:
                whole = Part(target, 0, (), ())
                body.append(Store(target.at, _spot(whole, at, terms, "float"), total))
            else:
                self._single[target] = total

        made += self._nest(sizes, inner, each)

    # --- places that are known only when the code runs -------------------------------------------

    def _at_place(self, made: list[Statement], step: Pick | Put, inner: Inner) -> None:
        if isinstance(step, Put):
            self._room(made, step.target)
        whole = step.source if isinstance(step, Pick) else self.steps.whole(step.target).part()
        place = self._checked(made, number(step.at), whole.shape[0])
        moved = _place(0, [(place, whole.strides[0] // SIZES[whole.node.type])])
        shape, strides = whole.shape[1:], whole.strides[1:]
        other = step.source if isinstance(step, Put) else None
        if isinstance(other, Number):
            around: Sequence[int] = (0,) * len(shape)
        elif other is not None:
            around = spread_strides(other, shape)
        else:
            around = self.steps.whole(step.target).part().strides
        sizes, (there, here) = _loops(shape, [strides, around])
        target = step.target
        if isinstance(step, Pick) and target.count > 1:
            self._room(made, target)

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            inside = _place(0, [(moved, 1), (_spot(whole, at, there), 1)])
            if isinstance(step, Put):
                x = number(other) if isinstance(other, Number) else self._at(other, at, here)  # type: ignore[arg-type]  # a part
                body.append(Store(target.at, inside, x))
            elif target.count > 1:
                place = _spot(Part(target, 0, (), ()), at, here, target.type)
                body.append(Store(target.at, place, self._item(whole, inside)))
            else:
                self._single[target] = self._variable(
                    body, self._item(whole, inside), target.type, target
                )

        made += self._nest(sizes, inner, each)

    def _checked(self, made: list[Statement], at: Expression, count: int) -> Expression:
        """A place counted from the end if it is negative; the function refuses others."""
        if type(at) is int:
            if not -count <= at < count:
                made.append(Refuse(True, "a place is out of range"))
            return at % count
        behind = applied("int_lt", (at, 0))
        place = self._variable(
            made, Apply("int_select", (behind, Apply("int_add", (at, count)), at)), "int"
        )
        outside = (Apply("int_lt", (place, 0)), Apply("int_ge", (place, count)))
        made.append(Refuse(Apply("bool_or", outside), "a place is out of range"))
        return place

    def _at_places(self, made: list[Statement], step: PickRows | AddRows, inner: Inner) -> None:
        self._room(made, step.target)
        is_read = isinstance(step, PickRows)
        whole = step.source.shape if is_read else step.target.shape
        across = prod(whole[1:])
        target = step.target
        sizes = [step.at.count] if step.at.count > 1 else []

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            row: Expression = at[0] if at else 0
            spot = self._item(step.at, _place(_start(step.at), [(row, 1)]))
            is_sure = step.at.node in self._known
            place = spot if is_sure else self._checked(body, spot, whole[0])

            def element(inside: list[Statement], more: Sequence[Variable]) -> None:
                rest = [(x, 1) for x in more[len(at) :]]
                there, here = (_place(0, [(x, across), *rest]) for x in (place, row))
                if is_read:
                    x = self._item(step.source, _place(_start(step.source), [(there, 1)]))
                    inside.append(Store(target.at, here, x))
                    return
                x = self._item(step.source, _place(_start(step.source), [(here, 1)]))
                before = Item(target.at, there, target.type)
                inside.append(Store(target.at, there, Apply("float_add", (before, x))))

            body += self._nest([across] if across > 1 else [], inner, element, at)

        made += self._nest(sizes, inner, each)


def number(x: Number) -> Expression:
    """The expression of a number of a step."""
    if isinstance(x, Numbered):
        return x.value
    if x.type == "bool":
        return x.text == "true"
    if x.type == "int":
        return int(x.text)
    (found,) = struct.unpack(">d", bytes.fromhex(x.text.removeprefix("0x")))
    return float(found)


def _loops(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides of loops over dimensions; neighbours are merged where that is possible."""
    sizes, found = merged(shape, strides)
    return ([], [[] for _ in found]) if sizes == [1] else (sizes, found)


def _start(x: Part) -> int:
    return x.offset // SIZES[x.node.type]


def _spot(
    x: Part, at: Sequence[Variable], strides: Sequence[int], type: str | None = None
) -> Expression:
    """The place of an element in an array for the variables of loops; strides are in bytes."""
    word = SIZES[type or x.node.type]
    terms = [(v, s // word) for v, s in zip(at, strides, strict=False)]
    return _place(_start(x), terms)


def _place(start: int, terms: Sequence[tuple[Expression, int]]) -> Expression:
    """A sum of products with constants."""
    found: Expression | None = None
    for x, by in terms:
        if type(x) is int:
            start += x * by
        elif by:
            term = x if by == 1 else Apply("int_mul", (x, by))
            found = term if found is None else Apply("int_add", (found, term))
    if found is None:
        return start
    if start:
        return Apply("int_add", (found, start))
    return found
