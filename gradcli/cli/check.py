"""`gradcli check`."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli.arguments import split_names
from gradcli.cli.command import command
from gradcli.cli.failures import usage
from gradcli.cli.inputs import load_source
from gradcli.cli.messages import report
from gradcli.cli.options import MESSAGES, PROGRAM, Line
from gradcli.cli.output import Target, choose, resolve_auto
from gradcli.formats.forms import LISTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Diagnostic
    from gradcli.results import CheckResult


@command(
    *(*PROGRAM, "wrt", "of", "ir", "form", "json", "output", "quiet", *MESSAGES),
    forms=LISTS,
)
def check(line: Line) -> None:
    """What can be known of a program without running it; status 1 for warnings, 3 for errors.

    Examples:
      gradcli check model.grad
      gradcli check model.grad x=@data.npy --diagnostics concise
      gradcli check model.grad --ir
    """
    from gradcli.program import check_source, ops_text

    target = resolve_auto(choose(line, LISTS))
    names = split_names(line.wrt, "--wrt")
    source, inputs = load_source(line)
    result = check_source(source, inputs, wrt=names, of=line.of)
    shown = [f for f in result.findings if f.severity == "error" or not line.quiet]
    if line.ir:
        if target.form == "json":
            raise usage("`--ir` prints text, not json")
        report(shown, form=line.diagnostics, color=line.color)
        target.write(ops_text(source, inputs, names))
    else:
        target.write(_text(result, shown, target, line.diagnostics))
    if result.findings:
        raise typer.Exit(3 if any(f.severity == "error" for f in result.findings) else 1)


def _text(
    result: "CheckResult", findings: "Sequence[Diagnostic]", target: Target, form: str
) -> str:
    if target.form == "json":
        from gradcli.formats.checks import findings_json

        return f"{findings_json(result)}\n"
    if form == "json":
        from gradcli.formats.json_text import diagnostic_json

        return "".join(f"{diagnostic_json(d)}\n" for d in findings)

    from gradcli.render.diagnostic import concise, full

    lines = []
    for number, finding in enumerate(findings):
        text = concise(finding) if form == "concise" else full(finding, target.width)
        lines += [[], *text] if number and form == "full" else text
    return target.draw(lines)
