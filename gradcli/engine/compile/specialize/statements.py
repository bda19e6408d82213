"""Specialize the instructions of the ops program: known values are computed, others traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from gradcli.engine.compile.specialize.binding import Binding
from gradcli.engine.compile.specialize.calls import Calls
from gradcli.engine.compile.specialize.loops import Loops
from gradcli.engine.compile.specialize.operators import Operators
from gradcli.engine.compile.specialize.tracing.branches import Merge, Way, chosen
from gradcli.engine.compile.specialize.tracing.control_flow import (
    BREAK,
    CONTINUE,
    NEXT,
    RESULT,
    RETURN,
)
from gradcli.engine.compile.specialize.tracing.dynamic_index import put
from gradcli.engine.compile.specialize.tracing.dynamic_text import Texts
from gradcli.engine.compile.specialize.tracing.run_time_index import has_places, plain, put_part
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    DEAD,
    MISSING,
    MOST_ITEMS,
    Cell,
    Closure,
    Conflict,
    Context,
    Each,
    Either,
    Frame,
    Maybe,
    Own,
    Range,
    Row,
    Text,
    Transform,
    Vector,
    is_known,
    is_number,
    is_whole,
    is_word,
    parts,
    taken,
)
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.compile.typed import DTYPES, NotCompilable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.run.language import operators
from gradcli.engine.run.session.state import Session
from gradcli.engine.run.session.text import format_value, text
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor, node_of, truth
from gradcli.engine.values import memory
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.fields import Fields
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.ir.inlined import functions_of

_GENERATOR = "a generator gives its items one by one"
_MEANINGLESS = {
    ir.Delete: "a name is deleted",
    ir.DeleteItem: "an item is deleted",
    ir.DeleteAttribute: "an attribute is deleted",
    ir.Emit: _GENERATOR,
    ir.EmitAll: _GENERATOR,
    ir.DefineClass: "a class is defined",
    ir.Super: "`super()` is called",
    ir.Raise: "an error is raised",
}
_HANDED_ON = (ir.Copy, ir.Build, ir.Format, ir.Define, ir.Watch, ir.Input)
"""Instructions that pass on the values that they read, whatever they are."""


class Statements:
    """Specializes one program. Its unknown values go to a trace. `most_inlined` is as of
    `specialize`.
    """

    def __init__(
        self,
        program: ir.Program,
        trace: Trace,
        binding: Binding,
        texts: Texts,
        most_inlined: int,
    ) -> None:
        self._program = program
        self._trace = trace
        self._binding = binding
        self._session = Session(recording=False)
        self._texts = texts
        self._calls = Calls(self, trace, self._session, texts, self._changes, binding.drawn)
        self._operators = Operators(trace)
        self._loops = Loops(self, trace, functions_of(program), most_inlined)
        self._updated: tuple[Any, Any] = None, None  # the last updated part: its new value, itself
        self._flows: dict[int, frozenset[int]] = {}
        self._exits: dict[int, frozenset[int]] = {BREAK: frozenset(), CONTINUE: frozenset()}

    @property
    def warned(self) -> bool:
        """True if a run of the interpreter would print a warning."""
        return bool(self._session.output.warnings)

    # --- blocks ----------------------------------------------------------------------------

    def block(self, body: Sequence[ir.Instruction], frame: Frame, at: int = 0) -> Any:
        """Specialize a block from an instruction on; the control flow after it."""
        for index in range(at, len(body)):
            i = body[index]
            self._trace.budget.use(1)
            if i.span.end:  # those of the library have no place: the call in the program has
                self._trace.span = i.span
            frame.block = self._trace.innermost
            flow: Any = NEXT
            match i:
                case ir.Operator() | ir.Apply():  # most are
                    self._split(i, frame)
                case ir.Branch():
                    flow, is_at_end = self._branch(i, body, index, frame)
                    if is_at_end:
                        return flow
                case ir.Choice():
                    self._choice(i, frame)
                case ir.While():
                    flow = self._loops.loop_while(i, frame)
                case ir.For():
                    flow = self._loops.loop_for(i, frame)
                case ir.Mode():
                    flow = self._mode(i, frame)
                case ir.Try():
                    flow = self._attempt(i, frame)
                case ir.Break() | ir.Continue():
                    flow = BREAK if isinstance(i, ir.Break) else CONTINUE
                    self._exits[flow] |= frame.live.after[id(i)]
                case ir.Return():
                    frame.slots[RESULT] = self.read(i.value, frame)
                    flow = RETURN
                case _:
                    self._split(i, frame)
            if isinstance(flow, Symbol):
                return self._guarded(flow, body, index + 1, frame)
            if flow != NEXT:
                return flow
        return NEXT

    def _attempt(self, i: ir.Try, frame: Frame) -> Any:
        """Specialize a `try` without its handlers: where an error may occur, code bails out."""
        flow = self.block(i.body, frame)
        if isinstance(flow, Symbol):
            if i.orelse or i.last:
                raise self._trace.refused("what follows a `try` depends on the path")
            return flow
        if flow == NEXT:
            flow = self.block(i.orelse, frame)
        if not i.last:
            return flow
        if isinstance(flow, Symbol) or flow != NEXT:
            raise self._trace.refused("a `try` with `finally` is left")
        return self.block(i.last, frame)

    def _branch(
        self, i: ir.Branch, body: Sequence[ir.Instruction], index: int, frame: Frame
    ) -> tuple[Any, bool]:
        """Specialize a branch. If one side leaves the block, the rest of the block goes into the
        other side.

        Returns:
            The control flow after it, and whether the rest of the block is done.
        """
        test = self.truth(i.test, frame)
        if not isinstance(test, Symbol):
            return self.block(i.then if test else i.orelse, frame), False
        since = self._trace.tick()
        then, orelse = (Way(self._narrowed(i.test, truth, frame)) for truth in (True, False))
        then.go(frame, self._trace, lambda: self.block(i.then, frame))
        orelse.go(frame, self._trace, lambda: self.block(i.orelse, frame))
        live = frame.live.after[id(i)]
        is_at_end = False
        for way, other in ((then, orelse), (orelse, then)):
            leaves = not isinstance(other.flow, Symbol) and other.flow != NEXT
            if leaves and not isinstance(way.flow, Symbol) and way.flow == NEXT:
                way.go(frame, self._trace, lambda: self.block(body, frame, index + 1))
                live, is_at_end = frame.live.after[id(body[-1])], True
                break
        self._trace.span = i.span
        merge = Merge(self._trace, test, (then, orelse), since, frame.around(), frame)
        flow = self._merged(merge, frame, [live, live])
        return flow, is_at_end

    def _narrowed(self, test: ir.Operand, truth: bool, frame: Frame) -> dict[Any, Any]:
        """The slots of a frame on the path on which a tested value has this truth: if one of the
        two that it may be has the other truth, it is the other one.
        """
        slots = dict(frame.slots)
        value = slots.get(test.index) if isinstance(test, ir.Slot) else None
        if isinstance(test, ir.Slot) and isinstance(value, Either):
            fits = [x for x in (value.then, value.orelse) if not is_word(x) or bool(x) is truth]
            if len(fits) == 1:
                slots[test.index] = fits[0]
        return slots

    def _guarded(self, flow: Any, body: Sequence[ir.Instruction], index: int, frame: Frame) -> Any:
        """Specialize the rest of a block under the condition that the control flow reaches it."""
        if index == len(body):
            return flow
        others = self._flows[flow.value.number] - {NEXT}
        other = flow if len(others) > 1 else next(iter(others))
        return self.where(
            ops.eq(flow, NEXT),
            frame,
            lambda: self.block(body, frame, index),
            lambda: other,
            frame.live.after[id(body[-1])],
        )

    def flows(self, flow: Any) -> frozenset[int]:
        """The control flows that are possible."""
        return self._flows[flow.value.number] if isinstance(flow, Symbol) else frozenset({flow})

    def may_be(self, flow: Any, flows: frozenset[int]) -> Any:
        """Record the possible values of an unknown control flow."""
        if isinstance(flow, Symbol):
            self._flows[flow.value.number] = flows
        return flow

    def where(
        self,
        test: Any,
        frame: Frame,
        then: Callable[[], Any],
        orelse: Callable[[], Any],
        live: Collection[Any],
        live_orelse: Collection[Any] | None = None,
    ) -> Any:
        """Specialize a choice between two paths; the control flow after it. `live` are the slots
        that are read after it, `live_orelse` those after the second path if they differ.
        """
        if not isinstance(test, Symbol):
            return then() if test else orelse()
        since = self._trace.tick()
        span = self._trace.span
        ways = Way(dict(frame.slots)), Way(dict(frame.slots))
        for way, do in zip(ways, (then, orelse), strict=True):
            self._trace.span = span
            way.go(frame, self._trace, do)
        self._trace.span = span
        behind = [live, live if live_orelse is None else live_orelse]
        return self._merged(
            Merge(self._trace, test, ways, since, frame.around(), frame), frame, behind
        )

    def _merged(self, merge: Merge, frame: Frame, live: Sequence[Collection[Any]]) -> Any:
        flows = [way.flow for way in merge.ways]
        read = [self._live(flow, behind) for flow, behind in zip(flows, live, strict=True)]
        frame.slots = merge.finish(self.name, read)
        flow = merge.merged(flows[0], flows[1], "the way")
        merge.end()
        return self.may_be(flow, self.flows(flows[0]) | self.flows(flows[1]))

    def _live(self, flow: Any, behind: Collection[Any]) -> Collection[Any]:
        """The slots that are read after a block with this control flow."""
        read = {NEXT: behind, RETURN: {RESULT}, **self._exits}
        return {slot for one in self.flows(flow) for slot in read[one]}

    def _choice(self, i: ir.Choice, frame: Frame) -> None:
        def side(body: ir.Body) -> Any:
            *steps, last = body
            assert isinstance(last, ir.Yield)
            self.block(steps, frame)
            frame.slots[i.target] = self.read(last.value, frame)
            return NEXT

        def on(truth: bool) -> Any:
            frame.slots = self._narrowed(i.test, truth, frame)
            return side(i.then if truth else i.orelse)

        live = {*frame.live.after[id(i)], i.target}
        test = self.truth(i.test, frame)
        self.where(test, frame, lambda: on(True), lambda: on(False), live)

    def _mode(self, i: ir.Mode, frame: Frame) -> Any:
        before = self._trace.recording
        if i.mode in ("inference_mode", "normal_mode"):
            raise self._trace.refused("inference mode")
        if i.mode != "kept":
            self._trace.recording = i.mode == "enable_grad"
        flow = self.block(i.body, frame)
        self._trace.recording = before
        return flow

    # --- single steps ------------------------------------------------------------------------

    def _split(self, i: ir.Instruction, frame: Frame) -> Any:
        """Specialize an instruction, on two paths if it reads a value of one kind or another."""
        for slot in visit.reads(i) if self._trace.splits and not isinstance(i, _HANDED_ON) else ():
            value = self._held(slot.index, frame)
            if isinstance(value, Maybe) and isinstance(value.value, Either):
                value = self._slot(slot.index, frame)
            if isinstance(value, Either):
                then, orelse = (
                    partial(self._as, slot.index, part, i, frame)
                    for part in (value.then, value.orelse)
                )
                live = {*frame.slots, *visit.writes(i)}  # of two paths that part here alone
                return self.where(value.test, frame, then, orelse, live)
        self._step(i, frame)
        return NEXT

    def _as(self, slot: int, part: Any, i: ir.Instruction, frame: Frame) -> Any:
        """Specialize an instruction on the path on which the slot holds this value. If it is None
        or a text that the instruction cannot read, code bails out there.
        """
        held = frame.slots.get(slot, MISSING)
        frame.slots[slot] = part
        slots, flow = frame.slots, NEXT
        try:
            with self._trace.tried(), self._trace.block() as body:
                flow = self._split(i, frame)
        except (NotCompilable, GradError) as refused:
            if not is_word(part):
                raise
            self._trace.leave(True, str(refused))
            frame.slots = slots
            frame.slots |= dict.fromkeys(visit.writes(i), DEAD)
        else:
            for instruction in body:
                self._trace.put(instruction)
        if frame.slots.get(slot) is part:
            frame.slots[slot] = held
            if held is MISSING:  # a name of an enclosing frame
                del frame.slots[slot]
        return flow

    def _step(self, i: ir.Instruction, frame: Frame) -> None:
        match i:
            case ir.Operator() | ir.Apply() | ir.Copy():  # most are
                self._store(i.target, self._value(i, frame), frame)
            case ir.Assert():
                test = self.truth(i.test, frame)
                self._trace.leave(self._operators.negation(test), "an assertion is false")
            case ir.Append() | ir.Extend():
                receiver, value = self.read(i.receiver, frame), self.read(i.value, frame)
                if type(receiver) is not list:
                    raise self._trace.refused("a list is known only at run time")
                self._trace.touch(receiver)
                added = [value] if isinstance(i, ir.Append) else map(taken, self.items(value))
                receiver.extend(added)
            case ir.Delete() | ir.DeleteItem() | ir.DeleteAttribute():
                raise self._trace.refused(_MEANINGLESS[type(i)])
            case ir.Unpack(starred=int()):
                raise self._trace.refused("a target with a `*` takes a list")
            case ir.Unpack():
                items = [taken(item) for item in self.items(self.read(i.value, frame))]
                if len(items) != len(i.targets):
                    raise self._trace.refused("another number of items than names")
                for target, item in zip(i.targets, items, strict=True):
                    self._store(target, item, frame)
            case ir.SetItem():
                self._set_item(i, frame)
            case ir.SetAttribute():
                self._set_attribute(i, frame)
            case ir.Input():
                self._input(i, frame)
            case ir.Watch():
                held = frame.slots.get(i.slot, MISSING)
                frame.slots[i.slot] = self._binding.watched(i.name, held)
            case ir.DefineRule():
                more = [m for m in i.methods if m.name not in ("forward", "backward", "jvp")]
                if i.once or more or i.bases or i.attributes:
                    raise self._trace.refused(f"`{i.name}` is more than forward, backward and jvp")
                methods = {m.name: self._closure(m, frame) for m in i.methods}
                self._store(i.target, Own(i.name, methods), frame)
            case _:
                value = self._value(i, frame)
                (place,) = visit.writes(i)
                self._store(place, value, frame)

    def _store(self, target: int, value: Any, frame: Frame) -> None:
        self._seen(value)
        owner = self._owner(target, frame) if target in frame.outer else frame
        owner.slots[target] = value
        self.hold(target, value)

    def hold(self, slot: int, value: Any) -> None:
        """Record the variable that holds a value."""
        name = self._program.variables.get(slot)
        if name is not None:
            self._trace.held_by(name, value)

    def _owner(self, target: int, frame: Frame) -> Frame:
        """The frame that has a slot around a function which writes it. Paths and turns are followed
        in the frame that they belong to alone, so none may begin between the two.
        """
        owner = frame.holder(target)
        if target not in owner.slots or owner.block is not self._trace.innermost:
            reason = f"{self.name(target)} is assigned by a function in a branch or loop of another"
            raise self._trace.refused(reason)
        return owner

    def _seen(self, value: Any) -> None:
        """Record the time at which the lists in a value came into being."""
        if isinstance(value, Symbol):  # most are
            return
        pending, count = [value], 0
        while pending:
            one = pending.pop()
            if isinstance(one, (list, tuple, dict)):
                count += len(one)  # one that stands in two places counts twice
                if count > MOST_ITEMS:
                    raise self._trace.refused("a value has too many items")
                if type(one) in (list, dict):
                    self._trace.born(one)
                pending += parts(one)

    def _value(self, i: ir.Instruction, frame: Frame) -> Any:
        """The value of an instruction's target."""
        match i:
            case ir.Operator():
                return self._operated(i.operator, [self.read(a, frame) for a in i.args])
            case ir.Apply():
                named = {name: self.read(a, frame) for name, a in i.arguments}
                return self._calls.apply(ops[i.op], named, i.arguments)
            case ir.Copy():
                return self.read(i.value, frame)
            case ir.Augment():
                return self._augmented(i, frame)
            case ir.Inplace():
                return self._inplace(i, frame)
            case ir.CallBuiltin():
                if i.name not in ops:
                    raise self._trace.refused(f"`{i.name}` with these arguments")
                args = [self.read(a, frame) for a in i.args]
                return self._calls.by_name(ops[i.name], args, self._named(i.keywords, frame))
            case ir.Call():
                function = self.read(i.function, frame)
                args = [self.read(a, frame) for a in i.args]
                return self._calls.call(function, args, self._named(i.keywords, frame))
            case ir.SpreadCall(keywords=None):
                function, given = self.read(i.function, frame), self.read(i.args, frame)
                return self._calls.call(function, [*self.items(given)], {})
            case ir.SpreadMethod(keywords=None):
                receiver, given = self.read(i.receiver, frame), self.read(i.args, frame)
                return self._calls.method(receiver, i.name, [*self.items(given)], {})
            case ir.Method():
                receiver = self.read(i.receiver, frame)
                args = [self.read(a, frame) for a in i.args]
                return self._calls.method(receiver, i.name, args, self._named(i.keywords, frame))
            case ir.GetAttribute():
                return self._calls.attribute(self.read(i.receiver, frame), i.name)
            case ir.Build():
                return self._built(i.kind, [self.read(item, frame) for item in i.items])
            case ir.Format():
                return self._formatted(i, frame)
            case ir.Define():
                return self._closure(i.function, frame)
        raise self._trace.refused(_MEANINGLESS.get(type(i), "a call hands names on"))

    def _closure(self, function: ir.Function, frame: Frame) -> Closure:
        outer = visit.written_around(function)
        others = [
            i for i in visit.instructions(function.body) if isinstance(i, (ir.For, ir.Choice))
        ]
        if not outer.isdisjoint(slot for i in others for slot in visit.writes(i)):
            raise self._trace.refused(f"`{function.name}` assigns to a name around it")
        given = [p for p in function.parameters if p.default is not None]
        return Closure(function, frame, {p.name: self.read(p.default, frame) for p in given})

    @cached_property
    def _written(self) -> Counter[int]:
        """The number of writes to each slot; one in a loop counts twice."""
        return Counter(_writes(self._program.main.body, 1))

    def _changes(self, function: Closure) -> bool:
        """True if a name that a function captures may get another value."""
        return any(self._written[slot] > 1 for slot in function.function.captures)

    def _named(self, keywords: ir.Named, frame: Frame) -> Mapping[str, Any]:
        return {name: self.read(value, frame) for name, value in keywords}

    def _operated(self, sign: str, args: Sequence[Any]) -> Any:
        if all(map(is_known, args)):
            function = operators.function(sign, len(args), Site(self._trace.span, ""))
            return self._tensor(function(self._session, *map(self._calls.spoken, args)))
        return self._operators(sign, args)

    def _tensor(self, value: Any) -> Any:
        """Return a known 0-d tensor as a cell."""
        if not isinstance(value, Tensor) or value.shape:
            return value
        if value.dtype not in DTYPES.values():
            raise self._trace.refused(f"a tensor of {value.dtype}")
        data = value.data  # an array if it shares the memory of one
        made = self._trace.cell(data if type(data) in NUMBERS else data.item())
        made.frozen = True  # an item of another tensor shares its memory
        return made

    def _augmented(self, i: ir.Augment, frame: Frame) -> Any:
        receiver, value = self.read(i.receiver, frame), self.read(i.value, frame)
        if isinstance(receiver, Cell):
            op = ops[operators.OPS[i.operator, 2]]
            is_unnamed = i.receiver.index != i.target if isinstance(i.receiver, ir.Slot) else False
            if is_unnamed and receiver.base is not None and not receiver.whole:
                return self._changed_part(op, receiver, value)
            self._trace.change(op, receiver, [value])
            return receiver
        if type(receiver) is list:
            if i.operator != "+" or type(value) not in (list, tuple):
                raise self._trace.refused(f"`{i.operator}=` of a list and what is none")
            self._trace.touch(receiver)
            receiver.extend(value)
            return receiver
        if isinstance(receiver, Tensor):
            cell = self.changeable(i.receiver, receiver, frame)
            self._trace.change(ops[operators.OPS[i.operator, 2]], cell, [value])
            return cell
        if isinstance(receiver, Vector):
            raise self._trace.refused("a tensor with dimensions is changed in place")
        return self._operated(i.operator, [receiver, value])

    def _changed_part(self, op: Op, part: Cell, value: Any) -> Any:
        """The value that `x[i] += value` puts at the place of `part`, which is `x[i]`."""
        made = self._trace.do(op, [part, value], {})
        if (made.dtype, made.shape) != (part.dtype, part.shape):
            raise self._trace.refused("a part of a tensor is changed to one of another kind")
        self._updated = made, part
        return made

    def _hold_updated(self, value: Any, receiver: Any) -> None:
        """Refuse the new value of an updated part for anything but the tensor that it is a part of:
        a list that holds the part would not change that tensor.
        """
        made, part = self._updated
        if value is made and made is not None and not _is_part(part, receiver):
            raise self._trace.refused("a part of a tensor is changed that is held elsewhere")

    def _inplace(self, i: ir.Inplace, frame: Frame) -> Any:
        named = {name: self.read(a, frame) for name, a in i.arguments}
        op = ops[i.op]
        receiver = named.get(op.args[0]) if op.args else None
        if isinstance(receiver, (Tensor, Vector)):
            raise self._trace.refused("a tensor with dimensions is changed in place")
        if not isinstance(receiver, Cell):
            return self._calls.apply(op, named, i.arguments)
        rest = [named.get(name) for name in op.args[1:]]
        several = len(named) > 1 + sum(x is not None for x in rest)
        if not op.memory.inplace or op.memory.turned is not None or several or op.value.body:
            raise self._trace.refused(f"`{op.name}_` with these arguments")
        self._trace.change(op, receiver, rest)
        return receiver

    def _set_attribute(self, i: ir.SetAttribute, frame: Frame) -> None:
        receiver, value = self.read(i.receiver, frame), self.read(i.value, frame)
        self._hold_updated(value, receiver)
        if isinstance(receiver, Context):
            self._calls.own.set(receiver, i.name, value)
        elif isinstance(receiver, Cell) and i.name == "grad":
            self._calls.graph.set_gradient(receiver, value)
        elif isinstance(receiver, Cell) and i.name == "data":
            self._calls.graph.set_data(receiver, value)
        else:
            raise self._trace.refused(f"`.{i.name}` is assigned")

    def _set_item(self, i: ir.SetItem, frame: Frame) -> None:
        receiver, value = self.read(i.receiver, frame), self.read(i.value, frame)
        at = self.read(i.index, frame)
        self._hold_updated(value, receiver)
        if isinstance(receiver, Tensor):
            receiver = self.changeable(i.receiver, receiver, frame)
        if is_whole(receiver):
            self._put(receiver, at, value)
            return
        if type(receiver) is dict:
            self._calls.dictionaries.set_item(receiver, at, value)
            return
        if type(receiver) is not list:
            raise self._trace.refused("an item of a tensor is set")
        if isinstance(at, Symbol):
            changed = put(self._trace, receiver, at, value)
            self._trace.touch(receiver)
            receiver[:] = changed
            return
        if type(at) is not int or not -len(receiver) <= at < len(receiver):
            raise self._trace.refused("an item is set where there is none")
        self._trace.touch(receiver)
        receiver[at] = value

    def _put(self, receiver: Cell, at: Any, value: Any) -> None:
        """Assign to a part of a tensor."""
        if not is_number(value) and not isinstance(value, (Cell, Tensor)):
            raise self._trace.refused("a part of a tensor is set to what is none")
        at = plain(self._trace, at)
        if has_places(at):
            put_part(self._trace, receiver, at, value)
        elif is_known(at):
            where = operators.as_tuple(at)
            self._trace.change(ops.set_at, receiver, [value], {"index": where})
        else:
            raise self._trace.refused("a part is set at a place known only at run time")

    def changeable(self, operand: ir.Operand | None, known: Tensor, frame: Frame) -> Cell:
        """Turn a known tensor into a cell before it is changed in place: every name that holds it
        gets the cell.
        """
        found = self._trace.tensors.of_known(known)
        if not isinstance(found, Cell) or not isinstance(operand, ir.Slot):
            raise self._trace.refused("a tensor with dimensions is changed in place")
        frames = [*frame.nested()]
        held = [v for f in frames for v in f.slots.values() if v is not known]
        kinds = (list, tuple, dict, Tensor)
        if not all(is_apart(value, known) for value in held if isinstance(value, kinds)):
            raise self._trace.refused("a tensor is changed in place that others may hold")
        if node_of(known) is not None or known.version is not None:
            raise self._trace.refused("a tensor is changed in place that others may hold")
        for one in frames:
            one.slots.update({slot: found for slot, v in one.slots.items() if v is known})
        found.frozen = False
        return found

    def _built(self, kind: str, items: list[Any]) -> Any:
        if kind == "text":
            if all(isinstance(item, str) for item in items):
                return "".join(items)
            return self._texts.text(lambda given: "".join(map(text, given)), items)
        if kind == "slice":
            return slice(*items)
        if kind == "dict":
            return {}  # its items are set one by one
        return items if kind == "list" else tuple(items)

    def _formatted(self, i: ir.Format, frame: Frame) -> Any:
        value, spec = self.read(i.value, frame), self.read(i.spec, frame)
        if not isinstance(value, Either):
            return self._format(i, value, spec)
        parts = [self._format(i, part, spec) for part in (value.then, value.orelse)]
        return self._texts.text(
            lambda given: given[1] if given[0] else given[2], [value.test, *parts]
        )

    def _format(self, i: ir.Format, value: Any, spec: Any) -> Any:
        if is_known(value) and is_known(spec) and not isinstance(value, Tensor):
            return format_value(value, i.conversion, spec)
        if isinstance(value, Cell) and not i.conversion:
            value = value.number  # formatted as a number, also in a graph
        return self._texts.text(
            lambda given: format_value(given[0], i.conversion, given[1]), [value, spec]
        )

    def _input(self, i: ir.Input, frame: Frame) -> None:
        if not i.needed and not self._binding.is_given(i.name):
            return  # a read finds no value
        default = None
        if i.type is None or not self._binding.is_given(i.name):
            self.block(i.body, frame)
            default = None if i.default is None else self.read(i.default, frame)
        self._store(i.target, self._binding.bound(i, default), frame)
        for name, slot in i.sizes:
            frame.slots[slot] = self._binding.size(name)

    # --- values ------------------------------------------------------------------------------

    def read(self, operand: ir.Operand | None, frame: Frame) -> Any:
        """The value of an operand."""
        match operand:
            case ir.Slot():
                return self._slot(operand.index, frame)
            case ir.Const():
                return operand.value
            case ir.Builtin():
                value = ops[operand.name].constant
                return operand if value is REQUIRED else value
            case ir.Imported() if (found := self._calls.imported(operand.path)) is not None:
                return found
            case ir.Imported():
                raise self._trace.refused(f"`{operand.path}` has no meaning in a compiled program")
        return None

    def _held(self, slot: int, frame: Frame) -> Any:
        return frame.holder(slot).slots.get(slot, MISSING)

    def _slot(self, slot: int, frame: Frame) -> Any:
        holder = frame.holder(slot)
        value = holder.slots.get(slot, MISSING)
        if isinstance(value, Symbol):  # most are
            return value
        if isinstance(value, Maybe):
            missing = self._operators.negation(value.assigned)
            self._trace.leave(missing, f"{self.name(slot)} may have no value")
            value = value.value
            if holder is frame:  # a name of an enclosing frame may be read on another path, too
                frame.slots[slot] = value
        if value is MISSING:
            raise self._trace.refused(f"{self.name(slot)} has no value")
        if isinstance(value, Conflict):
            raise self._trace.refused(value.reason)
        return value

    def truth(self, operand: ir.Operand, frame: Frame) -> Any:
        """Return the truth of a condition: a bool or a symbol of one."""
        value = self.read(operand, frame)
        if isinstance(value, (Range, Each, Text, Closure, Transform, Vector)):
            raise self._trace.refused("a condition of a value that is not a number")
        if isinstance(value, Tensor):
            return truth(value)
        if isinstance(value, Either):
            truths = [self._trace.truth(part) for part in (value.then, value.orelse)]
            return chosen(self._trace, value.test, *truths)
        return self._trace.truth(value)

    def items(self, value: Any) -> Sequence[Any]:
        """The items of a `for` over the value."""
        if isinstance(value, Each):
            found, value.items = value.items, None
            if found is None:
                raise self._trace.refused("pairs are gone through twice")
            self.check_unchanged(value.sources)
            return found
        if type(value) in (list, tuple, Fields, str, range, dict):
            if type(value) is not dict and value[MOST_ITEMS:]:  # a range may be too long for `len`
                raise self._trace.refused("a function goes through too many items")
            return list(value)
        if isinstance(value, Tensor) and value.shape:
            value = self._trace.tensors.of_known(value)
        if (isinstance(value, Vector) or is_whole(value)) and value.shape:
            return [Row(value, at) for at in range(value.shape[0])]
        raise self._trace.refused("a loop over a value known only at run time")

    def check_unchanged(self, sources: Sequence[tuple[Collection[Any], Sequence[Any]]]) -> None:
        """Refuse lists that have changed."""
        for items, before in sources:
            if len(items) != len(before) or any(
                x is not y for x, y in zip(items, before, strict=True)
            ):
                raise self._trace.refused("a list is changed while a loop goes over it")

    def name(self, key: Any) -> str:
        """The name of a slot in a message."""
        found = self._program.variables.get(key) if type(key) is int else None
        return "a value" if found is None else f"`{found}`"


def _is_part(x: Any, tensor: Any) -> bool:
    """True if a tensor is a view of another one, perhaps through further views."""
    while isinstance(x, Cell) and x.base is not None:
        x = x.base[0]
        if x is tensor:
            return True
    return False


def is_apart(value: Any, tensor: Tensor) -> bool:
    """True if nothing in a value shares the memory of a tensor."""
    if isinstance(value, (list, tuple, dict)):
        return all(is_apart(item, tensor) for item in parts(value))
    return not isinstance(value, Tensor) or not memory.shares(value.data, tensor.data)


def _writes(body: Sequence[ir.Instruction], times: int) -> Iterator[int]:
    """The slots that are written to, those in loops twice."""
    for i in body:
        again = 2 if isinstance(i, (ir.While, ir.For)) else times
        if not isinstance(i, ir.Watch):
            for slot in visit.writes(i):
                yield from [slot] * again
        for inner in (*visit.blocks(i), *(f.body for f in visit.functions(i))):
            yield from _writes(inner, again)
