"""`gradcli trace`."""

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import directions
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.line.output import decided
from gradcli.cli.terminal.failures import usage


@command(
    *(*PROGRAM, "wrt", "of", "cotangent", "tangent", "mode", "every"),
    *("form", "json", "output", "precision", "check_nan", "seed", "quiet", *LIMITS, *MESSAGES),
    view="trace",
)
def trace(line: Line) -> None:
    """The evaluation trace: operations with partials and adjoints.

    With --tangent it shows tangents next to adjoints, with --mode forward instead of them.

    Examples:
      gradcli trace 'log(x1) + x1 * x2 - sin(x2)' x1=2 x2=5
      gradcli trace 'log(x1) + x1 * x2 - sin(x2)' x1=2 x2=5 --tangent x1=1
      gradcli samples cooling -o .
      gradcli trace cooling.grad --wrt k --mode forward -o trace.md
    """
    inquiry = Inquiry(line)
    inquiry.load()
    if line.mode == "reverse" and line.tangent:
        raise usage("`--mode reverse` and `--tangent` exclude each other")
    if line.mode == "forward" and line.cotangent is not None:
        raise usage("`--mode forward` and `--cotangent` exclude each other")
    every = line.every or decided(inquiry.target, line.forms).form not in line.drawn
    tangents = directions(line.tangent) if line.tangent else {}
    inquiry.answer("trace", tangents=tangents, every=every)
