"""Specialize loops: unroll those with few known turns; others become loops of the typed program."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from gradcli.engine.compile.specialize.long_items import ItemAt, item_at
from gradcli.engine.compile.specialize.tracing.branches import STALE, holds
from gradcli.engine.compile.specialize.tracing.control_flow import (
    AGAIN,
    BREAK,
    FLOW,
    NEXT,
    RESULT,
    RETURN,
    Follower,
)
from gradcli.engine.compile.specialize.tracing.loop_carried import (
    CellForm,
    Changed,
    ConflictForm,
    Form,
    either,
    widened,
    widened_content,
)
from gradcli.engine.compile.specialize.tracing.provenance import Links
from gradcli.engine.compile.specialize.tracing.trace import Trace, content, restore
from gradcli.engine.compile.specialize.tracing.values import (
    DEAD,
    MISSING,
    Cell,
    Closure,
    Conflict,
    Each,
    Either,
    Frame,
    Range,
    kinds,
    parts,
    taken,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import (
    Block,
    GoesBack,
    Instruction,
    Loop,
    NotCompilable,
    Operand,
    TooLarge,
    Value,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.ir.inlined import PASS, UNROLLED, Functions, is_pass, size

_LONGEST = 2_000
"""The most instructions of an unrolled loop that cannot become a typed loop, or that goes over
items that are no range.
"""
_ROUNDS = 12
_PEELED = 2


class Loops:
    """The loops of one program.

    Args:
        defined: The functions that the program defines.
        most_inlined: The most instructions of an unrolled loop, with its calls inlined.
    """

    def __init__(
        self, follower: Follower, trace: Trace, defined: Functions, most_inlined: int
    ) -> None:
        self._do = follower
        self._trace = trace
        self._defined = defined
        self._most_inlined = most_inlined

    # --- kinds of loops ------------------------------------------------------------------

    def loop_while(self, i: ir.While, frame: Frame) -> Any:
        """Specialize a `while`; the control flow after it."""
        head = _Tested(self._do, i, frame)
        return self._unrolled_while(i, head) if self._is_known(head) else self._general(head)

    def loop_for(self, i: ir.For, frame: Frame) -> Any:
        """Specialize a `for`; the control flow after it."""
        found = self._do.read(i.iterable, frame)
        if isinstance(found, Range):
            return self._general(_Counted(self._do, i, frame, found))
        items = found if isinstance(found, range) else self._do.items(found)
        sources = found.sources if isinstance(found, Each) else []
        if type(found) in (list, dict):
            sources = [(found, items)]
        unroll = partial(self._over, i, items, sources, frame)
        most = UNROLLED if isinstance(found, range) else _LONGEST
        if self._is_short(i, items, frame, most):
            return unroll()
        if isinstance(found, range):
            bounds = Range(found.start, found.stop, found.step)
            head = _Counted(self._do, i, frame, bounds)
        else:
            at = item_at(items, self._trace)
            if at is None and _work(i, items) <= _LONGEST:
                return unroll()
            if at is None:
                raise self._trace.refused("a loop goes over too many items that are no range")
            head = _Listed(self._do, i, frame, Range(0, len(items), 1), at, sources)
        if _work(i, items) > _LONGEST:
            return self._general(head)
        return self._general_or(head, unroll)

    def _is_short(self, i: ir.For, items: Sequence[Any], frame: Frame, most: int) -> bool:
        """True if a loop over items is unrolled. `most` limits the instructions without calls."""
        if _work(i, items) > most:
            return False
        return len(items) * size(i.body, self._functions(frame)) <= self._most_inlined

    def _general_or(self, head: _Head, unroll: Callable[[], Any]) -> Any:
        """Make a loop of the typed program, or unroll it if that is refused."""
        slots, body = dict(head.frame.slots), list[Instruction]()
        try:
            with self._trace.tried(), self._trace.inside(body):
                flow = self._general(head)
        except (TooLarge, GoesBack):
            raise
        except NotCompilable as refused:
            head.frame.slots = slots
            try:
                return unroll()
            except (TooLarge, GoesBack):
                raise
            except NotCompilable:
                raise refused from None
        for instruction in body:
            self._trace.put(instruction)
        return flow

    def _functions(self, frame: Frame) -> Functions:
        """The functions that slots hold, as a frame sees them."""

        def held(slot: int) -> ir.Function | None:
            value = frame.holder(slot).slots.get(slot)
            return value.function if isinstance(value, Closure) else self._defined(slot)

        return held

    # --- turn by turn --------------------------------------------------------------------

    def _over(
        self,
        i: ir.For,
        items: Sequence[Any],
        sources: Sequence[tuple[Collection[Any], Sequence[Any]]],
        frame: Frame,
    ) -> Any:
        """Unroll a loop over items until it ends. The items come from lists, `sources`, that must
        not change meanwhile.
        """
        for at, item in enumerate(items):
            self._do.check_unchanged(sources)
            frame.slots[i.target] = taken(item)
            self._trace.steps += 1
            flow = self._do.block(i.body, frame)
            if isinstance(flow, Symbol):
                rest = items[at + 1 :]
                return self._do.where(
                    ops.lt(flow, BREAK),
                    frame,
                    partial(self._over, i, rest, sources, frame),
                    partial(self._behind, flow),
                    frame.live.after[id(i)],
                )
            if flow >= BREAK:
                return RETURN if flow == RETURN else NEXT
        return NEXT

    def _is_known(self, head: _Head) -> bool:
        """True if the first test is known at compile time."""
        with _Trial(head.frame, self._trace):
            return not isinstance(head.test(), Symbol)

    def _unrolled_while(self, i: ir.While, head: _Head) -> Any:
        """Unroll a loop whose tests are known, if it has few turns."""
        frame, trace = head.frame, self._trace
        again = [*i.condition, *i.body]
        turn, inlined = _length(again), size(again, self._functions(frame))
        left = min(UNROLLED // max(turn, 1), self._most_inlined // max(inlined, 1))
        slots, body = dict(frame.slots), list[Instruction]()
        trace.objects.append({})
        flow: Any = None
        with trace.inside(body):
            while left > 0 and flow is None:
                left -= 1
                test = head.test()
                if test is False:
                    flow = NEXT
                elif test is True:
                    trace.steps += 1
                    found = self._do.block(i.body, frame)
                    if isinstance(found, Symbol):
                        break
                    flow = RETURN if found == RETURN else NEXT if found == BREAK else None
                else:
                    break
        changed = trace.objects.pop()
        if flow is None:
            for value, held in changed.values():
                restore(value, held)
            frame.slots = slots
            return self._general(head)
        if trace.objects:
            for key, noted in changed.items():
                trace.objects[-1].setdefault(key, noted)
        for instruction in body:
            trace.put(instruction)
        return flow

    # --- loops of the typed program --------------------------------------------------------

    def _general(self, head: _Head, peeled: int = 0) -> Any:
        """Make a loop of the typed program: a fixed-point iteration finds the types of the
        loop-carried values.
        """
        frame, trace = head.frame, self._trace
        self._make_changeable(head)
        entry = {
            key: self._changeable(value) if key in head.assigned else value
            for key, value in frame.slots.items()
            if key in head.live or type(key) is tuple
        }
        entry |= {
            slot: MISSING for slot in head.assigned if slot in head.live and slot not in entry
        }
        outside, since = frame.slots, trace.tick()
        forms: dict[Any, Form] = {key: Form(value) for key, value in entry.items()}
        forms |= {AGAIN: Form(DEAD), FLOW: Form(NEXT), RESULT: Form(DEAD)}
        objects: dict[int, tuple[Any, Form]] = {}
        steps = trace.steps
        links: list[Links] | None = None
        for _ in range(_ROUNDS):
            self._hold_alone(frame, forms, entry)
            trace.steps = steps
            turn = _Turn(head, forms, objects, since, trace, entry, links)
            try:
                found, found_objects = turn.widened(peeled < _PEELED)
            except Changed as change:
                frame.slots = outside
                if peeled < _PEELED:
                    return self._peeled(head, peeled, change.reason)
                raise trace.refused(change.reason) from None
            if found == forms and found_objects == objects:
                if _parts_from_a_changed_one(forms, turn.changed, entry):
                    frame.slots = outside
                    if peeled < _PEELED:
                        return self._peeled(head, peeled, _TWICE)
                    raise trace.refused(_TWICE)
                links = turn.links()
                if links is None:
                    return turn.written(outside)
            else:
                links = None
            forms, objects = found, found_objects
            frame.slots = outside
        raise trace.refused("what a loop carries round does not settle")

    def _make_changeable(self, head: _Head) -> None:
        """Turn known tensors whose items a loop sets into those of the typed program, before an
        item of them is read.
        """
        for receiver in head.set_items:
            known = head.frame.slots.get(receiver.index)
            if isinstance(known, Tensor) and known.shape:
                with suppress(NotCompilable):  # where it is set, if it is, the loop is refused
                    self._do.changeable(receiver, known, head.frame)

    def _changeable(self, value: Any) -> Any:
        """A value of a name that gets others in the loop; a known tensor becomes one of the typed
        program, as the others are.
        """
        is_known_tensor = isinstance(value, Tensor) and value.shape
        return self._trace.tensors.of_known(value) if is_known_tensor else value

    def _hold_alone(
        self, frame: Frame, forms: Mapping[Any, Form], entry: Mapping[Any, Any]
    ) -> None:
        """Refuse a loop-carried leaf tensor that another name holds, too: its gradient would show
        there.
        """
        for key, form in forms.items():
            if isinstance(form, CellForm) and form.leaf:
                others = [v for k, v in entry.items() if k != key]
                held = key not in entry or any(  # a result of the function is another name
                    holds(v, entry[key]) for v in (*others, *frame.around())
                )
                if held:
                    raise self._trace.refused("a loop-carried leaf has two names")

    def _peeled(self, head: _Head, peeled: int, reason: str) -> Any:
        """Peel the first turn, after which names hold values of the types that they have in all
        other turns. Without a first turn the code bails out.
        """
        test = head.test()
        if isinstance(test, Symbol):
            self._trace.leave(ops.logical_not(test), f"a loop has no turn, and {reason}")
        elif not test:
            return NEXT
        self._trace.steps += 1
        flow = head.turn()
        if isinstance(flow, Symbol):
            return self._do.where(
                ops.lt(flow, BREAK),
                head.frame,
                lambda: self._general(head, peeled + 1),
                partial(self._behind, flow),
                head.after,
            )
        if flow >= BREAK:
            return RETURN if flow == RETURN else NEXT
        return self._general(head, peeled + 1)

    def _behind(self, flow: Any) -> Any:
        """The control flow after a loop whose last turn ends with this one."""
        return behind(self._do, flow)


_TWICE = "a tensor that a loop changes in place has two names"


def _value(x: Any) -> Any:
    """The value of a number or array, known or not."""
    return x.value if isinstance(x, Symbol) else x


def _parts_from_a_changed_one(
    forms: Mapping[Any, Form], changed: Collection[int], entry: Mapping[Any, Any]
) -> bool:
    """True if a name begins as a tensor that the loop changes in place under another name, and gets
    tensors of its own in later turns: the first turn would not see the change.
    """
    return any(
        type(form) is not Form and isinstance(entry.get(key), Cell) and id(entry[key]) in changed
        for key, form in forms.items()
    )


def _is_stale(value: Any) -> bool:
    """True if a view in a value is out of date."""
    is_view = isinstance(value, Cell) and value.base is not None
    if is_view and value.base[0].number is not value.base[1]:
        return True
    return any(map(_is_stale, parts(value)))


def _work(i: ir.For, items: Sequence[Any]) -> int:
    """The number of instructions of an unrolled loop over items, calls not inlined; if they are too
    many in any case, a smaller number that is too large as well.
    """
    turn = max(_length(i.body), 1)
    return turn * len(items[: _LONGEST + 1])  # a range may have more items than `len` tells


def _length(body: Sequence[ir.Instruction]) -> int:
    """The number of instructions in a block, calls not inlined."""
    return sum(PASS if is_pass(i) else 1 for i in visit.instructions(body))


def behind(do: Follower, flow: Any) -> Any:
    """The control flow after a loop whose last turn ends with this one."""
    if RETURN not in do.flows(flow):
        return NEXT
    found = ops.where(ops.eq(flow, RETURN), RETURN, NEXT)
    return do.may_be(found, frozenset({NEXT, RETURN}))


class _Head:
    """A loop under specialization: its test, its turn, the slots that are live at its head and
    after it, those that a turn assigns, and those of whose tensors it sets items.
    """

    def __init__(self, do: Follower, i: ir.While | ir.For, frame: Frame) -> None:
        self.do = do
        self.frame = frame
        self.body = i.body
        self.span = i.span
        self.after = frame.live.after[id(i)]
        inside = list(visit.instructions([i]))
        self.assigned = {slot for inner in inside for slot in visit.writes(inner)}
        self.set_items = [
            inner.receiver
            for inner in inside
            if isinstance(inner, ir.SetItem) and isinstance(inner.receiver, ir.Slot)
        ]
        self.live = self.after | frame.live.heads[id(i)]

    def test(self) -> Any:
        """The test for another turn: a bool, or a symbol of one."""
        raise NotImplementedError

    def turn(self) -> Any:
        """Specialize one turn; the control flow after it."""
        return self.do.block(self.body, self.frame)


class _Tested(_Head):
    """A `while`."""

    def __init__(self, do: Follower, i: ir.While, frame: Frame) -> None:
        super().__init__(do, i, frame)
        self.loop = i

    def test(self) -> Any:
        self.do.block(self.loop.condition, self.frame)
        return self.do.truth(self.loop.test, self.frame)


class _Counted(_Head):
    """A `for` over a range."""

    def __init__(self, do: Follower, i: ir.For, frame: Frame, counted: Range) -> None:
        super().__init__(do, i, frame)
        self.target = i.target
        self.range = counted
        self.counter = ("counter", id(i))
        frame.slots[self.counter] = counted.start

    def test(self) -> Any:
        at = self.frame.slots[self.counter]
        return (ops.lt if self.range.step > 0 else ops.gt)(at, self.range.stop)

    def turn(self) -> Any:
        slots = self.frame.slots
        slots[self.target] = item = self.taken()
        self.do.hold(self.target, item)
        slots[self.counter] = ops.add(slots[self.counter], self.range.step)
        return super().turn()

    def taken(self) -> Any:
        """The item of this turn."""
        return self.frame.slots[self.counter]


class _Listed(_Counted):
    """A `for` over items; `at` gives the item of a turn. The items come from lists, `sources`, that
    must not change meanwhile.
    """

    def __init__(
        self,
        do: Follower,
        i: ir.For,
        frame: Frame,
        counted: Range,
        at: ItemAt,
        sources: Sequence[tuple[Collection[Any], Sequence[Any]]],
    ) -> None:
        super().__init__(do, i, frame, counted)
        self.at = at
        self.sources = sources

    def taken(self) -> Any:
        return self.at(self.frame.slots[self.counter])

    def turn(self) -> Any:
        flow = super().turn()
        self.do.check_unchanged(self.sources)
        return flow


class _Trial:
    """A context that undoes everything specialized within it."""

    def __init__(self, frame: Frame, trace: Trace) -> None:
        self.frame = frame
        self.trace = trace

    def __enter__(self) -> None:
        self.slots = dict(self.frame.slots)
        self.trace.objects.append({})
        self._inside = self.trace.inside([])
        self._inside.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._inside.__exit__(*error)
        for value, held in self.trace.objects.pop().values():
            restore(value, held)
        self.frame.slots = self.slots


class _Turn:
    """One turn of a loop, given the types of the loop-carried values at its start."""

    def __init__(
        self,
        head: _Head,
        forms: dict[Any, Form],
        objects: dict[int, tuple[Any, Form]],
        since: int,
        trace: Trace,
        entry: dict[Any, Any],
        links: Sequence[Links] | None,
    ) -> None:
        self.head = head
        self.entry = entry
        self.forms = forms
        self.objects = objects
        self.trace = trace
        self.turned: dict[Any, Any] = {}
        frame = head.frame
        self.params: list[Value] = []
        self.first = {key: self._made(form) for key, form in forms.items()}
        contents = {key: (value, self._made(form)) for key, (value, form) in objects.items()}
        self.outside = {key: content(value) for key, (value, _) in objects.items()}
        trace.connections.begin(self.params, self._initial)
        if links is not None:
            trace.connections.hold(self.params, links)
        asked = trace.connections.asked
        self.body: list[Instruction] = []
        trace.objects.append({})
        with trace.inside(self.body):
            for value, held in contents.values():
                trace.touch(value)
                restore(value, held)
            frame.slots = {k: v for k, v in self.first.items() if v is not MISSING}
            self._go(head, frame)
        self.asks = trace.connections.asked > asked
        self.before = {
            key: entry for key, entry in trace.objects[-1].items() if trace.born(entry[0]) <= since
        }
        self.last = {
            key: Conflict(STALE) if _is_stale(value) and value is not self.first.get(key) else value
            for key, value in frame.slots.items()
        }
        self.contents = {
            key: (value, contents[key][1] if key in contents else held, content(value))
            for key, (value, held) in self.before.items()
        }
        trace.objects.pop()
        for value, held in self.before.values():
            restore(value, held)

    def _made(self, form: Form) -> Any:
        params = [self.trace.value(t) for t in form.types()]
        self.params += params
        return form.made(iter([Symbol(p, self.trace) for p in params]), self.trace)

    def _go(self, head: _Head, frame: Frame) -> None:
        """Specialize the test and the turn; `AGAIN` then holds whether another follows."""
        test = head.test()
        if isinstance(test, Symbol):
            live = head.live | {AGAIN, FLOW}
            head.do.where(test, frame, lambda: self._turned(head, frame), lambda: self._done(frame),
                          live | {RESULT}, live)  # fmt: skip
        elif test:
            self._turned(head, frame)
        else:
            self._done(frame)

    def _turned(self, head: _Head, frame: Frame) -> Any:
        self.trace.steps += 1
        flow = head.turn()
        self.turned = dict(frame.slots)
        if isinstance(flow, Symbol):
            frame.slots[AGAIN] = ops.lt(flow, BREAK)
            frame.slots[FLOW] = behind(head.do, flow)
        else:
            frame.slots[AGAIN] = flow < BREAK
            frame.slots[FLOW] = RETURN if flow == RETURN else NEXT
        return NEXT

    def _done(self, frame: Frame) -> Any:
        frame.slots[AGAIN] = False
        frame.slots[FLOW] = NEXT
        return NEXT

    def _may_stay(self, key: Any) -> bool:
        """True if a name may still have the kind that it has at the head after a turn, or another
        one. If it has another one in any case, the first turn is peeled instead.
        """
        found = self.turned.get(key)
        return isinstance(found, Either) and kinds(self.first[key]).keys() <= kinds(found).keys()

    def _is_param(self, value: Any) -> bool:
        return isinstance(value, Symbol) and value.value in self.params

    def widened(self, strict: bool) -> tuple[dict[Any, Form], dict[int, tuple[Any, Form]]]:
        """The types of the loop-carried values, widened by the values at the end of this turn.

        Raises:
            Changed: If a number changes its type.
        """
        forms = {}
        for key, form in self.forms.items():
            if key is AGAIN:
                forms[key] = form
                continue
            head, end = self.first[key], self.last.get(key, DEAD if key is RESULT else MISSING)
            name = self.head.do.name(key)
            if self._may_stay(key) and (found := either(head, end)) is not None:
                forms[key] = found if form.flat(end) is None else form
                continue
            try:
                forms[key] = widened(form, head, end, name, self._is_param)
            except Changed as change:
                if strict:
                    raise
                forms[key] = either(head, end) or ConflictForm(change.reason)
        objects = dict(self.objects)
        for key, (value, begun, held) in self.contents.items():
            before = self.objects.get(key, (value, Form(begun)))[1]
            self.trace.budget.use(len(held))
            try:
                found = widened_content(before, value, begun, held, self._is_param)
            except Changed:
                if forms == self.forms:
                    raise
                continue  # the next turn may begin with another one
            if found is None:
                raise self.trace.refused("a list gets another length in each turn of a loop")
            if found is not before or key in self.objects:
                objects[key] = (value, found)
        return forms, objects

    @property
    def changed(self) -> set[int]:
        """The identities of the older tensors that a turn gives another number."""
        return {
            key
            for key, (value, begun, held) in self.contents.items()
            if isinstance(value, Cell) and _value(begun[0]) is not _value(held[0])
        }

    def _initial(self) -> list[Operand]:
        """The values of the loop's params before the first turn."""
        found: list[Operand] = []
        for key, form in self.forms.items():
            if key is not AGAIN:
                start = {FLOW: NEXT, RESULT: DEAD}.get(key, self.entry.get(key, MISSING))
                found += form.flat(start) or []
        for key, (_, form) in self.objects.items():
            found += form.flat(self.outside[key]) or []
        return found

    def _then(self) -> list[Operand]:
        """The values of the params in the next turn."""
        found: list[Operand] = []
        for key, form in self.forms.items():
            if key is not AGAIN:
                end = self.last.get(key, DEAD if key is RESULT else MISSING)
                found += form.flat(end) or []
        for key, (_, form) in self.objects.items():
            found += form.flat(self.contents[key][2]) or []
        return found

    def links(self) -> list[Links] | None:
        """The provenance of the params in any turn; None if it is the assumed one, or if nothing
        asks for it.
        """
        if not self.asks:
            return None
        connections = self.trace.connections
        found = connections.carried(self.params, self.body, self._then())
        return None if connections.hold(self.params, found) else found

    def written(self, outside: dict[Any, Any]) -> Any:
        """Emit the loop once the types have settled; the control flow after it."""
        trace, frame = self.trace, self.head.frame
        carried = [key for key in self.forms if key is not AGAIN]
        initial, results = self._initial(), self._then()
        again = operand(self.last[AGAIN])
        targets = [trace.value(param.type) for param in self.params]
        block = Block(tuple(self.body), (again, *results))
        turns = trace.value("int")
        trace.add(
            Loop(self.head.span, tuple(targets), turns, tuple(self.params), tuple(initial), block)
        )
        numbers: Iterator[Any] = iter([Symbol(target, trace) for target in targets])
        left = {key: self.forms[key].made(numbers, trace) for key in carried}
        for value, form in self.objects.values():
            trace.touch(value)
            restore(value, form.made(numbers, trace))
        frame.slots = {
            key: value
            for key, value in {**outside, **left}.items()
            if (key in self.head.after or type(key) is tuple or key == RESULT)
            and value is not MISSING
            and value is not DEAD
        }
        if RESULT not in frame.slots and RESULT in outside:
            frame.slots[RESULT] = outside[RESULT]
        return self.head.do.may_be(left[FLOW], frozenset({NEXT, RETURN}))
