"""`gradcli jacobian` and `hessian`."""

from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.rows.inquiry import Inquiry
from gradcli.cli.terminal.progress import progress
from gradcli.formats.writers.forms import RESULTS


@command(*PROGRAM, *ROWS, "wrt", "mode", "several", *RESULT, *LIMITS, *MESSAGES, forms=RESULTS)
def jacobian(line: Line) -> None:
    """Value and Jacobian of a program's result.

    Examples:
      gradcli jacobian 'stack([x * y, x + y])' x=2 y=3
      gradcli samples two_bodies -o .
      gradcli jacobian two_bodies.grad --wrt velocity --mode forward --json
      gradcli jacobian two_bodies.grad --wrt velocity -o jacobian.npy
    """
    inquiry = Inquiry(line, RESULTS)
    inquiry.load()
    with progress("directions", inquiry.telling, silent=inquiry.records is not None) as bar:
        settings = inquiry.settings(progress=bar.advance)
        inquiry.answer(settings, "jacobian", wrt=inquiry.names, mode=line.mode)


@command(
    *(
        *PROGRAM,
        *ROWS,
        "wrt",
        "cotangent",
        "diagonal",
        "mode",
        "several",
        *RESULT,
        *LIMITS,
        *MESSAGES,
    ),
    forms=RESULTS,
)
def hessian(line: Line) -> None:
    """Value, gradient and second derivatives of a program's result.

    Examples:
      gradcli hessian 'x ** 2 * y' x=2 y=3
      gradcli samples rosenbrock -o .
      gradcli hessian rosenbrock.grad --diagonal -r
    """
    inquiry = Inquiry(line, RESULTS)
    inquiry.load()
    weights = constant(line.cotangent, "--cotangent")
    with progress("directions", inquiry.telling, silent=inquiry.records is not None) as bar:
        settings = inquiry.settings(progress=bar.advance)
        inquiry.answer(
            settings,
            "hessian",
            wrt=inquiry.names,
            cotangent=weights,
            diagonal=line.diagonal,
            mode=line.mode,
        )
