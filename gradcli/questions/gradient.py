"""The gradient of a result."""

from __future__ import annotations

from gradcli.engine.autodiff import derivatives
from gradcli.engine.report.values import plain_value
from gradcli.questions.asked import ask, plain
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.warnings import warnings
from gradcli.results import GradResult


def gradient(loaded: Loaded, request: Request) -> GradResult:
    """The gradient of the result, weighed by the cotangent, by each name."""
    asked = ask(loaded, request)
    weight = asked.weight()
    with loaded.passing():
        found, unused = derivatives.gradients(asked.session, asked.output, weight, asked.names)
    grad = plain(found)
    return GradResult(
        output=asked.name,
        value=plain_value(asked.output),
        grad=grad,
        inputs={n: plain_value(asked.session.points[n]) for n in asked.names},
        printed=asked.done.lines,
        warnings=warnings(asked, grad, unused),
    )
