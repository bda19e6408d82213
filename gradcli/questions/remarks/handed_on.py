"""Prove from a program's text that a value that is not finite reaches the answer.

A run that looks for the origin of nan can end at the first one if that is proven. The proof follows
the program from there on along every path: it knows the slots that certainly hold a value which is
not finite because of the first one. A sum, a product and the like hand it on; whatever the proof
does not know does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.questions.remarks.lost import hands_on, operation, stays_lost
from gradcli.record import Record
from gradcli.source import Span

Lost: TypeAlias = "bool | tuple[Lost, ...]"
"""True for a value that is certainly not finite, a tuple for the items of one, else False."""

State: TypeAlias = Mapping[int, Lost]
"""The slots that are lost, as a whole or in parts."""

Trail: TypeAlias = "list[tuple[Sequence[ir.Instruction], int]]"
"""The place of an instruction: blocks with indices in them, the outermost block first."""

_STEPS = 20_000
_CALLS = 20


class Place(Record):
    """A running function of the program, by its span (None for the main program), and the span of
    the call in it.
    """

    __slots__ = ("function", "span")
    function: Span | None
    span: Span


def reaches_answer(
    program: ir.Program,
    calls: Sequence[Place],
    instruction: ir.Instruction,
    of: str | None,
    lost: Iterable[int] = (),
) -> bool:
    """True if it is certain that the answer is not finite because the result of an instruction is
    not, which comes of the only such value that the run has made so far.

    Args:
        program: The program.
        calls: The running functions, the main program first; the last one runs the instruction.
        instruction: The instruction.
        of: The top-level name that is the answer; None for the program's result.
        lost: The `steady_slots` that have a value which is not finite at present.
    """
    answer = program.result if of is None else program.names.get(of)
    slot = answer.index if isinstance(answer, ir.Slot) else answer
    if type(slot) is not int or not stays_lost(program, instruction):
        return False
    try:
        return _any_lost(_Proof(program).end(calls, instruction, lost).get(slot, False))
    except _Unproven:
        return False


def _made_by(i: ir.Instruction, state: State) -> Lost:
    """True if an operation makes a value that is not finite, whatever its other operands."""
    done = operation(i)
    if done is None:
        return False
    op, given = done
    return any(
        _value(x, state) is True and hands_on(op, at, len(given)) for at, x in enumerate(given)
    )


def _any_lost(value: Lost) -> bool:
    return any(map(_any_lost, value)) if isinstance(value, tuple) else value


class _Unproven(Exception):
    """The proof does not know what an instruction does."""


class _Activation(Record):
    """A function on its way: what it may return, and what leaves its loops by `break` and
    `continue`, the innermost loop last.
    """

    __slots__ = ("returned", "loops")
    returned: list[Lost]
    loops: list[tuple[list[State], list[State]]]


class _Proof:
    def __init__(self, program: ir.Program) -> None:
        self._main = program.main
        self._functions: dict[int, ir.Function] = {}
        self._all = list(visit.all_functions(program.main))
        self._shared = frozenset().union(*map(visit.written_around, self._all))
        written = [slot for i in visit.everything(program) for slot in visit.writes(i)]
        for i in visit.everything(program):
            if isinstance(i, ir.Define) and written.count(i.target) == 1:
                self._functions[i.target] = i.function
        self._steps = _STEPS
        self._now = _Activation([], [])
        self._depth = 0

    def end(
        self, calls: Sequence[Place], instruction: ir.Instruction, slots: Iterable[int]
    ) -> State:
        """What is lost when the program has ended, of which these slots are lost at present."""
        inner: ir.Function | None = None
        lost: Lost = True
        for place in reversed(calls):
            function, at = self._function(place.function), instruction
            if inner is not None:
                at = self._call_of(inner, function, place.span)
            if not isinstance(at, (ir.Operator, ir.Augment, ir.Apply, ir.Call)):
                raise _Unproven
            self._now = _Activation([], [])
            begun: State = {}
            for slot in slots if function is self._main else ():
                begun = self._with(begun, slot, True)
            begun = self._with(begun, at.target, lost)
            state = self._rest(_trail(function.body, at), begun)
            lost, inner = self._result(state), function
        if inner is not self._main or state is None:
            raise _Unproven
        return state

    def _function(self, span: Span | None) -> ir.Function:
        if span is None:
            return self._main
        found = [f for f in self._all if f.span == span]
        if len(found) != 1 or visit.is_generator(found[0]):
            raise _Unproven
        return found[0]

    def _call_of(self, called: ir.Function, function: ir.Function, span: Span) -> ir.Instruction:
        """The only call at a place in a function, if it calls that other function."""
        found = [
            i
            for i in visit.instructions(function.body)
            if i.span == span and isinstance(i, ir.Call) and isinstance(i.function, ir.Slot)
        ]
        if len(found) != 1 or self._functions.get(_slot(found[0].function)) is not called:
            raise _Unproven
        return found[0]

    # --- the rest of a function ---------------------------------------------------------

    def _rest(self, trail: Trail, state: State | None) -> State | None:
        """What is lost at the end of a function that goes on after an instruction; None if the end
        is never reached.
        """
        around = [None, *(block[index] for block, index in trail[:-1])]
        self._now.loops.extend(([], []) for i in around if isinstance(i, (ir.For, ir.While)))
        for (block, index), container in zip(reversed(trail), reversed(around), strict=True):
            rest = block[index + 1 :]
            match container:
                case None | ir.Branch() | ir.Mode():
                    state = self._block(rest, state)
                case ir.Choice():
                    state = self._side(container, rest, state)
                case ir.For():
                    state = self._turns(container, self._block(rest, state))
                case ir.While() if block is container.body:
                    state = self._turns(container, self._block(rest, state))
                case ir.While():
                    tested = self._block(rest, state)
                    after = self._turns(container, self._block(container.body, tested))
                    state = _all_of([tested, after])
                case _:
                    raise _Unproven
        return state

    def _turns(self, loop: ir.For | ir.While, state: State | None) -> State | None:
        """What is lost after a loop, a turn of which has just ended, or was left before."""
        breaks, continues = self._now.loops.pop()
        head = _all_of([state, *continues])
        after = None if head is None else self._loop(loop, head)
        return _all_of([after, *breaks])

    def _loop(self, loop: ir.For | ir.While, head: State) -> State | None:
        """What is lost after a loop, from what is lost before each of its first turns."""
        while True:
            breaks: list[State] = []
            continues: list[State] = []
            begun: State | None = head
            if isinstance(loop, ir.While):
                begun = self._block(loop.condition, head)
                endless = isinstance(loop.test, ir.Const) and bool(loop.test.value)
                done = None if endless else begun
            else:
                begun, done = self._with(head, loop.target, False), head
            self._now.loops.append((breaks, continues))
            end = self._block(loop.body, begun)
            self._now.loops.pop()
            always = _all_of([head, end, *continues])
            if always == head or always is None:
                return _all_of([done, *breaks])
            head = always

    def _result(self, end: State | None) -> Lost:
        """What a function returns, if its end is reached with this state."""
        found = [*self._now.returned, *([] if end is None else [False])]
        result = found[0] if found else False
        for other in found[1:]:
            result = _both(result, other)
        return result

    # --- instructions -------------------------------------------------------------------

    def _block(self, body: Sequence[ir.Instruction], state: State | None) -> State | None:
        for i in body:
            if state is None:
                return None
            self._steps -= 1
            if self._steps < 0:
                raise _Unproven
            state = self._step(i, state)
        return state

    def _step(self, i: ir.Instruction, state: State) -> State | None:
        match i:
            case ir.Copy():
                return self._with(state, i.target, _value(i.value, state))
            case ir.Operator() | ir.Augment() | ir.Apply():
                return self._with(state, i.target, _made_by(i, state))
            case ir.Build() if i.kind == "tuple":
                items = tuple(_value(item, state) for item in i.items)
                return self._with(state, i.target, items if _any_lost(items) else False)
            case ir.Unpack():
                return self._unpacked(i, state)
            case ir.Call():
                return self._with(state, i.target, self._called(i, state))
            case ir.Branch():
                return _all_of([self._block(i.then, state), self._block(i.orelse, state)])
            case ir.Choice():
                return _all_of([self._side(i, side, state) for side in (i.then, i.orelse)])
            case ir.For() | ir.While():
                return self._loop(i, state)
            case ir.Mode():
                return self._block(i.body, state)
            case ir.Break():
                self._now.loops[-1][0].append(state)
                return None
            case ir.Continue():
                self._now.loops[-1][1].append(state)
                return None
            case ir.Return():
                self._now.returned.append(_value(i.value, state))
                return None
            case ir.Raise():
                return None
            case ir.Try() | ir.Emit() | ir.EmitAll():
                raise _Unproven
            case ir.SetItem() if _value(i.receiver, state):
                raise _Unproven
            case ir.Watch():
                return state
        for slot in visit.writes(i):
            state = self._with(state, slot, False)
        return state

    def _with(self, state: State, slot: int, value: Lost) -> State:
        """The state with a slot written; functions may write a shared one at any time."""
        if value is False or slot in self._shared:
            return {k: v for k, v in state.items() if k != slot} if slot in state else state
        return {**state, slot: value}

    def _side(
        self, choice: ir.Choice, body: Sequence[ir.Instruction], state: State | None
    ) -> State | None:
        """The state after one side of a choice, from some instruction of it on."""
        *before, last = body
        assert isinstance(last, ir.Yield)
        state = self._block(before, state)
        if state is None:
            return None
        return self._with(state, choice.target, _value(last.value, state))

    def _unpacked(self, i: ir.Unpack, state: State) -> State:
        value = _value(i.value, state)
        items = value if isinstance(value, tuple) and i.starred is None else ()
        if len(items) != len(i.targets):
            items = (False,) * len(i.targets)
        for slot, item in zip(i.targets, items, strict=True):
            state = self._with(state, slot, item)
        return state

    def _called(self, i: ir.Call, state: State) -> Lost:
        """What a function of the program returns that gets these arguments."""
        function = self._functions.get(_slot(i.function))
        given = [_value(a, state) for a in i.args]
        named = {name: _value(a, state) for name, a in i.keywords}
        if isinstance(i.function, ir.Imported) and any((*given, *named.values())):
            raise _Unproven  # it may change a tensor
        if function is None or not (any(given) or any(named.values())):
            return False
        if visit.is_generator(function) or any(p.kind for p in function.parameters):
            return False
        if self._depth >= _CALLS:
            raise _Unproven
        begun: State = {}
        for at, p in enumerate(function.parameters):
            lost = given[at] if at < len(given) else named.get(p.name, False)
            begun = self._with(begun, p.slot, lost)
        outside, self._now = self._now, _Activation([], [])
        self._depth += 1
        result = self._result(self._block(function.body, begun))
        self._depth -= 1
        self._now = outside
        return result


def _slot(operand: ir.Operand) -> int:
    return operand.index if isinstance(operand, ir.Slot) else -1


def _trail(body: Sequence[ir.Instruction], wanted: ir.Instruction) -> Trail:
    """The place of an instruction in a function."""
    found = next(_trails(body, wanted), None)
    if found is None:
        raise _Unproven
    return found


def _trails(body: Sequence[ir.Instruction], wanted: ir.Instruction) -> Iterator[Trail]:
    for at, i in enumerate(body):
        if i is wanted:
            yield [(body, at)]
        for block in visit.blocks(i):
            for inner in _trails(block, wanted):
                yield [(body, at), *inner]


def _value(operand: ir.Operand, state: State) -> Lost:
    return state.get(operand.index, False) if isinstance(operand, ir.Slot) else False


def _both(a: Lost, b: Lost) -> Lost:
    """What is lost in either case."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        items = tuple(map(_both, a, b))
        return items if _any_lost(items) else False
    return a is True and b is True


def _all_of(states: Sequence[State | None]) -> State | None:
    """What is lost on each of the paths that are taken; None if none is."""
    taken = [state for state in states if state is not None]
    if not taken:
        return None
    first, *others = taken
    for other in others:
        both = {slot: _both(value, other.get(slot, False)) for slot, value in first.items()}
        first = {slot: value for slot, value in both.items() if value}
    return first
