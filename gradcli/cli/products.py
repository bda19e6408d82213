"""`gradcli jvp`, `vjp` and `hvp`: derivatives times a direction or weights."""

from gradcli.cli.command import command
from gradcli.cli.inputs import constant, directions
from gradcli.cli.inquiry import Inquiry
from gradcli.cli.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.formats.forms import RESULTS


@command(*PROGRAM, *ROWS, "tangent", "of", *RESULT, *LIMITS, *MESSAGES, forms=RESULTS)
def jvp(line: Line) -> None:
    """Derivative of a result along a direction (forward mode).

    Examples:
      gradcli jvp cooling.grad --tangent k=1
      gradcli jvp -e 'sin(x) * k' 'x=[1, 2]' k=3 --tangent 'x=[1, 0]' --tangent k=0.5
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    direction = directions(line.tangent)
    settings = inquiry.settings()
    inquiry.answer(
        lambda given, options: program.jvp(given, tangents=direction, of=line.of, options=options),
        settings,
    )


@command(*PROGRAM, *ROWS, "wrt", "cotangent", "of", *RESULT, *LIMITS, *MESSAGES, forms=RESULTS)
def vjp(line: Line) -> None:
    """Weights of a result carried back to the inputs (reverse mode).

    Examples:
      gradcli vjp model.grad --of residuals --cotangent @weights.npy --wrt theta
      gradcli vjp -e 'sin(x) * k' 'x=[1, 2]' k=3 --cotangent '[1, 10]'
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    weights = constant(line.cotangent, "--cotangent")
    settings = inquiry.settings()
    inquiry.answer(
        lambda given, options: program.vjp(
            given, wrt=inquiry.names, cotangent=weights, of=line.of, options=options
        ),
        settings,
    )


@command(
    *(*PROGRAM, *ROWS, "tangent", "wrt", "cotangent", "mode", "of", *RESULT, *LIMITS, *MESSAGES),
    forms=RESULTS,
)
def hvp(line: Line) -> None:
    """Product of a result's second derivatives with a direction.

    Examples:
      gradcli hvp loss.grad --tangent w=@direction.npy --mode reverse
      gradcli hvp -e 'sum(x ** 3)' 'x=[1, 2]' --tangent 'x=[1, 0]'
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    direction = directions(line.tangent)
    weights = constant(line.cotangent, "--cotangent")
    settings = inquiry.settings()
    inquiry.answer(
        lambda given, options: program.hvp(
            given,
            tangents=direction,
            wrt=inquiry.names,
            cotangent=weights,
            mode=line.mode,
            of=line.of,
            options=options,
        ),
        settings,
    )
