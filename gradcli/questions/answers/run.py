"""A run of the program: its values and its printed text."""

from __future__ import annotations

from gradcli.engine.report.values import binding, is_data, is_finite, is_numeric, plain_value
from gradcli.engine.tape.graph import Node
from gradcli.errors import Diagnostic, GradError
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch, candidates
from gradcli.questions.asked.request import Request
from gradcli.results import Graph, Kinked, RunResult
from gradcli.source import Span


def run(loaded: Loaded, request: Request) -> RunResult:
    """The result of a run, its top-level values and, if the options ask for it, its graph."""
    options = request.options
    watch = Watch(candidates(loaded.program) if options.graph else (), keep=options.graph)
    seen = options.graph or loaded.sees_recording or (options.grad_fn and loaded.names_recorded)
    drawn = {"recording": seen, "plots": options.plots}
    done = loaded.execute(request.inputs, options, watch, **drawn)
    return result_of(loaded, request, done)


def result_of(loaded: Loaded, request: Request, done: Done) -> RunResult:
    """The result of a finished run, as plain data."""
    result = loaded.tensor(done, done.result, None) if is_numeric(done.result) else done.result
    warnings = [*done.warnings(loaded.source)]
    if not is_finite(result):
        from gradcli.questions.remarks.warnings import non_finite

        warnings.append(non_finite(loaded, request, done, result, Watch(())))
    bindings = tuple(binding(n, value) for n, value in done.values.items() if is_data(value))
    bad = [b.name for b in bindings if not is_finite(b.grad)]
    if bad and is_finite(result):
        from gradcli.questions.remarks.warnings import non_finite_gradient

        warnings.append(non_finite_gradient(loaded, request, done, bad[0]))
    graph = None
    if request.options.graph:
        try:
            graph = _graph(loaded, request, done)
        except GradError as error:
            if error.diagnostics[0].code not in _NO_GRAPH:
                raise
            warnings.append(_without_graph(loaded))
    return RunResult(
        output=loaded.program.output,
        result=plain_value(result) if is_data(result) else None,
        bindings=bindings,
        printed=done.lines,
        warnings=tuple(warnings),
        graph=graph,
        kinks=_kinks(loaded, request, done) if request.options.kinks else None,
    )


_NO_GRAPH = ("nothing-recorded", "no-result")


def _without_graph(loaded: Loaded) -> Diagnostic:
    """The warning that a run has no graph; its other results are still given."""
    result = loaded.program.result
    return Diagnostic(
        "nothing-recorded",
        "the run has recorded nothing that leads to a result: there is no graph",
        loaded.source,
        Span(0, 0) if result is None else result.span,
        help="make a leaf by `tensor(..., requires_grad=True)`, or a `param`",
        severity="warning",
    )


def _kinks(loaded: Loaded, request: Request, done: Done) -> tuple[Kinked, ...]:
    from gradcli.questions.remarks.kinks import below, kinks

    def nodes(done: Done) -> set[Node]:
        return below(done.session.tensor(v) for v in (*done.values.values(), done.result))

    return kinks(loaded, request, done, Watch(candidates(loaded.program)), nodes, lambda _: {})


def _graph(loaded: Loaded, request: Request, done: Done) -> Graph:
    from gradcli.questions.answers.graph import graph_of, recorded_alone, subject

    again = recorded_alone(loaded, request, done, loaded.inferred(request, done))
    return graph_of(loaded, again, subject(loaded, again, request))
