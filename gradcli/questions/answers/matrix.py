"""Matrices of derivatives: the Jacobian, and the second derivatives or their diagonal."""

from __future__ import annotations

from gradcli.engine.autodiff.second_order import Slopes
from gradcli.questions.asked.linearized import linearize
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import second_warnings, warnings
from gradcli.results import HessianResult, JacobianResult


def jacobian(loaded: Loaded, request: Request) -> JacobianResult:
    """The derivative of each of the result's elements by each of a name's."""
    run = linearize(loaded, request)
    with loaded.passing():
        mode = run.linearized.cheaper_mode() if request.mode == "auto" else request.mode
        (found,) = run.linearized.jacobian(mode, request.options.progress)
    blocks = run.by_name(found)
    return run.result(
        JacobianResult,
        jacobian=blocks,
        mode=mode,
        warnings=warnings(run, blocks, run.unused),
    )


def hessian(loaded: Loaded, request: Request) -> HessianResult:
    """The second derivatives by two elements each."""
    run = linearize(loaded, request)
    mode = _second_mode(request)
    weight = run.cotangent()
    with loaded.passing():
        slopes = Slopes(run.linearized, weight)
        found = slopes.hessian(mode, request.options.progress)
    grad = run.by_name(slopes.data())
    blocks = {name: run.by_name(found[run.node(name)]) for name in run.names}
    return run.result(
        HessianResult,
        grad=grad,
        hessian=blocks,
        diagonal=None,
        mode=mode,
        warnings=second_warnings(run, grad, blocks),
    )


def hessian_diagonal(loaded: Loaded, request: Request) -> HessianResult:
    """The second derivatives by one element twice."""
    run = linearize(loaded, request)
    mode = _second_mode(request)
    weight = run.cotangent()
    with loaded.passing():
        slopes = Slopes(run.linearized, weight)
        found = slopes.diagonal(mode, request.options.progress)
    grad, diagonal = run.by_name(slopes.data()), run.by_name(found)
    return run.result(
        HessianResult,
        grad=grad,
        hessian=None,
        diagonal=diagonal,
        mode=mode,
        warnings=second_warnings(run, grad, diagonal),
    )


def _second_mode(request: Request) -> str:
    """The mode of the second differentiation. "auto" is reverse: it visits only what matters."""
    return "reverse" if request.mode == "auto" else request.mode
