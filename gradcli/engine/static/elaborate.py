"""Run a program on shapes and dtypes alone (abstract interpretation).

Every abstract value stands for all values that are possible there. The walk follows both sides of a
branch and merges their results. It follows a loop turn by turn while its turns are known, then by
fixed-point iteration. Unknown values raise no findings, so that each finding is a fault. An
operation that cannot work is an error if the program surely reaches it, else a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import Flag
from typing import Any, NamedTuple

from gradcli.cpython import NESTED, Room
from gradcli.engine.run.execution.inputs import Given, Inputs, misfit
from gradcli.engine.run.session.messages import turn_note
from gradcli.engine.static.calls import Calls
from gradcli.engine.static.facts import Facts, fact
from gradcli.engine.static.findings import Findings
from gradcli.engine.static.kinds import Each, Slots, State, reached
from gradcli.engine.static.lists import Lists, linked, same
from gradcli.engine.static.outside import outside
from gradcli.engine.static.steps import Steps
from gradcli.engine.static.transfer import Transfer
from gradcli.engine.static.value import (
    UNSURE,
    Value,
    constant,
    joined,
    made_float,
    number,
    placed,
    relinked,
    unknown,
)
from gradcli.errors import Diagnostic
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source, Span

_TURNS = 40  # of a loop that are followed one by one
_MOST_TURNS = 2000  # of all loops
_ROUNDS = 20  # passes over a loop's body until nothing of it counts as known
_MOST_ROUNDS = 1000  # of all loops in rounds of other loops, besides `_ROUNDS` for each


_LOOPS = (ir.While, ir.For)


class _Ways(Flag):
    """The ways that may lead out of a block."""

    NONE = 0
    ON = 1
    BREAK = 2
    NEXT = 4
    RETURN = 8


class Elaborated(NamedTuple):
    """The facts of a program's instructions, and the findings on the way."""

    facts: Facts
    findings: list[Diagnostic]


def elaborate(
    program: ir.Program,
    source: Source,
    given: Mapping[str, Given],
    varying: Sequence[str],
    asked: Collection[str],
    result: ir.Operand | None,
    most: int | None = None,
) -> Elaborated:
    """Walk a program with the known facts of its values.

    Args:
        program: The program.
        source: Its text.
        given: Values from outside by name; their shapes, dtypes and kinds count. The
            defaults stand for those that are missing.
        varying: Names that would be differentiated.
        asked: Those that the user has named; their ints become floats.
        result: The operand of the result; None if there is none.
        most: The number of instructions of main whose facts are wanted; None: those of all.

    Raises:
        InputError: If a value from outside does not fit its declaration.
    """
    walk = _Walk(program, source, given, varying, asked, Facts(program, most))
    with Room(NESTED):
        walk.program(result)
    return Elaborated(walk.facts, walk.findings.found)


def _may_be_object(i: ir.Instruction) -> bool:
    """True if an instruction makes a class or uses something of the library."""
    made = isinstance(i, ir.DefineClass)
    return made or any(isinstance(operand, ir.Imported) for operand in visit.operands(i))


def _unknown_after(body: ir.Body) -> State:
    """Unknown values for all slots that a block may write."""
    return {slot: unknown() for i in visit.instructions(body) for slot in visit.writes(i)}


class _Leaving(NamedTuple):
    """The states at which a turn of a loop is left by `break`, and those at its ends; the layer of
    that `depth` is the loop's.
    """

    breaks: list[State]
    ends: list[State]
    depth: int


class _Turn(NamedTuple):
    """A turn of a loop: its ways out, the states at its ends, at `break` and behind the test, and
    the test's truth.
    """

    ways: _Ways
    ends: list[State]
    breaks: list[State]
    tested: State
    truth: Any


def _has_values_only(turn: _Turn) -> bool:
    """True if a turn leaves no list, which the merging of its states would have changed."""
    states = (*turn.ends, *turn.breaks, turn.tested)
    return all(isinstance(value, Value) for state in states for value in state.values())


