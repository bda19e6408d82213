"""`gradcli jacobian` and `hessian`."""

from gradcli.cli.command import command
from gradcli.cli.inputs import constant
from gradcli.cli.inquiry import Inquiry
from gradcli.cli.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.progress import progress
from gradcli.formats.forms import RESULTS


@command(*PROGRAM, *ROWS, "wrt", "mode", "of", *RESULT, *LIMITS, *MESSAGES, forms=RESULTS)
def jacobian(line: Line) -> None:
    """Value and Jacobian of a program's result.

    Examples:
      gradcli jacobian -e 'stack([x * y, x + y])' x=2 y=3
      gradcli jacobian model.grad --wrt theta --json | jq .jacobian.theta
      gradcli jacobian model.grad --of residuals --mode forward -o jacobian.npy
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    with progress("directions", inquiry.telling, silent=inquiry.records is not None) as bar:
        settings = inquiry.settings(progress=bar.advance)
        inquiry.answer(
            lambda given, options: program.jacobian(
                given, wrt=inquiry.names, mode=line.mode, of=line.of, options=options
            ),
            settings,
        )


@command(
    *(*PROGRAM, *ROWS, "wrt", "cotangent", "diagonal", "mode", "of", *RESULT, *LIMITS, *MESSAGES),
    forms=RESULTS,
)
def hessian(line: Line) -> None:
    """Value, gradient and second derivatives of a program's result.

    Examples:
      gradcli hessian -e 'x ** 2 * y' x=2 y=3
      gradcli hessian loss.grad --diagonal -r
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    weights = constant(line.cotangent, "--cotangent")
    with progress("directions", inquiry.telling, silent=inquiry.records is not None) as bar:
        settings = inquiry.settings(progress=bar.advance)
        inquiry.answer(
            lambda given, options: program.hessian(
                given,
                wrt=inquiry.names,
                cotangent=weights,
                diagonal=line.diagonal,
                mode=line.mode,
                of=line.of,
                options=options,
            ),
            settings,
        )
