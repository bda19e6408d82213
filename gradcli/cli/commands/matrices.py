"""`gradcli jacobian` and `hessian`."""

from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.rows.inquiry import ask


@command(*PROGRAM, *ROWS, "wrt", "mode", "several", *RESULT, *LIMITS, *MESSAGES, view="derivative")
def jacobian(line: Line) -> None:
    """Value and Jacobian of a program's result.

    Examples:
      gradcli jacobian 'stack([x * y, x + y])' x=2 y=3
      gradcli samples two_bodies -o .
      gradcli jacobian two_bodies.grad --wrt velocity --mode forward --json
      gradcli jacobian two_bodies.grad --wrt velocity -o jacobian.npy
    """
    ask(line, "jacobian", bar="directions")


@command(
    *(*PROGRAM, *ROWS, "wrt", "cotangent", "diagonal", "mode", "several"),
    *(*RESULT, *LIMITS, *MESSAGES),
    view="derivative",
)
def hessian(line: Line) -> None:
    """Value, gradient and second derivatives of a program's result.

    Examples:
      gradcli hessian 'x ** 2 * y' x=2 y=3
      gradcli samples rosenbrock -o .
      gradcli hessian rosenbrock.grad --diagonal -r
    """
    ask(line, "hessian", bar="directions")
