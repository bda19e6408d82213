"""`gradcli grad`."""

from typing import TYPE_CHECKING

from gradcli.cli import options as o
from gradcli.cli.inputs import constants, load, split_names
from gradcli.cli.messages import report
from gradcli.cli.output import Target, choose, resolve_auto
from gradcli.cli.terminal import write_message

if TYPE_CHECKING:
    from gradcli.results import GradResult

_SUFFIXES = {".json": "json", ".txt": "plain"}


def grad(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    wrt: o.Wrt = None,
    of: o.Of = None,
    cotangent: o.Cotangent = None,
    form: o.Format = o.FormatName.AUTO,
    json: o.Json = False,
    raw: o.Raw = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    check_nan: o.CheckNan = False,
    seed: o.Seed = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """Value and gradient of a program's result.

    Examples:
      gradcli grad cooling.grad
      gradcli grad cooling.grad --wrt k,T0 k=0.2
      echo 'x ** 2 + 3 * x' | gradcli grad x=2 -r
    """
    from gradcli.program import Options

    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=_SUFFIXES
    )
    target = resolve_auto(target)
    names = split_names(wrt, "--wrt")
    program, inputs = load(arguments, expression)
    weights = None if cotangent is None else constants({"--cotangent": cotangent})["--cotangent"]
    settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=False)
    result = program.grad(inputs, wrt=names, of=of, cotangent=weights, options=settings)
    target.write(_text(result, target, precision))
    if not quiet:
        report(result.warnings, form=diagnostics.value, color=color.value)


def _text(result: "GradResult", target: Target, precision: int) -> str:
    if target.form == "json":
        from gradcli.formats.json_text import json_text

        return f"{json_text(result)}\n"
    if target.form == "raw":
        from gradcli.formats.raw import raw

        return raw(result.grad.values())
    if target.form == "human":
        from gradcli.render.derivatives import grad_view

        return target.draw(grad_view(result, precision=precision, width=target.width))

    from gradcli.formats.plain import grad_plain

    return grad_plain(result)
