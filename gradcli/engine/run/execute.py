"""Programs made ready to run, running them, and telling where they failed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run import call, members, operators
from gradcli.engine.run.inputs import Given, Inputs
from gradcli.engine.run.messages import call_note, operand_label, shortened, turn_note
from gradcli.engine.run.own import Context, OwnFunction
from gradcli.engine.run.session import Session, kind_of
from gradcli.engine.run.text import format_value, text
from gradcli.engine.run.translate import FILENAME, Place, translate
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import Quiet
from gradcli.errors import (
    AssertionFailed,
    Diagnostic,
    GradError,
    Label,
    LimitError,
    counted,
    run_error,
)
from gradcli.ir import Apply, Call, DefineRule, Inplace, Input, Method, Program, SetItem, Slot
from gradcli.source import Source, Span

MOST_CALLS = 1000
"""How deeply functions may call each other."""


class Executable:
    """A program made ready to run any number of times.

    Raises:
        ProgramError: If the program is too large for Python's compiler.
    """

    def __init__(self, program: Program) -> None:
        code = translate(program)
        self.program = program
        self._code = code.code
        self._builtins = code.builtins
        self._binders = [(place.name, _binder(place)) for place in code.places]
        self._has_functions = any(
            isinstance(inner, CodeType)
            for main in self._code.co_consts
            if isinstance(main, CodeType)
            for inner in main.co_consts
        )

    def run(self, session: Session, given: Mapping[str, Given]) -> tuple[dict[str, Any], Any]:
        """Run the program once.

        Returns:
            The top-level names that have a value, with it, and the value of a last expression.

        Raises:
            GradError: Of the kind and at the place of what failed.
        """
        namespace = self._namespace(session, given)
        exec(self._code, namespace)  # code made by `translate`; it defines "@main"
        limit, collecting = sys.getrecursionlimit(), gc.isenabled()
        sys.setrecursionlimit(max(limit, _depth() + MOST_CALLS + 100))
        gc.disable()  # recording makes many objects and no cycles: collecting would triple its time
        try:
            with Quiet():
                values, result = namespace["@main"]()
        except Exception as error:
            raise self.placed(error) from None
        finally:
            sys.setrecursionlimit(limit)
            if collecting:
                gc.enable()
            if not self._has_functions:  # one that outlives the run needs what it calls
                namespace.clear()  # "@main" and the namespace hold each other
        named = {name: values[name] for name in self.program.names if name in values}
        return named, result

    def placed(self, error: Exception) -> Exception:
        """The error with the place in the program that was running, if it was: in a pass of the
        command that is an own derivative rule.
        """
        return _placed(error, self.program)

    def _namespace(self, session: Session, given: Mapping[str, Given]) -> dict[str, Any]:
        """What the code calls, bound to a run."""
        inputs = Inputs(given, self.program.source, session)
        namespace: dict[str, Any] = {
            "@bool": bool,
            "@function": FunctionType,
            "@locals": locals,
            "@slice": slice,
            "@text": lambda *parts: "".join(parts),
            "@truth": session.truth,
            "@iterate": session.iterate,
            "@watch": session.watch_computed,
            "@get": lambda value, name: _get(session, value, name),
            "@set": lambda value, name, new: _put(session, value, name, new),
            "@format": format_value,
            "@unpack": lambda value, n: _unpack(session, value, n),
            "@enter": lambda mode: _enter(session, mode),
            "@leave": lambda before: setattr(session, "recording", before),
            "@callee": lambda value: _callee(session, value),
            "@assertion": _assertion,
            "@needs": inputs.needs,
            "@size": inputs.size,
        }
        for name in self._builtins:
            namespace[f"@builtin {name}"] = builtin(name, session)
        for name, bind in self._binders:
            namespace[name] = bind(session, inputs)
        return namespace


def _depth() -> int:
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth


# --- what the code calls -------------------------------------------------------------------

Binder: TypeAlias = Callable[[Session, Inputs], Callable[..., Any]]
"""Makes the function that a place of the code calls in one run."""
Maker: TypeAlias = Callable[[Session, Site], Callable[..., Any]]
"""Makes the function of an operator at one place in one run."""


def _binder(place: Place) -> Binder:
    i: Any = place.instruction
    if isinstance(i, Input):
        return lambda session, inputs: lambda default: inputs.bind(i, default)
    if isinstance(i, DefineRule):
        spans = {method.name: method.span for method in i.methods}
        return lambda session, inputs: (
            lambda *methods: OwnFunction(i.name, methods, spans, inputs.source, session)
        )
    site = Site(i.span, place.variable)
    if isinstance(i, Apply):
        made = _operator(i.op, len(i.args) if not i.keywords else -1)
        return lambda session, inputs: made(session, site)
    if isinstance(i, Inplace):
        op, plain = ops[i.op], _operator(i.op, 2)
        return lambda session, inputs: call.inplace(op, session, site, plain(session, site))
    if isinstance(i, SetItem):
        return lambda session, inputs: (
            lambda receiver, index, value: operators.set_item(session, receiver, index, value, site)
        )
    assert isinstance(i, Method)
    name = i.name
    return lambda session, inputs: (
        lambda receiver, *args, **keywords: _method(session, site, receiver, name, args, keywords)
    )


def _operator(name: str, count: int) -> Maker:
    """For an operator, or for a built-in called with `count` arguments by place (-1: by name, too).
    Operators do more than the ops that they are named after: they know text, lists and tuples.
    """
    if name == "add" and count == 2:
        return _joining(call.way(ops.add, 2))
    if name in _OPERATORS and (count == 2 or name not in ops):
        return _OPERATORS[name]
    if name in ops:
        return call.way(ops[name], count)
    op = ops[name.removesuffix("_")]
    return lambda session, site: call.twin(op, session, site)


def builtin(name: str, session: Session) -> Any:
    """A built-in that stands as a value: a constant's value, or a function."""
    op = ops[name]
    if op.constant is not REQUIRED:
        return op.constant
    return call.function(op, session, None)


