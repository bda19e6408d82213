"""`gradcli gradcheck`."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, ROWS, Line
from gradcli.cli.line.output import Target, resolve_auto
from gradcli.cli.rows.inquiry import Inquiry
from gradcli.cli.rows.query import Query
from gradcli.cli.terminal.progress import progress
from gradcli.formats.writers.forms import CHECKS

if TYPE_CHECKING:
    from gradcli.results import GradcheckResult


@command(
    *(*PROGRAM, *ROWS, "wrt", "of", "order"),
    *("form", "json", "output", "precision", "seed", "compile", "quiet", *LIMITS, *MESSAGES),
    forms=CHECKS,
)
def gradcheck(line: Line) -> None:
    r"""Every derivative held against central differences.

    Each input is checked in reverse and in forward mode, the modes against each other, and every
    own rule by itself. The status is 1 if one is wrong.

    Examples:
      gradcli gradcheck 'sin(x) * x' x=2
      gradcli samples rosenbrock -o .
      gradcli gradcheck rosenbrock.grad --order 2
      printf 'x\n1\n2\n' | gradcli gradcheck 'log(x)' --rows -
      if gradcli gradcheck rosenbrock.grad -q; then echo right; fi
    """
    inquiry = Inquiry(line, CHECKS)

    asked = {"wrt": inquiry.names, "of": line.of, "order": line.order}
    check = Query(inquiry.load(), "gradcheck", asked)
    if inquiry.records is not None:
        from gradcli.formats.writers.checks import checks_parts

        inquiry.answer_rows(check, inquiry.settings(), checks_parts, lambda r: bool(r.passed))
        return
    target = resolve_auto(inquiry.target)
    with progress("runs", inquiry.telling) as bar:
        result = check(inquiry.inputs, inquiry.settings(progress=bar.advance))
    if not (line.quiet and target.path is None and target.form in ("plain", "human")):
        target.write(_text(result, target, line))
    inquiry.telling.warn(result.warnings)
    if not result.passed:
        raise typer.Exit(1)


def _text(result: "GradcheckResult", target: Target, line: Line) -> str:
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.writers.checks import checks_json

            return f"{checks_json(result)}\n"
        case "csv" | "tsv":
            from gradcli.formats.texts.delimited import DELIMITERS
            from gradcli.formats.writers.checks import checks_delimited

            return checks_delimited(result, DELIMITERS[target.form])
        case "plain":
            from gradcli.formats.writers.checks import checks_plain

            return checks_plain(result)
    from gradcli.render.checks import checks_view

    view = checks_view(result, precision=line.precision, width=target.width, every=line.verbose)
    return target.draw(view)
