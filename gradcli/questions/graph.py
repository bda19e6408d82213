"""The graph that a run recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.report.graph import recorded_graph
from gradcli.engine.report.values import is_finite, plain_value
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.errors import Diagnostic, RunError
from gradcli.questions.loaded import Done, Loaded
from gradcli.questions.request import Options, Request
from gradcli.questions.wanted import Watch, differentiated
from gradcli.questions.warnings import non_finite
from gradcli.results import Graph, GraphResult


def graph(loaded: Loaded, request: Request) -> GraphResult:
    """The graph behind the result, with values and derivatives."""
    watch = loaded.watch(request.wrt).keeping()
    done = loaded.execute(request.given, request.options, watch)
    name, output = loaded.output(done, request.of)
    warnings = done.warnings(loaded.source)
    if not is_finite(output):
        warnings += (non_finite(loaded, request, done, output, watch),)
    names = differentiated(loaded.program, done.session, watch, done.values)
    again = recorded_alone(loaded, request, done, names)
    return GraphResult(
        output=name,
        value=plain_value(output),
        graph=graph_of(loaded, again, loaded.output(again, request.of)[1]),
        printed=done.lines,
        warnings=warnings,
    )


def recorded_alone(loaded: Loaded, request: Request, done: Done, names: Sequence[str]) -> Done:
    """The run if these names are all that it watched, else another that watches nothing else: plain
    data are no inputs of the graph.
    """
    session = done.session
    if len(names) == len(session.points):
        return done
    silent = Options(session.seed_used, stream=session.stream)
    return loaded.execute(request.given, silent, Watch(names, keep=True))


def graph_of(loaded: Loaded, done: Done, output: Any) -> Graph:
    """The graph behind a value of a run.

    Raises:
        RunError: If there is none.
    """
    if not isinstance(output, Tensor) or node_of(output) is None:
        raise nothing_recorded("graph")
    weight = 1.0 if output.shape == () else None
    with loaded.passing():
        return recorded_graph(output, weight, done.values, loaded.source)


def nothing_recorded(what: str) -> RunError:
    """The error where what is asked for needs a graph, and there is none."""
    message = f"the result depends on nothing that is differentiated: there is no {what}"
    help = "name an input with --wrt, or make a leaf by `tensor(..., requires_grad=True)`"
    return RunError(Diagnostic("nothing-recorded", message, help=help))