class _Walk:
    """One walk over a program. `findings` are in the order in which they were met."""

    def __init__(
        self,
        program: ir.Program,
        source: Source,
        given: Mapping[str, Given],
        varying: Sequence[str],
        asked: Collection[str],
        facts: Facts,
    ) -> None:
        self._program = program
        self._varying = frozenset(varying)
        self._asked = asked
        self.findings = Findings(program, given)
        self.facts = facts
        self._lists = Lists()
        objects = any(map(_may_be_object, visit.everything(program)))
        self._transfer = Transfer(self.findings, self._lists, objects=objects)
        self._calls = Calls(self._transfer, self._reaches_end)
        functions = visit.all_functions(program.main)
        self._shared = frozenset().union(*map(visit.written_around, functions))
        self._steps = Steps(self._transfer, self._calls, asked, self._shared)
        self._inputs = Inputs(given, source, self._transfer.session)
        self._followed = 0
        self._leaving: list[_Leaving] = []  # of the loops around
        self._place: tuple[Any, ...] = ()  # the loops, turns and calls around
        self._heads: dict[tuple[Any, ...], State] = {}  # found last, by the place of a loop
        loops = sum(isinstance(i, _LOOPS) for i in visit.everything(program))
        self._left = _MOST_ROUNDS + _ROUNDS * loops

    def program(self, result: ir.Operand | None) -> None:
        """Walk the program; then report the flat operations on the way to its result."""
        slots = Slots()
        try:
            self.block(self._program.main.body, slots)
        except RecursionError:  # lists too deep to follow: the findings so far hold
            self.facts.lose(visit.all_functions(self._program.main))
            return
        if self.findings.replaced:
            self.facts.lose(visit.all_functions(self._program.main))
        self.facts.lose(reached(self._lists.lost))
        if self._steps.exchanged:
            self.facts.lose_memories()
        if result is None:
            held = map(slots.get, self._program.names.values())
            ends = [value for value in held if value is not None]
        else:
            ends = [self._steps.read(result, slots)]
        self.findings.tell_flat(linked(ends))

    # --- findings ----------------------------------------------------------------------

    @contextmanager
    def _stretch(self, *, reached: bool) -> Iterator[None]:
        """Mark a part of the program that may not run, or may run several times."""
        since, self._lists.since = self._lists.since, self._lists.count
        self.findings.unsure += not reached
        yield
        self.findings.unsure -= not reached
        self._lists.since = since

    @contextmanager
    def _inside(self, *where: int) -> Iterator[None]:
        """Mark a loop, a turn of it or a call as around the present place."""
        around, self._place = self._place, (*self._place, where)
        yield
        self._place = around

    # --- instructions ------------------------------------------------------------------

    def block(self, body: Sequence[ir.Instruction], slots: Slots) -> _Ways:
        """Walk a block; return the ways out of it."""
        ways = _Ways.NONE
        for at, instruction in enumerate(body):
            found = self._do(instruction, slots)
            if _Ways.ON not in found:
                return ways | found
            if found is not _Ways.ON:  # the rest may not be reached
                with self._stretch(reached=False):
                    return ways | found & ~_Ways.ON | self.block(body[at + 1 :], slots)
        return ways | _Ways.ON

    def _reaches_end(self, body: ir.Body, slots: Slots) -> bool:
        """Walk a function's body; return true if it may end without a `return`."""
        with self._inside(self._lists.at):
            return _Ways.ON in self.block(body, slots)

    def _do(self, i: ir.Instruction, slots: Slots) -> _Ways:
        """Follow an instruction and note what is known there; return the ways out of it."""
        self._lists.at = id(i)
        if isinstance(i, _LOOPS):
            return self._loop(i, slots)
        if not self.facts.wants(i):
            return self._done(i, slots)
        taken = [fact(self._held(operand, slots)) for operand in visit.operands(i)]
        ways = self._done(i, slots)
        self.facts.note(i, taken, [fact(slots.get(slot)) for slot in visit.writes(i)])
        return ways

    def _held(self, operand: ir.Operand, slots: Slots) -> Any:
        """The value of an operand, as far as it is known."""
        if isinstance(operand, ir.Slot) and operand.index not in self._shared:
            return slots.get(operand.index)
        return self._steps.read(operand, slots)

    def _done(self, i: ir.Instruction, slots: Slots) -> _Ways:
        """Follow an instruction; unknown code has what it puts into a slot that functions share."""
        ways = self._way(i, slots)
        if self._shared:
            kept = self._shared.intersection(visit.writes(i))
            self._transfer.out_of_sight([slots.own[slot] for slot in kept if slot in slots.own])
        return ways

    def _way(self, i: ir.Instruction, slots: Slots) -> _Ways:
        match i:
            case ir.Operator() | ir.Apply() | ir.Copy() | ir.Watch():  # most are
                self._steps.do(i, slots)
            case ir.Branch():
                return self._branch(i, slots)
            case ir.Return():
                self._calls.gives(self._steps.read(i.value, slots))
                return _Ways.RETURN
            case ir.Break():
                loop = self._leaving[-1]
                loop.breaks.append(slots.since(loop.depth))
                return _Ways.BREAK
            case ir.Continue():
                loop = self._leaving[-1]
                loop.ends.append(slots.since(loop.depth))
                return _Ways.NEXT
            case ir.Mode():
                before = self._transfer.session.recording
                if i.mode != "kept":
                    self._transfer.session.recording = i.mode in ("enable_grad", "normal_mode")
                ways = self.block(i.body, slots)
                self._transfer.session.recording = before
                return ways
            case ir.Try():
                return self._attempt(i, slots)
            case ir.Raise():
                return _Ways.NONE
            case ir.Choice():
                slots.own[i.target] = placed(self._choice(i, slots), id(i))
            case ir.Input():
                self._input(i, slots)
            case _:
                self._steps.do(i, slots)
        return _Ways.ON

    def _input(self, i: ir.Input, slots: Slots) -> None:
        given = i.name in self._inputs.given
        if not given or i.type is None:  # else the default is not evaluated
            self.block(i.body, slots)
        seen = i.default is not None and (not given or i.type is None)
        default = self._steps.read(i.default, slots) if seen else None
        found = outside(i, self._inputs, self._varying, default)
        found = placed(made_float(found) if i.name in self._asked else found, id(i))
        slots.own[i.target] = found
        sizes = None if i.type is None else i.type[1]
        if sizes and not given and getattr(found, "shape", None) is not None:
            wrong = misfit(i.name, found.shape, sizes, self._inputs.sizes)
            if wrong is not None:
                self.findings.tell("shape-mismatch", wrong, i.span)
        for name, slot in i.sizes:
            known = self._inputs.sizes.get(name)
            slots.own[slot] = number("int64") if known is None else constant(known[0])

    # --- branches and loops ------------------------------------------------------------

    def _decided(self, value: Any, span: Span) -> Any:
        """The truth of a condition on which a branch or loop goes one way or another."""
        if self._transfer.session.recording and isinstance(value, Value) and value.link.varies:
            self.findings.warn(
                "branch-on-input",
                "a branch on a differentiated value: the gradient ignores a jump between its sides",
                span,
                "that is right where the sides meet; if they do not, no derivative is",
            )
        return self._transfer.truth(value, span)

    def _branch(self, i: ir.Branch, slots: Slots) -> _Ways:
        value = self._steps.read(i.test, slots)
        truth = self._decided(value, i.test.span)
        if truth is not UNSURE:
            return self.block(i.then if truth else i.orelse, slots)
        sides = []
        ways = _Ways.NONE
        for body in (i.then, i.orelse):
            slots.push()
            with self._stretch(reached=False):
                found = self.block(body, slots)
            changed = slots.pop()
            ways |= found
            if _Ways.ON in found:
                sides.append(changed)
        slots.own.update(self._any_of(sides, slots.get))
        return ways

    def _attempt(self, i: ir.Try, slots: Slots) -> _Ways:
        """Walk a `try`. Its body may end anywhere, so all that it writes is unknown where a handler
        begins, and faults in it are not reported.
        """
        sides = []
        met = [(len(loop.breaks), len(loop.ends)) for loop in self._leaving]
        ways = _Ways.NONE
        self.findings.silent += 1
        with self._stretch(reached=False):
            for start, *blocks in self._ways_through(i):
                slots.push()
                slots.own.update(start)
                for block in blocks:
                    found = self.block(block, slots)
                    ways |= found & ~_Ways.ON
                    if _Ways.ON not in found:
                        break
                else:
                    sides.append(dict(slots.own))
                slots.pop()
            self.findings.silent -= 1
            slots.own.update(self._any_of(sides, slots.get))
            last = self.block(i.last, slots)
        if i.last:
            self._blur(met, _unknown_after(i.last))
        if sides:
            return ways | last
        return ways | last & ~_Ways.ON

    def _ways_through(self, i: ir.Try) -> Iterator[tuple[Any, ...]]:
        """Yield the ways through a `try` up to its `finally`: the changes at its start, and the
        blocks that run.
        """
        yield {}, i.body, i.orelse
        start = _unknown_after(i.body)
        for handler in i.handlers:
            yield {**start, handler.target: unknown()}, handler.test, handler.body

    def _blur(self, met: Sequence[tuple[int, int]], changes: State) -> None:
        """Forget the values that a `finally` changes in the states in which loops were left on a
        way through it.
        """
        for loop, (breaks, ends) in zip(self._leaving, met, strict=True):
            for state in (*loop.breaks[breaks:], *loop.ends[ends:]):
                state.update(changes)

    def _choice(self, i: ir.Choice, slots: Slots) -> Any:
        """The value of a choice. The value of `and` or `or` depends on its test, so that a branch
        on it counts as a branch on all that the test depends on.
        """
        value = self._steps.read(i.test, slots)
        by_operator = i.kind != "if"
        truth = (self._transfer.truth if by_operator else self._decided)(value, i.test.span)
        if truth is not UNSURE:
            return self._side(i.then if truth else i.orelse, slots)
        states, found = [], []
        for body in (i.then, i.orelse):
            slots.push()
            with self._stretch(reached=False):
                found.append(self._side(body, slots))
            states.append(slots.pop())
        slots.own.update(self._any_of(states, slots.get))
        both = self._lists.all_merged(found)
        if by_operator and isinstance(both, Value) and isinstance(value, Value):
            link = joined((both.link, value.link.cut()))
            both = relinked(both, link)
        return both

    def _side(self, body: ir.Body, slots: Slots) -> Any:
        """The value that a block of a choice yields."""
        *steps, last = body
        assert isinstance(last, ir.Yield)
        self.block(steps, slots)
        return self._steps.read(last.value, slots)

    def _loop(self, i: ir.For | ir.While, slots: Slots) -> _Ways:
        """Follow a loop. Its changes stay on a layer of their own until it ends. The states of this
        and the next functions hold the changes since it began.
        """
        slots.push()
        ways = self._turns_of(i, slots)
        changed = slots.pop()
        slots.own.update(changed)
        return ways

    def _turns_of(self, i: ir.For | ir.While, slots: Slots) -> _Ways:
        """Follow a loop turn by turn as long as another turn is certain; then the rest of it."""
        through: Any = None
        if isinstance(i, ir.For):
            through = self._steps.read(i.iterable, slots)
            self._transfer.check_items(through, i.iterable.span)
            if isinstance(through, Each) and self._is_named(i.iterable):
                through = unknown(linked(through.parts))  # part of it may be consumed
        ways = _Ways.NONE
        exits: list[State] = []
        done = 0
        with ExitStack() as rest:
            while done < _TURNS and self._followed < _MOST_TURNS:
                if isinstance(i, ir.For):
                    item = self._transfer.nth(through, done)
                    truth = UNSURE if item is UNSURE else item is not None
                else:
                    item, truth = None, self._enters(i, slots)
                if truth is not True:
                    break
                done += 1
                self._followed += 1
                self.findings.way.append(turn_note(done, self.findings.line(i.span)))
                with self._inside(id(i), done):
                    turn = self._turn(i, item, slots, entered=True, repeated=False)
                self.findings.way.pop()
                ways |= turn.ways & _Ways.RETURN
                exits += turn.breaks
                if not turn.ends:
                    slots.own = self._any_of(exits, slots.under)
                    return ways | _Ways.ON if exits else ways
                slots.own = self._any_of(turn.ends, slots.under)
                if turn.breaks or _Ways.RETURN in turn.ways:
                    rest.enter_context(self._stretch(reached=False))
            ways |= self._rest(i, through, done, slots)
        if _Ways.ON in ways:
            exits.append(dict(slots.own))
        slots.own = self._any_of(exits, slots.under)
        return ways | _Ways.ON if exits else ways

    def _rest(self, i: ir.For | ir.While, through: Any, done: int, slots: Slots) -> _Ways:
        """Follow a loop by fixed-point iteration; then once more, to report findings. `done` is the
        number of items whose turns are followed.
        """
        item, turns = unknown(), None
        if isinstance(i, ir.For):
            item, turns = self._transfer.items(through)
            turns = None if turns is None else turns - done
        entered = turns > 0 if turns is not None else self._enters(i, slots)
        if entered is False:
            if isinstance(i, ir.While):
                self.block(i.condition, slots)
            return _Ways.ON
        with self._inside(id(i)):
            head, turn = self._settled(i, item, slots, entered=entered is True)
        exits = turn.breaks
        if isinstance(i, ir.While):
            exits = exits if turn.truth is True else [*exits, turn.tested]
        else:
            exits = [*exits, *turn.ends] if entered else [*exits, *turn.ends, head]
        slots.own = self._any_of(exits, slots.under)
        ways = turn.ways & _Ways.RETURN
        return ways | _Ways.ON if exits else ways

    def _settled(
        self, i: ir.For | ir.While, item: Any, slots: Slots, *, entered: bool
    ) -> tuple[State, _Turn]:
        """Follow a loop until the state at its head stays; return that state and a turn from it.

        The walk of an outer loop comes here again, with more and more possible. So it goes on from
        the state that it found last: to begin anew would double the work with every level.
        """
        for slot, found in self._heads.get(self._place, {}).items():
            held = slots.get(slot)
            if held is None or isinstance(held, Value):  # lists keep what they have come to hold
                slots.own[slot] = self._grown(held, found)
        first, lowest = self._lists.count, self._lists.oldest
        inner = self.findings.silent > 0
        self.findings.silent += 1
        last = None
        for _ in range(min(_ROUNDS, self._left)):
            self._left -= inner
            head = dict(slots.own)
            self._lists.oldest = first
            turn = self._turn(i, item, slots, entered=entered, repeated=True)
            after = self._any_of([head, *turn.ends], slots.under)
            held = {k: head[k] if k in head else slots.under(k) for k in after}
            slots.own = {k: held[k] if same(held[k], v) else v for k, v in after.items()}
            lowest = min(lowest, self._lists.oldest)
            if self._lists.oldest >= first and all(held[k] is v for k, v in slots.own.items()):
                last = turn
                break
        else:
            if self._left:
                self._lists.lose_all()
            else:
                self._lists.lose_forever()
            self._lists.lose(tuple(slots.own.values()))
            slots.own = dict.fromkeys(slots.own, unknown()) | _unknown_after([i])
        self.findings.silent -= 1
        self._lists.oldest = lowest
        head = dict(slots.own)
        self._heads[self._place] = {k: v for k, v in head.items() if isinstance(v, Value)}
        if last is None or not inner or not _has_values_only(last):
            last = self._turn(i, item, slots, entered=entered, repeated=True)
        return head, last

    def _grown(self, held: Value | None, found: Value) -> Value:
        """The facts that hold for the value in a slot, if there is one, and for another."""
        merged = found if held is None else self._lists.merged(held, found)
        return held if held is not None and same(held, merged) else merged

    def _turn(
        self, i: ir.For | ir.While, item: Any, slots: Slots, *, entered: bool, repeated: bool
    ) -> _Turn:
        """Follow one turn of a loop, which surely happens if `entered`. A `repeated` one stands for
        any turn.
        """
        breaks: list[State] = []
        ends: list[State] = []
        truth = UNSURE
        if isinstance(i, ir.While):
            with self._stretch(reached=True) if repeated else nullcontext():
                self.block(i.condition, slots)
                truth = self._decided(self._steps.read(i.test, slots), i.test.span)
        tested = dict(slots.own)
        if isinstance(i, ir.For):
            slots.own[i.target] = item
            self.facts.note(i, [fact(self._held(i.iterable, slots))], [fact(item)])
        else:
            self.facts.note(i, [fact(self._held(i.test, slots))], [])
        self._leaving.append(_Leaving(breaks, ends, slots.depth))
        with self._stretch(reached=entered) if repeated else nullcontext():
            ways = self.block(i.body, slots)
        self._leaving.pop()
        if _Ways.ON in ways:
            ends.append(dict(slots.own))
        return _Turn(ways, ends, breaks, tested, truth)

    def _enters(self, i: ir.For | ir.While, slots: Slots) -> Any:
        """True if a loop's body surely runs at least once; UNSURE if that is unknown."""
        if isinstance(i, ir.For):
            return UNSURE
        slots.push()
        self.findings.silent += 1
        with self._stretch(reached=False):
            self.block(i.condition, slots)
            truth = self._transfer.truth(self._steps.read(i.test, slots), i.test.span)
        self.findings.silent -= 1
        slots.pop()
        return truth

    def _is_named(self, operand: ir.Operand) -> bool:
        return isinstance(operand, ir.Slot) and operand.index in self._program.variables

    def _any_of(self, states: Sequence[State], held: Callable[[int], Any]) -> State:
        """The merge of states; a slot that is unchanged in one of them has its value of `held`
        there.
        """
        merged: State = {}
        for slot in dict.fromkeys(slot for state in states for slot in state):
            values = [state[slot] if slot in state else held(slot) for state in states]
            merged[slot] = self._lists.all_merged(value for value in values if value is not None)
        return merged
