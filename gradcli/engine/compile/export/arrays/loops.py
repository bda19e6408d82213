"""Write steps on arrays as loops over their elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.export.arrays.elements import (
    Inner,
    merged_loops,
    number,
    place_of,
    spot,
    start_of,
)
from gradcli.engine.compile.export.arrays.functions import of_elements
from gradcli.engine.compile.export.arrays.places import AddAt, AddTo, Places
from gradcli.engine.compile.export.arrays.sums import Sums
from gradcli.engine.compile.export.names import Names
from gradcli.engine.compile.export.ranges import Ranges
from gradcli.engine.compile.export.written import (
    Apply,
    Expression,
    Item,
    Room,
    Statement,
    Store,
    Variable,
    is_atom,
    size,
)
from gradcli.engine.compile.llvm.arrays.functions import FUNCTIONS
from gradcli.engine.compile.llvm.arrays.moves import spread_strides
from gradcli.engine.compile.llvm.arrays.plan import Unit, units
from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    AddRows,
    Copy,
    Fold,
    Kernel,
    Map,
    Node,
    Part,
    Pick,
    PickAlong,
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

    def _is_in_order(self, symbols: Sequence[Symbolic], shape: tuple[int, ...]) -> bool:
        """True, since source code adds up its arrays row by row, whatever NumPy's order is."""
        return True


class ArrayLoops(Sums, Places):
    """Writes steps as statements. Arguments as of `Elements`; `element` writes an op of elements.

    Fields:
        steps: the steps that wait.
    """

    def __init__(
        self,
        names: Names,
        element: Callable[[Elementwise, Sequence[Expression]], Expression],
        stored: Callable[[Node], Room],
        wishes: Mapping[Node, str],
        ranges: Ranges,
    ) -> None:
        super().__init__(names, stored, wishes, ranges)
        self.steps = _Steps(self.known)
        self._op = element

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
        return self.item(x.part(), x.offset // SIZES[x.type])

    def _unit(
        self, made: list[Statement], unit: Unit, wanted: Sequence[Node], inner: Inner
    ) -> None:
        match step := unit.steps[0]:
            case Map():
                self._maps(made, [s for s in unit.steps if isinstance(s, Map)], wanted, inner)
            case Copy():
                self._copy(made, step, inner)
            case Fold():
                self.fold(made, step, inner)
            case Scan():
                self.scan(made, step, inner)
            case Product():
                self.product(made, step, inner)
            case Kernel():
                self._kernel(made, step, inner)
            case Pick() | Put():
                self.at_place(made, step, inner)
            case PickRows() | AddRows():
                self.at_places(made, step, inner)
            case PickAlong() | AddAlong():
                self.along(made, step, inner)
            case _:
                raise NotCompilable("a function of arrays has no loop")
        for node in wanted:
            if node.at and node in self.single:
                made.append(Store(node.at, 0, self.single.pop(node)))

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
                self.room(made, node)
        found: dict[Node, Expression] = {}

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            place: Expression = at[0] if at else 0
            for s in steps:
                args = [self._operand(x, place, found) for x in s.operands]
                x = self._value(s, args)
                node = s.target
                is_held = node in wanted and (uses[node] or count == 1)
                is_held = is_held and not (count == 1 and self.can_wait(node, x))
                if not is_atom(x) and (is_held or uses[node] > 1 or size(x) > _LONGEST):
                    x = self.variable(body, x, node.type, node)
                if node in wanted and count > 1:
                    body.append(Store(node.at, place, x))
                found[node] = x

        if count > 1:
            made += self.nest([count], inner, each)
            return
        made += inner(lambda body: each(body, ()))
        self.single.update({node: found[node] for node in wanted})

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
        return self.item(x, place_of(start, [(place, 1)]) if x.shape else start)

    def _kernel(self, made: list[Statement], step: Kernel, inner: Inner) -> None:
        self.room(made, step.target)
        traced = step.traced

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            found = {traced.source: self._operand(step.operand, at[0] if at else 0, {})}
            for s in traced.steps:
                args = [self._operand(x, at[0] if at else 0, found) for x in s.operands]
                found[s.target] = self.variable(body, self._value(s, args), s.target.type)
            body.append(Store(step.target.at, at[0] if at else 0, found[traced.result]))

        made += self.nest([step.target.count] if step.target.count > 1 else [], inner, each)

    # --- copies and sums -------------------------------------------------------------------------

    def add_in_place(self, made: list[Statement], step: AddTo | AddAt, inner: Inner) -> None:
        """Elements of an array that is there changed by a sum."""
        if isinstance(step, AddTo):
            self._copy(made, step, inner)
        else:
            self.at_place(made, step, inner)

    def _copy(self, made: list[Statement], step: Copy | AddTo, inner: Inner) -> None:
        source, to = step.source, step.to
        if step.target.count == 1 and not step.target.at:
            self.single[step.target] = (
                number(source)
                if isinstance(source, Number)
                else self.item(source, start_of(source))
            )
            return
        self.room(made, step.target)
        taken = (0,) * len(to.shape) if isinstance(source, Number) else (
            spread_strides(source, to.shape))  # fmt: skip
        sizes, (out, of) = merged_loops(to.shape, [to.strides, taken])

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            x = number(source) if isinstance(source, Number) else self.at(source, at, of)
            place = spot(to, at, out)
            if isinstance(step, AddTo):
                x = Apply("float_add", (Item(step.target.at, place, step.target.type), x))
            body.append(Store(step.target.at, place, x))

        made += self.nest(sizes, inner, each)

    def scattered(
        self,
        x: Any,
        shape: Sequence[int],
        array: str,
        start: tuple[int, tuple[Expression, int]],
        strides: Sequence[int],
        inner: Inner,
    ) -> list[Statement]:
        """A value of a shape put into an array, with strides, from a place on: a constant, and a
        multiple of a number.
        """
        source: Part | None = None
        value: Expression = x
        if isinstance(x, Symbolic) and isinstance(x.source, Number):
            value = number(x.source)
        elif isinstance(x, Symbolic):
            source = x.part()
        spread = (0,) * len(shape) if source is None else spread_strides(source, shape)
        sizes, (out, of) = merged_loops(shape, [[s * _WORD for s in strides], spread])
        first, moved = start

        def each(body: list[Statement], at: Sequence[Variable]) -> None:
            terms = [moved, *zip(at, [s // _WORD for s in out], strict=True)]
            found = value if source is None else self.at(source, at, of)
            body.append(Store(array, place_of(first, terms), found))

        return self.nest(sizes, inner, each)


_WORD = SIZES["float"]
