"""`gradcli gradcheck`."""

from typing import TYPE_CHECKING

import typer

from gradcli.cli import options as o
from gradcli.cli.inputs import load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import Target, choose, resolve_auto
from gradcli.cli.progress import progress
from gradcli.cli.terminal import write_message

if TYPE_CHECKING:
    from gradcli.results import GradcheckResult

_SUFFIXES = {".json": "json", ".ndjson": "ndjson", ".csv": "csv", ".tsv": "tsv", ".txt": "plain"}


def gradcheck(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    wrt: o.Wrt = None,
    of: o.Of = None,
    order: o.Order = 1,
    form: o.Format = o.FormatName.AUTO,
    json: o.Json = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    seed: o.Seed = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """Derivatives held against central differences; status 1 if one is wrong.

    Each input is checked in reverse and in forward mode, the modes against each other, and every
    own rule by itself.

    Examples:
      gradcli gradcheck model.grad
      gradcli gradcheck model.grad --order 2 --wrt theta
      if gradcli gradcheck model.grad -q; then echo right; fi
    """
    from gradcli.program import Options

    target = choose(form.value, json=json, output=output, color=color.value, suffixes=_SUFFIXES)
    target = resolve_auto(target)
    names = split_names(wrt, "--wrt")
    program, inputs = load(arguments, expression, values_file)
    with progress("runs", Telling(quiet, diagnostics.value, color.value)) as bar:
        settings = Options(seed, write_message, check_nan=False, graph=False, progress=bar.advance)
        result = program.gradcheck(inputs, wrt=names, of=of, order=order, options=settings)
    if not (quiet and target.path is None and target.form in ("plain", "human")):
        target.write(_text(result, target, precision))
    if not result.passed:
        raise typer.Exit(1)


def _text(result: "GradcheckResult", target: Target, precision: int) -> str:
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.checks import checks_json

            return f"{checks_json(result)}\n"
        case "csv" | "tsv":
            from gradcli.formats.checks import checks_delimited
            from gradcli.formats.delimited import DELIMITERS

            return checks_delimited(result, DELIMITERS[target.form])
        case "plain":
            from gradcli.formats.checks import checks_plain

            return checks_plain(result)
    from gradcli.render.checks import checks_view

    return target.draw(checks_view(result, precision=precision, width=target.width))
