"""What is to be said of an answer: names without a say, and nan or infinity explained."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.report.values import is_finite
from gradcli.engine.values.data import Quiet
from gradcli.errors import Diagnostic, RunError
from gradcli.questions.asked import Asked, weights
from gradcli.questions.loaded import Done, Loaded
from gradcli.questions.request import Options, Request
from gradcli.questions.wanted import Watch
from gradcli.results import Value
from gradcli.source import Span


def warnings(asked: Asked, found: Value, unused: Sequence[str]) -> tuple[Diagnostic, ...]:
    """What is to be said of a result and the first derivatives that were found."""
    said = [*asked.done.warnings(asked.loaded.source)]
    said += [_unused(asked.loaded, name, asked.name) for name in unused]
    if not (is_finite(asked.output) and is_finite(found)):
        said.append(non_finite(asked.loaded, asked.request, asked.done, asked.watch.keeping()))
    return tuple(said)


def second_warnings(asked: Asked, grad: Value, second: Value) -> tuple[Diagnostic, ...]:
    """What is to be said of a result, its gradient and its second derivatives."""
    said = warnings(asked, grad, asked.unused)
    if is_finite(second) or not (is_finite(asked.output) and is_finite(grad)):
        return said
    from gradcli.engine.report.nonfinite import second_warning

    with Quiet():
        slopes = asked.line.pull_recorded([asked.weight()])
        in_turn = (slopes.get(asked.node(name)) for name in asked.names)
        warning = second_warning(in_turn, asked.loaded.source)
    return (*said, _judged(warning, asked.request.options))


def non_finite(loaded: Loaded, request: Request, done: Done, watch: Watch) -> Diagnostic:
    """The warning about nan or infinity: the run once more, keeping its values, to explain."""
    from gradcli.engine.report.nonfinite import non_finite_warning
    from gradcli.questions.outside import even_cotangent

    silent = Options(done.session.seed_used, stream=done.session.stream)
    again = loaded.execute(request.given, silent, watch)
    _, output = loaded.output(again, request.of)
    points = again.session.points
    for i in loaded.program.inputs:
        if i.name in points and not is_finite(points[i.name]):
            what = "derivative" if is_finite(output) else "result"
            message = f"the {what} is not finite, as the input `{i.name}` is not"
            warning = Diagnostic("non-finite", message, loaded.source, i.span, severity="warning")
            return _judged(warning, request.options)
    with Quiet():
        if request.cotangent is None:
            weight = even_cotangent(output)
        else:
            weight = weights(again.session, output, request.cotangent)
        warning = non_finite_warning(output, weight, loaded.source)
    return _judged(warning, request.options)


def _unused(loaded: Loaded, name: str, output: str) -> Diagnostic:
    span = next((i.span for i in loaded.program.inputs if i.name == name), Span(0, 0))
    message = f"`{output}` does not depend on `{name}`: the gradient is zero"
    return Diagnostic("unused-input", message, loaded.source, span, severity="warning")


def _judged(warning: Diagnostic, options: Options) -> Diagnostic:
    """The warning, if nan and infinity are no error."""
    if options.check_nan:
        raise RunError(Diagnostic(warning.code, warning.message, warning.source, warning.span))
    return warning
