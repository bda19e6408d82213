"""Matrices of derivatives: the Jacobian, and the second derivatives or their diagonal."""

from __future__ import annotations

from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.report.values import plain_value
from gradcli.questions.asked.linearized import ask
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import second_warnings, warnings
from gradcli.results import HessianResult, JacobianResult


def jacobian(loaded: Loaded, request: Request) -> JacobianResult:
    """The derivative of each of the result's elements by each of a name's."""
    asked = ask(loaded, request)
    with loaded.passing():
        mode = asked.line.cheaper_mode() if request.mode == "auto" else request.mode
        (found,) = asked.line.jacobian(mode, request.options.progress)
    blocks = asked.by_name(found)
    return JacobianResult(
        output=asked.name,
        value=plain_value(asked.output),
        jacobian=blocks,
        mode=mode,
        printed=asked.done.lines,
        warnings=warnings(asked, blocks, asked.unused),
    )


def hessian(loaded: Loaded, request: Request) -> HessianResult:
    """The second derivatives by two elements each."""
    asked = ask(loaded, request)
    mode = _second_mode(request)
    weight = asked.weight()
    with loaded.passing():
        slopes = Slopes(asked.line, weight)
        found = slopes.hessian(mode, request.options.progress)
    grad = asked.by_name(slopes.data())
    blocks = {name: asked.by_name(found[asked.node(name)]) for name in asked.names}
    return HessianResult(
        output=asked.name,
        value=plain_value(asked.output),
        grad=grad,
        hessian=blocks,
        diagonal=None,
        mode=mode,
        printed=asked.done.lines,
        warnings=second_warnings(asked, grad, blocks),
    )


def hessian_diagonal(loaded: Loaded, request: Request) -> HessianResult:
    """The second derivatives by one element twice."""
    asked = ask(loaded, request)
    mode = _second_mode(request)
    weight = asked.weight()
    with loaded.passing():
        slopes = Slopes(asked.line, weight)
        found = slopes.diagonal(mode, request.options.progress)
    grad, diagonal = asked.by_name(slopes.data()), asked.by_name(found)
    return HessianResult(
        output=asked.name,
        value=plain_value(asked.output),
        grad=grad,
        hessian=None,
        diagonal=diagonal,
        mode=mode,
        printed=asked.done.lines,
        warnings=second_warnings(asked, grad, diagonal),
    )


def _second_mode(request: Request) -> str:
    """How the gradient is differentiated: reverse mode keeps to what a gradient depends on."""
    return "reverse" if request.mode == "auto" else request.mode