def _method(
    session: Session, site: Site, receiver: Any, name: str, args: Any, keywords: Any
) -> Any:
    if isinstance(receiver, OwnFunction):
        return receiver.method(name, site)(*args, **keywords)
    if isinstance(receiver, Context):
        return receiver.call(name, args)
    return members.call(session, site, receiver, name, args, keywords)


def _joining(numbers: Maker) -> Maker:
    """`+`, which joins text and tuples and adds anything else."""

    def made(session: Session, site: Site) -> Callable[[Any, Any], Any]:
        plain = numbers(session, site)

        def add(x: Any, y: Any) -> Any:
            if type(x) in _TEXTS or type(y) in _TEXTS:
                return operators.joined(x, y)
            return plain(x, y)

        return add

    return made


_TEXTS = frozenset({str, tuple, members.Size})

_OPERATORS: dict[str, Maker] = {
    "not": lambda session, site: lambda x: operators.negation(session, x),
    "is": lambda session, site: operators.identity,
    "is not": lambda session, site: lambda x, y: not operators.identity(x, y),
    "in": lambda session, site: lambda x, y: operators.membership(session, x, y),
    "not in": lambda session, site: lambda x, y: not operators.membership(session, x, y),
    "eq": lambda session, site: lambda x, y: operators.equality(session, x, y, site),
    "ne": lambda session, site: lambda x, y: operators.inequality(session, x, y, site),
    "getitem": lambda session, site: lambda x, i: operators.item(session, x, i, site),
}


def _callee(session: Session, value: Any) -> Callable[..., Any]:
    if callable(value):
        return value  # type: ignore[no-any-return]  # an own function, or a built-in's
    raise run_error("not-callable", f"{kind_of(value)} is not a function")


def _get(session: Session, value: Any, name: str) -> Any:
    if isinstance(value, Context):
        return value.get(name)
    if isinstance(value, OwnFunction):
        return value.method(name, None)
    return members.get(session, value, name)


def _put(session: Session, value: Any, name: str, new: Any) -> None:
    if isinstance(value, Context):
        value.fields[name] = new
    else:
        members.put(session, value, name, new)


def _unpack(session: Session, value: Any, n: int) -> Any:
    items = list(session.iterate(value))
    if len(items) != n:
        raise run_error("wrong-count", f"{len(items)} values cannot be unpacked into {n} names")
    return items


def _enter(session: Session, mode: str) -> bool:
    before = session.recording
    session.recording = session.transparent or mode == "enable_grad"
    return before


def _assertion(message: Any) -> GradError:
    said = "the assertion is false" if message is None else text(message)
    return AssertionFailed(Diagnostic("assertion-failed", said))


# --- where it failed -----------------------------------------------------------------------


def _placed(error: Exception, program: Program) -> Exception:
    """The error with the place in the program that was running."""
    frames = _frames(error.__traceback__)
    if not frames:
        return error
    frame, span = frames[-1][0], _span(frames[-1], program.source)
    known = _known(error, frame, span, program)
    if known is None:
        return error
    first, *others = known.diagnostics
    if first.span is not None:
        return known
    notes = [*first.notes, *_turns(frame, span, program.source)]
    notes += _callers(frames[:-1], program.source)
    placed = Diagnostic(
        first.code,
        first.message,
        program.source,
        span,
        labels=first.labels or _operands(frame, span, program),
        notes=notes,
        help=first.help,
    )
    return type(known)(placed, *others)


