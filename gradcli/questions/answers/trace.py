"""The evaluation trace of a run: elementary operations with values, partials and derivatives."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from gradcli.engine.autodiff.backward import find_all_cotangents
from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.autodiff.linearize import zeros
from gradcli.engine.autodiff.paths import age, reachable
from gradcli.engine.report.leaves import tensor_names
from gradcli.engine.report.partials import Result, partials, recorded_like, recorded_value
from gradcli.engine.report.values import plain_value
from gradcli.engine.run.execution.trace_steps import Around, Step, Steps
from gradcli.engine.run.execution.trace_text import expression
from gradcli.engine.tape.graph import CompositeNode, Node, Watchpoint
from gradcli.engine.tape.tensor import AccumulateGrad, OpNode, Tensor, node_of
from gradcli.engine.values.carrier import Like, data_of
from gradcli.engine.values.data import is_floating, shape_of
from gradcli.errors import Diagnostic, RunError, UsageError
from gradcli.questions.answers.graph import Subject, nothing_recorded, subject
from gradcli.questions.asked.linearized import LinearizedRun, linearized_run
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import warnings
from gradcli.record import Record
from gradcli.results import Value
from gradcli.source import Source
from gradcli.views import TraceGap, TraceResult, TraceRow

_FIRST, _LAST = 3, 2  # turns that are shown of a long loop
_MOST = 400  # operations that are shown in all


def trace(loaded: Loaded, request: Request, every: bool) -> TraceResult:
    """The operations that led to the result, all or those of the first and last turns of loops."""
    steps, run = _observed(loaded, request)
    output = run.output
    root = node_of(output) if isinstance(output, Tensor) else None
    if root is None:
        raise nothing_recorded("trace")
    points = {*run.linearized.points, root}
    columns = tuple(_columns(request))
    adjoints: dict[Node, Any] = {}
    dots: Mapping[Node, Any] = {}
    refused: tuple[Diagnostic, ...] = ()
    with loaded.passing():
        if "tangent" in columns:
            dots = tangents([root], _direction(run))
        if "adjoint" in columns:
            start = root, output.index, run.cotangent()
            try:
                find_all_cotangents([start], adjoints)
            except RunError as error:
                refused = (_unfinished(error, loaded.source),)
        found = {"adjoint": adjoints, "tangent": dots}
        known = {name: found[name] for name in columns}
        rows = tuple(_Rows(run, steps, root, known, not refused).shown(every))
    shown = [part for each in (adjoints, dots) for node, part in each.items() if node in points]
    return TraceResult(
        run.name,
        plain_value(output),
        rows,
        columns,
        run.done.lines,
        (*warnings(run, shown, run.unused), *refused),
    )


def _unfinished(error: RunError, source: Source) -> Diagnostic:
    """The warning of a backward pass that ends at a saved value that was changed since.

    Raises:
        RunError: If it is refused for any other reason.
    """
    found = error.diagnostics[0]
    if found.code != "changed-in-place":
        raise error
    span = found.labels[-1].span if found.labels else None
    return Diagnostic(
        found.code,
        f"no further adjoints: {found.message}",
        source,
        span,
        labels=found.labels,
        help=found.help,
        severity="warning",
    )


def _observed(loaded: Loaded, request: Request) -> tuple[Steps, LinearizedRun]:
    """A run that keeps recorded values, differentiated by the watched names only."""
    watch = loaded.watch(request)
    steps = Steps(loaded.source)
    done = loaded.execute(request.inputs, request.options, watch.keeping(), steps)
    about = _floating(loaded, done, request)
    names = _names(loaded, request, done, watch, about.value)
    if len(names) < len(done.session.watched.points):
        steps, silent = Steps(loaded.source), done.silent(request.options.limits)
        alone = Watch(names, requested=[n for n in watch.requested if n in names], keep=True)
        printed, done = done.printed, loaded.execute(request.inputs, silent, alone, steps)
        done.printed[:] = printed
        about = _floating(loaded, done, request)
    weighed = request.changed(cotangent=about.cotangent)
    return steps, linearized_run(loaded, weighed, done, watch, about.name, about.value, names)


def _floating(loaded: Loaded, done: Done, request: Request) -> Subject:
    """The value to trace, which must be floating."""
    found = subject(loaded, done, request)
    if not is_floating(data_of(found.value)):
        loaded.float_output(done, request.of)
    return found


def _names(loaded: Loaded, request: Request, done: Done, watch: Watch, output: Any) -> list[str]:
    """The names that the run is differentiated by; none where only leaves without one are."""
    recorded = isinstance(output, Tensor) and node_of(output) is not None
    is_inferred = watch.infers and not watch.requested
    if recorded and is_inferred and not loaded.inferred(request, done):
        return []
    return loaded.differentiated(request, done, watch)


def _columns(request: Request) -> Iterator[str]:
    if request.mode != "forward":
        yield "adjoint"
    if request.tangents or request.mode == "forward":
        yield "tangent"


def _direction(run: LinearizedRun) -> Mapping[Node, Any]:
    """The direction that is given, or along the only input if that is a number."""
    if run.request.tangents:
        return run.tangents()
    if len(run.names) == 1 and shape_of(run.done.session.watched.points[run.names[0]].data) == ():
        return {run.node(run.names[0]): 1.0}
    help = f"give --tangent NAME=VALUE: the names are {', '.join(run.names)}"
    raise UsageError(Diagnostic("usage", "forward mode needs a direction", help=help))


class _Operation(Record):
    """A result of a step, the nodes that computed it there, and the step's number."""

    __slots__ = ("result", "inner", "number")
    result: Result
    inner: Collection[Node]
    number: int


