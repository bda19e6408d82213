"""Products: of a cotangent or a direction with the Jacobian, of a direction with the Hessian."""

from __future__ import annotations

from gradcli.engine.autodiff.linearize import shaped
from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import shape_of
from gradcli.questions.answers.gradient import gradient
from gradcli.questions.asked.linearized import linearize
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import Watch, requested
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import second_warnings, warnings
from gradcli.results import HvpResult, JvpResult, VjpResult


def vjp(loaded: Loaded, request: Request) -> VjpResult:
    """The gradient, as the product of the cotangent with the Jacobian."""
    return VjpResult.of(gradient(loaded, request))


def jvp(loaded: Loaded, request: Request) -> JvpResult:
    """The derivative of the result along the direction, by forward mode."""
    names = loaded.along(request)
    run = linearize(loaded, request, Watch(names, requested=names))
    dots = run.tangents()
    with loaded.passing():
        (dot,) = run.linearized.push(dots)
    found = shaped(dot, shape_of(run.output))
    return run.result(
        JvpResult,
        jvp=plain_value(Tensor(found)),
        warnings=warnings(run, found, run.unused),
    )


def hvp(loaded: Loaded, request: Request) -> HvpResult:
    """The gradient, and its derivative along the direction."""
    run = linearize(loaded, request)
    rows = run.names if request.wrt is None else requested(loaded.program, request.wrt)
    weight = run.cotangent()
    dots = run.tangents()
    mode = request.mode
    if mode == "auto":  # forward mode makes all rows in one pass, but runs no hook
        mode = "reverse" if run.linearized.hooked else "forward"
    with loaded.passing():
        slopes = Slopes(run.linearized, weight)
        products = run.by_name(slopes.product(dots, mode))
    all_slopes = run.by_name(slopes.data())
    grad, found = ({name: each[name] for name in rows} for each in (all_slopes, products))
    return run.result(
        HvpResult,
        grad=grad,
        hvp=found,
        mode=mode,
        warnings=second_warnings(run, grad, found),
    )
