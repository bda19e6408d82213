"""Observe a run op by op, to explain another run: what happened at an op, and where the program
was then.

An event is a call that the program makes at one of its places. Events are numbered from 1 in the
order in which they begin, and have the same numbers in each run of a program by the same values:
one run finds out which event is meant, the next one describes it. Compiled code can count events,
too.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial, wraps
from types import FrameType, FunctionType
from typing import Any

from gradcli.cpython import PROGRAM
from gradcli.engine.run.code.pieces import Place
from gradcli.engine.run.execution.tracebacks import callers, span_of, turns
from gradcli.engine.run.fast.call import Function
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.run.session.messages import value_label
from gradcli.engine.tape.graph import Node, clock
from gradcli.errors import Label
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.ir.signature import written
from gradcli.record import Record
from gradcli.source import Source, Span

Event = Callable[[], Any]
"""Runs the instruction of an event and returns its result."""


class Observer:
    """Gets each event of a run."""

    def __init__(self) -> None:
        self.events = 0

    def observed(
        self, function: Callable[..., Any], instruction: ir.Instruction | None = None
    ) -> Callable[..., Any]:
        """The function that the code calls at a place, first with the run, wrapped so that its
        calls are events; the instruction is None if a function of the engine is called as a value.
        """

        def call(run: Any, *args: Any, **keywords: Any) -> Any:
            self.events += 1
            given = (*args, *keywords.values())
            out = self.event(
                self.events, instruction, given, lambda: function(run, *args, **keywords)
            )
            return self._followed(out) if type(out) is FunctionType else out

        return call

    def _followed(self, function: FunctionType) -> Callable[..., Any]:
        """A function that the engine has made, as by `grad(f)`, observed when it is called."""
        if function.__code__.co_filename == PROGRAM:
            return function
        seen = self.observed(_without_run(function))
        return wraps(function)(lambda *args, **keywords: seen(None, *args, **keywords))

    def begin(self) -> None:
        """Called when a run begins."""

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        """The result of an event with these arguments."""
        raise NotImplementedError


def observed(
    observer: Observer, provided: Mapping[str, Any], bound: Callable[[Place], Function]
) -> tuple[Mapping[str, Any], Callable[[Place], Function]]:
    """The functions that the code calls at any place, and those that it calls at each, wrapped so
    that the observer gets their events.
    """
    functions: dict[str, Any] = {}

    def builtin(session: Any, name: str) -> Any:
        if name not in functions:
            plain = provided["@builtin"](session, name)
            seen = observer.observed(_without_run(plain))
            functions[name] = wraps(plain)(lambda *args, **keys: seen(session, *args, **keys))
        return functions[name]

    def callee(session: Any, value: Any) -> Any:
        return partial(
            observer.observed(_without_run(provided["@callee"](session, value))), session
        )

    def at_place(place: Place) -> Function:
        function = bound(place)
        seen = isinstance(place.instruction, _SEEN)
        return observer.observed(function, place.instruction) if seen else function

    watch = observer.observed(provided["@watch"])
    return {**provided, "@builtin": builtin, "@callee": callee, "@watch": watch}, at_place


_SEEN = (
    *(ir.Operator, ir.Augment, ir.Apply, ir.Inplace, ir.CallBuiltin, ir.Method),
    *(ir.GetAttribute, ir.SetItem, ir.Input),
)


def _without_run(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda run, *args, **keywords: function(*args, **keywords)


class Recorded(Observer):
    """At which event each node of the graph was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._ends = array("q")  # the number of a node, up to which those since the last one ...
        self._numbers = array("q")  # ... were recorded at this event
        self._open = [0]

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        self._note(self._open[-1])
        self._open.append(number)
        out = done()
        self._note(self._open.pop())
        return out

    def mark(self) -> tuple[int, int]:
        """The present moment, for `recorded_since`."""
        return clock(), len(self._ends)

    def recorded_since(self, mark: tuple[int, int]) -> bool:
        """True if any node was recorded between a moment and the end of the last event."""
        number, noted = mark
        return self._ends[-1] - number > len(self._ends) - noted

    def _note(self, number: int) -> None:
        self._ends.append(clock())
        self._numbers.append(number)

    def of(self, node: Node) -> int:
        """The event at which a node was recorded; 0 if at none."""
        at = bisect_left(self._ends, node.seq)
        return self._numbers[at] if at < len(self._numbers) else 0


