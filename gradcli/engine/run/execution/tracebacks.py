"""The place where a run failed: its operands, and the turns and calls around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import FrameType, TracebackType
from typing import Any

from gradcli.cpython import PROGRAM
from gradcli.engine.run.code.functions import function_span, place_of
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.code.translate import PART
from gradcli.engine.run.execution.inputs import Given, Inputs, missing_input
from gradcli.engine.run.execution.operand_notes import Remarks, instruction_at, remarks
from gradcli.engine.run.session.messages import call_note, shortened, turn_note
from gradcli.engine.run.session.text import repr_text
from gradcli.engine.run.session.wrong_calls import misfit, part_of, wrong_call
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values import refusals
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.objects import Object
from gradcli.errors import DepthError, Diagnostic, GradError, Label, LimitError, run_error
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source, Span

_MOST_VALUES = 12


def placed(error: Exception, program: ir.Program) -> Exception:
    """The error with the place in the program that was running, if it was: in a pass of the command
    that is an own derivative rule.
    """
    frames = _frames(error.__traceback__)
    if isinstance(error, GradError) and error.diagnostics[0].span is not None:
        return _at_function(error, frames, program)
    if not frames:
        return refusals.too_many_dimensions(error) or error
    if len(frames) > 1 and _at_start(frames[-1], program.source):
        del frames[-1]  # a call that is refused as such: its place is where it stands
    frame, span = frames[-1][0], span_of(frames[-1], program.source)
    called = error.__traceback__ is not None and _last(error.__traceback__) is frame
    known = _known(error, frame, span, program, called)
    return error if known is None else _located(known, frames, program)


def placed_at(frame: FrameType, error: GradError, program: ir.Program) -> GradError:
    """The error with the place in the program where a thread is."""
    frames: list[Frame] = []
    at: FrameType | None = frame
    while at is not None:
        if at.f_code.co_filename == PROGRAM:
            frames.append((at, at.f_lasti))
        at = at.f_back
    return _located(error, frames[::-1], program) if frames else error


def _located(known: GradError, frames: list[Frame], program: ir.Program) -> GradError:
    """The error at the innermost of some frames, with its turns and the calls that led to it."""
    frame, span = frames[-1][0], span_of(frames[-1], program.source)
    first, *others = known.diagnostics
    notes = [*first.notes, *turns(frame, span, program.source)]
    notes += callers(frames[:-1], program.source)
    said = Remarks(first.message, first.span or span, first.labels, first.help)
    if first.span is None and not first.labels:
        said = remarks(first, program, span, _operands(frame, span, program), _given(frames[0][0]))
    placed = Diagnostic(
        first.code,
        said.message,
        program.source,
        said.span,
        labels=said.labels,
        notes=notes,
        help=said.help,
    )
    made = type(known)(placed, *others)
    if isinstance(made, LimitError):
        made.last = tuple(_last_values(frame))
    return made


def _at_function(error: GradError, frames: list[Frame], program: ir.Program) -> GradError:
    """An error that is at the place of a function, with the calls that led to it."""
    first = error.diagnostics[0]
    if first.source is None and first.span is not None:
        function = _function(first.span, program)
        part = None if function is None else part_of(function, first.label)
        first.source = program.source
        first.span = _first_line(first.span, program)
        first.labels = () if part is None else (Label(part, first.label),)
        first.label = ""
        first.notes = (*first.notes, *callers(frames, program.source))
    return error


def _function(place: Span | None, program: ir.Program) -> ir.Function | None:
    """The function of the program that is written at a place."""
    functions = visit.all_functions(program.main)
    return next((f for f in functions if f.span == place), None)


def _first_line(span: Span, program: ir.Program) -> Span:
    """The first line of the text at a span, after decorators."""
    start = span.start
    for line in program.source.text[span.start : span.end].splitlines(keepends=True):
        if not line.lstrip().startswith("@"):
            start += len(line) - len(line.lstrip())
            return Span(start, start + len(line.strip()))
        start += len(line)
    return span


def _known(
    error: Exception, frame: FrameType, span: Span, program: ir.Program, called: bool
) -> GradError | None:
    """The error as one of the program's, if it is. `called` is true if the error occurred where the
    program called a function of the engine, not inside that function.
    """
    if isinstance(error, GradError):
        return error
    if isinstance(error, Object):
        from gradcli.engine.run.session.exceptions import Thrown, unhandled

        assert isinstance(error, Thrown)
        return unhandled(error)
    written = program.source.text[span.start : span.end]
    if isinstance(error, NameError):
        if any(i.name == written and not i.needed for i in program.inputs):
            return missing_input(written)
        return refusals.unassigned(written)
    if isinstance(error, RecursionError):
        message = "functions call each other, or values hold each other, too deeply to go on"
        return DepthError(Diagnostic("recursion-limit", message))
    if isinstance(error, MemoryError):
        return LimitError(Diagnostic("memory-limit", "there is not enough memory for this value"))
    if isinstance(error, RuntimeError) and "changed size" in str(error):
        message = "the dictionary or set is changed during iteration"
        return run_error("bad-argument", message, help="iterate over `list(...)` of it")
    if isinstance(error, TypeError):
        from gradcli.engine.run.session.classes import misfit_within

        wrong = _wrong_call(frame, span, program) if called else None
        if (found := wrong or misfit_within(error)) is not None:
            return found
    if isinstance(error, (TypeError, ValueError)):
        from gradcli.engine.run.session.classes import returned

        if (wrong := returned(error)) is not None:
            return wrong
    return refusals.too_many_dimensions(error)


def _wrong_call(frame: FrameType, span: Span, program: ir.Program) -> GradError | None:
    """The error for a call of an own function with the wrong arguments."""
    i = instruction_at(program, span, ir.Call, ir.SpreadCall)
    if not isinstance(i, (ir.Call, ir.SpreadCall)) or not isinstance(i.function, ir.Slot):
        return None
    function = _function(place_of(value_of(frame, i.function.index, program)), program)
    if function is None:
        return None
    if isinstance(i, ir.Call):
        return wrong_call(i, function, program.source.text)
    given = [
        value_of(frame, o.index, program) for o in (i.args, i.keywords) if isinstance(o, ir.Slot)
    ]
    spans = [i.span] * len(given[0])
    by_name = [name for named in given[1:] for name in named]
    return misfit(i, spans, by_name, function, program.source.text)


Frame = tuple[FrameType, int]


def _frames(trace: TracebackType | None) -> list[Frame]:
    found = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == PROGRAM:
            found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _last(trace: TracebackType) -> FrameType:
    """The innermost frame of an error."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame


