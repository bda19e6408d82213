"""`gradcli graph`."""

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.terminal.failures import usage


@command(
    *(*PROGRAM, "wrt", "cotangent", "of", "nodes", "depth", "unfold", "partials", "values"),
    *("form", "json", "output", "precision", "check_nan", "seed", "quiet", *LIMITS, *MESSAGES),
    view="graph",
)
def graph(line: Line) -> None:
    """The graph that a run recorded, with values and derivatives.

    Examples:
      gradcli graph '(a + b) * (b + 1)' a=2 b=1
      gradcli samples cooling -o .
      gradcli graph cooling.grad --wrt k -f dot > graph.dot
      gradcli graph cooling.grad -o cooling.mmd
    """
    inquiry = Inquiry(line)
    if line.values != "full" and inquiry.target.form != "json":
        raise usage("`--values` needs JSON output")
    from gradcli.render.looks import detailed

    inquiry.load()
    inquiry.answer("graph", detailed=detailed(inquiry.target.form, inquiry.look))