class _Rows:
    """The rows of a trace: `known` has the derivatives by column, all that there are if `whole`."""

    def __init__(
        self,
        run: LinearizedRun,
        steps: Steps,
        root: Node,
        known: Mapping[str, Mapping[Node, Any]],
        whole: bool,
    ) -> None:
        self._run = run
        self._source: Source = run.loaded.source
        self._steps = steps
        self._known = known
        self._whole = whole
        self._leaves: list[Result] = []
        self._operations: list[_Operation] = []
        points = [run.node(name) for name in run.names]
        order = sorted(reachable([root, *points]), key=age)
        self._values = _not_kept(order)
        self._of_tensors = tensor_names(run.done.values)
        self._sort((root, run.output.index), order)
        self._ids = self._named()

    def shown(self, every: bool) -> Iterator[TraceRow | TraceGap]:
        """The inputs, then the operations."""
        for leaf in self._leaves:
            yield self._row(leaf, "", None, {})
        operations: Sequence[_Operation | TraceGap] = self._operations
        if not every:
            operations = _capped(_shortened(self._operations, self._around, 0))
        for operation in operations:
            yield operation if isinstance(operation, TraceGap) else self._done(operation)

    def _sort(self, root: Result, order: Sequence[Node]) -> None:
        """Find the leaves, those that are differentiated first, and what came of each step: of its
        nodes those that others use.
        """
        numbers = {node: self._steps.of(node) or -node.seq for node in order}
        used = {_origin(root)}
        for node in order:
            for edge in zip(node.edges, node.outputs, strict=True):
                if edge[0] is not None:
                    origin = _origin(edge)  # type: ignore[arg-type]  # it is a node
                    if _is_same(node) or numbers[origin[0]] != numbers[node]:
                        used.add(origin)
        points = dict.fromkeys(_origin((self._run.node(n), 0)) for n in self._run.names)
        at = {node: i for i, node in enumerate(order)}
        results = sorted(used | points.keys(), key=lambda r: (at[r[0]], r[1]))
        bare = [r for r in results if not any(under is not None for under in r[0].edges)]
        self._leaves = [*(p for p in points if p in bare), *(r for r in bare if r not in points)]
        ends = {node for node, _ in results}
        for result in results:
            if result not in bare:
                number = numbers[result[0]]
                inner = _inner(result[0], ends, numbers)
                self._operations.append(_Operation(result, inner, number))

    def _named(self) -> dict[Result, str]:
        """Inputs by their names, the others by numbers, with a letter that no name begins with in
        this way.
        """
        program = self._run.loaded.program
        known = {*program.names, *program.variables.values()}
        letter = next(
            x
            for x in ("v", "w", "u", "node")
            if not any(re.fullmatch(rf"{x}\d+", n) for n in known)
        )
        ids: dict[Result, str] = {}
        count = 0
        given: set[str] = set()
        for result in (*self._leaves, *(o.result for o in self._operations)):
            name = self._variable(result) if result in self._leaves else ""
            if name and name not in given:
                given.add(name)
                ids[result] = name
            else:
                count += 1
                ids[result] = f"{letter}{count}"
        return ids

    def _variable(self, result: Result) -> str:
        node, _ = result
        if isinstance(node, AccumulateGrad) and id(node.variable) in self._of_tensors:
            return self._of_tensors[id(node.variable)]
        if isinstance(node, (Watchpoint, AccumulateGrad)):
            points = self._run.done.session.watched.nodes
            return next((name for name in self._run.names if points[name] is node), "")
        return "" if node.site is None else node.site.variable

    def _around(self, operation: _Operation) -> tuple[Around, ...]:
        step = self._steps.step(operation.number)
        return () if step is None else step.around

    def _done(self, operation: _Operation) -> TraceRow:
        node, _ = operation.result
        step = self._steps.step(operation.number)
        text = expression(step, node, len(operation.inner) == 1, self._name, self._source)
        found: dict[str, Value] = {}
        for operand, partial in partials(operation.result, operation.inner).items():
            name = self._ids[_origin(operand)]
            known = found.get(name)
            both = known is not None and partial is not None
            found[name] = known + partial if both else partial
        return self._row(operation.result, text, step, found)

    def _row(
        self, result: Result, text: str, step: Step | None, found: dict[str, Value]
    ) -> TraceRow:
        node, _ = result
        span = step.span if step is not None else node.site.span if node.site is not None else None
        variable = self._variable(result)
        if step is None and not text:
            span = self._declared(variable) or span
        around = () if step is None else step.around
        return TraceRow(
            self._ids[result],
            variable,
            text,
            0 if span is None else self._source.told(span.start)[0],
            _plain(self._value(result)),
            {name: _plain(partial) for name, partial in found.items()},
            self._part("adjoint", result),
            self._part("tangent", result),
            tuple(map(_told, around)),
        )

    def _value(self, result: Result) -> Any:
        node, index = result
        if node not in self._values:
            return recorded_value(result)
        made = self._values[node]
        return made[index] if type(made) is tuple else made

    def _declared(self, variable: str) -> Any:
        inputs = self._run.loaded.program.inputs
        return next((i.span for i in inputs if i.name == variable), None)

    def _part(self, column: str, result: Result) -> Value:
        """A derivative of a row; zeros where none has come, unless the pass was not finished."""
        node, index = result
        if column not in self._known:
            return None
        part = self._known[column].get(node)
        if type(part) is list or type(part) is tuple:
            part = part[index]
        return _plain(zeros(recorded_like(result)) if part is None and self._whole else part)

    def _name(self, node: Node, index: int) -> str:
        return self._ids.get(_origin((node, index)), "")


