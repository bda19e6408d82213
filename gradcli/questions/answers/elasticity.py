"""The gradient of a result in per cent."""

from __future__ import annotations

from gradcli.engine.ops.catalog import ops
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet, shape_of
from gradcli.errors import Diagnostic
from gradcli.questions.answers.gradient import pulled_back
from gradcli.questions.asked.linearized import LinearizedRun, linearize
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.percent import percent
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import judged
from gradcli.results import ElasticityResult, GradResult


def elasticity(loaded: Loaded, request: Request) -> ElasticityResult:
    """The gradient of the result, weighed by the cotangent, with its elasticity by each name."""
    run = linearize(loaded, request)
    weight = run.cotangent()
    found = pulled_back(run, weight)
    with Quiet():
        weighed = ops.mul(weight, found.value)
        value = ops.sum(weighed) if shape_of(weighed) else weighed
        percents = {
            name: plain_value(Tensor(percent(found.inputs[name], slope, value)))
            for name, slope in found.grad.items()
        }
    fields = {name: getattr(found, name) for name in GradResult._fields}
    result = ElasticityResult(**fields, elasticity=percents)
    return result.warned(_undefined(run)) if value == 0.0 else result


def _undefined(run: LinearizedRun) -> tuple[Diagnostic, ...]:
    """The warning that a result is zero, which no change of it is a per cent of.

    Raises:
        RunError: In its place, if the request refuses what is not finite.
    """
    message = f"`{run.name}` is 0, and no change is a per cent of 0: elasticities are not finite"
    source, span = run.loaded.place(run.request.of)
    warning = Diagnostic("non-finite", message, source, span, severity="warning")
    return (judged(warning, run.request.options),)
