"""Products: of a cotangent or a direction with the Jacobian, of a direction with the Hessian."""

from __future__ import annotations

from gradcli.engine.autodiff.linearize import shaped
from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import shape_of
from gradcli.questions.answers.gradient import gradient
from gradcli.questions.asked.linearized import ask
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import Watch, candidates, named
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import second_warnings, warnings
from gradcli.results import HvpResult, JvpResult, VjpResult


def vjp(loaded: Loaded, request: Request) -> VjpResult:
    """The gradient, as the product of the cotangent with the Jacobian."""
    found = gradient(loaded, request)
    return VjpResult(
        output=found.output,
        value=found.value,
        vjp=found.grad,
        inputs=found.inputs,
        printed=found.printed,
        warnings=found.warnings,
    )


def jvp(loaded: Loaded, request: Request) -> JvpResult:
    """The derivative of the result along the direction, by forward mode."""
    names = _along(loaded, request)
    asked = ask(loaded, request, Watch(names, asked=names))
    dots = asked.direction()
    with loaded.passing():
        (dot,) = asked.line.push(dots)
    found = shaped(dot, shape_of(asked.output))
    return JvpResult(
        output=asked.name,
        value=plain_value(asked.output),
        jvp=plain_value(Tensor(found)),
        printed=asked.done.lines,
        warnings=warnings(asked, found, asked.unused),
    )


def hvp(loaded: Loaded, request: Request) -> HvpResult:
    """The gradient, and its derivative along the direction."""
    along = _along(loaded, request)
    if request.wrt is None:
        names = [*candidates(loaded.program), *along]
        asked = ask(loaded, request, Watch(names, asked=along, unasked=True))
        rows = asked.names
    else:
        rows = named(loaded.program, request.wrt)
        both = list(dict.fromkeys([*rows, *along]))
        asked = ask(loaded, request, Watch(both, asked=both))
    weight = asked.weight()
    dots = asked.direction()
    mode = request.mode
    if mode == "auto":  # forward mode makes all rows in one pass, but runs no hook
        mode = "reverse" if asked.line.hooked else "forward"
    with loaded.passing():
        slopes = Slopes(asked.line, weight)
        products = asked.by_name(slopes.product(dots, mode))
    all_slopes = asked.by_name(slopes.data())
    grad, found = ({name: each[name] for name in rows} for each in (all_slopes, products))
    return HvpResult(
        output=asked.name,
        value=plain_value(asked.output),
        grad=grad,
        hvp=found,
        mode=mode,
        printed=asked.done.lines,
        warnings=second_warnings(asked, grad, found),
    )


def _along(loaded: Loaded, request: Request) -> list[str]:
    return named(loaded.program, list(request.tangents), "--tangent")