def span_of(frame: Frame, source: Source) -> Span:
    """The place in the program of a frame of its code."""
    positions = list(frame[0].f_code.co_positions())
    line, end_line, column, end_column = positions[frame[1] // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return Span(0, 0)
    return Span(source.offset(line, column + 1), source.offset(end_line, end_column + 1))


def _last_values(frame: FrameType) -> Iterator[str]:
    """The values of the variables of a function, one note each for the first ones."""
    shared = frame.f_globals if frame.f_code.co_name == PART else {}  # variables of a large program
    variables = {**shared, **frame.f_locals, "__builtins__": len}
    named = {n: v for n, v in variables.items() if n.isidentifier() and not callable(v)}
    for name, value in [*named.items()][:_MOST_VALUES]:
        if (isinstance(value, Tensor) and value.ndim == 0) or type(value) in NUMBERS:
            yield f"`{name}` was {repr_text(value)}"
        else:
            yield f"`{name}` was {kind_of(value)}"


def _at_start(frame: Frame, source: Source) -> bool:
    """True if a call of a function of the program has not reached its body."""
    return function_span(frame[0].f_code.co_consts[0]) == span_of(frame, source)


def turns(frame: FrameType, span: Span, source: Source) -> list[str]:
    """The turns of the enclosing loops in which a place failed, the innermost first."""
    notes = []
    for name, turn in frame.f_locals.items():
        if name.startswith("%turn "):
            start, end = map(int, name.split()[1:])
            if start <= span.start and span.end <= end and turn:
                notes.append((start, turn_note(turn, source.line_name(start))))
    return [note for _, note in sorted(notes, reverse=True)]


def callers(frames: list[Frame], source: Source) -> list[str]:
    """The places from which the running functions were called, the innermost first."""
    lines = []
    for frame in reversed(frames):
        span = span_of(frame, source)
        if not frame[0].f_code.co_name.startswith("%"):
            lines.append(call_note(source.line_name(span.start)))
        lines += turns(frame[0], span, source)
    return shortened(lines)


def _operands(frame: FrameType, span: Span, program: ir.Program) -> list[tuple[ir.Operand, Any]]:
    """The operands of the failed op that are names, with their values."""
    i = instruction_at(program, span, ir.Operator, ir.Augment, ir.Apply, ir.Inplace, ir.CallBuiltin)
    if isinstance(i, ir.CallBuiltin):
        operands: Iterable[ir.Operand] = i.args
    else:
        operands = () if i is None else visit.operands(i)
    return [(o, value_of(frame, o.index, program)) for o in operands if isinstance(o, ir.Slot)]


def _given(main: FrameType) -> Mapping[str, Given]:
    """The values from outside of the run whose main function this is."""
    inputs = main.f_locals.get("@inputs")
    return inputs.given if isinstance(inputs, Inputs) else {}


def value_of(frame: FrameType, slot: int, program: ir.Program) -> Any:
    """The present value of a slot of the function that a frame runs; None if it has none."""
    name = program.variables.get(slot) or f"%{slot}"
    return frame.f_locals.get(name, frame.f_globals.get(name))  # of a large program
