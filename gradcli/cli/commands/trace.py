"""`gradcli trace`."""

from typing import TYPE_CHECKING

from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant, directions
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.line.output import Target, resolve_auto
from gradcli.cli.rows.inquiry import Inquiry
from gradcli.cli.terminal.failures import usage
from gradcli.formats.writers.forms import TRACES

if TYPE_CHECKING:
    from gradcli.views import TraceResult


@command(
    *(*PROGRAM, "wrt", "of", "cotangent", "tangent", "mode", "every"),
    *("form", "json", "output", "precision", "check_nan", "seed", "quiet", *LIMITS, *MESSAGES),
    forms=TRACES,
)
def trace(line: Line) -> None:
    """The evaluation trace: operations with partials and adjoints.

    With --tangent the tangents stand beside the adjoints, with --mode forward in their place.

    Examples:
      gradcli trace 'log(x1) + x1 * x2 - sin(x2)' x1=2 x2=5
      gradcli trace 'log(x1) + x1 * x2 - sin(x2)' x1=2 x2=5 --tangent x1=1
      gradcli samples cooling -o .
      gradcli trace cooling.grad --wrt k --mode forward -f md
    """
    inquiry = Inquiry(line, TRACES)
    program = inquiry.load()
    target = resolve_auto(inquiry.target)
    if line.mode == "reverse" and line.tangent:
        raise usage("`--mode reverse` and `--tangent` exclude each other")
    if line.mode == "forward" and line.cotangent is not None:
        raise usage("`--mode forward` and `--cotangent` exclude each other")
    weights = constant(line.cotangent, "--cotangent")
    tangents = directions(line.tangent) if line.tangent else {}
    settings = inquiry.settings()

    def answer() -> "tuple[TraceResult, str]":
        found = program.trace(
            inquiry.inputs,
            wrt=inquiry.names,
            of=line.of,
            cotangent=weights,
            tangents=tangents,
            mode=line.mode,
            every=line.every or target.form != "human",
            options=settings,
        )
        return found, _text(found, target, line.precision)

    result, text = program.within(settings, answer)
    target.write(text)
    inquiry.telling.warn(result.warnings)


def _text(result: "TraceResult", target: Target, precision: int) -> str:
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.writers.trace import trace_json

            return f"{trace_json(result)}\n"
        case "csv" | "tsv" | "md":
            from gradcli.formats.writers.trace import trace_table

            return trace_table(result, target.form)
        case "plain":
            from gradcli.formats.writers.trace import trace_plain

            return trace_plain(result)
    from gradcli.render.trace import trace_view

    width = target.terminal or _UNBOUNDED
    return target.draw(trace_view(result, precision=precision, width=width))


_UNBOUNDED = 1000  # cells of a line where nothing bounds it
