"""`gradcli jvp`, `vjp` and `hvp`: derivatives times a direction or weights."""

from gradcli.cli.asking.inquiry import ask
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line


@command(*PROGRAM, *ROWS, "tangent", "several", *RESULT, *LIMITS, *MESSAGES, view="derivative")
def jvp(line: Line) -> None:
    """Jacobian-vector product: derivative along a direction.

    Examples:
      gradcli jvp 'sin(x) * k' 'x=[1, 2]' k=3 --tangent 'x=[1, 0]' --tangent k=0.5
      gradcli samples cooling -o .
      gradcli jvp cooling.grad --tangent k=1
    """
    ask(line, "jvp")


@command(
    *PROGRAM, *ROWS, "wrt", "cotangent", "several", *RESULT, *LIMITS, *MESSAGES, view="derivative"
)
def vjp(line: Line) -> None:
    """Vector-Jacobian product: gradient of a weighted result.

    Examples:
      gradcli vjp 'sin(x) * k' 'x=[1, 2]' k=3 --cotangent '[1, 10]'
      gradcli run 'ones(2)' -o weights.npy
      gradcli vjp 'w @ x' 'w=[[1, 2], [3, 4]]' 'x=[1, 0]' --cotangent @weights.npy --wrt x
    """
    ask(line, "vjp")


@command(
    *(*PROGRAM, *ROWS, "tangent", "wrt", "cotangent", "mode", "several"),
    *(*RESULT, *LIMITS, *MESSAGES),
    view="derivative",
)
def hvp(line: Line) -> None:
    """Hessian-vector product: second derivatives times a direction.

    Examples:
      gradcli hvp 'sum(x ** 3)' 'x=[1, 2]' --tangent 'x=[1, 0]'
      gradcli samples rosenbrock -o .
      gradcli hvp rosenbrock.grad --tangent 'x=[1, 0]' --mode reverse
    """
    ask(line, "hvp")
