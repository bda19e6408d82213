"""Loops: unrolled where their turns are known and few, else a loop of the typed program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from gradcli import ir
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
    Conflict,
    Each,
    Frame,
    Range,
    taken,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import Block, Instruction, Loop, Operand, Value
from gradcli.engine.ops.catalog import ops
from gradcli.ir import visit

UNROLLED = 200
"""Instructions of the program's that a loop may become when its turns are done one by one."""
_LONGEST = 2_000
"""The same of a loop over items that no loop of the typed program can take one of."""
_PASS = 20
_ROUNDS = 12
_PEELED = 2


class Loops:
    """The loops of one program."""

    def __init__(self, follower: Follower, trace: Trace) -> None:
        self._do = follower
        self._trace = trace

    # --- kinds of loops ------------------------------------------------------------------

    def loop_while(self, i: ir.While, frame: Frame) -> Any:
        """A `while`; how it goes on behind it."""
        head = self._head(i, frame)
        return self._unrolled_while(i, head) if self._is_known(head) else self._general(head)

    def loop_for(self, i: ir.For, frame: Frame) -> Any:
        """A `for`; how it goes on behind it."""
        found = self._do.read(i.iterable, frame)
        if isinstance(found, Range):
            return self._general(_Counted(self._do, i, frame, found))
        items = self._do.items(found)
        sources = found.sources if isinstance(found, Each) else []
        if type(found) is list:
            sources = [(found, items)]
        size = sum(map(_becomes, visit.instructions(i.body))) * len(items)
        if size > UNROLLED and isinstance(found, range):
            counted = Range(found.start, found.stop, found.step)
            return self._general(_Counted(self._do, i, frame, counted))
        if size > _LONGEST:
            raise self._trace.refused("a loop goes over too many items that are no range")
        return self._over(i, items, sources, frame)

    def _head(self, i: ir.While, frame: Frame) -> _Head:
        return _Tested(self._do, i, frame)

    # --- turn by turn --------------------------------------------------------------------

    def _over(
        self,
        i: ir.For,
        items: Sequence[Any],
        sources: Sequence[tuple[list[Any], Sequence[Any]]],
        frame: Frame,
    ) -> Any:
        """The items one after the other, as long as nothing leaves the loop. They are of lists that
        must not change.
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
        """Whether the first test is known."""
        with self._tried(head.frame):
            return not isinstance(head.test(), Symbol)

    def _unrolled_while(self, i: ir.While, head: _Head) -> Any:
        """A loop whose tests are known, if it ends soon."""
        frame, trace = head.frame, self._trace
        left = UNROLLED
        slots, body = dict(frame.slots), list[Instruction]()
        trace.objects.append({})
        flow: Any = None
        with trace.inside(body):
            while left > 0 and flow is None:
                left -= sum(1 for _ in visit.instructions([*i.condition, *i.body]))
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

    def _tried(self, frame: Frame) -> _Trial:
        return _Trial(frame, self._trace)

    # --- loops of the typed program --------------------------------------------------------

    def _general(self, head: _Head, peeled: int = 0) -> Any:
        """A loop of as many turns as it takes."""
        frame, trace = head.frame, self._trace
        entry = {k: v for k, v in frame.slots.items() if k in head.live or type(k) is tuple}
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
                links = turn.links()
                if links is None:
                    return turn.written(outside)
            else:
                links = None
            forms, objects = found, found_objects
            frame.slots = outside
        raise trace.refused("what a loop carries round does not settle")

    def _hold_alone(
        self, frame: Frame, forms: Mapping[Any, Form], entry: Mapping[Any, Any]
    ) -> None:
        """Refuse leaves that go round while another name holds them: it would see a gradient."""
        for key, form in forms.items():
            if isinstance(form, CellForm) and form.leaf:
                others = [v for k, v in entry.items() if k != key]
                if any(holds(v, entry[key]) for v in (*others, *frame.around())):
                    raise self._trace.refused("a leaf that goes round in a loop has two names")

    def _peeled(self, head: _Head, peeled: int, reason: str) -> Any:
        """The first turn by itself, behind which the names hold what they do in all others. Where
        there is none the code is left.
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
        """How it goes on behind a loop that is left this way."""
        return behind(self._do, flow)


