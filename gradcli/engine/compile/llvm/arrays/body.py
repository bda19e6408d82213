"""Emits LLVM code for typed programs with arrays.

Ops on arrays are collected as steps (`steps.py`) until another instruction needs them, then ordered
and emitted together (`plan.py`). An array is the address of its contiguous elements; an array that
a loop carries is double-buffered, unless the loop changes it in its memory (`updated.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from math import copysign
from typing import Any

from gradcli.engine.compile.llvm.arrays.by_op import (
    AT_ONE_PLACE,
    check_layout,
    laid_out,
)
from gradcli.engine.compile.llvm.arrays.callbacks import callback
from gradcli.engine.compile.llvm.arrays.elements import Elements
from gradcli.engine.compile.llvm.arrays.held import Held
from gradcli.engine.compile.llvm.arrays.plan import units
from gradcli.engine.compile.llvm.arrays.signs import Signs
from gradcli.engine.compile.llvm.arrays.step_body import StepBody
from gradcli.engine.compile.llvm.arrays.steps import Call, Copy, Node, Part
from gradcli.engine.compile.llvm.arrays.symbolic import Symbolic
from gradcli.engine.compile.llvm.arrays.values import is_on_arrays, value
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.body import read_word, slot, write_word
from gradcli.engine.compile.llvm.emit.definitions import Call as NumberCall
from gradcli.engine.compile.llvm.emit.primitives import Primitives
from gradcli.engine.compile.llvm.emit.writer import Number
from gradcli.engine.compile.passes.updated import Change, Updated
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import (
    DTYPES,
    Block,
    Blockwise,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    Operand,
    Placed,
    PlacedSeveral,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    bytes_of,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import instructions, operands_of, read
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import np

_KINDS = {dtype: type_ for type_, dtype in DTYPES.items()}
_WORD = 8
_LINE = 64  # bytes: alignment of arrays in an entry of a stack


class ArrayBody(StepBody):
    """Emits the function `call` of a program with arrays.

    Args:
        primitives: The functions that the code calls.
        stacks: An index for each stack by its number.
        program: The program.
        doubtful: The values that the interpreter may lay out otherwise.
    """

    def __init__(
        self,
        primitives: Primitives,
        stacks: dict[int, int],
        program: Program,
        doubtful: Collection[int],
    ) -> None:
        super().__init__(primitives, stacks)
        self._held = Held(self.w, self._steps)
        self._symbols: dict[int, Symbolic] = {}
        self._waiting: list[Instruction] = []
        self._unknown: set[int] = set()
        self._reads = Counter(v.number for v in read(program.block))
        self._updated = Updated(program)
        self._signs = Signs(self.w, self._steps, self._flush)
        self._outer: list[set[Node]] = []
        self._doubtful = {*doubtful}
        self._ends: dict[int, tuple[Value, ...]] = {}
        every = [*instructions(program.block.body)]
        self._sites = Counter(i.stack for i in every if isinstance(i, Push))
        self._pushed: set[int] = set()
        self._popped: set[int] = set()
        self._doubtful_places: set[tuple[int, int]] = set()
        self._turned: dict[tuple[int, int], Sequence[int]] = {}
        self._filled: dict[tuple[str, str], Any] = {}

    # --- the whole ---------------------------------------------------------------------

    def whole(self, block: Block) -> None:
        w = self.w
        self.body(block)
        for k, x in enumerate(block.results):
            if is_array(type_of(x)):
                self._put(self._symbol(x), w.put(f"load ptr, ptr {slot(w, '%out', k)}"))
        self._flush()
        for k, x in enumerate(block.results):
            if not is_array(type_of(x)):
                write_word(w, self.operand(x), slot(w, "%out", k))

    def body(self, block: Block) -> None:
        """Emit the instructions of a block."""
        for i in block.body:
            self.instruction(i)

    def block(self, block: Block) -> list[Number]:
        with self._held.block():
            return self._side(block)

    def _side(self, block: Block) -> list[Number]:
        self.body(block)
        kept: dict[int, Node] = {}
        targets = self._ends[id(block)]
        for k, x in enumerate(block.results):
            if is_array(type_of(x)):
                kept[k], is_certain = self._node(self._symbol(x))
                if not is_certain:
                    self._doubtful.add(targets[k].number)
        self._flush([*kept.values()])
        return [
            Number(kept[k].at, target.type) if k in kept else self._number(x, target.type)
            for k, (x, target) in enumerate(zip(block.results, targets, strict=True))
        ]

    def _number(self, x: Operand, type: str) -> Number:
        """The number that an operand is, or the address of an array that holds it everywhere."""
        if not is_array(type):
            return self.operand(x)
        dtype, shape = dtype_and_shape(type)
        key = type, repr(x)
        if key not in self._filled:
            self._filled[key] = self._steps.symbol(np.full(shape, x, dtype)).source
        return Number(self._filled[key].at, type)

    def define(self, value: Value, number: Number) -> None:
        if not is_array(value.type):
            super().define(value, number)
            return
        dtype, shape = dtype_and_shape(value.type)
        node = Node(_KINDS[dtype], shape, number.text)
        node.certain = value.number not in self._doubtful
        self._symbols[value.number] = self._steps.whole(node)

    # --- instructions ------------------------------------------------------------------

    def instruction(self, i: Instruction) -> None:
        if isinstance(i, Do) and i.target.number in self._updated.aside:
            return  # a part of a change
        if isinstance(i, Do) and i.target.number in self._updated.changes:
            self._change(i.target, self._updated.changes[i.target.number])
        elif isinstance(i, Do) and is_on_arrays(i):
            self._on_arrays(i)
        elif isinstance(i, Do | Leave) and self._is_waiting(i):
            self._waiting.append(i)
            if isinstance(i, Do):
                self._unknown.add(i.target.number)
            return
        elif isinstance(i, Ruled):
            self._named(i)
        elif isinstance(i, Blockwise):
            self._by_blocks(i)
        elif isinstance(i, DoSeveral):
            self._several(i)
        elif isinstance(i, Tell) and any(is_array(type_of(x)) for x in i.args):
            raise Untranslatable("an array is printed")
        else:
            if not isinstance(i, Do | Leave | Pop | Push) or self._is_waiting(i):
                self._flush()
            super().instruction(i)
        self._done_with(i)

    def _done_with(self, i: Instruction) -> None:
        for x in operands_of(i):
            if isinstance(x, Value):
                self._reads[x.number] -= 1

    def _is_waiting(self, i: Instruction) -> bool:
        """True if the instruction reads a number of an array that is not emitted yet."""
        return any(isinstance(x, Value) and x.number in self._unknown for x in operands_of(i))

    def _named(self, i: Ruled) -> None:
        for target, x in zip(i.targets, i.values, strict=True):
            if is_array(target.type):
                self._symbols[target.number] = self._symbol(x)
            else:
                self._flush()
                self.define(target, self.operand(x))

    def _several(self, i: DoSeveral) -> None:
        """Define the several results of an op: parts of an array, or arrays of their own."""
        if ops[i.op].memory.view:
            parts = self._value(i, [self._held_or_stored(x) for x in i.args])
            for target, part in zip(i.targets, parts, strict=True):
                self._define_part(target, part)
            return
        args = [self._argument(x) for x in i.args]
        for k, (target, x) in enumerate(zip(i.targets, self._value(i, args), strict=True)):
            symbol = self._known(i, target, self._steps.symbol(x))
            if isinstance(i, PlacedSeveral) and symbol.ndim:
                symbol = laid_out(ops[i.op], symbol, args, k)
            self._define_result(target, symbol)

    def _by_blocks(self, i: Blockwise) -> None:
        """Let Python have the blocks done; their sums are on a stack then."""
        w, numbers = self.w, dict[int, Number]()
        for k, x in enumerate(i.args):
            if _is_whole(type_of(x)):
                node, _ = self._node(self._symbol(x))
                self._flush([node])
                numbers[k] = Number(node.at, "ptr")
        self._flush()
        for k, v in enumerate(i.targets, len(i.args)):
            numbers[k] = Number(self._lasting(self.memory.lasting(bytes_of(v.type))), "ptr")
            self.define(v, Number(numbers[k].text, v.type))
        words = self._lasting(self.memory.lasting(_WORD * (len(i.args) + len(i.targets))))
        for k, x in enumerate((*i.args, *i.targets)):
            write_word(w, numbers.get(k) or self.operand(x), slot(w, words, k))
        self.note_turns()
        self.waits = True
        self.work += i.length * len([*instructions(i.program.block.body)])
        request = len(self.stacks) + len(self.blockwise)
        self.blockwise.append(i)
        failed = self.serve(request, w.put(f"ptrtoint ptr {words} to i64"))
        w.rare(failed, self.leave(state.NUMBER))
        if i.stack is not None:
            k = self.stacks[i.stack]
            w.do(f"store ptr {self.load('ptr', state.of_stack(k, state.TOP))}, ptr %top{k}")

    def choose(self, i: If) -> None:
        self._ends[id(i.then)] = self._ends[id(i.orelse)] = i.targets
        super().choose(i)

    def first(self, i: Loop) -> list[Number]:
        kept: dict[int, Node] = {}
        for k, (param, x) in enumerate(zip(i.params, i.initial, strict=True)):
            if param.number in self._updated.params:
                kept[k], is_certain = self._changeable(x, param)
            elif is_array(type_of(x)):
                kept[k], is_certain = self._node(self._symbol(x))
            else:
                continue
            if not is_certain:
                self._doubtful |= {param.number, i.targets[k].number}
        self._flush([*kept.values()])
        self._outer.append({s.source for s in self._symbols.values() if isinstance(s.source, Node)})
        return [
            Number(kept[k].at, param.type) if k in kept else self._number(x, param.type)
            for k, (param, x) in enumerate(zip(i.params, i.initial, strict=True))
        ]

    def _changeable(self, x: Operand, param: Value) -> tuple[Node, bool]:
        """The memory that a loop changes, filled with what it begins with; True if that of the
        interpreter is contiguous, too.
        """
        dtype, shape = dtype_and_shape(param.type)
        is_value = isinstance(x, Value)
        symbol = self._symbol(x) if is_value else self._steps.symbol(np.full(shape, x, dtype))
        if param.number in self._updated.handed:
            assert isinstance(symbol.source, Node)
            return symbol.source, symbol.is_in_order
        target = Node(symbol.type, shape)
        target.at = self._lasting(self.memory.lasting(target.bytes))
        self._steps.copy(symbol, target)
        self._signs.begin(param.number, self._lasting(self.memory.lasting(_WORD)))
        return target, symbol.is_in_order or not is_value

    def _change(self, target: Value, change: Change) -> None:
        """Change an item of an array in its memory."""
        w, symbol, value = self.w, self._symbol(change.array), change.value
        node, kept = symbol.source, []
        assert isinstance(node, Node)
        if isinstance(value, Value) and _is_whole(value.type):
            made, _ = self._node(self._symbol(value))
            kept.append(made)
        self._flush(kept)
        source = self._steps.whole(kept[0]).part() if kept else self.operand(value)
        address = self._place(symbol.part(), self.operand(change.at))
        item = self._steps.whole(Node(node.type, node.shape[1:], address)).part()
        self.work += item.count
        if change.sparse is not None:
            self._done_with(change.sparse)
            source = self._signs.sum(change.root, node, item, source)
        elif isinstance(value, Value) or copysign(1, value) < 0:
            self._signs.may_be_negative(change.root, address)
        if isinstance(source, Part) and item.count == 1:
            source = w.read_element(node.type, source.node.at)
        if isinstance(source, Number) and item.count == 1:
            w.write_element(source, address)
        else:
            self._steps.steps.append(Copy(item.node, item, source))
            self._flush()
        self._symbols[target.number] = symbol

    def turn(self, i: Loop) -> tuple[Number, list[Number], list[tuple[str, str, str, str]]]:
        with self._held.block():
            return self._following(i)

    def _following(self, i: Loop) -> tuple[Number, list[Number], list[tuple[str, str, str, str]]]:
        w = self.w
        self.body(i.body)
        outer = self._outer.pop()
        again, *following = i.body.results
        places: dict[int, str] = {}
        spare: list[tuple[str, str, str]] = []
        for k, (param, x) in enumerate(zip(i.params, following, strict=True)):
            if not is_array(type_of(x)):
                continue
            symbol = self._symbol(x)
            if param.number in self._updated.params:
                assert isinstance(symbol.source, Node)
                places[k] = symbol.source.at
                continue
            is_same = isinstance(x, Value) and x.number == param.number
            if not is_same and param.number not in self._doubtful and not symbol.is_in_order:
                raise Untranslatable("a variable with several possible layouts")
            node = symbol.source
            stays = isinstance(node, Node) and node in outer and node.lasts and symbol.is_whole
            if is_same or stays:
                assert isinstance(node, Node)
                places[k] = node.at
                continue
            name = places[k] = w.name()
            size = bytes_of(param.type)
            one, other = (self._lasting(self.memory.lasting(size)) for _ in range(2))
            spare.append((name, one, other))
            self._put(symbol, name)
        self._flush()
        more = []
        for name, one, other in spare:
            is_one = w.put(f"icmp eq ptr {name}, {one}")
            more.append(("ptr", name, one, w.put(f"select i1 {is_one}, ptr {other}, ptr {one}")))
        numbers = [
            Number(places[k], param.type) if k in places else self._number(x, param.type)
            for k, (param, x) in enumerate(zip(i.params, following, strict=True))
        ]
        return self.operand(again), numbers, more

    def push(self, i: Push) -> None:
        if not any(_is_whole(type_of(x)) for x in i.values):
            super().push(i)
            return
        w, stack = self.w, self.stacks[i.stack]
        offsets, self.entries[stack] = _entry([type_of(x) for x in i.values])
        entry = w.put(f"load ptr, ptr {self.room_on(stack, 8)}")
        places = [w.put(f"getelementptr i8, ptr {entry}, i64 {k}") for k in offsets]
        self._pushed.add(i.stack)
        for k, (x, at) in enumerate(zip(i.values, places, strict=True)):
            if not _is_whole(type_of(x)):
                write_word(w, self.operand(x), at)
                continue
            symbol = self._symbol(x)
            axes = symbol.axes_in_memory
            if axes is not None and self._sites[i.stack] == 1:
                self._turned[i.stack, k] = axes
                symbol = symbol.transpose(axes)
            elif not symbol.is_in_order:
                if symbol.ndim > 1 or i.stack in self._popped:
                    raise Untranslatable("a variable with several possible layouts")
                self._doubtful_places.add((i.stack, k))
            self._put(symbol, at, claim=self._sites[i.stack] == 1)

    def pop(self, i: Pop) -> None:
        if not any(_is_whole(v.type) for v in i.targets):
            base = self.taken_from(self.stacks[i.stack], _WORD * len(i.targets))
            for k, target in enumerate(i.targets):
                self._read(target, slot(self.w, base, k))
            return
        w, stack = self.w, self.stacks[i.stack]
        self._popped.add(i.stack)
        if self._pushed != {i.stack} | self._pushed or self._sites[i.stack] != 1:
            raise Untranslatable("a stack that is gone through in another order")
        offsets, _ = _entry([v.type for v in i.targets])
        entry = w.put(f"load ptr, ptr {self.taken_from(stack, 8)}")
        for k, (target, offset) in enumerate(zip(i.targets, offsets, strict=True)):
            at = w.put(f"getelementptr i8, ptr {entry}, i64 {offset}")
            if (i.stack, k) in self._doubtful_places:
                self._doubtful.add(target.number)
            if not _is_whole(target.type):
                self._read(target, at)
                continue
            axes = self._turned.get((i.stack, k))
            if axes is None:
                self.define(target, Number(at, target.type))
            else:
                dtype, shape = dtype_and_shape(target.type)
                laid = self._steps.whole(Node(_KINDS[dtype], [shape[a] for a in axes], at))
                self._symbols[target.number] = laid.transpose(np.argsort(axes))
            self._symbols[target.number].source.lasts = False  # type: ignore[union-attr]

    def _read(self, target: Value, address: str) -> None:
        """Define a number, or an array without dimensions, by the word at an address."""
        number = read_word(self.w, _KINDS[dtype_and_shape(target.type)[0]], address)
        super().define(target, number)
        if is_array(target.type):
            self._symbols[target.number] = self._steps.number(number)

    def operand(self, x: Operand) -> Number:
        """The number of a value; an array without dimensions has one."""
        if isinstance(x, Value) and is_array(x.type) and x.number not in self._numbers:
            symbol = self._symbol(x)
            if isinstance(symbol.source, Number):
                return symbol.source
            self._flush([symbol.source])
            self._numbers[x.number] = self.w.read_element(symbol.type, self._address(symbol.part()))
        return super().operand(x)

    # --- ops on arrays -----------------------------------------------------------------

    def _on_arrays(self, i: Do) -> None:
        """Collect the steps of an op on arrays: its NumPy function runs on symbols, or Python is
        called.
        """
        later = self._unknown.difference(self._symbols)
        if any(isinstance(x, Value) and x.number in later for x in i.args):
            self._flush()
        if self._on_held(i):
            return
        args = [self._argument(x) for x in i.args]
        number = self._on_elements(i, args)
        if number is not None:
            self._define_number(i.target, number)
            return
        before = len(self._steps.steps)
        try:
            symbol = self._done(i, args)
        except Untranslatable:
            del self._steps.steps[before:]
            symbol = self._called(i, args)
        if ops[i.op].memory.view:
            self._define_view(i.target, symbol)
        else:
            self._define_result(i.target, symbol)

    def _define_result(self, target: Value, symbol: Symbolic) -> None:
        """Define a result that is no view; a number of an array is loaded once it is made."""
        if is_array(target.type) or isinstance(symbol.source, Node):
            self._symbols[target.number] = symbol
            if not is_array(target.type):
                self._unknown.add(target.number)
        else:
            super().define(target, symbol.source)

    def _on_held(self, i: Do) -> bool:
        """Define the result of an op by its elements; False if it is to be in memory."""
        args = [self._held_or_stored(x) for x in i.args]
        found = self._held.done(i, args, self._apart)
        if found is None:
            return False
        self._define_part(i.target, found)
        return True

    def _held_or_stored(self, x: Operand | None) -> Any:
        """An argument by its elements if it is held so, else as a symbol or a known value."""
        held = self._held.get(x.number) if isinstance(x, Value) else None
        return self._argument(x) if held is None else held

    def _define_part(self, target: Value, x: Elements | Symbolic) -> None:
        """Define an array that is held by its elements, or a view of an array in memory."""
        if isinstance(x, Symbolic):
            self._define_view(target, x)
        elif x.ndim:
            if target.number in self._doubtful:
                x.certain = False
            self._held.put(target.number, x)
        else:
            self._define_number(target, x.items[()])

    def _apart(self, x: Symbolic) -> Elements:
        """The elements of a vector in memory."""
        if not self._is_there(x):
            self._flush([x.source] if isinstance(x.source, Node) else [])
        return self._held.apart(x)

    def _define_view(self, target: Value, x: Symbolic) -> None:
        """Define a view of an array; a single element of it is loaded."""
        if x.ndim or not isinstance(x.source, Node) or x.type == "bool":
            self._symbols[target.number] = x
            return
        if not self._is_there(x):
            self._flush([x.source])
        self._define_number(target, self._held.element(x))

    def _define_number(self, target: Value, number: Number) -> None:
        self._symbols[target.number] = self._steps.number(number)
        super().define(target, number)

    def _on_elements(self, i: Do, args: Sequence[Any]) -> Number | None:
        """The number that an op gives for elements of arrays, where its value on numbers has the
        bits of that on arrays; None for other ops.
        """
        op, params = ops[i.op], dict[str, Any](i.params)
        given = [x.source if isinstance(x, Symbolic) else x for x in args]
        if op is ops.row and args[0].ndim == 1 and self._is_there(args[0]):
            at = self._steps.symbol(args[1]).source
            if isinstance(at, Number):
                whole = args[0].part()
                return self.w.read_element(whole.node.type, self._place(whole, at))
        if any(isinstance(x, Symbolic) and x.ndim for x in args):
            return None
        known = [x for x in given if not isinstance(x, Node)]
        types = {x.type for x in known if isinstance(x, Number)}
        if len(known) < len(given) or not types:
            return None
        if op is ops.unboxed:
            return known[0] if isinstance(known[0], Number) else None
        function, gives = op.value.number, _KINDS.get(dtype_and_shape(i.target.type)[0])
        if function is None or gives != "float" or types != {"float"}:
            return None
        if not op.value.is_exact(*args, **params):
            return None
        return self._primitives.write(self.w, NumberCall(function, known, params, gives))

    def _is_there(self, x: Symbolic) -> bool:
        """True if the code emitted so far has made an array."""
        made = [step.target for step in self._steps.steps]
        return isinstance(x.source, Node) and bool(x.source.at) and x.source not in made

    def _done(self, i: Do, args: Sequence[Any]) -> Symbolic:
        """The result of the op's NumPy function on symbols, which collects its steps."""
        op = ops[i.op]
        symbol = self._known(i, i.target, self._steps.symbol(self._value(i, args)))
        if isinstance(i, Placed) and symbol.ndim and not op.memory.view:
            check_layout(op, symbol, args)
        return symbol

    def _known(self, i: Do | DoSeveral, target: Value, symbol: Symbolic) -> Symbolic:
        """The symbol of a result, which has the type that is known of it."""
        dtype, shape = dtype_and_shape(target.type)
        if symbol.shape != shape or symbol.type != _KINDS.get(dtype):
            raise Untranslatable(f"`{i.op}` gives another type than is known")
        return symbol

    def _called(self, i: Do, args: Sequence[Any]) -> Symbolic:
        """The result of a step that calls the op's NumPy function in Python."""
        dtype, shape = dtype_and_shape(i.target.type)
        if ops[i.op].memory.view or ops[i.op].value.array is None or dtype not in _KINDS:
            raise Untranslatable(f"`{i.op}` of arrays")
        made, operands = callback(i, args, _KINDS[dtype])
        target = Node(_KINDS[dtype], shape)
        self._steps.steps.append(Call(target, len(self.callbacks), operands))
        self.callbacks.append(made)
        return self._steps.whole(target)

    def _argument(self, x: Operand | None) -> Any:
        if not isinstance(x, Value):
            return x
        stored = self._held.stored(x.number)
        if stored is not None:
            return stored
        found = self._symbols.get(x.number)
        return self._steps.number(self.operand(x)) if found is None else found

    def _value(self, i: Do | DoSeveral, args: Sequence[Any]) -> Any:
        """What the op's NumPy function gives for symbols."""
        at = i.args[-1] if ops[i.op] in AT_ONE_PLACE else None
        if at is not None and isinstance(self._steps.symbol(args[-1]).source, Node):
            self._flush()
            args = [*args[:-1], self._steps.number(self.operand(at))]
        return value(self._steps, i, args)

    def _symbol(self, x: Operand) -> Symbolic:
        assert isinstance(x, Value)
        stored = self._held.stored(x.number)
        return self._symbols[x.number] if stored is None else stored

    # --- emitting ----------------------------------------------------------------------

    def _node(self, symbol: Symbolic) -> tuple[Node, bool]:
        """A contiguous array in lasting memory; True if the interpreter's is contiguous, too."""
        node = symbol.source
        is_certain = symbol.is_in_order
        if symbol.ndim > 1 and any(symbol.strides) and not symbol.is_like_by_rows:
            raise Untranslatable("a variable with several possible layouts")
        if isinstance(node, Node) and symbol.is_whole and node.lasts:
            return node, is_certain
        target = Node(symbol.type, symbol.shape)
        self._steps.copy(symbol, target)
        return target, is_certain

    def _put(self, symbol: Symbolic, at: str, claim: bool = True) -> None:
        """Store the elements at an address; `claim` lets the step that makes them write there."""
        node = symbol.source
        if claim and isinstance(node, Node) and not node.at and symbol.is_whole:
            node.at, node.lasts = at, False
        else:
            self._steps.copy(symbol, Node(symbol.type, symbol.shape, at))

    def _flush(self, kept: Sequence[Node] = ()) -> None:
        """Emit the collected steps. Arrays that later code reads get lasting memory."""
        steps, self._steps.steps = self._steps.steps, []
        found = units(steps)
        made = [node for unit in found for node in unit.made()]
        there = [*self._symbols.items(), *self._held.in_memory().items()]
        read_later = {s.source for n, s in there if self._reads[n] > 0}
        for node in made:
            if not node.at and (node in read_later or node in kept):
                node.at = self._lasting(self.memory.lasting(node.bytes))
        passing = self.memory.passing(found, {id(node) for node in made if node.at})
        for node in made:
            if id(node) in passing:
                node.at = self._lasting(passing[id(node)])
        for unit in found:
            self._unit(unit)
        for number in [n for n in self._unknown if n in self._symbols]:
            symbol = self._symbols.pop(number)
            if self._reads[number] > 0:
                self._numbers[number] = self.w.read_element(
                    symbol.type, self._address(symbol.part())
                )
        self._unknown.clear()
        waiting, self._waiting = self._waiting, []
        for i in waiting:
            super().instruction(i)
            self._done_with(i)


def _is_whole(type: str) -> bool:
    """True for a type of arrays with dimensions."""
    return is_array(type) and bool(dtype_and_shape(type)[1])


def _entry(types: Sequence[str]) -> tuple[list[int], int]:
    """The offset of each value in an entry of a stack, and the entry's size, in bytes."""
    offsets, at = [], 0
    for type_ in types:
        offsets.append(at)
        at += -(-max(bytes_of(type_), 8) // _LINE) * _LINE
    return offsets, at
