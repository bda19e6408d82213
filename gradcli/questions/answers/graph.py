"""The graph that a run recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.autodiff.backward import find_all_cotangents
from gradcli.engine.report.graph import recorded_graph
from gradcli.engine.report.values import is_finite, plain_value
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import like_of
from gradcli.errors import Diagnostic, RunError
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.seeds import cotangent_of
from gradcli.questions.remarks.warnings import non_finite
from gradcli.record import Record
from gradcli.results import Graph, GraphResult


class Subject(Record):
    """The value whose graph is asked for, with its name.

    Fields:
        name: Its name.
        value: The value.
        cotangent: Weights of its elements; None for the usual ones.
    """

    __slots__ = ("name", "value", "cotangent")
    name: str
    value: Any
    cotangent: Any


Detailed: TypeAlias = Callable[[Graph], Mapping[int, Collection[int]]]
"""Chooses the nodes of a graph that get details, each with the nodes of its step."""


def nowhere(graph: Graph) -> Mapping[int, Collection[int]]:
    """Choose no node for details."""
    return {}


def graph(loaded: Loaded, request: Request, detailed: Detailed = nowhere) -> GraphResult:
    """The graph behind the result, with values and derivatives, and more of some nodes."""
    watch = loaded.watch(request).keeping()
    done = loaded.execute(request.inputs, request.options, watch)
    found = subject(loaded, done, request)
    warnings = done.warnings(loaded.source)
    if not is_finite(found.value):
        warnings += (non_finite(loaded, request, done, found.value, watch),)
    names: Sequence[str] = ()
    recorded = _is_made(found.value, or_leaf=True)
    if watch.requested or not recorded or loaded.inferred(request, done):
        names = loaded.differentiated(request, done, watch)
    again = recorded_alone(loaded, request, done, names)
    return GraphResult(
        output=found.name,
        value=plain_value(found.value),
        graph=graph_of(loaded, again, subject(loaded, again, request), detailed),
        printed=done.lines,
        warnings=warnings,
    )


def subject(loaded: Loaded, done: Done, request: Request) -> Subject:
    """The value to show: that of --of, else the program's result. If the result is not recorded, it
    is the tensor that `backward` was called on last, or the last name with a recorded value.
    """
    passed = done.session.passes.subject is not None
    if request.of is not None or _is_made(done.result, or_leaf=not passed):
        return Subject(*loaded.output(done, request.of), request.cotangent)
    if done.session.passes.subject is not None:
        x, g = done.session.passes.subject
        names = [name for name, value in done.values.items() if value is x]
        name = names[-1] if names else "backward"
        return Subject(name, x, g if request.cotangent is None else request.cotangent)
    if done.result is None:
        for name, value in reversed(done.values.items()):
            if isinstance(value, Tensor) and _is_made(value, or_leaf=True):
                return Subject(name, value, request.cotangent)
    return Subject(*loaded.output(done, None), request.cotangent)


def _is_made(value: Any, *, or_leaf: bool) -> bool:
    """True if a value is the result of a recorded op, or of a leaf if `or_leaf`."""
    if type(value) is list:
        return any(_is_made(item, or_leaf=or_leaf) for item in value)
    node = node_of(value) if isinstance(value, Tensor) else None
    return node is not None and (or_leaf or bool(node.op_name))


def recorded_alone(loaded: Loaded, request: Request, done: Done, names: Sequence[str]) -> Done:
    """The run if these names are all that it watched, else another that watches nothing else: plain
    data are no inputs of the graph.
    """
    session = done.session
    if len(names) == len(session.watched.points):
        return done
    silent = done.silent(request.options.limits)
    return loaded.execute(request.inputs, silent, Watch(names, keep=True))


def graph_of(loaded: Loaded, done: Done, about: Subject, detailed: Detailed = nowhere) -> Graph:
    """The graph behind a value of a run.

    Raises:
        RunError: If there is none.
    """
    output = about.value
    root = node_of(output) if isinstance(output, Tensor) else None
    if root is None:
        raise nothing_recorded("graph")
    found: dict[Node, Any] = {}
    missing = _differentiate(loaded, about, root, found)
    with loaded.passing():
        return recorded_graph(root, found, done.values, loaded.source, missing, detailed)


def nothing_recorded(what: str) -> RunError:
    """The error for a request that needs a graph where there is none."""
    message = f"the result depends on nothing that is differentiated: there is no {what}"
    help = "name an input with --wrt, or make a leaf by `tensor(..., requires_grad=True)`"
    return RunError(Diagnostic("nothing-recorded", message, help=help))


def _differentiate(loaded: Loaded, about: Subject, root: Node, found: dict[Node, Any]) -> str:
    """Find the derivatives by all nodes, as far as there are any; say why not by all."""
    like = like_of(about.value)
    if not like.dtype.startswith("float"):
        return f"`{about.name}` has dtype {like.dtype}: only floats have derivatives"
    if about.cotangent is None and like.shape != ():
        shape = list(like.shape)
        return f"`{about.name}` has shape {shape}: weigh its elements with --cotangent"
    weight = cotangent_of(about.value, about.cotangent)
    try:
        with loaded.passing():
            find_all_cotangents([(root, about.value.index, weight)], found)
    except RunError as error:
        return _told(error.diagnostics[0])
    return ""


def _told(refused: Diagnostic) -> str:
    """A refusal in a line, with its places."""
    source = refused.source
    if source is None:
        return refused.message
    places = [
        label.text.replace("here", f"in {source.line_name(label.span.start)}")
        for label in refused.labels
    ]
    return f"{refused.message} ({', '.join(places)})" if places else refused.message
