"""`gradcli grad`."""

from gradcli.cli.asking.inquiry import ask
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line


@command(
    *(*PROGRAM, *ROWS, "wrt", "cotangent", "several", "elasticity", "kinks"),
    *(*RESULT, *LIMITS, *MESSAGES),
    view="derivative",
)
def grad(line: Line) -> None:
    r"""Value and gradient of a program's result.

    Examples:
      gradcli grad 'x ** 2 + 3 * x' x=2
      echo 'sin(x) * exp(y)' | gradcli grad x=1 y=2 --wrt y -r
      gradcli grad 'y = w * x; y' 'w=[1, 2]' x=3 --cotangent '[1, 0]' -o gradient.npz
      gradcli samples cooling -o .
      gradcli grad cooling.grad --wrt k,T0 k=0.2 --json
      gradcli grad cooling.grad --elasticity
      printf 'x\n1\n2\n' | gradcli grad 'x ** 2' --rows -
    """
    ask(line, "elasticity" if line.elasticity else "grad")
