"""Why an answer is nan or infinite: the program runs again, observed, to tell where that began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FunctionType
from typing import Any, TypeAlias

from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.report.nonfinite import first_slope
from gradcli.engine.report.values import is_finite
from gradcli.engine.run.code.functions import function_span
from gradcli.engine.run.code.translate import MAIN
from gradcli.engine.run.execution.node_moment import AtNode, place_of
from gradcli.engine.run.execution.nonfinite_origins import IsLost, Origins, is_backward
from gradcli.engine.run.execution.observe import (
    Ended,
    Event,
    Moment,
    Moments,
    Observer,
    Recorded,
    UntilNode,
    frames,
    present,
)
from gradcli.engine.run.execution.tracebacks import span_of, value_of
from gradcli.engine.run.session.messages import short
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, np
from gradcli.errors import Diagnostic, GradError
from gradcli.ir.program import Input, Instruction
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.seeds import cotangent_of, even_cotangent
from gradcli.source import Source, Span

IsAnswers: TypeAlias = Callable[[Instruction, IsLost], bool]
"""True if the origin of the result of an instruction that has just run is that of the answer."""


def explained(
    loaded: Loaded,
    request: Request,
    done: Done,
    output: Any,
    watch: Watch,
    paths: Paths | None,
) -> Diagnostic:
    """The warning about a result that is not finite, or a finite one with such a derivative.

    Args:
        loaded: The program.
        request: The question.
        done: Its finished run.
        output: The result.
        watch: What that run watched.
        paths: The paths from the points to the result, if it was differentiated.
    """
    of, again = request.of, _Again(loaded, request, done, watch)
    if is_finite(output):
        return again.told("the derivative", lambda: again.slope(output, paths))
    again.recording = again.recording and loaded.sees_recording  # values need no graph
    value = lambda d: d.result if of is None else d.values[of]  # noqa: E731
    return again.value("the result", value, again.hands_on)


def explained_gradient(loaded: Loaded, request: Request, done: Done, name: str) -> Diagnostic:
    """The warning about a gradient that the program has left at a top-level name."""
    again = _Again(loaded, request, done, Watch(()))
    gradient = lambda done: done.values[name].grad  # noqa: E731
    return again.value(f"the gradient of `{name}`", gradient, lambda i, is_lost: False)


class _Again:
    """Runs of a program that are as the finished one was, but silent."""

    def __init__(self, loaded: Loaded, request: Request, done: Done, watch: Watch) -> None:
        self.loaded = loaded
        self.request = request
        self.options = done.silent(request.options.limits)
        self.first = done
        self.watch = watch
        self.recording = done.session.recording

    def done(self, watch: Watch, observer: Observer) -> Done:
        """One such run."""
        return self.loaded.execute(
            self.request.inputs, self.options, watch, observer, recording=self.recording
        )

    def told(self, what: str, find: Callable[[], Diagnostic | None]) -> Diagnostic:
        """The explained warning; a short one without `explain`, or if the observed run fails."""
        found = None
        try:
            if self.request.options.explain:
                found = find()
        except GradError:
            pass
        return found or _warning(self.loaded, f"{what} is not finite", Span(0, 0))

    def value(self, what: str, of: Callable[[Done], Any], is_answers: IsAnswers) -> Diagnostic:
        """The warning that says where a value, named `what`, first became non-finite."""
        return self.told(what, lambda: self._value(what, of, is_answers))

    def hands_on(self, instruction: Instruction, is_lost: IsLost) -> bool:
        """True if the result of an instruction that has just run certainly reaches the answer, by
        itself or with what is lost beside it.
        """
        from gradcli.questions.remarks.handed_on import Place, reaches_answer
        from gradcli.questions.remarks.lost import steady_slots

        calls, program, running = [], self.loaded.program, frames()
        main, _ = running[0]
        lost = [i for i in steady_slots(program) if is_lost(value_of(main, i, program))]
        for frame in running:
            code = frame[0].f_code
            span = None if code.co_name == MAIN else function_span(code.co_consts[0])
            calls.append(Place(span, span_of(frame, self.loaded.source)))
        return reaches_answer(program, calls, instruction, self.request.of, lost)

    def _value(
        self, what: str, of: Callable[[Done], Any], is_answers: IsAnswers
    ) -> Diagnostic | None:
        origins = Origins(self.loaded.source, is_answers)
        with suppress(Ended):
            done = self.done(self.watch, origins)
        origin = origins.answer or origins.of(of(done))
        if origin is None:
            return None
        moment = origins.moments.get(origin.event) or self.moment(self.watch, origin.event)
        if isinstance(moment.instruction, Input):
            return self._of_input(moment.instruction.name, moment.span, what)
        if is_backward(moment.instruction):
            return self._left(what, moment, origin.event, origins.pass_before(origin.event))
        if origin.outer:
            inside = _Inside(origin.event)
            with suppress(Ended):
                self.done(self.watch, inside)
            if inside.node is not None:
                found = self._at_node(inside.node, inside, self.watch, what)
                found.notes = (*found.notes, self._note("in the derivative by", moment))
                return found
        name = moment.name(self.loaded.source)
        if not origin.made:
            return self._at(moment, f"{what} is not finite, as what `{name}` gets is not")
        if moment.made is None:  # a method that has changed what its object holds
            return self._at(moment, f"{what} is not finite: `{name}` left it so")
        made = _first_bad(moment.made)
        return self._at(moment, f"{what} is not finite: `{name}` made {made} from finite values")

    def _left(self, what: str, moment: Moment, event: int, last: int) -> Diagnostic:
        """The warning that says where a pass of `backward` became non-finite. It mostly meets only
        what the program has recorded since the `last` one.
        """
        before = _Backward(event, last, self.loaded.source)
        with suppress(Ended):
            self.done(self.watch, before)
        if before.node is None:
            return self._at(moment, f"{what} is not finite: `backward` left it so")
        number = before.of(before.node)
        if number in before.moments:
            found = self._blames(before.moments[number], what)
        elif last:
            return self._left(what, moment, event, 0)
        else:
            found = self._at_event(number, before.node, self.watch, what)
        found.notes = (*found.notes, self._note("on the way back from the", moment))
        return found

    def _note(self, how: str, moment: Moment) -> str:
        """By which call of the program a derivative was taken."""
        source = self.loaded.source
        return f"{how} `{moment.name(source)}` at {source.line_name(moment.span.start)}"

    def slope(self, output: Any, paths: Paths | None) -> Diagnostic | None:
        """The warning that says where the derivatives of a result first became non-finite."""
        done, points = self.first, self.first.session.watched.points
        for i in self.loaded.program.inputs:
            if i.name in points and not is_finite(points[i.name]):
                return self._of_input(i.name, i.span, "the derivative")
        given = self.request.cotangent
        with Quiet():
            weight = even_cotangent(output) if given is None else cotangent_of(output, given)
            node = first_slope(output, weight, paths)
        if node is None:
            return None
        count, place = node.seq - done.started, place_of(node, self.loaded.program)
        if place is not None:
            at = AtNode(place, count, self.loaded.source)
            with suppress(Ended):
                self.done(self.watch, at)
            if at.found is not None:
                return self._blames(at.found, "the gradient")
        until = UntilNode(count)
        with suppress(Ended):
            self.done(self.watch, until)
        return self._at_event(until.found, node, self.watch, "the gradient")

    def _at_node(self, node: Node, recorded: Recorded, watch: Watch, what: str) -> Diagnostic:
        return self._at_event(recorded.of(node), node, watch, what)

    def _at_event(self, event: int, node: Node, watch: Watch, what: str) -> Diagnostic:
        """The warning that names the node whose derivative is not finite first, and its event, if
        any.
        """
        if event:
            return self._blames(self.moment(watch, event), what)
        span = Span(0, 0) if node.site is None else node.site.span
        return _warning(self.loaded, _blamed(what, node.op_name), span)

    def moment(self, watch: Watch, event: int) -> Moment:
        """The state of the program at an event."""
        moments = _UntilThen({event}, self.loaded.source)
        with suppress(Ended):
            self.done(watch, moments)
        return moments.found[event]

    def _blames(self, moment: Moment, what: str) -> Diagnostic:
        """The warning that the derivative of the op of a moment is not finite."""
        return self._at(moment, _blamed(what, moment.name(self.loaded.source)))

    def _of_input(self, name: str, span: Span, what: str) -> Diagnostic:
        message = f"{what} is not finite, as the input `{name}` is not"
        return _warning(self.loaded, message, span)

    def _at(self, moment: Moment, message: str) -> Diagnostic:
        found = _warning(self.loaded, message, moment.span)
        found.labels, found.notes = moment.operands, moment.turns
        return found


class _UntilThen(Moments):
    """The state of the program at an event, with which the run ends."""

    def observed(
        self, function: Callable[..., Any], instruction: Instruction | None = None
    ) -> Callable[..., Any]:
        general, (wanted,) = super().observed(function, instruction), self._wanted

        def call(run: Any, *args: Any, **keywords: Any) -> Any:
            """A call, with a fast path for one that is not the event."""
            if instruction is None or self.events + 1 == wanted:
                return general(run, *args, **keywords)
            self.events += 1
            out = function(run, *args, **keywords)
            return self._followed(out) if type(out) is FunctionType else out

        return call

    def event(
        self, number: int, instruction: Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        out = super().event(number, instruction, given, done)
        if self.found:
            raise Ended
        return out


class _Backward(Recorded):
    """Inspects the graph before a `backward` visits it, with which the run ends.

    Args:
        wanted: The event of the `backward`.
        last: The event of an earlier one; only what follows is observed.
        source: The program's text.

    Fields:
        node: The first node whose derivative is not finite.
        moments: The moments of the last events, by number.
    """

    def __init__(self, wanted: int, last: int, source: Source) -> None:
        super().__init__()
        self.node: Node | None = None
        self.moments: dict[int, Moment] = {}
        self._wanted = wanted
        self._last = last
        self._source = source

    def observed(
        self, function: Callable[..., Any], instruction: Instruction | None = None
    ) -> Callable[..., Any]:
        general = super().observed(function, instruction)

        def call(run: Any, *args: Any, **keywords: Any) -> Any:
            """A call, with a fast path for one that is not observed."""
            if self.events > self._last or instruction is None:
                return general(run, *args, **keywords)
            self.events += 1
            out = function(run, *args, **keywords)
            return self._followed(out) if type(out) is FunctionType else out

        return call

    def event(
        self, number: int, instruction: Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        if number < self._wanted:
            finished = present(instruction, given, self._source) if self._last else None
            out = super().event(number, instruction, given, done)
            if finished is not None and number > self._last:
                self.moments[number] = finished(out)
            return out
        root, *rest = given
        weight = next((w for w in rest if isinstance(w, Tensor)), None)
        self.node = first_slope(root, even_cotangent(root) if weight is None else data_of(weight))
        super().event(number, instruction, given, lambda: None)
        raise Ended


class _Inside(Recorded):
    """Looks at the graph of a function when its derivative has been taken, as by `grad(f)(x)`:
    `node` is the first one whose derivative is not finite, if the values are.
    """

    def __init__(self, wanted: int) -> None:
        super().__init__()
        self.node: Node | None = None
        self._wanted = wanted
        self._within = False
        self._last: Any = None  # the function's last value, which is its result

    def event(
        self, number: int, instruction: Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        self._within |= number == self._wanted
        out = super().event(number, instruction, given, done)
        if number == self._wanted:
            self._within = False
            if self._last is not None and is_finite(self._last):
                self.node = first_slope(self._last, even_cotangent(self._last))
            raise Ended
        if self._within and isinstance(out, Tensor) and node_of(out) is not None:
            self._last = out
        return out


def _first_bad(made: Any) -> str:
    """The first element of an op's result that is not finite, with its index."""
    if isinstance(made, tuple):
        made = next((part for part in made if not is_finite(part)), made)
    data = data_of(made)
    if not hasattr(data, "dtype") or not data.ndim:
        return short(made) if type(data) is float or hasattr(data, "dtype") else "one that is not"
    at = tuple(map(int, np.argwhere(~np.isfinite(data))[0]))
    return f"{short(data[at].item())} at [{', '.join(map(str, at))}]"


def _blamed(what: str, name: str) -> str:
    return f"{what} is not finite: the derivative of `{name}` is not finite"


def _warning(loaded: Loaded, message: str, span: Span) -> Diagnostic:
    return Diagnostic("non-finite", message, loaded.source, span, severity="warning")