def _known(error: Exception, frame: FrameType, span: Span, program: Program) -> GradError | None:
    if isinstance(error, GradError):
        return error
    written = program.source.text[span.start : span.end]
    if isinstance(error, NameError):
        return run_error("used-before-assigned", f"`{written}` is used before it has a value")
    if isinstance(error, RecursionError):
        return LimitError(
            Diagnostic("recursion-limit", f"functions call each other more than {MOST_CALLS} deep")
        )
    if isinstance(error, MemoryError):
        return LimitError(Diagnostic("memory-limit", "there is not enough memory for this value"))
    if isinstance(error, TypeError):
        return _wrong_call(frame, span, program)
    return None


def _wrong_call(frame: FrameType, span: Span, program: Program) -> GradError | None:
    """The error for a call of an own function with the wrong arguments."""
    i = _instruction(program, span, Call)
    if not isinstance(i, Call) or not isinstance(i.function, Slot):
        return None
    value = _value(frame, i.function, program)
    if not isinstance(value, FunctionType):
        return None
    code = value.__code__
    names = code.co_varnames[: code.co_argcount]
    defaults = len(value.__defaults__ or ())
    required = len(names) - defaults
    takes = f"{required} to " if defaults else ""
    takes += counted(len(names), "argument")
    unknown = [k for k, _ in i.keywords if k not in names]
    message = (
        f"`{value.__name__}` has no parameter `{unknown[0]}`"
        if unknown
        else f"`{value.__name__}` takes {takes}, got {len(i.args) + len(i.keywords)}"
    )
    return run_error("wrong-arity", message, notes=(f"its parameters are {', '.join(names)}",))


Frame = tuple[FrameType, int]


def _frames(trace: TracebackType | None) -> list[Frame]:
    found = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            found.append((trace.tb_frame, trace.tb_lasti))
        trace = trace.tb_next
    return found


def _span(frame: Frame, source: Source) -> Span:
    positions = list(frame[0].f_code.co_positions())
    line, end_line, column, end_column = positions[frame[1] // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return Span(0, 0)
    return Span(source.offset(line, column + 1), source.offset(end_line, end_column + 1))


def _turns(frame: FrameType, span: Span, source: Source) -> list[str]:
    """In which turn of the loops around it a place failed, the innermost first."""
    notes = []
    for name, turn in frame.f_locals.items():
        if name.startswith("%turn "):
            start, end = map(int, name.split()[1:])
            if start <= span.start and span.end <= end and turn:
                line, _ = source.position(start)
                notes.append((start, turn_note(turn, line)))
    return [note for _, note in sorted(notes, reverse=True)]


def _callers(frames: list[Frame], source: Source) -> list[str]:
    lines = []
    for frame in reversed(frames):
        span = _span(frame, source)
        if not frame[0].f_code.co_name.startswith("%"):
            lines.append(call_note(source.position(span.start)[0]))
        lines += _turns(frame[0], span, source)
    return shortened(lines)


def _operands(frame: FrameType, span: Span, program: Program) -> tuple[Label, ...]:
    """What the operands of the failed op were, where they are written as names."""
    i = _instruction(program, span, Apply, Inplace)
    if isinstance(i, Inplace):
        operands: tuple[Any, ...] = (i.receiver, i.value)
    elif isinstance(i, Apply):
        operands = i.args
    else:
        return ()
    labels = []
    for operand in operands:
        if isinstance(operand, Slot):
            value = _value(frame, operand, program)
            if isinstance(value, (Tensor, list)) and not isinstance(value, Number):
                labels.append(operand_label(program.source, operand.span, value))
    return tuple(labels)


def _value(frame: FrameType, slot: Slot, program: Program) -> Any:
    name = program.variables.get(slot.index) or f"%{slot.index}"
    return frame.f_locals.get(name)


def _instruction(program: Program, span: Span, *kinds: type[Any]) -> Any:
    """The instruction of one of these kinds at a place."""
    stack: list[Any] = [program.main]
    while stack:
        record = stack.pop()
        if isinstance(record, kinds) and record.span == span:
            return record
        for name in ("body", "condition", "then", "orelse", "methods"):
            stack.extend(getattr(record, name, ()))
        function = getattr(record, "function", None)
        if hasattr(function, "body"):
            stack.append(function)
    return None