def _not_kept(order: Sequence[Node]) -> dict[Node, Any]:
    """Recomputed values of nodes that did not keep them, such as changed views."""
    found: dict[Node, Any] = {}
    for node in order:
        if node.out is not None or not isinstance(node, OpNode):
            continue
        args = []
        for data, under, output in zip(node.data, node.edges, node.outputs, strict=True):
            value = data
            if under is not None:
                origin, place = _origin((under, output))
                value = found[origin] if origin in found else recorded_value((origin, place))
                value = value[place] if type(value) is tuple else value
            args.append(value)
        if not any(x is None or isinstance(x, Like) for x in args):
            found[node] = node.op.evaluate(args, node.params)
    return found


def _is_same(node: Node) -> bool:
    """True if a node only passes on the value of another, which replaces it in the trace."""
    return isinstance(node, (CompositeNode, Watchpoint, AccumulateGrad)) and bool(node.edges)


def _origin(result: Result) -> Result:
    """The place where a value was made; nodes that only pass it on do not count."""
    node, index = result
    while _is_same(node):
        place = index if isinstance(node, CompositeNode) else 0
        under = node.edges[place]
        if under is None:
            break
        node, index = under, node.outputs[place]
    return node, index


def _inner(node: Node, ends: Collection[Node], numbers: Mapping[Node, int]) -> set[Node]:
    """The nodes of a step that a result was made of there, up to other results."""
    inner, stack = {node}, [node]
    while stack:
        for under in stack.pop().edges:
            if under is None or under in inner or under in ends:
                continue
            if numbers[under] == numbers[node] and not _is_same(under):
                inner.add(under)
                stack.append(under)
    return inner


def _plain(value: Any) -> Value:
    return None if value is None else plain_value(Tensor(value))


def _told(around: Around) -> str:
    if around.name:
        return f"`{around.name}` called at line {around.line}"
    return f"turn {around.turn:,} of the loop at line {around.line}"


# long loops ---------------------------------------------------------------------------------------


def _shortened(operations: Sequence[_Operation], around: Any, depth: int) -> list[Any]:
    """The operations without the middle turns of long loops."""
    found: list[Any] = []
    for place, several in groupby(operations, lambda o: _place(around(o), depth)):
        group = list(several)
        if place is None or depth > _DEEPEST:
            found += group
            continue
        by_turn = groupby(group, lambda o: around(o)[depth].turn)
        turns = [(turn, list(each)) for turn, each in by_turn]
        left = turns[_FIRST:-_LAST] if len(turns) > _FIRST + _LAST + 1 else []
        for turn, each in turns:
            if left and turn == left[0][0]:
                count = sum(len(each) for _, each in left)
                found.append(TraceGap(count, left[-1][0] - left[0][0] + 1, place[1]))
            if not (left and left[0][0] <= turn <= left[-1][0]):
                found += _shortened(each, around, depth + 1)
    return found


_DEEPEST = 40  # of loops and calls in each other


def _place(around: tuple[Around, ...], depth: int) -> tuple[str, int] | None:
    return (around[depth].name, around[depth].line) if depth < len(around) else None


def _capped(operations: list[Any]) -> list[Any]:
    """The first and last of very many."""
    if len(operations) <= _MOST:
        return operations
    half = _MOST // 2
    left = operations[half:-half]
    count = sum(o.count if isinstance(o, TraceGap) else 1 for o in left)
    return [*operations[:half], TraceGap(count, 0, 0), *operations[-half:]]
