"""A program run on shapes and dtypes alone: what can be known of it before it runs.

Every value stands for all that it may be. Both sides of a branch are followed and what they leave
is merged; a loop is followed turn by turn as long as its turns are known, then until nothing
changes. What is not known is silent, so that a finding is one. What cannot work is an error where
the program gets there for sure, else a warning.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import Flag
from typing import Any, NamedTuple

from gradcli import ir
from gradcli.engine.autodiff.backward import seed
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run import operators
from gradcli.engine.run.inputs import Given, Inputs, misfit
from gradcli.engine.run.messages import call_note, turn_note
from gradcli.engine.run.session import kind_of
from gradcli.engine.static.facts import Facts, fact
from gradcli.engine.static.findings import Findings
from gradcli.engine.static.inference import stacked, stand_in, static, unbound
from gradcli.engine.static.kinds import (
    FUNCTIONS,
    Applied,
    Closure,
    Derivative,
    Each,
    Rule,
    Slots,
    State,
    example,
    reached,
    steady,
)
from gradcli.engine.static.lists import List, Lists, linked, plain, same
from gradcli.engine.static.transfer import Operations
from gradcli.engine.static.value import (
    LINKED,
    NEW,
    UNSURE,
    Link,
    Value,
    constant,
    joined,
    number,
    of_data,
    placed,
    relinked,
    tensor,
    unknown,
)
from gradcli.engine.values import refusals
from gradcli.errors import Diagnostic, GradError
from gradcli.ir import visit
from gradcli.source import Source, Span

_DEEPEST = 12  # calls within calls that are followed
_MOST_CALLS = 5000  # that are followed in all
_TURNS = 40  # of a loop that are followed one by one
_MOST_TURNS = 2000  # of all loops
_ROUNDS = 20  # passes over a loop's body until nothing of it counts as known


class _Ways(Flag):
    """The ways that may lead out of a block."""

    NONE = 0
    ON = 1
    BREAK = 2
    NEXT = 4
    RETURN = 8


class Elaborated(NamedTuple):
    """What is known of a program: facts of its instructions, and what was found on the way."""

    facts: Facts
    findings: list[Diagnostic]


def elaborate(
    program: ir.Program,
    source: Source,
    given: Mapping[str, Given],
    varying: Sequence[str],
    result: ir.Operand | None,
) -> Elaborated:
    """Walk a program on what is known of its values.

    Args:
        program: The program.
        source: Its text.
        given: Values from outside by name, of which the shapes, dtypes and kinds count. Where none
            is given the default stands for it.
        varying: Names that would be differentiated.
        result: What is taken as the result; None where there is none.

    Raises:
        InputError: If a value from outside does not fit its declaration.
    """
    walk = _Walk(program, source, given, varying)
    walk.program(result)
    return Elaborated(walk.facts, walk.findings.found)


class _Turn(NamedTuple):
    """A turn of a loop: its ways out, the states at its ends, at `break` and behind the test, and
    the test's truth.
    """

    ways: _Ways
    ends: list[State]
    breaks: list[State]
    tested: State
    truth: Any


class _Walk:
    """One walk over a program. `findings` are in the order in which they were met."""

    def __init__(
        self,
        program: ir.Program,
        source: Source,
        given: Mapping[str, Given],
        varying: Sequence[str],
    ) -> None:
        self._program = program
        self._varying = frozenset(varying)
        self.findings = Findings(source)
        self.facts = Facts(program)
        self._lists = Lists()
        self._operations = Operations(self.findings, self._lists)
        self._inputs = Inputs(given, source, self._operations.session)
        self._depth = 0
        self._called = 0
        self._turns = 0
        self._returned: list[list[Any]] = []
        self._leaving: list[tuple[list[State], list[State]]] = []  # at `break` and `continue`

    def program(self, result: ir.Operand | None) -> None:
        """Go through the program; then tell what is flat on the way to its result."""
        slots: Slots = ChainMap()
        try:
            self.block(self._program.main.body, slots)
        except RecursionError:  # too deep to follow: what has been found is true
            self.facts.lose(visit.all_functions(self._program.main))
            return
        if self.findings.replaced:
            self.facts.lose(visit.all_functions(self._program.main))
        self.facts.lose(reached(self._lists.lost))
        if result is None:
            ends = [slots[s] for s in self._program.names.values() if s in slots]
        else:
            ends = [self._read(result, slots)]
        self.findings.tell_flat(linked(ends))

    # --- findings ----------------------------------------------------------------------

    @contextmanager
    def _stretch(self, *, reached: bool) -> Iterator[None]:
        """A part of the program that may not be reached, or be gone through several times."""
        since, self._lists.since = self._lists.since, self._lists.count
        self.findings.unsure += not reached
        yield
        self.findings.unsure -= not reached
        self._lists.since = since

    # --- instructions ------------------------------------------------------------------

    def block(self, body: Sequence[ir.Instruction], slots: Slots) -> _Ways:
        """Go through a block; what ways lead out of it."""
        ways = _Ways.NONE
        for at, instruction in enumerate(body):
            found = self._do(instruction, slots)
            if _Ways.ON not in found:
                return ways | found
            if found is not _Ways.ON:  # the rest may not be reached
                with self._stretch(reached=False):
                    return ways | found & ~_Ways.ON | self.block(body[at + 1 :], slots)
        return ways | _Ways.ON

    def _do(self, i: ir.Instruction, slots: Slots) -> _Ways:
        """Follow an instruction, and take down what is known there; what ways lead out of it."""
        self._lists.at = id(i)
        if isinstance(i, (ir.While, ir.For)):
            return self._loop(i, slots)
        taken = [fact(self._held(operand, slots)) for operand in visit.operands(i)]
        ways = self._done(i, slots)
        self.facts.note(i, taken, [fact(slots.get(slot)) for slot in visit.writes(i)])
        return ways

    def _held(self, operand: ir.Operand, slots: Slots) -> Any:
        """What an operand is, as far as it is known."""
        if isinstance(operand, ir.Slot):
            return slots.get(operand.index)
        return self._read(operand, slots)

    def _done(self, i: ir.Instruction, slots: Slots) -> _Ways:
        match i:
            case ir.Branch():
                return self._branch(i, slots)
            case ir.Return():
                if self._returned:
                    self._returned[-1].append(self._read(i.value, slots))
                return _Ways.RETURN
            case ir.Break():
                self._leaving[-1][0].append(dict(slots.maps[0]))
                return _Ways.BREAK
            case ir.Continue():
                self._leaving[-1][1].append(dict(slots.maps[0]))
                return _Ways.NEXT
            case ir.Mode():
                before, self._operations.recording = (
                    self._operations.recording,
                    i.mode == "enable_grad",
                )
                ways = self.block(i.body, slots)
                self._operations.recording = before
                return ways
            case ir.Assert():
                self._operations.truth(self._read(i.test, slots), i.test.span)
            case ir.Unpack():
                self._unpack(i, slots)
            case ir.SetItem():
                self._set_item(i, slots)
            case ir.SetAttribute():
                self._set_attribute(i, slots)
            case ir.Input():
                self._input(i, slots)
            case _ if hasattr(i, "target"):
                slots[i.target] = placed(self._value(i, slots), id(i))
            case ir.Watch() if i.name in self._varying:  # an int that is asked for is made a float
                found = slots.get(i.slot)
                if isinstance(found, Value) and found.dtype == "int64" and found.kind != "none":
                    slots[i.slot] = Value(
                        found.shape, None, found.link, UNSURE, found.kind, found.memory
                    )
        return _Ways.ON

    def _value(self, i: ir.Instruction, slots: Slots) -> Any:
        """What an instruction puts into its target."""
        match i:
            case ir.Copy():
                return self._read(i.value, slots)
            case ir.Operator():
                args = [self._read(a, slots) for a in i.args]
                return self._operations.operated(i.operator, args, i.span, i.args)
            case ir.Augment():
                operands = (i.receiver, i.value)
                args = [self._read(a, slots) for a in operands]
                found = self._operations.operated(i.operator, args, i.span, operands)
                labels = self.findings.labels(operands, args)
                return self._operations.changed(args[0], found, i.span, labels)
            case ir.Apply():
                return self._apply(i, slots)
            case ir.Inplace():
                return self._inplace(i, slots)
            case ir.CallBuiltin():
                return self._call_builtin(i, slots)
            case ir.Choice():
                return self._choice(i, slots)
            case ir.Call():
                return self._call(i, slots)
            case ir.Method():
                return self._method(i, slots)
            case ir.GetAttribute():
                receiver = self._read(i.receiver, slots)
                if isinstance(receiver, Rule):
                    return (
                        Applied(receiver)
                        if i.name == "apply"
                        else receiver.methods.get(i.name) or unknown()
                    )
                return self._operations.attribute(receiver, i.name, i.span)
            case ir.Build():
                return self._operations.built(i.kind, [self._read(item, slots) for item in i.items])
            case ir.Define():
                return self._closure(i.function, slots)
            case ir.DefineRule():
                return Rule({m.name: self._closure(m, slots) for m in i.methods})
        return unknown()

    def _closure(self, function: ir.Function, slots: Slots) -> Closure:
        given = [p for p in function.parameters if p.default is not None]
        return Closure(function, slots, {p.name: self._read(p.default, slots) for p in given})

    def _read(self, operand: ir.Operand | None, slots: Slots) -> Any:
        match operand:
            case ir.Slot():
                if operand.index not in slots:
                    self._unassigned(operand)
                    slots[operand.index] = unknown()
                return slots[operand.index]
            case ir.Const():
                return constant(operand.value)
            case ir.Builtin():
                value = ops[operand.name].constant
                return operand if value is REQUIRED else constant(value)
        return constant(None)

    def _unassigned(self, operand: ir.Slot) -> None:
        """Tell of a name of the top level that has no value on any way to here. In a loop that is
        seen in its first turn only, when nothing else is told.
        """
        if self.findings.unsure or self._depth:
            return
        name = self.findings.source.text[operand.span.start : operand.span.end]
        silent, self.findings.silent = self.findings.silent, 0
        self.findings.refuse(refusals.unassigned(name), operand.span)
        self.findings.silent = silent

    # --- inputs ------------------------------------------------------------------------

    def _input(self, i: ir.Input, slots: Slots) -> None:
        found = slots[i.target] = placed(_declared(i, self._outside(i, slots)), id(i))
        sizes = None if i.type is None else i.type[1]
        if sizes and i.name not in self._inputs.given and getattr(found, "shape", None) is not None:
            wrong = misfit(i.name, found.shape, sizes, self._inputs.sizes)
            if wrong is not None:
                self.findings.tell("shape-mismatch", wrong, i.span)
        for name, slot in i.sizes:
            known = self._inputs.sizes.get(name)
            slots[slot] = number("int64") if known is None else constant(known[0])

    def _outside(self, i: ir.Input, slots: Slots) -> Any:
        """An input's value, the one given or its default."""
        floats = i.type is not None and i.type[0] == "float"
        link = LINKED if i.name in self._varying and (i.type is None or floats) else Link()
        if i.name in self._inputs.given:
            if i.type is None:
                self.block(i.body, slots)
            default = None if i.default is None or i.type else self._read(i.default, slots)
            return of_data(self._inputs.bind(i, example(default)), link)
        self.block(i.body, slots)
        if i.default is None:
            scalar = i.type is not None and i.type[1] is None
            dtype = None if i.type is None else {"float": "float64", "int": "int64"}.get(i.type[0])
            return Value(() if scalar else None, dtype, link)
        found = self._read(i.default, slots)
        if isinstance(found, List) and (i.type is not None or i.kind == "param"):
            found = stacked(plain(found)) or unknown(link)
        return _watched(found, link, floats)

    # --- operations --------------------------------------------------------------------

    def _apply(self, i: ir.Apply, slots: Slots) -> Any:
        named = {name: self._read(operand, slots) for name, operand in i.arguments}
        if self._is_transform(i.op) and isinstance(next(iter(named.values())), FUNCTIONS):
            return self._derivative(i.op, *unbound(i.op, named), i.span)
        return self._operations.bound(i.op, named, i.span, [o for _, o in i.arguments])

    def _inplace(self, i: ir.Inplace, slots: Slots) -> Any:
        named = {name: self._read(operand, slots) for name, operand in i.arguments}
        operands = [operand for _, operand in i.arguments]
        found = self._operations.bound(i.op, named, i.span, operands)
        labels = self.findings.labels(operands, [*named.values()])
        return self._operations.changed(named[ops[i.op].args[0]], found, i.span, labels)

    def _call_builtin(self, i: ir.CallBuiltin, slots: Slots) -> Any:
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        if self._is_transform(i.name) and args and isinstance(args[0], FUNCTIONS):
            return self._derivative(i.name, args, keywords, i.span)
        if i.name in ops or not args:
            return self._operations.applied(i.name, args, keywords, i.span, i.args)
        name = i.name.removesuffix("_")
        found = self._operations.applied(name, args, keywords, i.span, i.args)
        labels = self.findings.labels(i.args, args)
        return self._operations.changed(args[0], found, i.span, labels)

    def _set_item(self, i: ir.SetItem, slots: Slots) -> None:
        receiver, value = self._read(i.receiver, slots), self._read(i.value, slots)
        index = self._read(i.index, slots)
        if isinstance(receiver, List):
            at = static(plain(index))
            if receiver.items is not None and type(at) is int:
                try:
                    operators.set_item(self._inputs.session, list(receiver.items), at, value, None)
                except GradError as error:
                    self.findings.refuse(error, i.span)
                    return
            self._lists.put(receiver, at, value)
        elif isinstance(receiver, Value) and receiver.shape:
            self._operations.put(receiver, value, index, i.span)
        else:
            self._operations.out_of_sight([value])

    def _set_attribute(self, i: ir.SetAttribute, slots: Slots) -> None:
        receiver, value = self._read(i.receiver, slots), self._read(i.value, slots)
        self._operations.out_of_sight([value])
        if i.name == "data":
            shapes = getattr(receiver, "shape", None), getattr(value, "shape", None)
            self.findings.replaced = (
                self.findings.replaced or None in shapes or shapes[0] != shapes[1]
            )
        if i.name == "requires_grad" and isinstance(receiver, Value):
            receiver.link = LINKED

    def _unpack(self, i: ir.Unpack, slots: Slots) -> None:
        value, n = self._read(i.value, slots), len(i.targets)
        self._operations.check_items(value, i.span)
        item, count = self._operations.items(value)
        if count is not None and count != n:
            self.findings.refuse(refusals.wrong_count(count, n), i.span)
        items = value.items if isinstance(value, List) else value
        parts = items if isinstance(items, (list, tuple)) and len(items) == n else [item] * n
        for target, part in zip(i.targets, parts, strict=True):
            slots[target] = part

    # --- calls -------------------------------------------------------------------------

    def _call(self, i: ir.Call, slots: Slots) -> Any:
        function = self._read(i.function, slots)
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        return self._called_with(function, args, keywords, i.span)

    def _called_with(
        self, function: Any, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """What a call of a function that is a value gives."""
        if isinstance(function, ir.Builtin):
            if self._is_transform(function.name) and args and isinstance(args[0], FUNCTIONS):
                return self._derivative(function.name, args, keywords, span)
            return self._operations.applied(function.name, args, keywords, span)
        if isinstance(function, Derivative) and not keywords:
            return self._differentiated(function, args, span)
        if isinstance(function, Closure):
            return self._follow(function, args, keywords, span)
        if isinstance(function, Applied) and not keywords:
            return self._own(function.rule, args, span)
        if isinstance(function, (List, tuple)) or getattr(function, "shape", None) is not None:
            self.findings.refuse(refusals.not_callable(kind_of(example(function))), span)
        self._operations.out_of_sight([*args, *keywords.values()])
        self._lists.lose_all()
        return unknown(linked([*args, *keywords.values()]))

    def _follow(
        self, function: Closure, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """Go through a function's body."""
        parameters = function.function.parameters
        names = [p.name for p in parameters]
        given = {**function.defaults, **dict(zip(names, args, strict=False)), **keywords}
        fits = len(args) <= len(names) and set(given) == set(names)
        self._called += 1
        if not fits or self._depth >= _DEEPEST or self._called > _MOST_CALLS:
            self._lists.lose(function)
            self._operations.out_of_sight([*args, *keywords.values()])
            self._lists.lose_all()
            return unknown(linked([*args, *keywords.values()]))
        inner = function.slots.new_child()
        for parameter in parameters:
            inner[parameter.slot] = given[parameter.name]
        self._depth += 1
        self.findings.way.append(call_note(self.findings.line(span)))
        self._returned.append([])
        ways = self.block(function.function.body, inner)
        self.findings.way.pop()
        self._depth -= 1
        returned = self._returned.pop()
        if _Ways.ON in ways:
            returned.append(constant(None))
        return self._lists.all_merged(returned)

    def _is_transform(self, name: str) -> bool:
        return name in ops and ops[name].transform is not None

    def _derivative(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        """What a transform of a function gives: a function, or its derivative at a point."""
        function, *points = args
        if name in ("grad", "value_and_grad") or not (points or keywords):
            return Derivative(name, function, points or keywords)
        if keywords:
            self._operations.out_of_sight([function])
            return unknown()
        several = points[0] if type(points[0]) is tuple else (points[0],)
        self._differentiated(Derivative(name, function, ()), [*several], span)
        return unknown(linked(points))

    def _differentiated(self, made: Derivative, args: list[Any], span: Span) -> Any:
        """The derivative of a function at the first argument."""
        point, *others = args or [unknown()]
        if made.others:
            self._operations.out_of_sight([made.function])
            return unknown(linked(args))
        before, self._operations.recording = self._operations.recording, True
        found = self._called_with(made.function, [self._operations.point(point), *others], {}, span)
        self._operations.recording = before
        self.findings.tell_flat(linked([found]))
        if ops[made.name].transform == "scalar" and not isinstance(made.function, Derivative):
            tensor = stand_in(found)
            if tensor is not None:
                self.findings.ask(lambda: seed(tensor, None, "grad"), span)
        link = linked(args)
        like = made.name == "grad" and isinstance(point, Value)
        if not like:
            return unknown(link)
        dtype = point.dtype if point.dtype in (None, "float32") else "float64"
        return Value(point.shape, dtype, link, kind=point.kind)

    def _own(self, rule: Rule, args: list[Any], span: Span) -> Any:
        """What an own function gives: its `forward`, unrecorded, with a derivative of its own."""
        forward = rule.methods.get("forward")
        if forward is None:
            return unknown(linked(args))
        given = [(stacked(plain(a)) if type(plain(a)) is list else a) or unknown() for a in args]
        link = linked(args)
        later = [m for name, m in rule.methods.items() if name != "forward"]
        self._lists.lose(tuple(later))
        if any(_may_change_lists(m.function.body) for m in later):
            self._operations.out_of_sight(later)
        before, self._operations.recording = self._operations.recording, False
        found = self._follow(forward, [unknown(), *given], {}, span)
        self._operations.recording = before
        own = Link(link.varies, link.smooth) if before else Link()
        parts = found if type(found) is tuple else (found,)
        kinds = {p.kind if isinstance(p, Value) else None for p in parts}
        kind = "tensor" if "tensor" in kinds else kinds.pop() if len(kinds) == 1 else None
        made = tuple(
            Value(p.shape, p.dtype, own, kind=kind, memory=p.memory)
            if isinstance(p, Value)
            else unknown(own)
            for p in parts
        )
        return made if type(found) is tuple else made[0]

    # --- methods -----------------------------------------------------------------------

    def _method(self, i: ir.Method, slots: Slots) -> Any:
        receiver = self._read(i.receiver, slots)
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        if isinstance(receiver, List):
            return self._operations.list_method(receiver, i.name, args, i.span)
        if isinstance(receiver, Rule) and i.name == "apply" and not keywords:
            return self._own(receiver, args, i.span)
        if isinstance(receiver, Rule) and i.name in receiver.methods:
            return self._follow(receiver.methods[i.name], args, keywords, i.span)
        self._operations.out_of_sight([*args, *keywords.values()])
        if not isinstance(receiver, Value):
            return unknown(linked([receiver]))
        found = self._operations.tensor_method(receiver, i.name, args, keywords, i.span)
        return found if self._operations.recording else steady(found)

    # --- branches and loops ------------------------------------------------------------

    def _decided(self, value: Any, span: Span) -> Any:
        """The truth of a condition on which a branch or loop goes one way or another."""
        if self._operations.recording and isinstance(value, Value) and value.link.varies:
            self.findings.warn(
                "branch-on-input",
                "a branch on what is differentiated: the gradient ignores a jump between its sides",
                span,
                "that is right where the sides meet; if they do not, no derivative is",
            )
        return self._operations.truth(value, span)

    def _branch(self, i: ir.Branch, slots: Slots) -> _Ways:
        value = self._read(i.test, slots)
        truth = self._decided(value, i.test.span)
        if truth is not UNSURE:
            return self.block(i.then if truth else i.orelse, slots)
        before = dict(slots.maps[0])
        sides = []
        ways = _Ways.NONE
        for body in (i.then, i.orelse):
            _set(slots, before)
            with self._stretch(reached=False):
                found = self.block(body, slots)
            ways |= found
            if _Ways.ON in found:
                sides.append(dict(slots.maps[0]))
        _set(slots, self._any_of(sides))
        return ways

    def _choice(self, i: ir.Choice, slots: Slots) -> Any:
        """What a choice gives. One that is written by an operator hangs on its test as a value
        does, so that a branch on it is one on what the test depends on.
        """
        value = self._read(i.test, slots)
        by_operator = i.kind != "if"
        truth = (self._operations.truth if by_operator else self._decided)(value, i.test.span)
        if truth is not UNSURE:
            return self._side(i.then if truth else i.orelse, slots)
        before = dict(slots.maps[0])
        states, found = [], []
        for body in (i.then, i.orelse):
            _set(slots, before)
            with self._stretch(reached=False):
                found.append(self._side(body, slots))
            states.append(dict(slots.maps[0]))
        _set(slots, self._any_of(states))
        both = self._lists.all_merged(found)
        if by_operator and isinstance(both, Value) and isinstance(value, Value):
            link = joined((both.link, value.link.cut()))
            both = relinked(both, link)
        return both

    def _side(self, body: ir.Body, slots: Slots) -> Any:
        """What a block of a choice yields."""
        *steps, last = body
        assert isinstance(last, ir.Yield)
        self.block(steps, slots)
        return self._read(last.value, slots)

    def _loop(self, i: ir.For | ir.While, slots: Slots) -> _Ways:
        """Follow a loop turn by turn as long as there is another for sure; then the rest of it."""
        through: Any = None
        if isinstance(i, ir.For):
            through = self._read(i.iterable, slots)
            self._operations.check_items(through, i.iterable.span)
            if isinstance(through, Each) and self._is_named(i.iterable):
                through = unknown(linked(through.parts))  # something may have gone through it
        ways = _Ways.NONE
        exits: list[State] = []
        done = 0
        with ExitStack() as rest:
            while done < _TURNS and self._turns < _MOST_TURNS:
                if isinstance(i, ir.For):
                    item = self._operations.nth(through, done)
                    truth = UNSURE if item is UNSURE else item is not None
                else:
                    item, truth = None, self._enters(i, slots)
                if truth is not True:
                    break
                done += 1
                self._turns += 1
                self.findings.way.append(turn_note(done, self.findings.line(i.span)))
                turn = self._turn(i, item, slots, entered=True, repeated=False)
                self.findings.way.pop()
                ways |= turn.ways & _Ways.RETURN
                exits += turn.breaks
                if not turn.ends:
                    _set(slots, self._any_of(exits))
                    return ways | _Ways.ON if exits else ways
                _set(slots, self._any_of(turn.ends))
                if turn.breaks or _Ways.RETURN in turn.ways:
                    rest.enter_context(self._stretch(reached=False))
            ways |= self._rest(i, through, done, slots)
        if _Ways.ON in ways:
            exits.append(dict(slots.maps[0]))
        _set(slots, self._any_of(exits))
        return ways | _Ways.ON if exits else ways

    def _rest(self, i: ir.For | ir.While, through: Any, done: int, slots: Slots) -> _Ways:
        """Follow a loop until what is known no longer changes; then once more, to tell. `done`
        items have had their turn.
        """
        item, turns = unknown(), None
        if isinstance(i, ir.For):
            item, turns = self._operations.items(through)
            turns = None if turns is None else turns - done
        entered = turns > 0 if turns is not None else self._enters(i, slots)
        if entered is False:
            if isinstance(i, ir.While):
                self.block(i.condition, slots)
            return _Ways.ON
        first, lowest = self._lists.count, self._lists.oldest
        self.findings.silent += 1
        for _ in range(_ROUNDS):
            head = dict(slots.maps[0])
            self._lists.oldest = first
            turn = self._turn(i, item, slots, entered=entered is True, repeated=True)
            after = self._any_of([head, *turn.ends])
            settled = {k: head[k] if same(head.get(k), v) else v for k, v in after.items()}
            _set(slots, settled)
            lowest = min(lowest, self._lists.oldest)
            if self._lists.oldest >= first and all(head.get(k) is v for k, v in settled.items()):
                break
        else:
            self._lists.lose_all()
            self._lists.lose(tuple(slots.maps[0].values()))
            _set(slots, dict.fromkeys(slots.maps[0], unknown()))
        self.findings.silent -= 1
        self._lists.oldest = lowest
        head = dict(slots.maps[0])
        turn = self._turn(i, item, slots, entered=entered is True, repeated=True)
        exits = turn.breaks
        if isinstance(i, ir.While):
            exits = exits if turn.truth is True else [*exits, turn.tested]
        else:
            exits = [*exits, *turn.ends] if entered else [*exits, *turn.ends, head]
        _set(slots, self._any_of(exits))
        ways = turn.ways & _Ways.RETURN
        return ways | _Ways.ON if exits else ways

    def _turn(
        self, i: ir.For | ir.While, item: Any, slots: Slots, *, entered: bool, repeated: bool
    ) -> _Turn:
        """One turn of a loop that is entered for sure or not; one that stands for any turn if it is
        `repeated`.
        """
        breaks: list[State] = []
        ends: list[State] = []
        truth = UNSURE
        if isinstance(i, ir.While):
            with self._stretch(reached=True) if repeated else nullcontext():
                self.block(i.condition, slots)
                truth = self._decided(self._read(i.test, slots), i.test.span)
        tested = dict(slots.maps[0])
        if isinstance(i, ir.For):
            slots[i.target] = item
            self.facts.note(i, [fact(self._held(i.iterable, slots))], [fact(item)])
        else:
            self.facts.note(i, [fact(self._held(i.test, slots))], [])
        self._leaving.append((breaks, ends))
        with self._stretch(reached=entered) if repeated else nullcontext():
            ways = self.block(i.body, slots)
        self._leaving.pop()
        if _Ways.ON in ways:
            ends.append(dict(slots.maps[0]))
        return _Turn(ways, ends, breaks, tested, truth)

    def _enters(self, i: ir.For | ir.While, slots: Slots) -> Any:
        """Whether a loop's body is gone through at least once; UNSURE if that is not known."""
        if isinstance(i, ir.For):
            return UNSURE
        before = dict(slots.maps[0])
        self.findings.silent += 1
        with self._stretch(reached=False):
            self.block(i.condition, slots)
            truth = self._operations.truth(self._read(i.test, slots), i.test.span)
        self.findings.silent -= 1
        _set(slots, before)
        return truth

    def _is_named(self, operand: ir.Operand) -> bool:
        return isinstance(operand, ir.Slot) and operand.index in self._program.variables

    def _any_of(self, states: Sequence[State]) -> State:
        """What is in the slots in any of the states; a slot of one alone is as it is there."""
        merged: State = {}
        for state in states:
            for slot, value in state.items():
                merged[slot] = self._lists.merged(merged[slot], value) if slot in merged else value
        return merged


# what is known of single values ------------------------------------------------------------------


def _set(slots: Slots, state: State) -> None:
    """Put a state into a function's slots, which functions inside it see, too."""
    own = slots.maps[0]
    own.clear()
    own.update(state)


def _watched(value: Any, link: Link, floats: bool) -> Any:
    """A default as the input's value: what is differentiated by is a float."""
    if isinstance(value, List) and link.varies and value.items is not None:
        value.items = [_watched(item, link, floats) for item in value.items]
    kept = not isinstance(value, Value) or (value.shape is None and value.known is not UNSURE)
    if kept or not (floats or (link.varies and value.dtype not in ("int64", "bool"))):
        return value
    dtype = "float32" if value.dtype == "float32" else "float64"
    return Value(value.shape, dtype, link, kind=value.kind, memory=value.memory)


def _declared(i: ir.Input, value: Any) -> Any:
    """What an input is by its declaration: a `param` is a tensor, and so is what has sizes."""
    sizes = None if i.type is None else i.type[1]
    if not isinstance(value, Value) or (i.kind != "param" and sizes is None):
        return value
    whole = i.kind == "param" and value.dtype in ("int64", "bool")
    memory = None if value.memory is None else value.memory | NEW
    return tensor(value.shape, "float64" if whole else value.dtype, value.link, memory)


def _may_change_lists(body: ir.Body) -> bool:
    """Whether a block, or what it calls, changes a list."""
    return any(
        isinstance(i, (ir.SetItem, ir.Call))
        or (isinstance(i, ir.Method) and i.name in ("append", "extend", "pop"))
        for i in visit.instructions(body)
    )
