"""`gradcli jacobian` and `hessian`."""

from gradcli.cli import options as o
from gradcli.cli.answer import answer
from gradcli.cli.emit import SUFFIXES
from gradcli.cli.inputs import constant, load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import choose
from gradcli.cli.progress import progress
from gradcli.cli.records import batch
from gradcli.cli.terminal import write_message


def jacobian(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    wrt: o.Wrt = None,
    mode: o.Mode = o.ModeName.AUTO,
    of: o.Of = None,
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
    """Value and Jacobian of a program's result.

    Examples:
      gradcli jacobian -e 'stack([x * y, x + y])' x=2 y=3
      gradcli jacobian model.grad --wrt theta --json | jq .jacobian.theta
      gradcli jacobian model.grad --of residuals --mode forward -o jacobian.npy
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    names = split_names(wrt, "--wrt")
    records = batch(rows, columns, on_error.value, jobs)
    program, inputs = load(arguments, expression, values_file, records)
    with progress("directions", telling, silent=records is not None) as bar:
        settings = Options(seed, write_message, check_nan, graph=False, progress=bar.advance)
        answer(
            lambda given: program.jacobian(
                given, wrt=names, mode=mode.value, of=of, options=settings
            ),
            program,
            inputs,
            records,
            target,
            telling,
            precision=precision,
        )


def hessian(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    wrt: o.Wrt = None,
    cotangent: o.Cotangent = None,
    diagonal: o.Diagonal = False,
    mode: o.Mode = o.ModeName.AUTO,
    of: o.Of = None,
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
    """Value, gradient and second derivatives of a program's result.

    Examples:
      gradcli hessian -e 'x ** 2 * y' x=2 y=3
      gradcli hessian loss.grad --diagonal -r
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    names = split_names(wrt, "--wrt")
    records = batch(rows, columns, on_error.value, jobs)
    beside = [f"--cotangent {cotangent}"]
    program, inputs = load(arguments, expression, values_file, records, beside)
    weights = constant(cotangent, "--cotangent")
    with progress("directions", telling, silent=records is not None) as bar:
        settings = Options(seed, write_message, check_nan, graph=False, progress=bar.advance)
        answer(
            lambda given: program.hessian(
                given,
                wrt=names,
                cotangent=weights,
                diagonal=diagonal,
                mode=mode.value,
                of=of,
                options=settings,
            ),
            program,
            inputs,
            records,
            target,
            telling,
            precision=precision,
        )
