"""`gradcli gradcheck`."""

from gradcli.cli.asking.inquiry import ask
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, ROWS, Line


@command(
    *(*PROGRAM, *ROWS, "wrt", "of", "order"),
    *("form", "json", "output", "precision", "seed", "compile", "quiet", *LIMITS, *MESSAGES),
    view="checks",
)
def gradcheck(line: Line) -> None:
    r"""Compare every derivative with central differences.

    Each input is checked in reverse and in forward mode, the modes against each other, and every
    own rule by itself. The status is 1 if one is wrong.

    Examples:
      gradcli gradcheck 'sin(x) * x' x=2
      gradcli samples rosenbrock -o .
      gradcli gradcheck rosenbrock.grad --order 2
      printf 'x\n1\n2\n' | gradcli gradcheck 'log(x)' --rows -
      if gradcli gradcheck rosenbrock.grad -q; then echo right; fi
    """
    ask(line, "gradcheck", bar="runs")
