"""Warnings of an answer: unused names, and nan or infinity with their origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.autodiff.paths import Paths
from gradcli.engine.report.values import is_finite
from gradcli.engine.values.data import Quiet
from gradcli.errors import Diagnostic, RunError
from gradcli.questions.asked.linearized import LinearizedRun
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Options, Request
from gradcli.results import Value
from gradcli.source import Span


def warnings(run: LinearizedRun, found: Value, unused: Sequence[str]) -> tuple[Diagnostic, ...]:
    """The warnings about a result and its first derivatives."""
    said = [*run.done.warnings(run.loaded.source)]
    said += [unused_input(run.loaded, name, run.name) for name in unused]
    if not (is_finite(run.output) and is_finite(found)):
        said.append(_non_finite(run))
    return tuple(said)


def _non_finite(run: LinearizedRun) -> Diagnostic:
    paths = run.linearized.paths
    return non_finite(run.loaded, run.request, run.done, run.output, run.watch, paths)


def second_warnings(run: LinearizedRun, grad: Value, second: Value) -> tuple[Diagnostic, ...]:
    """The warnings about a result, its gradient and its second derivatives."""
    said = warnings(run, grad, run.unused)
    if is_finite(second) or not (is_finite(run.output) and is_finite(grad)):
        return said
    from gradcli.engine.report.nonfinite import second_warning

    with Quiet():
        slopes = run.linearized.pull_recorded([run.cotangent()])
        in_turn = (slopes.get(run.node(name)) for name in run.names)
        warning = second_warning(in_turn, run.loaded.source)
    return (*said, judged(warning, run.request.options))


def non_finite(
    loaded: Loaded,
    request: Request,
    done: Done,
    output: Any,
    watch: Watch,
    paths: Paths | None = None,
) -> Diagnostic:
    """The warning about nan or infinity in a result, or in its derivatives; arguments as of
    `explained`.
    """
    from gradcli.questions.remarks.nonfinite import explained

    return judged(explained(loaded, request, done, output, watch, paths), request.options)


def non_finite_gradient(loaded: Loaded, request: Request, done: Done, name: str) -> Diagnostic:
    """The warning about nan or infinity in the `.grad` of a top-level name."""
    from gradcli.questions.remarks.nonfinite import explained_gradient

    return judged(explained_gradient(loaded, request, done, name), request.options)


def unused_input(loaded: Loaded, name: str, output: str) -> Diagnostic:
    """The warning that a result does not depend on a name."""
    span = next((i.span for i in loaded.program.inputs if i.name == name), Span(0, 0))
    message = f"`{output}` does not depend on `{name}`: the gradient is zero"
    return Diagnostic("unused-input", message, loaded.source, span, severity="warning")


def judged(warning: Diagnostic, options: Options) -> Diagnostic:
    """The warning; with `check_nan` it is raised as an error."""
    if options.check_nan:
        warning.severity = "error"
        raise RunError(warning)
    return warning
