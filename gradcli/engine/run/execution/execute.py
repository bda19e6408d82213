"""Prepare programs to run, and run them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sized
from functools import cache, cached_property, partial
from types import FrameType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.cpython import LIBRARY, Room, Uncollected
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.counting import Counting, Stepping
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.code.pieces import Place
from gradcli.engine.run.code.translate import Code, translate
from gradcli.engine.run.execution.inputs import Given, Inputs
from gradcli.engine.run.fast import call
from gradcli.engine.run.fast.call import Function
from gradcli.engine.run.language import operators
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Node, Site
from gradcli.engine.tape.tensor import truth
from gradcli.engine.values.data import SEQUENCES, Quiet
from gradcli.engine.values.limits import QUESTION, Counters, Reached, joined_text, meter
from gradcli.engine.values.objects import Shown
from gradcli.errors import (
    AssertionFailed,
    DepthError,
    Diagnostic,
    GradError,
    LimitError,
    run_error,
)
from gradcli.ir import program as ir
from gradcli.source import Source, Span

if TYPE_CHECKING:
    from gradcli.engine.run.execution.observe import Observer

NOWHERE = Source("", "")
Main: TypeAlias = Callable[[Session, Inputs, Counters], tuple[dict[str, Any], Any]]


class Executable:
    """A program prepared for any number of runs.

    Raises:
        ProgramError: If the program is too large for Python's compiler.
    """

    def __init__(self, program: ir.Program) -> None:
        self.program = program

    @cached_property
    def _code(self) -> Code:
        return translate(self.program, Counting)

    @cached_property
    def _main(self) -> Main:
        return _linked(self._code, PROVIDED, bound_at)

    @cached_property
    def _stepping_code(self) -> Code:
        """The code for runs whose steps are limited."""
        return translate(self.program, Stepping)

    @cached_property
    def _stepping(self) -> Main:
        return _linked(self._stepping_code, PROVIDED, bound_at)

    def run(
        self, session: Session, given: Mapping[str, Given], observer: Observer | None = None
    ) -> tuple[dict[str, Any], Any]:
        """Run the program once. Only the session and the inputs differ between runs, so that
        several can run at the same time. An observer sees each event.

        Returns:
            The top-level names that have a value, with it, and the value of a last expression.

        Raises:
            GradError: Of the kind of the failure, at its place in the program.
        """
        inputs = Inputs(given, self.program.source, session)
        counters = session.counters
        main = self._stepping if counters.exact else self._main
        if observer is not None:
            from gradcli.engine.run.execution.observe import observed

            code = self._stepping_code if counters.exact else self._code
            main = _linked(code, *observed(observer, PROVIDED, bound_at))
            observer.begin()
        if self.program.library != "torch":
            from gradcli.engine.run.session.array_text import USUAL

            QUESTION.array_printing = USUAL[self.program.library]
        try:
            # collecting garbage while the graph grows would triple the time
            with Uncollected(), Quiet(), Room(counters.limits.depth + 100):
                values, result = main(session, inputs, counters)
        except Reached as stop:
            raise self.stopped(stop) from None
        except Exception as error:
            raise self.placed(error) from None
        finally:
            QUESTION.printing, QUESTION.array_printing = None, None
            QUESTION.default_dtype = "float64"
        named = {name: values[name] for name in self.program.names if name in values}
        return named, result

    def placed(self, error: Exception) -> Exception:
        """The error with the place in the program that was running, if it was: in a pass of the
        command that is an own derivative rule.
        """
        from gradcli.engine.run.execution.tracebacks import placed

        return placed(error, self.program)

    def stopped(self, stop: Reached) -> Exception:
        """The error for a run that was stopped from outside, with its place."""
        found = meter()
        found.seen = True
        assert found.reached is not None, "stopped without a reason"
        return self.placed(LimitError(found.reached).with_traceback(stop.__traceback__))

    def stuck(self, error: GradError, frame: FrameType) -> GradError:
        """The error for a run in a call that cannot be stopped, with its place."""
        from gradcli.engine.run.execution.tracebacks import placed_at

        return placed_at(frame, error, self.program)


def _linked(code: Code, provided: Mapping[str, Any], bound: Callable[[Place], Function]) -> Main:
    """The main function of a code, linked to the functions that it calls."""
    namespace: dict[str, Any] = {**provided, "__builtins__": {}}
    for name in code.constants:
        namespace[f"@constant {name}"] = ops[name].constant
    for place in code.places:
        namespace[place.name] = bound(place)
    if len(code.parts) == 1:
        return FunctionType(code.parts[0], namespace)

    def main(*run: Any) -> tuple[dict[str, Any], Any]:
        variables = {**namespace}  # each run has its own
        for part in code.parts:
            ended = FunctionType(part, variables)(*run)
        _, result = ended
        return variables, result

    return main


# --- functions that the code calls ---------------------------------------------------------


def bound_at(place: Place) -> Function:
    """The function that a place of the code calls."""
    return _function(place.instruction, Site(place.instruction.span, place.variable))


def _function(i: Any, site: Site | None) -> Function:
    """The function called for an instruction. A site of None means a place outside of programs."""
    match i:
        case ir.Operator():
            return operators.function(i.operator, len(i.args), site)
        case ir.Augment():
            return operators.update(i.operator, site)
        case ir.Apply():
            return call.bound(ops[i.op], i.arguments, site)
        case ir.Inplace():
            return call.twin(ops[i.op], i.arguments, site)
        case ir.CallBuiltin() if i.name in ops:
            return call.by_name(ops[i.name], site)
        case ir.CallBuiltin():
            return call.twin_by_name(ops[i.name.removesuffix("_")], site)
        case ir.SetItem():
            from gradcli.engine.run.fast.items import setter

            return setter(operators.set_item, site)
        case ir.Input():
            return lambda inputs, default: inputs.bind(i, default)
        case ir.DefineRule():
            from gradcli.engine.run.derivatives import own

            return lambda session, /, *given, **held: own.made(i, given, held, session)
        case ir.DefineClass():
            from gradcli.engine.run.session import classes

            return lambda session, /, *bases, **members: classes.made(i.name, bases, members)
        case ir.Format():
            from gradcli.engine.run.session.text import format_value

            return format_value
    return _behind_a_point(i, site)


def _behind_a_point(
    i: ir.Method | ir.SpreadMethod | ir.GetAttribute | ir.SetAttribute, site: Site | None
) -> Function:
    from gradcli.engine.run.language import attributes

    match i:
        case ir.GetAttribute():
            return attributes.getter(i.name)
        case ir.SetAttribute():
            return attributes.setter(i.name)
    return attributes.caller(i.name, site)


def _builtin(session: Session, name: str) -> Any:
    """A built-in function as a value, the same one throughout a run."""
    found = session.functions.get(name)
    if found is None:
        found = session.functions[name] = call.value(ops[name], session)
    return found


def _callee(session: Session, value: Any) -> Callable[..., Any]:
    if callable(value):
        return value  # type: ignore[no-any-return]  # an own function, or a built-in's
    from gradcli.engine.run.derivatives.own import OwnFunction

    if isinstance(value, OwnFunction):
        message = f"`{value.name}` is an own function and called by `apply`"
        raise run_error("not-callable", message, help=f"write `{value.name}.apply(...)`")
    if isinstance(value, Node):
        from gradcli.engine.run.derivatives.autograd import pulled

        return partial(pulled, session, value)
    if isinstance(value, Shown):
        from gradcli.engine.run.language import members

        return lambda *args, **named: members.call(session, None, value, "__call__", args, named)
    from gradcli.engine.values.refusals import not_callable

    raise not_callable(kind_of(value))


def imported(session: Session, path: str) -> Any:
    """The member of the library with a path, the same throughout a run."""
    if path not in session.functions:
        from gradcli.engine.run.session import exceptions, library
        from gradcli.engine.values.objects import Object

        file = library.file(path)
        if file is None:
            return Object if path == "object" else exceptions.named(path)
        package = path.rpartition(".")[0]
        values, _ = _of_library(file)(session, Inputs({}, NOWHERE, session), session.counters)
        for name, value in values.items():
            session.functions[f"{package}.{name}"] = value
    return session.functions[path]


def _silent(session: Session, path: str, start: int, end: int) -> Any:
    """A member of a library that only shows things, with one note about the first."""
    from gradcli.engine.run.language.pictures import leave_out

    leave_out(session.output, Site(Span(start, end), ""))
    return imported(session, path)


@cache
def _of_library(file: str) -> Main:
    """The main function of a file of the library, which has no places in the program."""
    from gradcli.engine.run.session import library

    code = translate(library.program(file), Stepping, LIBRARY)
    return _linked(code, PROVIDED, lambda place: _function(place.instruction, None))


def _super(owner: Any, receiver: Any) -> Any:
    from gradcli.engine.run.session import classes

    return classes.behind(owner, receiver)


def _caught(counters: Counters, error: Exception | GeneratorExit, depth: int) -> Any:
    from gradcli.engine.run.session import exceptions

    seen = exceptions.seen(error)
    counters.depth = depth
    return seen


def _delete_attribute(receiver: Any, name: str) -> None:
    from gradcli.engine.run.language import attributes

    attributes.delete(receiver, name)


def _matches(exception: Any, kinds: Any) -> bool:
    from gradcli.engine.run.session import exceptions

    return exceptions.matches(exception, kinds)


def _raised(value: Any) -> BaseException:
    from gradcli.engine.run.session import exceptions

    return exceptions.raised(value)


def _unpack(session: Evaluator, value: Any, n: int) -> Any:
    if type(value) in SEQUENCES and len(value) == n:
        return value
    found = session.iterate(value)
    if not isinstance(found, Sized) or len(found) == n:
        found = session.items(found)
        if len(found) == n:
            return found
    if isinstance(value, Shown):
        found = value.spread(n)
        if len(found) == n:
            return found
    from gradcli.engine.values.refusals import wrong_count

    raise wrong_count(len(found), n)


def _spread(session: Evaluator, value: Any, n: int, starred: int) -> list[Any]:
    """The items for `n` targets. The target at `starred` takes the list of the remaining items."""
    items = session.items(value)
    left = len(items) - n + 1
    if left < 0:
        from gradcli.engine.values.refusals import too_few

        raise too_few(len(items), n - 1)
    return [*items[:starred], items[starred : starred + left], *items[starred + left :]]


def _enter(session: Session, mode: str) -> Any:
    before = session.recording
    if mode == "kept":
        return before, session.passes.duals, session.passes.anomaly
    recorded = mode == "normal_mode" or (mode == "enable_grad" and not session.inference.on)
    session.recording = session.transparent or recorded
    if mode not in ("inference_mode", "normal_mode") or session.transparent:
        return before
    outside, session.inference.on = session.inference.on, mode == "inference_mode"
    return before, outside


def _leave(session: Session, before: Any) -> None:
    if type(before) is tuple and len(before) == 2:
        before, session.inference.on = before
    elif type(before) is tuple:
        before, session.passes.duals, session.passes.anomaly = before
    session.recording = before


def _through(
    session: Session, mode: str, before: bool, items: Iterable[Any]
) -> Generator[Any, Any, tuple[Any, bool]]:
    """`yield from items` in a frame with a mode of its own; returns the value of the generator that
    it goes through, and the caller's mode at the end.
    """
    it = iter(items)
    step: Callable[[], Any] = partial(next, it)
    while True:
        try:
            item = step()
        except StopIteration as end:
            return end.value, before
        _leave(session, before)
        try:
            got = yield item
        except GeneratorExit:
            if isinstance(it, GeneratorType):
                it.close()
            raise
        except Exception as error:
            if not isinstance(it, GeneratorType):
                raise
            step = partial(it.throw, error)
        else:
            step = partial(next, it)
            if got is not None and isinstance(it, GeneratorType):
                step = partial(it.send, got)
        finally:
            before = _enter(session, mode)


def _assertion(message: Any) -> GradError:
    from gradcli.engine.run.session.text import text

    said = "the assertion is false" if message is None else text(message)
    error = AssertionFailed(Diagnostic("assertion-failed", said))
    error.raises = AssertionError() if message is None else AssertionError(message)
    return error


PROVIDED: dict[str, Any] = {
    "@bool": bool,
    "@function": FunctionType,
    "@locals": locals,
    "@truth": truth,
    "@iterate": Session.iterate,
    "@watch": lambda session, *named: session.watched.watch_computed(session, *named),
    "@builtin": _builtin,
    "@callee": _callee,
    "@slice": slice,
    "@text": lambda *parts: joined_text("", parts),
    "@unpack": _unpack,
    "@spread": _spread,
    "@items": Session.items,
    "@more": Session.more,
    "@delete": operators.delete_item,
    "@delete_attribute": _delete_attribute,
    "@enter": _enter,
    "@leave": _leave,
    "@through": _through,
    "@assertion": _assertion,
    "@imported": imported,
    "@silent": _silent,
    "@super": _super,
    "@exception": (Exception, GeneratorExit),
    "@deep": DepthError,
    "@end": (Reached, LimitError),
    "@caught": _caught,
    "@matches": _matches,
    "@raised": _raised,
    "@needs": Inputs.needs,
    "@size": Inputs.size,
    "@out_of_steps": Counters.out_of_steps,
    "@too_deep": Counters.too_deep,
}
"""Functions that the code calls at any place."""
