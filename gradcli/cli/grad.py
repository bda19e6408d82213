"""`gradcli grad`."""

from gradcli.cli.command import command
from gradcli.cli.inputs import constant
from gradcli.cli.inquiry import Inquiry
from gradcli.cli.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.formats.forms import RESULTS


@command(*PROGRAM, *ROWS, "wrt", "cotangent", "of", *RESULT, *LIMITS, *MESSAGES, forms=RESULTS)
def grad(line: Line) -> None:
    """Value and gradient of a program's result.

    Examples:
      gradcli grad cooling.grad
      gradcli grad cooling.grad --wrt k,T0 k=0.2
      gradcli grad cooling.grad --rows many.csv -f ndjson | jq .grad.k
      gradcli grad cooling.grad --cotangent '[1, 0]' --of y -o gradient.npz
      echo 'x ** 2 + 3 * x' | gradcli grad x=2 -r
    """
    inquiry = Inquiry(line, RESULTS)
    program = inquiry.load()
    weights = constant(line.cotangent, "--cotangent")
    settings = inquiry.settings()
    inquiry.answer(
        lambda given, options: program.grad(
            given, wrt=inquiry.names, cotangent=weights, of=line.of, options=options
        ),
        settings,
    )
