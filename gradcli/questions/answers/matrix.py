"""Matrices of derivatives: the Jacobian, and the second derivatives or their diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.autodiff.second_order import Slopes
from gradcli.questions.asked.linearized import LinearizedRun, linearize
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
    run, mode, grad, found = _differentiated_twice(loaded, request, Slopes.hessian)
    blocks = {name: run.by_name(found[run.node(name)]) for name in run.names}
    warnings = second_warnings(run, grad, blocks)
    return run.result(
        HessianResult, grad=grad, hessian=blocks, diagonal=None, mode=mode, warnings=warnings
    )


def hessian_diagonal(loaded: Loaded, request: Request) -> HessianResult:
    """The second derivatives by one element twice."""
    run, mode, grad, found = _differentiated_twice(loaded, request, Slopes.diagonal)
    diagonal = run.by_name(found)
    warnings = second_warnings(run, grad, diagonal)
    return run.result(
        HessianResult, grad=grad, hessian=None, diagonal=diagonal, mode=mode, warnings=warnings
    )


def _differentiated_twice(
    loaded: Loaded, request: Request, find: Callable[[Slopes, str, Any], Any]
) -> tuple[LinearizedRun, str, dict[str, Any], Any]:
    """A run, the mode of its second differentiation, its gradient, and its second derivatives.

    The mode "auto" is reverse, which visits only what a gradient depends on.
    """
    run = linearize(loaded, request)
    mode = "reverse" if request.mode == "auto" else request.mode
    weight = run.cotangent()
    with loaded.passing():
        slopes = Slopes(run.linearized, weight)
        found = find(slopes, mode, request.options.progress)
    return run, mode, run.by_name(slopes.data()), found
