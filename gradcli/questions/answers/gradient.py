"""The gradient of a result."""

from __future__ import annotations

from gradcli.engine.autodiff.linearize import zeros
from gradcli.engine.autodiff.paths import between
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import Node
from gradcli.questions.asked.linearized import LinearizedRun, ask
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import warnings
from gradcli.results import GradResult, Kinked


def gradient(loaded: Loaded, request: Request) -> GradResult:
    """The gradient of the result, weighed by the cotangent, by each name."""
    asked = ask(loaded, request)
    weight = asked.weight()
    with loaded.passing():
        found = asked.line.pull([weight])
    unused = [name for name in asked.names if asked.node(name) not in found]
    grad = asked.by_name(
        {n: found[n] if n in found else zeros(like) for n, like in asked.line.points.items()}
    )
    return GradResult(
        output=asked.name,
        value=plain_value(asked.output),
        grad=grad,
        inputs={n: plain_value(asked.session.points[n]) for n in asked.names},
        printed=asked.done.lines,
        warnings=warnings(asked, grad, unused),
        kinks=_kinks(asked) if request.options.kinks else None,
    )


def _kinks(asked: LinearizedRun) -> tuple[Kinked, ...]:
    from gradcli.questions.remarks.kinks import below, kinks

    loaded, request = asked.loaded, asked.request

    def nodes(done: Done) -> set[Node]:
        roots = below([loaded.output(done, request.of)[1]])
        return between(roots, [node for node, _ in done.session.watchpoints.values()]).live

    watch = Watch(asked.names, asked=asked.watch.asked)
    return kinks(loaded, request, asked.done, watch, nodes)
