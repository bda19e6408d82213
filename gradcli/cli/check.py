"""`gradcli check`."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli import options as o
from gradcli.cli.inputs import load_source, split_names
from gradcli.cli.output import Target, choose, resolve_auto

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.errors import Diagnostic
    from gradcli.results import CheckResult

_SUFFIXES = {".json": "json", ".txt": "plain"}


def check(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    wrt: o.Wrt = None,
    of: o.Of = None,
    form: o.ListFormat = o.ListFormatName.AUTO,
    json: o.Json = False,
    output: o.Output = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """What can be known of a program without running it; status 1 for warnings, 3 for errors.

    Examples:
      gradcli check model.grad
      gradcli check model.grad x=@data.npy --diagnostics concise
    """
    from gradcli.program import check_source

    target = choose(form.value, json=json, output=output, color=color.value, suffixes=_SUFFIXES)
    target = resolve_auto(target)
    names = split_names(wrt, "--wrt")
    source, inputs = load_source(arguments, expression, values_file)
    result = check_source(source, inputs, wrt=names, of=of)
    shown = [f for f in result.findings if f.severity == "error" or not quiet]
    target.write(_text(result, shown, target, diagnostics.value))
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