class Ended(BaseException):
    """Ends a run of which the rest is not needed; the program cannot catch it."""


class UntilNode(Recorded):
    """Ends the run at the event at which a node was recorded.

    Args:
        count: The number of the node, counted from the beginning of a run.

    Fields:
        found: The event, once it is known; 0 if it was at none.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self.found = 0
        self._until = count

    def begin(self) -> None:
        self._until += clock()

    def _note(self, number: int) -> None:
        self._until += 1  # this call of the clock
        if clock() >= self._until:
            self.found = number
            raise Ended


class Moment(Record):
    """The state of the program at an event.

    Fields:
        instruction: None if a function of the engine was called as a value.
        span: Its place.
        operands: Its operands that are not constants.
        made: Its result.
        turns: The turns of the enclosing loops, the innermost first, with the calls between.
    """

    __slots__ = ("instruction", "span", "operands", "made", "turns")
    instruction: ir.Instruction | None
    span: Span
    operands: tuple[Label, ...]
    made: Any
    turns: tuple[str, ...]

    def name(self, source: Source) -> str:
        """The op or method of the event, as the program writes it."""
        match self.instruction:
            case ir.Operator() as i if (i.operator, len(i.args)) in OPS:
                return OPS[i.operator, len(i.args)]
            case ir.Augment() as i:
                return OPS[i.operator, 2]
            case ir.Apply() as i:
                return written(i.op)
            case ir.Inplace() as i:
                return f"{i.op}_"
            case ir.CallBuiltin() | ir.Method() | ir.GetAttribute() as i:
                return written(i.name)
        text = source.text[self.span.start : self.span.end]
        return text.partition("\n")[0][:40]


class Moments(Observer):
    """The state of the program at some events, with copies of the operands at that time."""

    def __init__(self, wanted: Collection[int], source: Source) -> None:
        super().__init__()
        self.found: dict[int, Moment] = {}
        self._wanted = wanted
        self._source = source

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        if number not in self._wanted:
            return done()
        finished = present(instruction, given, self._source)
        out = done()
        self.found[number] = finished(out)
        return out


def present(
    instruction: ir.Instruction | None, given: Sequence[Any], source: Source
) -> Callable[[Any], Moment]:
    """The present moment, in which an event with these arguments runs; a function of its result."""
    within = frames()
    innermost, *_ = reversed(within)
    span = span_of(innermost, source) if instruction is None else instruction.span
    notes = (*turns(innermost[0], span, source), *callers(within[:-1], source))
    operands = tuple(_labels(instruction, given, source))
    return lambda out: Moment(instruction, span, operands, out, notes)


def frames() -> list[tuple[FrameType, int]]:
    """The running functions of the program, from the outermost to the innermost one."""
    found = []
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == PROGRAM:
            found.append((frame, frame.f_lasti))
        frame = frame.f_back
    return found[::-1]


def _labels(
    instruction: ir.Instruction | None, given: Sequence[Any], source: Source
) -> Iterator[Label]:
    """The values of the operands, each at its place; constants are left out, as the text shows
    them.
    """
    if instruction is None:
        return
    told = set()
    for operand, value in zip(visit.operands(instruction), given, strict=False):
        text = source.text[operand.span.start : operand.span.end]
        if isinstance(operand, ir.Slot) and text not in told:
            told.add(text)
            label = value_label(source, operand.span, value)
            if label is not None:
                yield label
