"""Ops during specialization: an op on known values is computed at once, any other emits an
instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradcli.engine.compile.budget import Budget
from gradcli.engine.compile.contiguity import is_spread, lies_in_order, result_in_order
from gradcli.engine.compile.specialize.tracing.provenance import Connections, Links
from gradcli.engine.compile.specialize.tracing.values import (
    Cell,
    Vector,
    is_known,
    is_number,
    joint,
    number_type,
    origin,
)
from gradcli.engine.compile.symbols import Builder, Symbol, are_floats, argument, operand
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
from gradcli.engine.tape.tensor import AccumulateGrad
from gradcli.engine.values.data import NUMBERS, SCALARS
from gradcli.errors import GradError
from gradcli.source import Span

_TYPES = {dtype: name for name, dtype in DTYPES.items()}
MOST = 20_000
"""Instructions that a program may become."""


class Trace(Builder):
    """Emits the instructions of a typed program.

    Fields:
        connections: tells which numbers are nodes of the interpreter's graph.
        recording: false inside `no_grad`; no derivative passes ops done there.
        tensors: does ops on tensors with dimensions.
        constants: instructions that make known arrays; they go before all others.
        dense: the numbers of the arrays that are certainly contiguous.
        spread: the numbers of the arrays that show one number at all places.
        requires_grad: a tensor requires grad, as the program sees it.
        differentiates: the question asks derivatives of the program.
        splits: a value may be of two kinds, depending on the path taken.
        objects: for each open branch and loop, the innermost last: the lists and tensors changed in
            it, by identity, with their content before.
        names: the names of nodes, by the origins of tensors.
        transforms: a function is differentiated; its results may have nodes without being tensors.
        variables: the program's names of values, by number: the first variable that held each.
        budget: the work that it may still take.
        steps, deepest: the number of turns and calls followed, and the greatest depth of calls.
    """

    def __init__(self, span: Span, tensors: Callable[[Trace], Any], budget: Budget) -> None:
        super().__init__(span, do_type=Placed)
        self.connections = Connections()
        self.recording = True
        self.tensors = tensors(self)
        self.budget = budget
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
        self.names = ["", AccumulateGrad.__name__]
        self.transforms = False
        self.variables: dict[int, str] = {}

    # --- what was made and changed when --------------------------------------------------

    def tick(self) -> int:
        """Advance the clock and return it."""
        self._clock += 1
        return self._clock

    def cell(self, number: Any, *, visible: bool | None = False) -> Cell:
        """Return a new tensor."""
        self.requires_grad |= visible is True
        return Cell(number, visible, self.tick(), self)

    def born(self, value: Any) -> int:
        """Return the time when a list or tensor was made or first seen."""
        if isinstance(value, Cell):
            return value.birth
        return self._births.setdefault(id(value), (value, self.tick()))[1]

    def held_by(self, variable: str, value: Any) -> None:
        """Record the variable of the program that holds a number or tensor."""
        number = value.number if isinstance(value, Cell) else value
        if isinstance(number, Symbol) and isinstance(number.value, Value):
            self.variables.setdefault(number.value.number, variable)
        elif isinstance(value, Vector):
            for k, x in enumerate(value.numbers):
                self.held_by(f"{variable}_{k}", x)

    @property
    def seen(self) -> list[Any]:
        """The lists and dictionaries that were made so far."""
        return [value for value, _ in self._births.values()]

    def touch(self, value: Any) -> None:
        """Record the content of a list or tensor before a change."""
        if id(value) in self._frozen:
            raise self.refused("a list is changed that others may hold")
        if self.objects:
            self.objects[-1].setdefault(id(value), (value, content(value)))

    @contextmanager
    def untouched(self, reason: str) -> Iterator[None]:
        """Refuse a change of an older list or tensor inside the context."""
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

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Undo the changes of lists and tensors if the context is refused, or fails."""
        opened, recording = len(self.objects), self.recording
        self.objects.append({})
        try:
            yield
        except (NotCompilable, GradError):
            for changed in reversed(self.objects[opened:]):
                for value, held in changed.values():
                    restore(value, held)
            del self.objects[opened:]
            self.recording = recording
            raise
        changed = self.objects.pop()
        if self.objects:
            for key, entry in changed.items():
                self.objects[-1].setdefault(key, entry)

    def freeze(self, value: list[Any]) -> None:
        """Refuse later changes of a list, because unknown code may hold it."""
        self._frozen[id(value)] = value

    # --- instructions --------------------------------------------------------------------

    def add(self, instruction: Instruction) -> None:
        self._left -= 1
        if self._left < 0:
            raise NotCompilable("it becomes too large a program", self.span)
        self.put(instruction)

    def look_at(self, i: Instruction) -> None:
        """Record the memory layout of the array that an op returns."""
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
        """Append an instruction that has been counted before."""
        super().add(instruction)
        self.look_at(instruction)

    @property
    def depth(self) -> int:
        """The number of open blocks."""
        return len(self._open)

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
        """Return the number of a new stack."""
        self._stacks += 1
        return self._stacks - 1

    def links(self, x: Operand) -> Links:
        """Return the points, still differentiated by, that an operand is made from."""
        return self.connections.of(x, self._open)

    def nodes(self, x: Operand) -> Links:
        """Return all points that an operand is made from."""
        return self.connections.every(x, self._open)

    def leave(self, when: Any, reason: str) -> None:
        """Bail out if a condition holds."""
        self.add(Leave(self.span, operand(when), reason))

    def refused(self, reason: str) -> NotCompilable:
        """Return the error that this place cannot be compiled."""
        return NotCompilable(reason, self.span)

    # --- ops -----------------------------------------------------------------------------

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Return the result of an op."""
        on_numbers = not (params or op.variadic) and op.value.body is None
        if on_numbers and op.value.number is not None and are_floats(args):
            return self._on_floats(op, args)
        if not all(map(is_known, params.values())):
            raise self.refused(f"`{op.name}` has a parameter that is not known before it runs")
        found = self._done(op, args, {n: p for n, p in params.items() if not _is_default(op, n, p)})
        is_one_node = op.value.body is None or op.tape.folds
        if self.recording and is_one_node and not any(found is a for a in args):
            self._name(op, args, params, found)
        return found

    def _name(self, op: Op, args: Sequence[Any], params: Mapping[str, Any], found: Any) -> None:
        """Record the name of the node of an op's results."""
        for x in found if isinstance(found, tuple) else (found,):
            if isinstance(x, (Cell, Vector)) and x.visible:
                shown = [1.0 if isinstance(a, Symbol) else a for a in args]
                x.node = self._place_of(op.node_name(tuple(shown), {**op.defaults, **params}))

    def _place_of(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _done(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
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
        """Return the result of an op that is one node above those of its parts, so that its
        cotangents are added before they go on.
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
        given = tuple([argument(a) for a in args])
        return self._written(op, given, params, self._number_type(op, args, params))

    def _on_floats(self, op: Op, args: Sequence[Any]) -> Any:
        if all(type(a) in SCALARS for a in args):
            return self._on_numbers(op, args, {})
        given = tuple([argument(a) for a in args])
        return self._written(op, given, {}, self._type_of_floats(op, args))

    def _written(
        self,
        op: Op,
        given: tuple[Operand | None, ...],
        params: Mapping[str, Any],
        type_: str,
    ) -> Any:
        """Emit an op on numbers whose value is of a type."""
        made = self.value(type_)
        self.add(Do(self.span, made, op.name, given, tuple(params.items())))
        if self.recording or type_ != "float":
            return Symbol(made, self)
        return self.cut(Symbol(made, self))

    def _number_type(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> str:
        """Return the type of an op's value on numbers."""
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
        visible = joint([a.visible for a in args if isinstance(a, Cell)])
        is_recorded = self.recording and number_type(number) == "float"
        made = self.cell(number, visible=is_recorded and visible)
        self._save(op, args, made)
        return made

    def _check_dtype(
        self, op: Op, args: Sequence[Any], inside: Sequence[Any], params: Any, number: Any
    ) -> None:
        """Refuse an op whose result on tensors has another dtype than on their numbers."""
        types = {number_type(x) for x in inside if x is not None}
        found = number_type(number)
        if found == "float" and "float" in types and "dtype" not in params:
            return
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if dtype == DTYPES[found] and (found == "bool" or types & {"float", "int"}):
            return
        raise self.refused(f"`{op.name}` of tensors of {dtype} differs from that of numbers")

    def _save(self, op: Op, args: Sequence[Any], made: Cell) -> None:
        """Mark the tensors that the op's rules read as saved."""
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
        """Return the same number, detached from derivatives."""
        if not isinstance(number, Symbol) or not is_floating(number.type):
            return number
        return self._same(ops.detached, number.value)

    def point(self, number: Any) -> Symbol:
        """Return a new value equal to a float or array."""
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
        """Change a tensor in place by an op."""
        if x.whole and x.base is not None and not x.visible:
            with self.unrecorded():
                self.change(op, x.base[0], rest, params)
            return
        self._hold_changeable(x)
        is_saved = x.saved
        self._replace(op, x, self.do(op, [x, *rest], params or {}), is_saved)

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Switch recording off inside the context."""
        before, self.recording = self.recording, False
        try:
            yield
        finally:
            self.recording = before

    def put_in(self, x: Cell, number: Any) -> None:
        """Put another number into a tensor, unrecorded."""
        if x.whole and x.base is not None:
            with self.unrecorded():
                return self.put_in(x.base[0], number)
        self._hold_changeable(x)
        return self._replace(ops.fill, x, self.cell(number), x.saved)

    def _replace(self, op: Op, x: Cell, made: Cell, is_saved: bool) -> None:
        if number_type(made.number) != number_type(x.number):
            raise self.refused("a tensor is changed in place to one of another kind")
        self.touch(x)
        before = x.number
        x.number = self.tensors.laid_as(made.number, before)
        if self.recording:
            x.saved, x.visible = made.saved, joint([x.visible, made.visible])
            is_part = op is ops.with_row
            x.node = self._place_of("CopySlices") if is_part else made.node
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
        elif not self.recording and (self._is_followed(x) or x.visible is None):
            reason = "under `no_grad`"
        if reason:
            raise self.refused(f"a tensor is changed in place {reason}")

    def _is_followed(self, x: Cell) -> bool:
        """True if a derivative of the program may see what a tensor was before a change."""
        return self.differentiates and (self.graph is None or x.visible is not False)

    def truth(self, value: Any) -> Any:
        """Return the truth of a condition: a bool or a symbol of one."""
        number = value.number if isinstance(value, Cell) else value
        if not isinstance(number, Symbol):
            return bool(number)
        return number if number_type(number) == "bool" else ops.ne(number, 0)


def content(value: Any) -> Any:
    """Return the content of a list, dictionary or tensor."""
    if isinstance(value, dict):
        return (*value,), *value.values()
    if isinstance(value, Cell):
        return value.stored, value.grad, origin(value), value.leaf, value.visible, value.saved
    return tuple(value)


CONTENTS = 2
"""The number of values in the content of a tensor; its origin and flags follow."""


def flags(a: Sequence[Any], b: Sequence[Any]) -> tuple[bool | None, bool | None, bool]:
    """Merge the flags of a tensor from its contents on two paths: leaf, visible, saved."""
    *_, leaf, visible, saved = a
    *_, other_leaf, other_visible, other_saved = b
    is_leaf = None if leaf is None or other_leaf is None else leaf or other_leaf
    return is_leaf, visible if visible is other_visible else None, saved or other_saved


def restore(value: Any, held: Any) -> None:
    """Restore the content of a list, dictionary or tensor."""
    if isinstance(value, Cell):
        value.number, value.grad, value.node, value.leaf, value.visible, value.saved = held
    elif isinstance(value, dict):
        keys, *values = held
        value.clear()
        value.update(zip(keys, values, strict=True))
    else:
        value[:] = held


def _is_default(op: Op, name: str, value: Any) -> bool:
    """True if a parameter has its default value."""
    default = op.params.get(name, REQUIRED)
    plain = type(value) in SCALARS or isinstance(value, (str, tuple))
    return plain and bool(value == default)
