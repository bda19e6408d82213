"""Doing ops while a program is specialized: on what is known at once, on anything else by writing
them down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradcli.engine.compile.contiguity import is_spread, lies_in_order, result_in_order
from gradcli.engine.compile.specialize.tracing.provenance import Connections, Links
from gradcli.engine.compile.specialize.tracing.values import Cell, is_known, is_number, number_type
from gradcli.engine.compile.symbols import Builder, Symbol, argument, operand
from gradcli.engine.compile.typed import (
    DTYPES,
    Do,
    DoSeveral,
    Instruction,
    Leave,
    NotCompilable,
    Operand,
    Placed,
    Value,
    is_array,
    is_floating,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.values.data import NUMBERS, SCALARS
from gradcli.source import Span

_TYPES = {dtype: name for name, dtype in DTYPES.items()}
MOST = 20_000
"""Instructions that a program may become."""


class Trace(Builder):
    """Writes down what is not known.

    Fields:
        connections: which numbers are nodes of the graph that the interpreter records.
        recording: off inside `no_grad`: derivatives do not go through what is done there.
        tensors: does what is done to tensors with dimensions.
        constants: makes the arrays that are known, before all else.
        dense: the arrays, by number, that are known to be contiguous in memory.
        spread: those that show one number at all places.
        requires_grad: whether a tensor does, as the program sees it.
        differentiates: whether derivatives are asked of the program.
        splits: whether a value is one thing or another by the way that has been taken.
        objects: the lists and tensors that have been changed in the branches and loops that are
            open, the innermost last: what they held before, by identity.
        steps, deepest: turns of loops and calls that have been followed, and how many calls were
            within each other.
    """

    def __init__(self, span: Span, tensors: Callable[[Trace], Any]) -> None:
        super().__init__(span, do_type=Placed)
        self.connections = Connections()
        self.recording = True
        self.tensors = tensors(self)
        self.constants: list[Instruction] = []
        self.dense: set[int] = set()
        self.spread: set[int] = set()
        self._held: dict[int, Symbol] = {}
        self.requires_grad = False
        self.differentiates = False
        self.splits = False
        self.steps = self.deepest = 0
        self.objects: list[dict[int, tuple[Any, Any]]] = []
        self._clock = 0
        self._births: dict[int, tuple[list[Any], int]] = {}
        self._frozen: dict[int, list[Any]] = {}
        self._left = MOST
        self._stacks = 0

    # --- what was made and changed when --------------------------------------------------

    def tick(self) -> int:
        """The next point of time."""
        self._clock += 1
        return self._clock

    def cell(self, number: Any, *, visible: bool | None = False) -> Cell:
        """A new 0-d tensor."""
        self.requires_grad |= visible is True
        return Cell(number, visible, self.tick(), self)

    def born(self, value: Any) -> int:
        """When a list or tensor was made, or first seen."""
        if isinstance(value, Cell):
            return value.birth
        return self._births.setdefault(id(value), (value, self.tick()))[1]

    def touch(self, value: Any) -> None:
        """Note what a list or tensor holds, which is to be changed."""
        if id(value) in self._frozen:
            raise self.refused("a list is changed that others may hold")
        if self.objects:
            self.objects[-1].setdefault(id(value), (value, content(value)))

    @contextmanager
    def untouched(self, reason: str) -> Iterator[None]:
        """Hold what is done inside to change no list or tensor that was there before."""
        since, opened = self.tick(), len(self.objects)
        self.objects.append({})
        try:
            yield
            noted = self.objects[-1].items()
            old = {k: entry for k, entry in noted if self.born(entry[0]) <= since}
            for value, held in old.values():
                is_same = isinstance(value, Cell) and value.grad is held[1]
                if not is_same or operand(value.number) is not operand(held[0]):
                    raise self.refused(reason)
        except BaseException:
            for changed in reversed(self.objects[opened:]):
                for value, held in changed.values():
                    restore(value, held)
            raise
        finally:
            del self.objects[opened:]
        if self.objects:
            for key, entry in old.items():
                self.objects[-1].setdefault(key, entry)

    def freeze(self, value: list[Any]) -> None:
        """Let a list not be changed: it is not known who else holds it."""
        self._frozen[id(value)] = value

    # --- instructions --------------------------------------------------------------------

    def add(self, instruction: Instruction) -> None:
        self._left -= 1
        if self._left < 0:
            raise NotCompilable("it becomes too large a program", self.span)
        self.put(instruction)

    def look_at(self, i: Instruction) -> None:
        """Take down how the array lies that an op gives."""
        if isinstance(i, DoSeveral):
            places = (k for k in range(len(i.targets)) if result_in_order(i, k))
            self.dense.update(i.targets[k].number for k in places)
        if not isinstance(i, Do) or not is_array(i.target.type):
            return
        if is_spread(i):
            self.spread.add(i.target.number)
        elif lies_in_order(i, self.dense, self.spread):
            self.dense.add(i.target.number)

    def put(self, instruction: Instruction) -> None:
        """Put an instruction at the end that has been counted."""
        super().add(instruction)
        self.look_at(instruction)

    @property
    def depth(self) -> int:
        """How many blocks are open."""
        return len(self._open)

    @property
    def innermost(self) -> list[Instruction]:
        """The innermost block that is open."""
        return self._open[-1]

    def is_dense(self, x: Symbol) -> bool:
        return isinstance(x.value, Value) and x.value.number in self.dense

    def is_in_order(self, x: Any) -> bool:
        return (isinstance(x, Symbol) and self.is_dense(x)) or super().is_in_order(x)

    def held(self, data: Any) -> Symbol:
        found = self._held.get(id(data))
        if found is None:
            with self.block() as body:
                found = self._held[id(data)] = super().held(data)
            self.constants += body
            self.connections.plain(found.value)
            if data.flags.c_contiguous:
                self.dense.add(found.value.number)
        return found

    def stack(self) -> int:
        """A new stack."""
        self._stacks += 1
        return self._stacks - 1

    def links(self, x: Operand) -> Links:
        """What an operand is made from, by which something is still differentiated."""
        return self.connections.of(x, self._open)

    def nodes(self, x: Operand) -> Links:
        """All nodes that an operand is made from."""
        return self.connections.every(x, self._open)

    def leave(self, when: Any, reason: str) -> None:
        """Leave the code where a condition holds."""
        self.add(Leave(self.span, operand(when), reason))

    def refused(self, reason: str) -> NotCompilable:
        """That what stands here cannot be compiled."""
        return NotCompilable(reason, self.span)

    # --- ops -----------------------------------------------------------------------------

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """What an op makes of numbers and 0-d tensors."""
        if not all(map(is_known, params.values())):
            raise self.refused(f"`{op.name}` has a parameter that is not known before it runs")
        params = {n: p for n, p in params.items() if not _is_default(op, n, p)}
        if self.tensors.takes(op, args):
            return self.tensors.do(op, args, params)
        if any(isinstance(a, Cell) for a in args):
            return self._on_tensors(op, args, params)
        if op.value.body is not None:
            return self._composed(op, args, params)
        return self._on_numbers(op, args, params)

    def _composed(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        assert op.value.body is not None
        try:
            found = op.value.body(*args, **{**op.params, **params})
        except (TypeError, AttributeError, ValueError):
            raise self.refused(f"`{op.name}` has no value on numbers alone") from None
        number = found.number if isinstance(found, Cell) else found
        if not is_number(number):
            raise self.refused(f"`{op.name}` has no value on numbers alone")
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if dtype not in (None, DTYPES[number_type(number)]):
            raise self.refused(f"`{op.name}` gives another type here")
        if op.tape.folds and isinstance(number, Symbol) and number_type(number) == "float":
            return self._folded(found, number, args)
        return found

    def _folded(self, found: Any, number: Symbol, args: Sequence[Any]) -> Any:
        """What an op gives that is one node above those of its parts: what comes to it is added up
        before it goes on.
        """
        inside = [a.number if isinstance(a, Cell) else a for a in args]
        if any(isinstance(a, Symbol) and a.value.number == number.value.number for a in inside):
            return found
        made = ops.copied(number)
        return self.cell(made, visible=found.visible) if isinstance(found, Cell) else made

    def _on_numbers(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.value.number is None:
            raise self.refused(f"`{op.name}` has no value on numbers alone")
        if all(type(a) in SCALARS for a in args):
            return op.value.number(*args, **params)
        given = [argument(a) for a in args]
        type_ = self._type(op, args, params)
        made = self.value(type_)
        self.add(Do(self.span, made, op.name, tuple(given), tuple(params.items())))
        if self.recording or type_ != "float":
            return Symbol(made, self)
        return self.cut(Symbol(made, self))

    def _type(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> str:
        """The type of an op's value on numbers."""
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if dtype in _TYPES:
            return _TYPES[dtype]
        if op is ops.pow:  # of ints: the exponent's sign decides
            exponent = args[1]
            if type(exponent) in NUMBERS:
                return "float" if exponent < 0 else "int"
            self.leave(ops.lt(exponent, 0), "a power of ints with a negative exponent is a float")
            return "int"
        raise self.refused(f"the type of `{op.name}` depends on its values")

    def _on_tensors(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.value.body is not None:
            found = self._composed(op, args, params)
            if any(found is a for a in args) and not op.memory.view:
                return self._on_tensors(ops.clone, [found], {})
            return found
        if op.memory.view:
            raise self.refused(f"`{op.name}` of a tensor shares its memory")
        inside = [a.number if isinstance(a, Cell) else a for a in args]
        number = self._on_numbers(op, inside, params)
        self._check_dtype(op, args, inside, params, number)
        visible = self.recording and any(isinstance(a, Cell) and a.visible for a in args)
        made = self.cell(number, visible=visible and number_type(number) == "float")
        self._save(op, args, made)
        return made

    def _check_dtype(
        self, op: Op, args: Sequence[Any], inside: Sequence[Any], params: Any, number: Any
    ) -> None:
        """Refuse what a tensor does otherwise than the number in it, as `Op.value_on_tensors`."""
        types = {number_type(x) for x in inside if x is not None}
        found = number_type(number)
        if found == "float" and "float" in types and "dtype" not in params:
            return
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if dtype == DTYPES[found] and (found == "bool" or types & {"float", "int"}):
            return
        raise self.refused(f"`{op.name}` of tensors of {dtype} differs from that of numbers")

    def _save(self, op: Op, args: Sequence[Any], made: Cell) -> None:
        """Note which of the numbers the op's rules read that can be asked for."""
        if not self.recording or number_type(made.number) != "float":
            return
        if op.tape.guards_out:
            made.saved = True
        guards = op.tape.reads if op.tape.guards is None else op.tape.guards
        for a, row in zip(args, guards, strict=False):
            if isinstance(getattr(a, "number", a), Symbol):
                for other, kept in zip(args, row, strict=False):
                    if kept and isinstance(other, Cell) and not other.saved:
                        self.touch(other)
                        other.saved = True

    def cut(self, number: Any) -> Any:
        """The same number, which no derivative goes through."""
        if not isinstance(number, Symbol) or not is_floating(number.type):
            return number
        return self._same(ops.detached, number.value)

    def point(self, number: Any) -> Symbol:
        """A value of its own that is the same float or array."""
        return self._same(ops.copied, operand(number))

    def _same(self, op: Op, x: Operand) -> Symbol:
        made = self.value(type_of(x))
        self.add(Do(self.span, made, op.name, (x,), ()))
        if isinstance(x, Value) and x.number in self.dense:
            self.dense.add(made.number)
        return Symbol(made, self)

    def change(
        self, op: Op, x: Cell, rest: Sequence[Any], params: Mapping[str, Any] | None = None
    ) -> None:
        """Change a tensor in place to what an op makes of it."""
        if x.whole and x.base is not None and not x.visible:
            with self.unrecorded():
                self.change(op, x.base[0], rest, params)
            return
        self._hold_changeable(x)
        is_saved = x.saved
        self._replace(x, self.do(op, [x, *rest], params or {}), is_saved)

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Let what is done inside be recorded by nobody."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def put_in(self, x: Cell, number: Any) -> None:
        """Let a tensor that nothing is recorded of hold another number."""
        if x.whole and x.base is not None:
            with self.unrecorded():
                return self.put_in(x.base[0], number)
        self._hold_changeable(x)
        return self._replace(x, self.cell(number), x.saved)

    def _replace(self, x: Cell, made: Cell, is_saved: bool) -> None:
        if number_type(made.number) != number_type(x.number):
            raise self.refused("a tensor is changed in place to one of another kind")
        self.touch(x)
        before = x.number
        x.number = self.tensors.laid_as(made.number, before)
        if self.recording:
            x.saved, x.visible = made.saved, x.visible or made.visible
        else:
            x.saved = is_saved and not x.leaf
        if self.graph is not None:
            self.graph.changed(x, before, is_saved)

    def _hold_changeable(self, x: Cell) -> None:
        reason = ""
        if x.frozen:
            reason = "that others may hold"
        elif self.recording and (x.leaf or x.saved):
            reason = "that is a leaf" if x.leaf else "that a derivative reads"
        elif not self.recording and (self.differentiates or x.visible is None):
            reason = "under `no_grad`"
        if reason:
            raise self.refused(f"a tensor is changed in place {reason}")

    def truth(self, value: Any) -> Any:
        """A condition's value, a bool or a symbol of one."""
        number = value.number if isinstance(value, Cell) else value
        if not isinstance(number, Symbol):
            return bool(number)
        return number if number_type(number) == "bool" else ops.ne(number, 0)


def content(value: Any) -> Any:
    """What a list or tensor holds."""
    if isinstance(value, Cell):
        return value.stored, value.grad, value.leaf, value.visible, value.saved
    return tuple(value)


CONTENTS = 2
"""How much of the content of a tensor are values; flags are behind them."""


def flags(a: Sequence[Any], b: Sequence[Any]) -> tuple[bool, bool | None, bool]:
    """The flags of a tensor that has these contents on two ways: it is a leaf, visible, saved."""
    *_, leaf, visible, saved = a
    *_, other_leaf, other_visible, other_saved = b
    return leaf or other_leaf, visible if visible is other_visible else None, saved or other_saved


def restore(value: Any, held: Any) -> None:
    """Let a list or tensor hold that again."""
    if isinstance(value, Cell):
        value.number, value.grad, value.leaf, value.visible, value.saved = held
    else:
        value[:] = held


def _is_default(op: Op, name: str, value: Any) -> bool:
    """Whether a parameter has the value that it has where it is left out; a tensor never has."""
    default = op.params.get(name, REQUIRED)
    plain = type(value) in SCALARS or isinstance(value, (str, tuple))
    return plain and bool(value == default)
