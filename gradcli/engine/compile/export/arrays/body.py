"""Write a typed program with arrays as statements: ops on arrays become loops over elements.

An op's NumPy function runs on symbols, as for machine code, and records the steps that it takes;
`loops.py` writes these as loops. Steps wait until a number of their result is read, so that
those on arrays of one size become one loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from gradcli.engine.compile.export.arrays.elements import Numbered
from gradcli.engine.compile.export.arrays.in_place import dense, in_place
from gradcli.engine.compile.export.arrays.loops import ArrayLoops, Elementwise
from gradcli.engine.compile.export.arrays.places import AddAt, AddTo
from gradcli.engine.compile.export.arrays.variables import Fill, WithVariables, is_whole
from gradcli.engine.compile.export.body import Body
from gradcli.engine.compile.export.loops import Counted
from gradcli.engine.compile.export.names import Names
from gradcli.engine.compile.export.operations import Attempted, Operations
from gradcli.engine.compile.export.remarks import Remarks
from gradcli.engine.compile.export.sweeps import Swept
from gradcli.engine.compile.export.tape import Relieved
from gradcli.engine.compile.export.trim import trimmed
from gradcli.engine.compile.export.written import (
    Attempt,
    Expression,
    Item,
    Keep,
    KeepAll,
    Let,
    Math,
    Room,
    Take,
    TakeAll,
    Variable,
    Whole,
    every,
    is_atom,
    size,
    statements,
)
from gradcli.engine.compile.llvm.arrays.steps import Node
from gradcli.engine.compile.llvm.arrays.symbolic import Symbolic
from gradcli.engine.compile.llvm.arrays.values import is_on_arrays, value
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import (
    DTYPES,
    Block,
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    NotCompilable,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import blocks, instructions, operands_of, read
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import parts
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np
from gradcli.source import Span

_MOST = 64  # elements of an array that the function has itself, not in its work memory
_KINDS = {dtype: type_ for type_, dtype in DTYPES.items()}


class ArrayBody(Body):
    """The statements of a program with arrays. Arguments as of `Body`; an input that is an array
    is the `Item` at its beginning.
    """

    def __init__(
        self,
        less: Relieved,
        names: Mapping[int, str],
        given: Names,
        operations: Operations,
        remarks: Remarks,
        first: int,
        inputs: Mapping[int, Expression],
        swept: Swept | None,
    ) -> None:
        found = in_place(less.program)
        self._sums_in_place = found.sums
        self._with_zeros = {sparse.target.number for sparse in found.sums.values()}
        self._zeros: dict[int, Do] = {}
        made = WithVariables(less.program, found)
        self._variables = made.variables
        self._symbols: dict[int, Symbolic] = {}
        self._reads = Counter(v.number for v in read(made.program.block))
        for fill in _fills(made.program.block):
            self._reads.update(x.number for x in fill.values if isinstance(x, Value))
        self._wishes: dict[Node, str] = {}
        self._loops_of = ArrayLoops(
            given, self._element, self._stored, self._wishes, operations.ranges
        )
        self._span = Span(0, 0)
        self._swept = swept
        self._matrices: list[Room] = []
        for v in made.program.inputs:
            x = inputs.get(v.number)
            if is_array(v.type) and isinstance(x, Item):
                self._loops_of.given.add(x.array)
                self._symbols[v.number] = self._whole(v.type, x.array)
        super().__init__(
            Relieved(made.program, less.turns), names, given, operations, remarks, first, inputs
        )
        before = (*self._loops_of.tables, *self._matrices)
        self.statements = trimmed((*before, *self.statements), self.wanted)
        rooms = [s for s in statements(self.statements) if isinstance(s, Room)]
        ends = [s.at + s.count for s in rooms if isinstance(s.at, int) and isinstance(s.count, int)]
        self.room = max(ends, default=0)

    # --- what is used where ----------------------------------------------------------------------

    def _given_before(self, program: Program) -> Sequence[Value]:
        return [*program.inputs, *(v for v, _ in self._variables)]

    def _operands(self, i: Instruction) -> Iterable[Operand | None]:
        return i.values if isinstance(i, Fill) else operands_of(i)

    # --- arrays ----------------------------------------------------------------------------------

    def _whole(self, type: str, name: str) -> Symbolic:
        """The symbol of an array that has a name."""
        dtype, shape = dtype_and_shape(type)
        return self._loops_of.steps.whole(Node(_KINDS[dtype], shape, name))

    def _room(self, type: str, shape: Sequence[int], wish: str | None) -> Symbolic:
        """A new array of numbers of a type."""
        node = Node(type, shape)
        self._made.append(self._stored(node, wish))
        return self._loops_of.steps.whole(node)

    def _stored(self, node: Node, wish: str | None = None) -> Room:
        """The declaration of an array."""
        wish = wish or self._wishes.get(node)
        node.at = self._given.numbered("float") if wish is None else self._given(wish)
        if node.type == "int" or node.count <= _MOST:
            return Room(node.at, node.type, node.count, None)
        self.room += node.count
        return Room(node.at, node.type, node.count, self.room - node.count)

    def _symbol(self, x: Value) -> Symbolic:
        if x.number not in self._symbols:  # a variable that has not been filled yet
            wish = next((self._names.get(of.number) for v, of in self._variables if v == x), None)
            dtype, shape = dtype_and_shape(x.type)
            self._symbols[x.number] = self._room(_KINDS[dtype], shape, wish)
        return self._symbols[x.number]

    def _argument(self, x: Operand | None) -> Any:
        """An argument of an op: a symbol, or a known value."""
        if not isinstance(x, Value):
            return x
        if is_array(x.type) or (x.number in self._symbols and x.type != "int"):  # ints are places
            return self._symbol(x)
        return self._loops_of.steps.number(Numbered(self._plain(x), x.type))

    def _elements(self, x: Operand, type: str) -> Symbolic:
        """An array of a type; each of its elements may be the same constant."""
        found = self._argument(x)
        if isinstance(found, Symbolic):
            return found
        dtype, shape = dtype_and_shape(type)
        return self._loops_of.steps.symbol(np.full(shape, found, dtype))

    def _plain(self, x: Value) -> Expression:
        """A number that loops over arrays may read: a variable, if it is more than a sign."""
        found = self.expression(x)
        is_long = size(found) > 1 or any(isinstance(part, Math) for part in every(found))
        if is_long and not is_atom(found):
            found = self._held(self._name(x), found)
            self._known[x.number] = found
        return found

    def _held(self, variable: Variable, x: Expression) -> Variable:
        self._made.append(Let(variable, x, True))
        self._ranges.note(variable, self._ranges.of(x))
        return variable

    def expression(self, x: Operand) -> Expression:
        if not isinstance(x, Value) or x.number in self._known:
            return super().expression(x)
        symbol = self._symbols[x.number]
        self._flush()
        found = self._loops_of.only(symbol)
        self._known[x.number] = found
        return found

    # --- instructions ----------------------------------------------------------------------------

    def _instruction(self, i: Instruction) -> None:
        self._span = i.span if i.span.end > i.span.start else self._span
        match i:
            case Do(target=target) if target.number in self._with_zeros:
                self._zeros[target.number] = i  # a part of a sum in place
                return
            case Do(target=target) if target.number in self._sums_in_place:
                zeros = self._sums_in_place[target.number].target
                self._sum_in_place(i, self._zeros[zeros.number])
            case Do() if is_on_arrays(i):
                self._on_arrays(i)
            case Fill():
                self._fill(i)
            case DoSeveral():
                self._several(i)
            case Ruled():
                for t, x in zip(i.targets, i.values, strict=True):
                    if is_array(t.type):
                        self._symbols[t.number] = self._argument(x)
                    else:
                        self._known[t.number] = self.expression(x)
            case Push() if any(is_whole(type_of(x)) for x in i.values):
                self._push(i)
            case Pop() if any(is_whole(t.type) for t in i.targets):
                self._pop(i)
            case Do():
                super()._instruction(i)
            case Tell():
                self._into_matrix(i)
            case _:
                self._flush()
                for block in blocks(i) if isinstance(i, If) else ():
                    self._declare(block)
                super()._instruction(i)
        for y in self._operands(i):
            if isinstance(y, Value):
                self._reads[y.number] -= 1

    def _declare(self, block: Block) -> None:
        """Declare the variables that a side of a branch fills at its end."""
        last = block.body[-1] if block.body else None
        for v in last.targets if isinstance(last, Fill) else ():
            self._symbol(v)

    def _inside(self, block: Block) -> list[Any]:
        outside, self._made = self._made, []
        self._block(block)
        self._flush()
        made, self._made = self._made, outside
        return made

    def _next(
        self, params: Sequence[Variable], given: Sequence[Operand], but: int | None = None
    ) -> None:
        for k, x in enumerate(given):
            if k != but:
                self.expression(x)
        self._flush()
        super()._next(params, given, but)

    def _on_arrays(self, i: Do) -> None:
        if i.target.number < self._first:
            self._remark(i)
        args = [self._argument(x) for x in i.args]
        try:
            symbol = self._elementwise(i, args)
            if symbol is None:
                symbol = self._at_known_places(i, args)
            if symbol is None:
                symbol = self._loops_of.steps.symbol(value(self._loops_of.steps, i, args))
        except Untranslatable:
            raise NotCompilable(f"`{i.op}` of these arrays has no loop", i.span) from None
        dtype, shape = dtype_and_shape(i.target.type)
        if symbol.shape != shape or symbol.type != _KINDS.get(dtype):
            raise NotCompilable(f"`{i.op}` of these arrays has no loop", i.span)
        number = i.target.number
        self._symbols[number] = symbol
        name = self._names.get(number)
        is_read_once = self._uses[number] == 1 and number not in self._crossing
        if is_read_once and name is None and isinstance(symbol.source, Node) and not shape:
            self._loops_of.once.add(symbol.source)
        if name is not None and isinstance(symbol.source, Node) and symbol.is_whole:
            self._wishes.setdefault(symbol.source, name)

    def _elementwise(self, i: Do, args: Sequence[Any]) -> Symbolic | None:
        """The result of an op element by element by its formula on numbers; None for others."""
        op = ops[i.op]
        if not op.elementwise or op.value.number is None or not is_array(i.target.type):
            return None
        symbols = [x for x in args if isinstance(x, Symbolic)]
        kind = _KINDS.get(dtype_and_shape(i.target.type)[0])
        if kind is None or not symbols:
            return None
        given = tuple([None if isinstance(x, Symbolic) else (x,) for x in args])
        function = Elementwise(i, given)
        return self._loops_of.steps.map(function, symbols, (*(x.type for x in symbols), kind))

    def _at_known_places(self, i: Do, args: Sequence[Any]) -> Symbolic | None:
        """Parts of an array at several known places of its first dimension, or an array of zeros
        to which parts are added there; None for other ops.
        """
        params = dict[str, Any](i.params)
        index, steps = params.get("index"), self._loops_of.steps
        is_list = isinstance(index, Tensor) and index.ndim == 1 and index.dtype == "int64"
        if not is_list or i.op not in (ops.getitem.name, ops.unindex.name):
            return None
        assert isinstance(index, Tensor)
        if i.op == ops.getitem.name:
            x = args[0]
            return steps.pick_rows(x, steps.symbol(index.data % x.shape[0]))
        zeros, places = steps.symbol(np.zeros(params["size"])), index.data % params["size"][0]
        return steps.add_rows(zeros, steps.symbol(places), args[0])

    def _sum_in_place(self, i: Do, sparse: Do) -> None:
        """Add numbers to some elements of an array that nothing reads as it was."""
        whole, params = self._symbol(dense(i, sparse)), dict[str, Any](sparse.params)
        self._flush()
        node = whole.source
        assert isinstance(node, Node)
        steps, x = self._loops_of.steps, sparse.args[0]
        if isinstance(x, Value) and not is_whole(x.type):
            source: Any = Numbered(self.expression(x), "float")
        else:
            symbol = steps.symbol(self._argument(x))
            source = symbol.part() if isinstance(symbol.source, Node) else symbol.source
        if sparse.op == ops.unrow.name:
            at: Any = steps.symbol(self._argument(sparse.args[1])).source
            step: AddAt | AddTo = AddAt(node, at, source)
        else:
            basic, _ = parts(params["index"], whole.shape)
            step = AddTo(node, whole[basic].part(), source)
        self._loops_of.add_in_place(self._made, step, self._inner)
        self._symbols[i.target.number] = whole
        for y in self._operands(sparse):
            if isinstance(y, Value):
                self._reads[y.number] -= 1

    def _several(self, i: DoSeveral) -> None:
        """Parts of an array, which are views of it."""
        if not ops[i.op].memory.view:
            raise NotCompilable(f"`{i.op}` of arrays has no loop", i.span)
        try:
            parts = value(self._loops_of.steps, i, [self._argument(x) for x in i.args])
        except Untranslatable:
            raise NotCompilable(f"`{i.op}` of these arrays has no loop", i.span) from None
        for target, part in zip(i.targets, parts, strict=True):
            self._symbols[target.number] = part

    def _fill(self, i: Fill) -> None:
        nodes = [self._symbol(v).source for v in i.targets]
        pairs = []
        for v, x in zip(i.targets, i.values, strict=True):
            symbol, target = self._elements(x, v.type), self._symbol(v).source
            if symbol.source is target and symbol.is_whole:
                continue  # it has been changed in place
            is_of_another = symbol.source in nodes and len(nodes) > 1
            if symbol.source is target or is_of_another:
                self._flush()
                symbol = self._copied(symbol)
            pairs.append((symbol, target))
        self._flush()
        for symbol, target in pairs:
            assert isinstance(target, Node)
            self._loops_of.steps.copy(symbol, target)
        self._flush()

    def _copied(self, x: Symbolic) -> Symbolic:
        """A copy of an array."""
        made = self._room(x.type, x.shape, None)
        assert isinstance(made.source, Node)
        self._loops_of.steps.copy(x, made.source)
        return made

    def _push(self, i: Push) -> None:
        numbers = [x for x in i.values if not is_whole(type_of(x))]
        arrays = [self._in_memory(x) for x in i.values if is_whole(type_of(x))]
        if numbers:
            self._made.append(Keep(tuple([self.expression(x) for x in numbers])))
        self._made += [KeepAll(node.at, node.type, node.count) for node in arrays]
        count = len(numbers) + sum(node.count for node in arrays)
        self.pushes.append((count, tuple(self._loops)))

    def _in_memory(self, x: Operand) -> Node:
        """A whole array that has a name."""
        symbol = self._argument(x)
        node = symbol.source
        if not isinstance(node, Node) or not symbol.is_whole:
            node = self._copied(symbol).source
            assert isinstance(node, Node)
        self._loops_of.room(self._made, node)
        self._flush()
        return node

    def _pop(self, i: Pop) -> None:
        for t in reversed([t for t in i.targets if is_whole(t.type)]):
            dtype, shape = dtype_and_shape(t.type)
            symbol = self._room(_KINDS[dtype], shape, self._names.get(t.number))
            assert isinstance(symbol.source, Node)
            self._made.append(TakeAll(symbol.source.at, symbol.source.type, symbol.source.count))
            self._symbols[t.number] = symbol
        numbers = [t for t in i.targets if not is_whole(t.type)]
        variables = tuple([self._name(t) for t in numbers])
        self._known.update({t.number: v for t, v in zip(numbers, variables, strict=True)})
        if variables:
            self._made.append(Take(variables))

    def _result(self, x: Operand) -> Expression | Whole:
        if not is_array(type_of(x)):
            self._flush()
            return super()._result(x)
        symbol = self._argument(x)
        if isinstance(x, Value) and symbol.size == 1:
            self._flush()
            found = self._loops_of.only(symbol)
            if not is_atom(found):
                wish = self._names.get(x.number)
                made = self._given.numbered(symbol.type) if wish is None else self._given(wish)
                found = self._held(Variable(made, symbol.type), found)
            return found
        node = self._in_memory(x)
        return Whole(node.at, node.type, node.count)

    # --- the matrix of derivatives --------------------------------------------------------------

    def _into_matrix(self, i: Tell) -> None:
        """Put the derivatives along a direction into the matrix."""
        assert self._swept is not None
        layout = self._swept.layouts[i.text]
        name = self._matrix_of(self._swept.size)
        values = [self._argument(x) for x in i.args[1:]]
        self._flush()
        at = (self.expression(i.args[0]), layout.per_direction)
        for start, shape, x in zip(layout.starts, layout.shapes, values, strict=True):
            strides = [layout.per_number * prod(shape[k + 1 :]) for k in range(len(shape))]
            self._made += self._loops_of.scattered(
                x, shape, name, (start, at), strides, self._inner
            )

    def _bound(self, i: Loop, how: Counted | None) -> int | None:
        """The tape is empty after each turn of a loop over directions, so one turn counts."""
        is_over_directions = any(isinstance(j, Tell) for j in i.body.body)
        return 1 if is_over_directions else super()._bound(i, how)

    def _matrix_of(self, size: int) -> str:
        """The name of the matrix, which is declared before all else."""
        if not self._matrices:
            node = Node("float", (size,))
            self._matrices.append(self._stored(node, "matrix"))
            self.matrix = Item(node.at, 0, "float")
        return self._matrices[0].array

    # --- steps -----------------------------------------------------------------------------------

    def _element(self, function: Elementwise, args: Sequence[Expression]) -> Expression:
        """An op of elements of arrays, with statements before it if it may refuse them."""
        left = iter(args)
        given = [next(left) if x is None else x[0] for x in function.given]
        kind = _KINDS[dtype_and_shape(function.of.target.type)[0]]
        found = self._written(function.of, given, kind, self._hold)
        if isinstance(found, Attempted):
            variable = self._fresh(found.type)
            self._made.append(Attempt(variable, found.function, found.args))
            return variable
        return found

    def _flush(self) -> None:
        """Write the steps that wait as loops."""
        read_later = {s.source for n, s in self._symbols.items() if self._reads[n] > 0}
        outside = self._made
        for statement in self._loops_of.written(read_later, self._inner):
            outside.append(statement)

    def _inner(self, write: Any) -> list[Any]:
        """The statements that a function writes."""
        outside, self._made = self._made, []
        write(self._made)
        made, self._made = self._made, outside
        return made


def _fills(block: Block) -> Iterable[Fill]:
    return [i for i in instructions(block.body) if isinstance(i, Fill)]