def _is_stale(value: Any) -> bool:
    """Whether a view in a value shows something else than it has shown."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_stale, value))
    is_view = isinstance(value, Cell) and value.base is not None
    return is_view and value.base[0].number is not value.base[1]


def _becomes(i: ir.Instruction) -> int:
    """How many of its like an instruction may become: a pass back does about as much again."""
    return _PASS if isinstance(i, ir.Method) and i.name == "backward" else 1


def behind(do: Follower, flow: Any) -> Any:
    """How it goes on behind a loop whose turn has ended this way."""
    if RETURN not in do.flows(flow):
        return NEXT
    found = ops.where(ops.eq(flow, RETURN), RETURN, NEXT)
    return do.may_be(found, frozenset({NEXT, RETURN}))


class _Head:
    """The head of a loop: its test, its turn, the slots that are live at the head and behind, and
    those that a turn assigns.
    """

    def __init__(self, do: Follower, i: ir.While | ir.For, frame: Frame) -> None:
        self.do = do
        self.frame = frame
        self.body = i.body
        self.span = i.span
        self.after = frame.live.after[id(i)]
        inside = list(visit.instructions([i]))
        self.assigned = {slot for inner in inside for slot in visit.writes(inner)}
        self.live = self.after | frame.live.heads[id(i)]

    def test(self) -> Any:
        """Whether there is another turn: a bool or a symbol of one."""
        raise NotImplementedError

    def turn(self) -> Any:
        """One turn; how it goes on behind it."""
        return self.do.block(self.body, self.frame)


class _Tested(_Head):
    """That of a `while`."""

    def __init__(self, do: Follower, i: ir.While, frame: Frame) -> None:
        super().__init__(do, i, frame)
        self.loop = i

    def test(self) -> Any:
        self.do.block(self.loop.condition, self.frame)
        return self.do.truth(self.loop.test, self.frame)


class _Counted(_Head):
    """That of a `for` over a range."""

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
        slots[self.target] = slots[self.counter]
        slots[self.counter] = ops.add(slots[self.counter], self.range.step)
        return super().turn()


class _Trial:
    """What is done inside is forgotten."""

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
    """One turn, of names that hold values of some forms at its head."""

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
            key: entry
            for key, entry in trace.objects.pop().items()
            if trace.born(entry[0]) <= since
        }
        self.last = {
            key: Conflict(STALE) if _is_stale(value) and value is not self.first.get(key) else value
            for key, value in frame.slots.items()
        }
        self.contents = {
            key: (value, contents[key][1] if key in contents else held, content(value))
            for key, (value, held) in self.before.items()
        }
        for value, held in self.before.values():
            restore(value, held)

    def _made(self, form: Form) -> Any:
        params = [self.trace.value(t) for t in form.types()]
        self.params += params
        return form.made(iter([Symbol(p, self.trace) for p in params]), self.trace)

    def _go(self, head: _Head, frame: Frame) -> None:
        """The test and the turn; behind them `AGAIN` says whether there is another."""
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

    def _is_param(self, value: Any) -> bool:
        return isinstance(value, Symbol) and value.value in self.params

    def widened(self, strict: bool) -> tuple[dict[Any, Form], dict[int, tuple[Any, Form]]]:
        """The forms that take in what this turn leaves, too.

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
            try:
                forms[key] = widened(form, head, end, name, self._is_param)
            except Changed as change:
                if strict:
                    raise
                forms[key] = either(head, end) or ConflictForm(change.reason)
        objects = dict(self.objects)
        for key, (value, begun, held) in self.contents.items():
            before = self.objects.get(key, (value, Form(begun)))[1]
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

    def _initial(self) -> list[Operand]:
        """What the params are at first."""
        found: list[Operand] = []
        for key, form in self.forms.items():
            if key is not AGAIN:
                start = {FLOW: NEXT, RESULT: DEAD}.get(key, self.entry.get(key, MISSING))
                found += form.flat(start) or []
        for key, (_, form) in self.objects.items():
            found += form.flat(self.outside[key]) or []
        return found

    def _then(self) -> list[Operand]:
        """What they are in the next turn."""
        found: list[Operand] = []
        for key, form in self.forms.items():
            if key is not AGAIN:
                end = self.last.get(key, DEAD if key is RESULT else MISSING)
                found += form.flat(end) or []
        for key, (_, form) in self.objects.items():
            found += form.flat(self.contents[key][2]) or []
        return found

    def links(self) -> list[Links] | None:
        """What the params are made from in any turn; None if they have been taken for that, or
        nobody has asked.
        """
        if not self.asks:
            return None
        connections = self.trace.connections
        found = connections.carried(self.params, self.body, self._then())
        return None if connections.hold(self.params, found) else found

    def written(self, outside: dict[Any, Any]) -> Any:
        """Write the loop down, of forms that do not change any more; how it goes on behind it."""
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
