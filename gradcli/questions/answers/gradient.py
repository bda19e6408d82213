"""The gradient of a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.autodiff.backward import cotangents
from gradcli.engine.autodiff.linearize import zeros
from gradcli.engine.autodiff.paths import Paths, between
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import node_of
from gradcli.questions.asked.linearized import LinearizedRun, linearize
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import warnings
from gradcli.results import GradResult, Kinked


def gradient(loaded: Loaded, request: Request) -> GradResult:
    """The gradient of the result, weighed by the cotangent, by each name."""
    run = linearize(loaded, request)
    return pulled_back(run, run.cotangent())


def pulled_back(run: LinearizedRun, weight: Any) -> GradResult:
    """The gradient of a run's result, weighed by plain data of its shape."""
    with run.loaded.passing():
        found = run.linearized.pull([weight])
    unused = [name for name in run.names if run.node(name) not in found]
    grad = run.by_name(
        {n: found[n] if n in found else zeros(like) for n, like in run.linearized.points.items()}
    )
    return run.result(
        GradResult,
        grad=grad,
        inputs={n: plain_value(run.done.session.watched.points[n]) for n in run.names},
        warnings=warnings(run, grad, unused),
        kinks=_kinks(run) if run.request.options.kinks else None,
    )


def _kinks(run: LinearizedRun) -> tuple[Kinked, ...]:
    from gradcli.questions.remarks.kinks import below, kinks

    loaded, request = run.loaded, run.request

    def paths(done: Done) -> Paths:
        roots = below([loaded.output(done, request.of)[1]])
        return between(roots, done.session.watched.nodes.values())

    def pulled(done: Done) -> Mapping[Node, Any]:
        output, visited = loaded.output(done, request.of)[1], paths(done)
        root = node_of(output)
        if root is None:
            return {}
        return cotangents([(root, output.index, run.cotangent())], visited.live, visited)

    watch = Watch(run.names, requested=run.watch.requested)
    return kinks(loaded, request, run.done, watch, lambda done: paths(done).live, pulled)
