"""The steps of a run, for a trace of it: the instruction that recorded a node, its operands, and
the turns of loops and calls of functions around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, TypeAlias

from gradcli.engine.run.execution.observe import Event, Recorded, frames
from gradcli.engine.run.execution.tracebacks import span_of
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.record import Record
from gradcli.source import Source, Span

Made: TypeAlias = Any
"""The origin of an operand: a node and the index of its result, a list of such, or None."""

_MOST_ITEMS = 8  # of a list among the operands


class Around(Record):
    """A turn of a loop, or a call of a function, in which a step was done: the function's name, ""
    for a loop; the line of the loop, or of the call; and which turn, 0 for a call.
    """

    __slots__ = ("name", "line", "turn")
    name: str
    line: int
    turn: int


class Step(Record):
    """The instruction of an event that recorded something.

    Fields:
        instruction: None if a function of the engine was called as a value.
        span: Its place.
        operands: The places of its operands, and the ops that made these.
        around: The enclosing turns and calls, the outermost first.
    """

    __slots__ = ("instruction", "span", "operands", "around")
    instruction: ir.Instruction | None
    span: Span
    operands: tuple[tuple[Span, Made], ...]
    around: tuple[Around, ...]


class Steps(Recorded):
    """Collects the steps of a run."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._steps: dict[int, Step] = {}
        self._spans: dict[tuple[CodeType, int], Span] = {}

    def step(self, number: int) -> Step | None:
        """The step of an event; None if there is none, or it recorded nothing."""
        return self._steps.get(number)

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        operands = tuple(_operands(instruction, given))
        before = self.mark()
        out = super().event(number, instruction, given, done)
        if self.recorded_since(before):
            within = frames()
            span = self._span(within[-1]) if instruction is None else instruction.span
            around = tuple(self._around(within, span))
            self._steps[number] = Step(instruction, span, operands, around)
        return out

    def _around(self, within: Sequence[tuple[FrameType, int]], span: Span) -> Iterator[Around]:
        places = [*(self._span(frame) for frame in within[:-1]), span]
        for i, ((frame, _), place) in enumerate(zip(within, places, strict=True)):
            name = frame.f_code.co_name
            if i and not name.startswith(("%", "@")):
                yield Around(name, self._source.told(places[i - 1].start)[0], 0)
            loops = (
                (*map(int, key.split()[1:]), turn)
                for key, turn in frame.f_locals.items()
                if key.startswith("%turn ")
            )
            for start, end, turn in sorted(loops):
                if start <= place.start and place.end <= end and turn:
                    yield Around("", self._source.told(start)[0], turn)

    def _span(self, frame: tuple[FrameType, int]) -> Span:
        key = frame[0].f_code, frame[1]
        if key not in self._spans:
            self._spans[key] = span_of(frame, self._source)
        return self._spans[key]


def _operands(
    instruction: ir.Instruction | None, given: Sequence[Any]
) -> Iterator[tuple[Span, Made]]:
    """The ops that made the operands; for an in-place change those before it."""
    if instruction is None:
        return
    for operand, value in zip(visit.operands(instruction), given, strict=False):
        if isinstance(operand, ir.Slot):
            made = _made(value)
            if made is not None:
                yield operand.span, made


def _made(value: Any) -> Made:
    if isinstance(value, Tensor):
        try:
            node = node_of(value)
        except GradError:  # of a view that the program may not use either
            return None
        return None if node is None else (node, value.index)
    if type(value) is list and 0 < len(value) <= _MOST_ITEMS:
        items = [_made(item) for item in value]
        return items if any(item is not None for item in items) else None
    return None
