"""Matrices of derivatives: the Jacobian, and the second derivatives or their diagonal."""

from __future__ import annotations

from gradcli.engine.autodiff import directions
from gradcli.engine.report.values import plain_value
from gradcli.questions.asked import ask, plain
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.warnings import second_warnings, warnings
from gradcli.results import HessianResult, JacobianResult


def jacobian(loaded: Loaded, request: Request) -> JacobianResult:
    """The derivative of each of the result's elements by each of a name's."""
    asked = ask(loaded, request)
    with loaded.passing():
        found, mode = directions.jacobian(
            asked.session, asked.output, asked.names, request.mode, request.options.progress
        )
    blocks = plain(found)
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
        slopes, found = directions.hessian(
            asked.session, asked.output, weight, asked.names, mode, request.options.progress
        )
    grad, blocks = plain(slopes), {name: plain(row) for name, row in found.items()}
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
        slopes, found = directions.hessian_diagonal(
            asked.session, asked.output, weight, asked.names, mode, request.options.progress
        )
    grad, diagonal = plain(slopes), plain(found)
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
